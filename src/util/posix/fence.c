/* Pages as POSIX has them; see fence.h.

       notes | fence | ... memory | fence */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "util/fence.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FENCE_PAGES = 16, PAGES_APART = 1 + 2 * FENCE_PAGES }; /* a fence takes addresses, no memory */

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static size_t rounded(size_t size, size_t to) { return (size + to - 1) / to * to; }

void *qn__fence_allocate(size_t size, size_t align) {
    const size_t page = page_size();
    if (size > SIZE_MAX - (PAGES_APART + 1) * page) return NULL;
    const size_t inner = rounded(size, page), all = inner + PAGES_APART * page;
    unsigned char *base = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) return NULL;
    if (mprotect(base, page, PROT_READ | PROT_WRITE) ||
        mprotect(base + (1 + FENCE_PAGES) * page, inner, PROT_READ | PROT_WRITE)) {
        munmap(base, all);
        return NULL;
    }
    return base + (1 + FENCE_PAGES) * page + inner - rounded(size, align);
}

void *qn__fence_notes(const void *memory) {
    const size_t page = page_size();
    return (unsigned char *)memory - (uintptr_t)memory % page - (1 + FENCE_PAGES) * page;
}

void qn__fence_release(void *memory, size_t size) {
    munmap(qn__fence_notes(memory), rounded(size, page_size()) + PAGES_APART * page_size());
}
