/* Arena allocation; see arena.h. */
#include "util/arena.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/str.h"

struct qn__arena_block {
    qn__arena_block *next;
    size_t size; /* of the bytes behind the header, which stay aligned to 16 */
};

enum { FIRST_BLOCK = 64 << 10, LARGEST_BLOCK = 16 << 20, STORE_SIZE = 8 << 20 };

void *qn__allocate(const qn__allocator *allocator, size_t size) {
    if (allocator && allocator->allocate) return allocator->allocate(allocator->user, size);
    return malloc(size);
}

void *qn__allocate_zeroed(const qn__allocator *allocator, size_t size) {
    void *memory = qn__allocate(allocator, size);
    if (memory) memset(memory, 0, size);
    return memory;
}

void *qn__reallocate(const qn__allocator *allocator, void *memory, size_t size) {
    if (allocator && allocator->reallocate) return allocator->reallocate(allocator->user, memory, size);
    return realloc(memory, size);
}

void qn__release(const qn__allocator *allocator, void *memory) {
    if (!memory) return;
    if (allocator && allocator->release)
        allocator->release(allocator->user, memory);
    else
        free(memory);
}

/* ---- blocks ---- */

void qn__arena_store_init(qn__arena_store *store, const qn__allocator *allocator) {
    *store = (qn__arena_store){.allocator = allocator};
    pthread_mutex_init(&store->lock, NULL);
}

void qn__arena_store_free(qn__arena_store *store) {
    while (store->first) {
        qn__arena_block *next = store->first->next;
        qn__release(store->allocator, store->first);
        store->first = next;
    }
    pthread_mutex_destroy(&store->lock);
}

/* The smallest that is large enough, or NULL: a small arena must not get what a large one will want. */
static qn__arena_block *take_from(qn__arena_store *store, size_t size) {
    pthread_mutex_lock(&store->lock);
    qn__arena_block **best = NULL;
    for (qn__arena_block **link = &store->first; *link; link = &(*link)->next)
        if ((*link)->size >= size && (!best || (*link)->size < (*best)->size)) best = link;
    qn__arena_block *block = best ? *best : NULL;
    if (block) {
        *best = block->next;
        store->size -= block->size;
    }
    pthread_mutex_unlock(&store->lock);
    return block;
}

/* False: it holds enough. */
static bool give_to(qn__arena_store *store, qn__arena_block *block) {
    pthread_mutex_lock(&store->lock);
    const bool fits = store->size + block->size <= STORE_SIZE;
    if (fits) {
        block->next = store->first;
        store->first = block;
        store->size += block->size;
    }
    pthread_mutex_unlock(&store->lock);
    return fits;
}

static void give_back(const qn__arena *arena, qn__arena_block *block) {
    if (!arena->store || !give_to(arena->store, block)) qn__release(arena->allocator, block);
}

/* ---- arenas ---- */

void qn__arena_init(qn__arena *arena, const qn__allocator *allocator, size_t budget) {
    *arena = (qn__arena){.allocator = allocator, .budget = budget};
}

static char *start_of(qn__arena_block *block) { return (char *)(block + 1); }

size_t qn__arena_used(const qn__arena *arena) {
    return arena->earlier + (arena->block ? (size_t)(arena->at - start_of(arena->block)) : 0);
}

void qn__arena_free(qn__arena *arena) {
    while (arena->block) {
        qn__arena_block *next = arena->block->next;
        give_back(arena, arena->block);
        arena->block = next;
    }
    arena->at = arena->end = NULL;
    arena->earlier = 0;
}

/* What is left of the budget is `left`, if there is one. */
static void use_block(qn__arena *arena, qn__arena_block *block, size_t left) {
    const bool is_less = arena->budget && left < block->size;
    arena->block = block;
    arena->at = start_of(block);
    arena->end = arena->at + (is_less ? left & ~(size_t)(QN__ARENA_ALIGN - 1) : block->size);
}

void qn__arena_reset(qn__arena *arena) {
    qn__arena_block *kept = arena->block;
    if (!kept) return;
    arena->block = kept->next;
    qn__arena_free(arena);
    kept->next = NULL;
    use_block(arena, kept, arena->budget);
}

static QN__NORETURN void escape(qn__arena *arena, int reason) { longjmp(*arena->escape, reason); }

/* Each block has four times the size of the last, so that a compile takes few of them and a small one little
   memory. `size` is rounded. */
static void add_block(qn__arena *arena, size_t size) {
    const size_t used = qn__arena_used(arena);
    if (arena->budget && (used > arena->budget || size > arena->budget - used))
        escape(arena, QN__ESCAPE_BUDGET);
    size_t wanted = arena->block ? arena->block->size * 4 : FIRST_BLOCK;
    if (wanted > LARGEST_BLOCK) wanted = LARGEST_BLOCK;
    if (wanted < size) wanted = size;
    qn__arena_block *block = arena->store ? take_from(arena->store, wanted) : NULL;
    if (!block) {
        block = qn__allocate(arena->allocator, sizeof *block + wanted);
        if (!block) escape(arena, QN__ESCAPE_MEMORY);
        block->size = wanted;
    }
    block->next = arena->block;
    arena->earlier = used;
    use_block(arena, block, arena->budget - used);
}

static size_t rounded(qn__arena *arena, size_t size) {
    if (size > SIZE_MAX / 2) escape(arena, QN__ESCAPE_BUDGET);
    return (size + QN__ARENA_ALIGN - 1) & ~(size_t)(QN__ARENA_ALIGN - 1);
}

void *qn__arena_take_slowly(qn__arena *arena, size_t size) {
    size = rounded(arena, size);
    if (!arena->block || (size_t)(arena->end - arena->at) < size) add_block(arena, size);
    void *memory = arena->at;
    arena->at += size;
    return memory;
}

void *qn__arena_grow(qn__arena *arena, void *memory, size_t size, size_t wanted) {
    const size_t extra = rounded(arena, wanted) - rounded(arena, size);
    const bool is_last = memory && (char *)memory + rounded(arena, size) == arena->at;
    if (!is_last || (size_t)(arena->end - arena->at) < extra) {
        char *grown = qn__arena_take(arena, wanted);
        return size ? memcpy(grown, memory, size) : grown;
    }
    arena->at += extra;
    return memory;
}

void *qn__arena_copy(qn__arena *arena, const void *data, size_t size) {
    void *copy = qn__arena_take(arena, size);
    return size ? memcpy(copy, data, size) : copy;
}

char *qn__arena_strndup(qn__arena *arena, const char *text, size_t length) {
    char *copy = qn__arena_take(arena, length + 1);
    if (length) memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

char *qn__arena_strdup(qn__arena *arena, const char *text) {
    return qn__arena_strndup(arena, text, strlen(text));
}

char *qn__arena_vprintf(qn__arena *arena, const char *format, va_list args) {
    qn__buf text;
    qn__buf_init(&text, arena);
    qn__buf_reserve(&text, 128); /* most are shorter: one piece of memory */
    qn__buf_vprintf(&text, format, args);
    /* What is left of the room goes back. */
    size_t cap = rounded(arena, text.cap), used = rounded(arena, text.len + 1);
    if (text.data + cap == arena->at) arena->at -= cap - used;
    return text.data;
}

char *qn__arena_printf(qn__arena *arena, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = qn__arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}
