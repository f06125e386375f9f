/* The device's memory and its cells. */
#include <string.h>

#include "check/internal.h"

enum { ALIGN = 128 };
static const uint64_t most_freed = (uint64_t)64 << 20; /* bytes that stay after they are freed */

qn__checker *qn__checker_create(const qn__allocator *allocator) {
    qn__checker *checker = qn__allocate_zeroed(allocator, sizeof *checker);
    if (!checker) return NULL;
    checker->allocator = allocator;
    checker->time = 1;
    qn__arena_init(&checker->arena, allocator, 0);
    return checker;
}

static void release(qn__checker *checker, qn__check_region *region) {
    qn__release(checker->allocator, region->cells);
    qn__release(checker->allocator, region->base);
    qn__release(checker->allocator, region);
}

static void release_all(qn__checker *checker, qn__check_region *region) {
    for (qn__check_region *next; region; region = next) {
        next = region->next;
        release(checker, region);
    }
}

void qn__checker_destroy(qn__checker *checker) {
    if (!checker) return;
    release_all(checker, checker->regions);
    release_all(checker, checker->freed);
    qn__arena_free(&checker->arena);
    qn__release(checker->allocator, checker);
}

void *qn__check_memory_create(qn__checker *checker, uint64_t size) {
    if (size > SIZE_MAX / 2) return NULL;
    unsigned char *base = qn__allocate(checker->allocator, (size_t)size + ALIGN);
    qn__check_region *region = base ? qn__allocate_zeroed(checker->allocator, sizeof *region) : NULL;
    if (!region) {
        qn__release(checker->allocator, base);
        return NULL;
    }
    unsigned char *aligned = base + (ALIGN - (uintptr_t)base % ALIGN) % ALIGN;
    *region = (qn__check_region){
        .next = checker->regions, .base = base, .begin = (uintptr_t)aligned, .size = size, .shift = 2};
    checker->regions = region;
    return aligned;
}

/* The oldest go first. */
static void forget_freed(qn__checker *checker) {
    while (checker->freed_size > most_freed) {
        qn__check_region **last = &checker->freed;
        while ((*last)->next) last = &(*last)->next;
        checker->freed_size -= (*last)->size;
        release(checker, *last);
        *last = NULL;
    }
}

void qn__check_memory_destroy(qn__checker *checker, void *memory) {
    qn__check_region **at = &checker->regions;
    while ((*at)->begin != (uintptr_t)memory) at = &(*at)->next;
    qn__check_region *region = *at;
    *at = region->next;
    qn__release(checker->allocator, region->cells);
    region->cells = NULL;
    region->is_freed = true;
    region->next = checker->freed;
    checker->freed = region;
    checker->freed_size += region->size;
    forget_freed(checker);
}

static qn__check_region *find(qn__check_region *region, uint64_t address) {
    while (region && address - region->begin >= region->size) region = region->next;
    return region;
}

qn__check_region *qn__check_find(qn__checker *checker, uint64_t address) {
    qn__check_region *live = find(checker->regions, address);
    return live ? live : find(checker->freed, address);
}

/* A cell of 4 bytes becomes four, which all have its past. */
static bool refine(qn__checker *checker, qn__check_region *region) {
    const uint64_t count = region->size;
    if (count > SIZE_MAX / sizeof(qn__check_cell)) return false;
    qn__check_cell *cells = qn__allocate(checker->allocator, (size_t)count * sizeof *cells);
    if (!cells) return false;
    for (uint64_t i = 0; i < count; i++) cells[i] = region->cells[i >> region->shift];
    qn__release(checker->allocator, region->cells);
    region->cells = cells;
    region->shift = 0;
    return true;
}

qn__check_cell *qn__check_cells(qn__checker *checker, qn__check_region *region, uint64_t offset,
                                uint64_t size) {
    if (!region->cells) {
        const uint64_t count = (region->size >> region->shift) + 1;
        if (count <= SIZE_MAX / sizeof(qn__check_cell))
            region->cells = qn__allocate_zeroed(checker->allocator, (size_t)count * sizeof *region->cells);
    }
    const bool is_small = region->shift && (offset | size) % 4;
    if (!region->cells || (is_small && !refine(checker, region))) {
        checker->is_out_of_memory = true;
        return NULL;
    }
    return region->cells + (offset >> region->shift);
}
