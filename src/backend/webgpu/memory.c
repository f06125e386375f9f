/* Buffers, and what goes to, from and between them. WebGPU copies words at multiples of words; what begins or ends within
   one takes its neighbours along by way of the host. */
#include <stdio.h>
#include <string.h>

#include "backend/webgpu/webgpu.h"

enum { WORD = 4, PIECE = 1 << 20 };

wg_object qn__wg_buffer(qn__gpu *gpu, uint64_t usage, uint64_t size, char *message) {
    message[0] = 0;
    qn__wg_scope_begin(gpu);
    wg_object buffer =
        gpu->api->wgpuDeviceCreateBuffer(gpu->device, &(wg_buffer_desc){.usage = usage, .size = size});
    if (!qn__wg_scope_end(gpu, message, QN__WHY)) return buffer;
    if (buffer) gpu->api->wgpuBufferRelease(buffer);
    return NULL;
}

static qn_status no_memory(const qn__gpu *gpu, uint64_t size, const char *message, char *why) {
    snprintf(why, QN__WHY,
             "no %llu bytes of device memory%s%.200s; the device has buffers of up to %llu bytes, and %llu "
             "are in use",
             (unsigned long long)size, *message ? ": " : "", message, (unsigned long long)gpu->max_buffer,
             (unsigned long long)atomic_load(&gpu->used));
    return QN_ERROR_DEVICE_MEMORY;
}

qn_status qn__wg_memory_create(qn__gpu *gpu, uint64_t size, qn__memory **out, uint64_t *address, void **host,
                               char *why) {
    enum { ALIGN = 16, PAGE = 4096 };
    char message[QN__WHY];
    *host = NULL;
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    const uint64_t room =
        size > UINT64_MAX / 2 ? size : (size + ALIGN - 1) / ALIGN * ALIGN + (size ? 0 : ALIGN);
    if (room > gpu->max_buffer) return no_memory(gpu, size, "", why);
    qn__memory *memory = qn__allocate_zeroed(gpu->services->allocator, sizeof *memory);
    if (!memory) return QN_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&gpu->lock);
    memory->buffer = qn__wg_buffer(gpu, WG_USE_STORAGE | WG_USE_COPY_FROM | WG_USE_COPY_TO, room, message);
    pthread_mutex_unlock(&gpu->lock);
    if (!memory->buffer) {
        qn__release(gpu->services->allocator, memory);
        return no_memory(gpu, size, message, why);
    }
    memory->room = room;
    memory->size = size;
    memory->address = atomic_fetch_add(&gpu->next_address, (room + 2 * PAGE - 1) / PAGE * PAGE);
    atomic_fetch_add(&gpu->used, room);
    *address = memory->address;
    *out = memory;
    return QN_OK;
}

void qn__wg_memory_destroy(qn__gpu *gpu, qn__memory *memory) {
    pthread_mutex_lock(&gpu->lock);
    gpu->api->wgpuBufferDestroy(memory->buffer);
    gpu->api->wgpuBufferRelease(memory->buffer);
    pthread_mutex_unlock(&gpu->lock);
    atomic_fetch_sub(&gpu->used, memory->room);
    qn__release(gpu->services->allocator, memory);
}

/* ---- transfers ---- */

/* Bytes of the device at once: waits for all before. The lock is given back meanwhile. */
static qn_status fetch(qn__gpu *gpu, const qn__memory *memory, uint64_t offset, uint64_t size, void *host,
                       char *why) {
    qn_status status = qn__wg_read(gpu, memory->buffer, offset, size, host, NULL, why);
    if (status) return status;
    qn__wg_flush(gpu);
    const uint64_t serial = gpu->serial - 1;
    pthread_mutex_unlock(&gpu->lock);
    status = qn__wg_wait_serial(gpu, serial, QN_FOREVER);
    pthread_mutex_lock(&gpu->lock);
    return status;
}

/* What is written comes before what is encoded next, and behind what was submitted. */
static void put(qn__gpu *gpu, const qn__memory *memory, uint64_t offset, const void *data, uint64_t size) {
    qn__wg_flush(gpu);
    gpu->api->wgpuQueueWriteBuffer(gpu->queue, memory->buffer, offset, data, (size_t)size);
}

/* The words that the range touches at an end, changed on the host. */
static qn_status put_edge(qn__gpu *gpu, const qn__memory *memory, uint64_t offset, const unsigned char *data,
                          uint64_t size, char *why) {
    unsigned char words[2 * WORD];
    const uint64_t begin = offset / WORD * WORD, end = (offset + size + WORD - 1) / WORD * WORD;
    qn_status status = fetch(gpu, memory, begin, end - begin, words, why);
    if (status) return status;
    memcpy(words + (offset - begin), data, (size_t)size);
    put(gpu, memory, begin, words, end - begin);
    return QN_OK;
}

static qn_status write(qn__gpu *gpu, const qn__memory *memory, uint64_t offset, const unsigned char *data,
                       uint64_t size, char *why) {
    qn_status status = QN_OK;
    const uint64_t before = offset % WORD ? WORD - offset % WORD : 0;
    if (before && size) {
        const uint64_t first = before < size ? before : size;
        status = put_edge(gpu, memory, offset, data, first, why);
        offset += first, data += first, size -= first;
    }
    const uint64_t whole = size / WORD * WORD;
    if (!status && whole) put(gpu, memory, offset, data, whole);
    if (!status && size > whole)
        status = put_edge(gpu, memory, offset + whole, data + whole, size - whole, why);
    return status;
}

static qn_status fill(qn__gpu *gpu, const qn__command *c, char *why) {
    uint64_t offset = c->to_offset, left = c->size;
    const uint64_t piece = left < PIECE ? left : PIECE / c->pattern_size * c->pattern_size;
    unsigned char *data = qn__allocate(gpu->services->allocator, (size_t)piece + 1);
    qn_status status = QN_OK;
    if (!data) return QN_ERROR_OUT_OF_MEMORY;
    for (uint64_t i = 0; i < piece; i++) data[i] = c->pattern[i % c->pattern_size];
    for (; left && !status; left -= left < piece ? left : piece) {
        status = write(gpu, c->to, offset, data, left < piece ? left : piece, why);
        offset += piece;
    }
    qn__release(gpu->services->allocator, data);
    return status;
}

static bool is_whole(uint64_t number) { return number % WORD == 0; }

/* Of one buffer, or of parts of words: by way of the host. */
static qn_status copy(qn__gpu *gpu, const qn__command *c, char *why) {
    if (c->from != c->to && is_whole(c->from_offset) && is_whole(c->to_offset) && is_whole(c->size)) {
        qn_status status = qn__wg_encode(gpu, false, why);
        if (!status)
            gpu->api->wgpuCommandEncoderCopyBufferToBuffer(gpu->encoder, c->from->buffer, c->from_offset,
                                                           c->to->buffer, c->to_offset, c->size);
        return status;
    }
    unsigned char *data = qn__allocate(gpu->services->allocator, (size_t)c->size + 1);
    if (!data) return QN_ERROR_OUT_OF_MEMORY;
    qn_status status = fetch(gpu, c->from, c->from_offset, c->size, data, why);
    if (!status) status = write(gpu, c->to, c->to_offset, data, c->size, why);
    qn__release(gpu->services->allocator, data);
    return status;
}

qn_status qn__wg_transfer(qn__queue *queue, const qn__command *c, char *why) {
    qn__gpu *gpu = queue->gpu;
    if (!c->size) return QN_OK;
    switch (c->kind) {
    case QN__COMMAND_WRITE: return write(gpu, c->to, c->to_offset, c->host, c->size, why);
    case QN__COMMAND_READ:
        return qn__wg_read(gpu, c->from->buffer, c->from_offset, c->size, c->host, NULL, why);
    case QN__COMMAND_COPY: return copy(gpu, c, why);
    default: return fill(gpu, c, why);
    }
}
