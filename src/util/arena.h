/* Arena: all memory of one compile (or of one pass) in a chain of blocks that is freed at once.
   An allocation never returns NULL: when the allocator fails or the budget is spent, control leaves by
   longjmp to the arena's escape point, which the owner of the arena sets. Code that uses an arena therefore
   keeps no other resource across an allocation. One thread at a time. */
#ifndef QN__ARENA_H
#define QN__ARENA_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/compiler.h"

/* Allocator hooks; a zeroed struct means malloc, realloc and free. `user` is passed back to each. */
typedef struct qn__allocator {
    void *(*allocate)(void *user, size_t size);
    void *(*reallocate)(void *user, void *memory, size_t size);
    void (*release)(void *user, void *memory);
    void *user;
} qn__allocator;

void *qn__allocate(const qn__allocator *allocator, size_t size);        /* NULL when out of memory */
void *qn__allocate_zeroed(const qn__allocator *allocator, size_t size); /* NULL when out of memory */
void *qn__reallocate(const qn__allocator *allocator, void *memory, size_t size);
void qn__release(const qn__allocator *allocator, void *memory); /* NULL is fine */

/* Why an arena escaped: the value that setjmp returns. */
enum { QN__ESCAPE_MEMORY = 1, QN__ESCAPE_BUDGET = 2 };

typedef struct qn__arena_block qn__arena_block;

/* Blocks of arenas that are gone, for those to come: their pages are mapped and in the caches, which an allocator may
   or may not see to. Shared by threads; all its arenas have its allocator. */
typedef struct qn__arena_store {
    const qn__allocator *allocator;
    pthread_mutex_t lock;
    qn__arena_block *first;
    size_t size; /* of all blocks */
} qn__arena_store;

void qn__arena_store_init(qn__arena_store *store, const qn__allocator *allocator);
void qn__arena_store_free(qn__arena_store *store);

typedef struct qn__arena {
    const qn__allocator *allocator;
    qn__arena_store *store; /* where blocks come from and go to; NULL: the allocator alone */
    qn__arena_block *block; /* newest first */
    char *at, *end;         /* the room left in the newest, and by the budget */
    size_t earlier;         /* bytes handed out by the other blocks */
    size_t budget;          /* escape beyond this many bytes; 0: no limit */
    jmp_buf *escape;        /* must be set before the first allocation */
} qn__arena;

/* A store may be set behind it. */
void qn__arena_init(qn__arena *arena, const qn__allocator *allocator, size_t budget);
void qn__arena_free(qn__arena *arena);
void qn__arena_reset(qn__arena *arena); /* forgets all; keeps the newest block for what comes next */

size_t qn__arena_used(const qn__arena *arena); /* bytes handed out */

enum { QN__ARENA_ALIGN = 16 };
void *qn__arena_take_slowly(qn__arena *arena, size_t size); /* for qn__arena_take */

/* Memory as it comes, aligned to 16. Nearly always there is room, of which a multiple of 16 bytes is left. */
static inline void *qn__arena_take(qn__arena *arena, size_t size) {
    if (QN__UNLIKELY(size >= (size_t)(arena->end - arena->at))) return qn__arena_take_slowly(arena, size);
    void *memory = arena->at;
    arena->at += (size + QN__ARENA_ALIGN - 1) & ~(size_t)(QN__ARENA_ALIGN - 1);
    return memory;
}

/* The same, zeroed. */
static inline void *qn__arena_alloc(qn__arena *arena, size_t size) {
    return memset(qn__arena_take(arena, size), 0, size);
}
/* As calloc, of items that have a size: escapes with QN__ESCAPE_BUDGET where count * size overflows. */
static inline void *qn__arena_calloc(qn__arena *arena, size_t count, size_t size) {
    if (QN__UNLIKELY(count > SIZE_MAX / size)) return qn__arena_take_slowly(arena, SIZE_MAX);
    return qn__arena_alloc(arena, count * size);
}
/* What stands in `memory` (NULL: nothing) in a larger place, whose rest is not zeroed: in the same one where
   nothing has been allocated since, else in a new one. Sizes are as they were asked for. */
void *qn__arena_grow(qn__arena *arena, void *memory, size_t size, size_t wanted);
void *qn__arena_copy(qn__arena *arena, const void *data, size_t size);
char *qn__arena_strdup(qn__arena *arena, const char *text);
char *qn__arena_strndup(qn__arena *arena, const char *text, size_t length);
char *qn__arena_printf(qn__arena *arena, const char *format, ...) QN__PRINTF(2, 3);
char *qn__arena_vprintf(qn__arena *arena, const char *format, va_list args);

#define QN__NEW(arena, type)              ((type *)qn__arena_alloc((arena), sizeof(type)))
#define QN__NEW_ARRAY(arena, type, count) ((type *)qn__arena_calloc((arena), (count), sizeof(type)))

#endif
