/* The device's memory and its cells. */
#include <stdio.h>
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
    qn__arena_init(&checker->kept, allocator, 0);
    return checker;
}

static uint64_t cell_bytes(const qn__check_region *region) {
    return region->cells ? ((region->size >> region->shift) + 1) * sizeof(qn__check_cell) : 0;
}

void qn__check_cells_free(qn__checker *checker, qn__check_region *region) {
    checker->shadow -= cell_bytes(region);
    qn__release(checker->allocator, region->cells);
    region->cells = NULL;
}

void qn__check_shadow_add(qn__checker *checker, uint64_t bytes) {
    checker->shadow += bytes;
    if (checker->shadow > checker->stats.shadow) checker->stats.shadow = checker->shadow;
}

static void release(qn__checker *checker, qn__check_region *region) {
    qn__check_cells_free(checker, region);
    qn__release(checker->allocator, region->bits);
    qn__release(checker->allocator, region->label);
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
    qn__arena_free(&checker->kept);
    qn__release(checker->allocator, checker);
}

void *qn__check_memory_create(qn__checker *checker, uint64_t size, bool is_shared) {
    if (size > SIZE_MAX / 2) return NULL;
    unsigned char *base = qn__allocate(checker->allocator, (size_t)size + ALIGN);
    qn__check_region *region = base ? qn__allocate_zeroed(checker->allocator, sizeof *region) : NULL;
    const bool wants_bits =
        checker->settings.also & QN_CHECK_BUFFERS && !is_shared; /* the host may write all of it */
    unsigned char *bits = region && wants_bits ? qn__allocate(checker->allocator, (size_t)size + 1) : NULL;
    if (!region || (wants_bits && !bits)) {
        qn__release(checker->allocator, region);
        qn__release(checker->allocator, base);
        return NULL;
    }
    if (bits) {
        memset(bits, 0xff, (size_t)size);
        qn__check_shadow_add(checker, size);
    }
    checker->shares |= is_shared;
    checker->memory += size;
    if (checker->memory > checker->stats.memory) checker->stats.memory = checker->memory;
    unsigned char *aligned = base + (ALIGN - (uintptr_t)base % ALIGN) % ALIGN;
    *region = (qn__check_region){.next = checker->regions,
                                 .base = base,
                                 .begin = (uintptr_t)aligned,
                                 .size = size,
                                 .bits = bits,
                                 .number = ++checker->num_made,
                                 .is_shared = is_shared,
                                 .shift = 2};
    checker->regions = region;
    return aligned;
}

void qn__check_memory_label(qn__checker *checker, const void *memory, const char *label) {
    qn__check_region *region = checker->regions;
    const size_t size = strlen(label) + 1;
    while (region->begin != (uintptr_t)memory) region = region->next;
    qn__release(checker->allocator, region->label);
    region->label = qn__allocate(checker->allocator, size);
    if (region->label) memcpy(region->label, label, size);
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
    qn__check_cells_free(checker, region);
    if (region->bits) checker->shadow -= region->size;
    qn__release(checker->allocator, region->bits);
    region->bits = NULL;
    region->is_freed = true;
    checker->memory -= region->size;
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
    const uint64_t count = region->size + 1;
    if (count > SIZE_MAX / sizeof(qn__check_cell)) return false;
    qn__check_cell *cells = qn__allocate(checker->allocator, (size_t)count * sizeof *cells);
    if (!cells) return false;
    for (uint64_t i = 0; i < count; i++) cells[i] = region->cells[i >> region->shift];
    qn__check_cells_free(checker, region);
    region->cells = cells;
    region->shift = 0;
    qn__check_shadow_add(checker, cell_bytes(region));
    return true;
}

qn__check_cell *qn__check_cells(qn__checker *checker, qn__check_region *region, uint64_t offset,
                                uint64_t size) {
    if (!region->cells) {
        const uint64_t count = (region->size >> region->shift) + 1;
        if (count <= SIZE_MAX / sizeof(qn__check_cell))
            region->cells = qn__allocate_zeroed(checker->allocator, (size_t)count * sizeof *region->cells);
        qn__check_shadow_add(checker, cell_bytes(region));
    }
    const bool is_small = region->shift && (offset | size) % 4;
    if (!region->cells || (is_small && !refine(checker, region))) {
        checker->is_out_of_memory = true;
        return NULL;
    }
    return region->cells + (offset >> region->shift);
}

/* ---- undefined bits of buffers ---- */

void qn__check_wrote(qn__checker *checker, const void *to, uint64_t size) {
    const qn__check_region *region = size ? find(checker->regions, (uintptr_t)to) : NULL;
    if (region && region->bits) memset(region->bits + ((uintptr_t)to - region->begin), 0, (size_t)size);
}

void qn__check_copied(qn__checker *checker, const void *to, const void *from, uint64_t size) {
    const qn__check_region *source = size ? find(checker->regions, (uintptr_t)from) : NULL;
    const qn__check_region *region = size ? find(checker->regions, (uintptr_t)to) : NULL;
    if (!source || !source->bits || !region || !region->bits)
        qn__check_wrote(checker, to, size);
    else
        memmove(region->bits + ((uintptr_t)to - region->begin),
                source->bits + ((uintptr_t)from - source->begin), (size_t)size);
}

/* ---- settings ---- */

qn_status qn__check_configure(qn__checker *checker, const qn_check_desc *desc, char *why, size_t size) {
    char known[128];
    const qn__check_arch *arch = desc->arch ? qn__check_arch_find(desc->arch, known, sizeof known) : NULL;
    if (desc->arch && !arch) {
        snprintf(why, size, "the architecture '%.40s' is not known; these are: %s", desc->arch, known);
        return QN_ERROR_ARGUMENT;
    }
    checker->settings = *desc;
    checker->settings.arch = NULL; /* the caller's */
    checker->arch = arch;
    return QN_OK;
}

qn_check_stats qn__check_stats(const qn__checker *checker) { return checker->stats; }
