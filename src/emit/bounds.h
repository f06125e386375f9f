/* What targets ask about the values of floats; see bounds.c. */
#ifndef QN__BOUNDS_H
#define QN__BOUNDS_H

#include "ir/ir.h"

/* Whether an f32 (each lane of a vector) is NaN or known to be neither tiny nor huge: from 2^-100 to 2^100, or the
   negative of that. A short way to its reciprocal then needs no test. */
bool qn__is_moderate(const ir_value *value);

#endif
