/* The correlations of the newest messages, so that one that is sent again is dropped: a circle of them, and lists by hash. */
#include <string.h>

#include "ring/internal.h"

#define NONE UINT32_MAX

typedef struct entry {
    uint64_t id;   /* 0: nothing */
    uint32_t next; /* in its list */
} entry;

struct qn__ring_window {
    uint32_t size, newest;
    entry *entries;
    uint32_t *lists; /* as many */
};

static uint32_t *list_of(const qn__ring_window *window, uint64_t id) {
    const uint64_t mixed = id * 0x9e3779b97f4a7c15u;
    return &window->lists[(uint32_t)(mixed >> 32) & (window->size - 1)];
}

qn__ring_window *qn__ring_window_create(const qn_ring *ring, uint32_t size) {
    const size_t bytes = sizeof(qn__ring_window) + size * (sizeof(entry) + sizeof(uint32_t));
    qn__ring_window *window = ring->allocator.allocate(ring->allocator.user, bytes);
    if (!window) return NULL;
    memset(window, 0, bytes);
    window->size = size;
    window->entries = (entry *)(window + 1);
    window->lists = (uint32_t *)(window->entries + size);
    for (uint32_t i = 0; i < size; i++) window->lists[i] = NONE;
    return window;
}

static void forget(qn__ring_window *window, uint32_t which) {
    entry *old = &window->entries[which];
    if (!old->id) return;
    uint32_t *at = list_of(window, old->id);
    while (*at != which) at = &window->entries[*at].next;
    *at = old->next;
    old->id = 0;
}

bool qn__ring_window_add(qn__ring_window *window, uint64_t id) {
    uint32_t *list = list_of(window, id);
    for (uint32_t at = *list; at != NONE; at = window->entries[at].next)
        if (window->entries[at].id == id) return false;
    window->newest = (window->newest + 1) & (window->size - 1);
    forget(window, window->newest);
    window->entries[window->newest] = (entry){id, *list};
    *list = window->newest;
    return true;
}

void qn__ring_window_remove(qn__ring_window *window, uint64_t id) {
    for (uint32_t at = *list_of(window, id); at != NONE; at = window->entries[at].next) {
        if (window->entries[at].id != id) continue;
        forget(window, at);
        return;
    }
}
