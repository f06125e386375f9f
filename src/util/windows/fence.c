/* Pages as Windows has them; see fence.h, and posix/fence.c for where they lie. */
#include "util/fence.h"

#ifdef _WIN32 /* tools that read all sources read nothing more elsewhere */
#include <stdbool.h>
#include <stdint.h>

#include "util/windows/windows.h"

enum { FENCE_PAGES = 16, PAGES_APART = 1 + 2 * FENCE_PAGES }; /* a fence takes addresses, no memory */

static size_t page_size(void) {
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwPageSize;
}

static size_t rounded(size_t size, size_t to) { return (size + to - 1) / to * to; }

void *qn__fence_allocate(size_t size, size_t align) {
    const size_t page = page_size();
    if (size > SIZE_MAX - (PAGES_APART + 1) * page) return NULL;
    const size_t inner = rounded(size, page);
    unsigned char *base = VirtualAlloc(NULL, inner + PAGES_APART * page, MEM_RESERVE, PAGE_NOACCESS);
    if (!base) return NULL;
    if (!VirtualAlloc(base, page, MEM_COMMIT, PAGE_READWRITE) ||
        !VirtualAlloc(base + (1 + FENCE_PAGES) * page, inner, MEM_COMMIT, PAGE_READWRITE)) {
        VirtualFree(base, 0, MEM_RELEASE);
        return NULL;
    }
    return base + (1 + FENCE_PAGES) * page + inner - rounded(size, align);
}

void *qn__fence_notes(const void *memory) {
    const size_t page = page_size();
    return (unsigned char *)memory - (uintptr_t)memory % page - (1 + FENCE_PAGES) * page;
}

void qn__fence_release(void *memory, size_t size) {
    (void)size;
    VirtualFree(qn__fence_notes(memory), 0, MEM_RELEASE);
}
#endif
