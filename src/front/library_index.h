/* What src/lib/embed.c generates from builtins.def and src/lib/<name>.cl: two hash tables by name (open
   addressing over qn__hash, linear probing, a power of two slots), and the library texts themselves. Constant
   data, so that a compile pays nothing for it. */
#ifndef QN__FRONT_LIBRARY_INDEX_H
#define QN__FRONT_LIBRARY_INDEX_H

#include "front/library.h"

/* What has one name; count 0: the slot is empty. */
typedef struct front_span {
    uint16_t first, count;
} front_span;

extern const front_span qn__builtin_slots[]; /* spans of qn__builtin_order */
extern const uint32_t qn__builtin_mask;
extern const uint16_t qn__builtin_order[]; /* rows of builtins.def, rows of one name together */

extern const front_span qn__library_slots[]; /* spans of qn__library_entries */
extern const uint32_t qn__library_mask;
extern const front_library_entry qn__library_entries[];
extern const uint32_t qn__library_count;

#endif
