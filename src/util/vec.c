/* Growth of arena arrays; see vec.h. */
#include "util/vec.h"

void *qn__vec_grow(qn__arena *arena, void *data, size_t *cap, size_t item_size, size_t wanted) {
    size_t new_cap = *cap ? *cap * 2 : 8;
    if (new_cap < wanted) new_cap = wanted;
    if (new_cap > SIZE_MAX / 2 / item_size) new_cap = SIZE_MAX / 2 / item_size + 1; /* which escapes */
    data = qn__arena_grow(arena, data, *cap * item_size, new_cap * item_size);
    *cap = new_cap;
    return data;
}
