/* Functions that programs call by the name that they have in a header of before, where this header has that name for
   something else. */
#define qn_context_create qn__context_create_inline
#include "quern/quern.h"
#undef qn_context_create

/* Header 1: inline since then, and calls qn_context_create_for. */
QN_API qn_status qn_context_create(const qn_context_desc *desc, qn_context **context);

qn_status qn_context_create(const qn_context_desc *desc, qn_context **context) {
    return qn_context_create_for(1, desc, context);
}
