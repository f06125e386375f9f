/* What targets whose text is like C print alike beside expressions (cfamily.h): lines, the values that a jump hands over,
   and `if`. How a dialect declares, names and sets a value is its table. */
#ifndef QN__CFLOW_H
#define QN__CFLOW_H

#include "emit/emit.h"
#include "ir/ir.h"

/* Where text goes, a line at a time. */
typedef struct qn__c_writer {
    qn__buf *out;
    unsigned depth;     /* of indentation */
    uint32_t line;      /* in `source`, of what is written now, for a debugger; 0: lines do not tell */
    const char *source; /* a file's name */
} qn__c_writer;

void qn__c_write(qn__c_writer *w, const char *format, ...) QN__PRINTF(2, 3);
void qn__c_write_open(qn__c_writer *w, const char *format, ...) QN__PRINTF(2, 3); /* then one level deeper */
void qn__c_write_close(qn__c_writer *w, const char *text);                        /* one level up first */
void qn__c_write_else(qn__c_writer *w);
/* The lines from now on come from there. */
void qn__c_write_from(qn__c_writer *w, const ir_module *module, const qn__emit_options *options, ir_loc loc);

/* `user` is the emitter. */
typedef struct qn__c_dialect {
    bool (*is_used)(void *user, const ir_value *value);         /* NULL: all are */
    unsigned (*num_pieces)(void *user, const ir_value *target); /* variables that hold it */
    /* Declares a copy of a piece of the value, `next` and numbers; its name. */
    const char *(*keep)(void *user, const ir_value *target, const ir_value *value, unsigned index,
                        unsigned piece);
    /* target = value, or that copy of it. */
    void (*set)(void *user, const ir_value *target, const ir_value *value, const char *copy, unsigned piece);
    void (*region)(void *user, ir_region *region);
} qn__c_dialect;

/* The assignments of a jump, which take place at once: where one overwrites what a later one reads, copies are made
   first. */
void qn__c_hand_over(qn__c_writer *w, qn__arena *arena, const qn__c_dialect *dialect, void *user,
                     ir_value *const *targets, ir_value *const *values, uint32_t count);
/* Nothing but a yield of what is not used. */
bool qn__c_is_empty(const qn__c_dialect *dialect, void *user, const ir_region *region);
/* Without sides that are empty. The results have been declared. */
void qn__c_if(qn__c_writer *w, const qn__c_dialect *dialect, void *user, const ir_instr *instr,
              const char *condition);

#endif
