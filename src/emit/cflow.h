/* What targets whose text is like C print alike beside expressions (cfamily.h) and constants (cdata.h): lines, constructs,
   jumps and the values that they hand over. How a dialect declares, names and sets a value is its table. A dialect
   without goto lacks far jumps (target.def): then every jump is a `break` or `continue`, or falls through. */
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
void qn__c_write_label(qn__c_writer *w, const char *name, unsigned number);
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
    /* Declares what is set later, and a loop's parameter with its first value. */
    void (*declare)(void *user, const ir_value *value);
    void (*start)(void *user, const ir_value *param, const ir_value *value);
    const char *(*condition)(void *user, const ir_value *value);
    bool (*is_likely)(void *user, const ir_instr *branch); /* its first region is; NULL: nothing is known */
    bool (*loop)(void *user,
                 ir_instr *loop); /* its own way to write one whose parameters are set; may be NULL */
    void (*region)(void *user, ir_region *region);
} qn__c_dialect;

/* Where jumps lead, of a kernel whose constructs are numbered by their marks. */
typedef struct qn__c_flow {
    qn__c_writer *text;
    const ir_instr
        *inner_loop; /* innermost construct that is a loop of the text: `break` and `continue` mean it */
    bool *is_left,
        *is_repeated; /* by mark: a goto leads behind the construct; to the end of the loop's body */
} qn__c_flow;

void qn__c_flow_begin(qn__c_flow *flow, qn__arena *arena, qn__c_writer *text, uint32_t num_instrs);

/* The assignments of a jump, which take place at once: where one overwrites what a later one reads, copies are made
   first. */
void qn__c_hand_over(qn__c_writer *w, qn__arena *arena, const qn__c_dialect *dialect, void *user,
                     ir_value *const *targets, ir_value *const *values, uint32_t count);
/* Nothing but a yield of what is not used. */
bool qn__c_is_empty(const qn__c_dialect *dialect, void *user, const ir_region *region);
/* Without sides that are empty. The results have been declared. */
void qn__c_if(qn__c_writer *w, const qn__c_dialect *dialect, void *user, const ir_instr *instr);

/* `head` opens the loop: "for (;;) {". Gives what close wants back. */
const ir_instr *qn__c_open_loop(qn__c_flow *flow, const ir_instr *loop, const char *head);
void qn__c_close_loop(qn__c_flow *flow, const ir_instr *outer);
/* Labels, where a goto leads there: at the end of a loop's body, and behind a construct. */
void qn__c_repeat_label(qn__c_flow *flow, const ir_instr *loop);
void qn__c_leave_label(qn__c_flow *flow, const ir_instr *construct);
/* What a yield, break or continue does when the values are handed over. */
void qn__c_jump(qn__c_flow *flow, const ir_instr *jump);
/* A construct that is one of the text, too. */
void qn__c_construct(qn__c_flow *flow, const qn__c_dialect *dialect, void *user, ir_instr *construct);

#endif
