/* Growth of arena arrays; see vec.h. */
#include "util/vec.h"

#include <string.h>

void *qn__vec_grow(qn__arena *arena, void *data, size_t len, size_t *cap, size_t item_size, size_t wanted) {
    size_t new_cap = *cap ? *cap * 2 : 8;
    if (new_cap < wanted) new_cap = wanted;
    void *grown = qn__arena_calloc(arena, new_cap, item_size);
    if (len) memcpy(grown, data, len * item_size);
    *cap = new_cap;
    return grown;
}
