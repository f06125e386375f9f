/* Growable array in an arena: QN__VEC(int) numbers = {0}; qn__vec_push(arena, &numbers, 7); numbers.data[0].
   Growth is in place where nothing has been allocated since, else it leaves the old storage to the arena; what has
   not been pushed yet is not zeroed. */
#ifndef QN__VEC_H
#define QN__VEC_H

#include "util/arena.h"

#define QN__VEC(type)                                                                                        \
    struct {                                                                                                 \
        type *data;                                                                                          \
        size_t len, cap;                                                                                     \
    }

/* Returns the new storage; used by the macros below only. */
void *qn__vec_grow(qn__arena *arena, void *data, size_t *cap, size_t item_size, size_t wanted);

#define qn__vec_reserve(arena, vec, wanted)                                                                  \
    ((vec)->cap >= (wanted) ? (void)0                                                                        \
                            : (void)((vec)->data = qn__vec_grow((arena), (vec)->data, &(vec)->cap,           \
                                                                sizeof *(vec)->data, (wanted))))
#define qn__vec_push(arena, vec, ...)                                                                        \
    (qn__vec_reserve((arena), (vec), (vec)->len + 1), (vec)->data[(vec)->len] = __VA_ARGS__,                 \
     (void)(vec)->len++)
#define qn__vec_pop(vec)  ((vec)->data[--(vec)->len])
#define qn__vec_last(vec) ((vec)->data[(vec)->len - 1])

#endif
