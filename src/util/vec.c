/* Growth of arena arrays; see vec.h. */
#include "util/vec.h"

void *qn__vec_grow(qn__arena *arena, void *data, size_t *cap, size_t item_size, size_t wanted) {
    size_t new_cap = *cap ? *cap * 2 : 8;
    if (new_cap < wanted) new_cap = wanted;
    if (new_cap > SIZE_MAX / 2 / item_size) new_cap = SIZE_MAX / 2 / item_size + 1; /* which escapes */
    const size_t old_cap = *cap;
    *cap = new_cap;
    if (!old_cap) return qn__arena_take(arena, new_cap * item_size); /* most never grow again */
    return qn__arena_grow(arena, data, old_cap * item_size, new_cap * item_size);
}
