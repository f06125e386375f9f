/* Memory of the CPU device: host memory, aligned for vector loads. What is live is in a list, by which the interpreter tells
   memory of the device from other addresses that a kernel may come up with. Large pieces are fenced (util/fence.h), where the context
   has no functions of its own for memory. */
#include <stdio.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "util/fence.h"

enum { MEMORY_ALIGN = 128, FENCED_SIZE = 256 << 10, FENCED_ALIGN = 2 * MEMORY_ALIGN };

/* In front of the memory, or among the notes of memory that is fenced; of the caller's memory by itself. */
struct qn__cpu_block {
    qn__cpu_block *next, *before;
    void *base; /* as allocated; NULL: it is fenced */
    unsigned char *begin;
    uint64_t size;
};

_Static_assert(sizeof(qn__cpu_block) <= MEMORY_ALIGN, "it has room in front of the memory");

static void unchain(qn__gpu *gpu, qn__cpu_block *block) {
    if (block->before)
        block->before->next = block->next;
    else
        gpu->blocks = block->next;
    if (block->next) block->next->before = block->before;
}

static void put_first(qn__gpu *gpu, qn__cpu_block *block) {
    block->before = NULL;
    block->next = gpu->blocks;
    if (block->next) block->next->before = block;
    gpu->blocks = block;
}

static void add(qn__gpu *gpu, qn__cpu_block *block) {
    pthread_mutex_lock(&gpu->memory_lock);
    put_first(gpu, block);
    pthread_mutex_unlock(&gpu->memory_lock);
}

static void release_block(qn__gpu *gpu, qn__cpu_block *block) {
    if (block->base)
        qn__release(gpu->services->allocator, block->base);
    else
        qn__fence_release(block->begin, (size_t)block->size);
}

/* While kernels run that have looked memory up, what they may have found stays. The lock is held, and is not afterwards. */
static void take_out(qn__gpu *gpu, qn__cpu_block *block) {
    unchain(gpu, block);
    const bool stays = gpu->lookers != 0;
    if (stays) {
        block->next = gpu->dead_blocks;
        gpu->dead_blocks = block;
    }
    pthread_mutex_unlock(&gpu->memory_lock);
    if (!stays) release_block(gpu, block);
}

/* The handle tells of which kind the memory is: what is not fenced begins at an odd multiple of MEMORY_ALIGN. */
static qn__cpu_block *block_of(const qn__memory *memory) {
    const bool is_fenced = (uintptr_t)memory % FENCED_ALIGN == 0;
    return is_fenced ? qn__fence_notes(memory) : (qn__cpu_block *)(void *)memory - 1;
}

/* NULL: there is no memory, or it is not to be fenced. */
static unsigned char *allocate_fenced(const qn__gpu *gpu, uint64_t size) {
    if (size < FENCED_SIZE || gpu->services->allocator->allocate) return NULL;
    unsigned char *begin = qn__fence_allocate((size_t)size, FENCED_ALIGN);
    if (begin) *block_of((qn__memory *)begin) = (qn__cpu_block){.begin = begin, .size = size};
    return begin;
}

static unsigned char *allocate(const qn__gpu *gpu, uint64_t size) {
    unsigned char *base = qn__allocate(gpu->services->allocator, (size_t)size + 2 * FENCED_ALIGN);
    if (!base) return NULL;
    unsigned char *begin = base + FENCED_ALIGN - (uintptr_t)base % FENCED_ALIGN + MEMORY_ALIGN;
    *block_of((qn__memory *)begin) = (qn__cpu_block){.base = base, .begin = begin, .size = size};
    return begin;
}

qn_status qn__cpu_memory_create(qn__gpu *gpu, uint64_t size, qn__memory **memory, uint64_t *address,
                                void **host, char *why) {
    if (size > SIZE_MAX - 2 * FENCED_ALIGN) return QN_ERROR_DEVICE_MEMORY;
    unsigned char *begin = allocate_fenced(gpu, size);
    if (!begin) begin = allocate(gpu, size);
    if (!begin) {
        snprintf(why, QN__WHY, "the system has no more memory");
        return QN_ERROR_DEVICE_MEMORY;
    }
    *memory = (qn__memory *)begin;
    *address = (uint64_t)(uintptr_t)begin;
    *host = begin;
    add(gpu, block_of(*memory));
    return QN_OK;
}

void qn__cpu_memory_destroy(qn__gpu *gpu, qn__memory *memory) {
    pthread_mutex_lock(&gpu->memory_lock);
    take_out(gpu, block_of(memory));
}

qn_status qn__cpu_host_import(qn__gpu *gpu, void *host, uint64_t size, bool read_only, qn__memory **memory,
                              uint64_t *address, char *why) {
    (void)read_only, (void)why;
    qn__cpu_block *block = qn__allocate(gpu->services->allocator, sizeof *block);
    if (!block) return QN_ERROR_OUT_OF_MEMORY;
    *block = (qn__cpu_block){.base = block, .begin = host, .size = size};
    add(gpu, block);
    *memory = host;
    *address = (uint64_t)(uintptr_t)host;
    return QN_OK;
}

/* One address may have been imported more than once. */
void qn__cpu_host_import_end(qn__gpu *gpu, qn__memory *memory, void *host, uint64_t size) {
    (void)memory;
    pthread_mutex_lock(&gpu->memory_lock);
    qn__cpu_block *block = gpu->blocks;
    while (block->begin != host || block->size != size || block->base != block) block = block->next;
    take_out(gpu, block);
}

/* What is found comes to the front: the next that is looked for is most often the same. */
bool qn__cpu_memory_find(qn__gpu *gpu, bool *looks, uint64_t address, uint64_t *begin, uint64_t *size) {
    pthread_mutex_lock(&gpu->memory_lock);
    qn__cpu_block *block = gpu->blocks;
    while (block && address - (uintptr_t)block->begin >= block->size) block = block->next;
    if (block) {
        unchain(gpu, block);
        put_first(gpu, block);
        gpu->lookers += !*looks;
        *looks = true;
        *begin = (uintptr_t)block->begin;
        *size = block->size;
    }
    pthread_mutex_unlock(&gpu->memory_lock);
    return block != NULL;
}

void qn__cpu_memory_leave(qn__gpu *gpu) {
    qn__cpu_block *dead = NULL;
    pthread_mutex_lock(&gpu->memory_lock);
    if (--gpu->lookers == 0) {
        dead = gpu->dead_blocks;
        gpu->dead_blocks = NULL;
    }
    pthread_mutex_unlock(&gpu->memory_lock);
    for (qn__cpu_block *next; dead; dead = next) {
        next = dead->next;
        release_block(gpu, dead);
    }
}
