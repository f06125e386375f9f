/* What targets in the C family share: names of scalar types, and the patterns by which ops are
   spelled. A pattern is C text with placeholders: %a %b %c  operands        %t  the result's type       %u
   its unsigned twin %n        the unsigned twin, but at least 32 bits, so that C's promotions cannot overflow
     %k        operand 0's type          %v  its unsigned twin
     %w %m     width in bits and width - 1               %f  "f" for f32, empty for f64 (suffix of built-ins)
   Integers are spelled signed, as i8 ... i64; the emitted text defines these names. */
#ifndef QN__CFAMILY_H
#define QN__CFAMILY_H

#include "ir/ir.h"

const char *qn__c_scalar(ir_kind kind);   /* "i32", "f32", "b1"; pointers "u8 *" */
const char *qn__c_unsigned(ir_kind kind); /* "u32" */
/* A string literal with its quotes. */
void qn__c_quote(qn__buf *out, const char *text);
/* True for text that can be part of a name. */
bool qn__c_is_identifier(const char *text);

typedef struct qn__c_pattern {
    ir_kind result, operand; /* f16 counts as f32 */
    const char *a, *b, *c;
} qn__c_pattern;

void qn__c_expand(qn__buf *out, const char *pattern, const qn__c_pattern *with);

/* How an op on scalars is spelled: an expression, and the definition of the helper function that it calls or
   NULL. `name` is the helper's. */
typedef struct qn__c_spelling {
    const char *expression, *helper_name, *helper;
} qn__c_spelling;

/* NULL where the op is no plain scalar operation. Floats and bool may differ from integers. */
const qn__c_spelling *qn__c_spelling_of(const ir_instr *instr);

#endif
