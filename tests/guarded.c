#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "guarded.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, MARK = 0x5a };

static uint64_t in_pages(uint64_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

/* CUDA registers pages one time only and reads them over the bus: marks do there. */
static bool takes_pages(const qn_device *device) {
    qn_device_info info;
    return !qn_device_get_info(device, &info) && info.capabilities & QN_CAN_IMPORT_HOST &&
           info.kind != QN_DEVICE_CUDA;
}

static unsigned char *map_between_faults(uint64_t length) {
    unsigned char *pages = mmap(NULL, length + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return NULL;
    if (!mprotect(pages + PAGE, length, PROT_READ | PROT_WRITE)) return pages + PAGE;
    munmap(pages, length + 2 * PAGE);
    return NULL;
}

static qn_status create_whole(qn_device *device, unsigned char *marks, guarded *g) {
    if (!g->pages)
        return qn_buffer_create(device, &(qn_buffer_desc){.size = g->length, .data = marks}, &g->whole);
    memcpy(g->pages, marks, g->length);
    return qn_buffer_create(device, &(qn_buffer_desc){.size = g->length, .host = g->pages}, &g->whole);
}

qn_status guarded_create(qn_device *device, const void *data, uint64_t size, guarded *g) {
    *g = (guarded){.size = size, .length = in_pages(size) + PAGE};
    if (takes_pages(device) && !(g->pages = map_between_faults(g->length))) return QN_ERROR_OUT_OF_MEMORY;
    /* Views begin at multiples of 16 bytes. */
    g->before = (g->length - size - (g->pages ? 0 : PAGE / 2)) / 16 * 16;
    unsigned char *marks = malloc(g->length);
    if (!marks) return QN_ERROR_OUT_OF_MEMORY;
    memset(marks, MARK, g->length);
    memcpy(marks + g->before, data, size);
    qn_status status = create_whole(device, marks, g);
    free(marks);
    return status ? status : qn_buffer_view(g->whole, g->before, size, &g->buffer);
}

bool guarded_is_intact(const guarded *g) {
    unsigned char *bytes = malloc(g->length);
    bool intact = bytes && !qn_buffer_read(g->whole, 0, bytes, g->length);
    for (uint64_t i = 0; i < g->length && intact; i++)
        intact = (i >= g->before && i < g->before + g->size) || bytes[i] == MARK;
    free(bytes);
    return intact;
}

void guarded_destroy(qn_device *device, guarded *g) {
    qn_buffer_destroy(g->buffer);
    qn_buffer_destroy(g->whole);
    if (g->pages && !qn_device_wait(device, QN_FOREVER)) munmap(g->pages - PAGE, g->length + 2 * PAGE);
}
