/* Floats of 8 and 16 bits as integers, for the lowerings of conversions from and to f32. */
#ifndef QN__PASS_SMALL_FLOAT_H
#define QN__PASS_SMALL_FLOAT_H

#include "pass/lowering.h"

typedef struct qn__small_float {
    unsigned bits, fraction, bias;
    unsigned largest, beyond; /* the largest number, and what follows it: infinity or NaN */
    unsigned nan;
    double overflow;   /* to nearest even, what is larger is too large */
    bool overflows_at; /* and that number itself */
} qn__small_float;

/* The code, as words with zeros above, of a number or a vector of them, and back. `saturates`: what is too large becomes the
   largest number. */
ir_value *qn__to_small_float(qn__lowering *l, ir_value *value, const qn__small_float *f, ir_rounding rounding,
                             bool saturates);
ir_value *qn__from_small_float(qn__lowering *l, ir_value *word, const qn__small_float *f);

#endif
