/* Memory between pages that nobody may touch: an access just behind its end, or far in front of its begin, is a fault instead of a
   change of something else. */
#ifndef QN__FENCE_H
#define QN__FENCE_H

#include <stddef.h>

/* `size` bytes, zeros, whose end is that of what may be touched, but for what is missing to a multiple of `align` (a power of two up to a
   page). NULL: there is no more memory, or none of this kind. */
void *qn__fence_allocate(size_t size, size_t align);
void qn__fence_release(void *memory, size_t size);
/* A page of its own that belongs to the memory, for what its owner notes; behind another that nobody may touch. */
void *qn__fence_notes(const void *memory);

#endif
