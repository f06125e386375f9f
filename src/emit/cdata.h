/* Constants of targets whose text is like C: literals, and the __constant objects of a module. How a dialect spells them
   is its tables. */
#ifndef QN__CDATA_H
#define QN__CDATA_H

#include "emit/cfamily.h"

typedef struct qn__c_literals {
    const char *truth[2]; /* false and true */
    bool f16_is_bits; /* f16 are integers that hold their bits; else spelled as the f32 of the same value */
    /* Integers, addresses and such bits; `listed`: in an initialiser, whose array tells the type. */
    void (*integer)(qn__buf *out, ir_kind kind, uint64_t bits, bool listed);
    void (*not_finite)(qn__buf *out, ir_kind kind, double value, uint64_t bits); /* infinities and NaN */
} qn__c_literals;

/* A constant's lane as an expression. */
void qn__c_literal(qn__buf *out, const qn__c_literals *literals, ir_kind kind, uint64_t bits);

/* `user` is the emitter. */
typedef struct qn__c_objects {
    const qn__c_literals *literals;
    const char *storage, *byte, *pointer,
        *name;     /* how an object begins; names of a byte, a pointer to one, the objects */
    bool comments; /* tells the names in the source */
    ir_kind (*element)(void *user, const ir_global *global); /* of a table of numbers; IR_VOID: bytes */
    const char *(*type)(void *user, ir_kind element);
    /* True where it has another way for an object without addresses; may be NULL. */
    bool (*own)(void *user, const ir_global *global, uint32_t index);
} qn__c_objects;

/* The objects in `used` (by index) and what those point to, which it marks. Objects with addresses in them come last. */
void qn__c_constants(qn__buf *out, const qn__c_objects *objects, void *user, const ir_module *module,
                     bool *used);

#endif
