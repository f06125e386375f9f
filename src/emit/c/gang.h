/* Gangs: QN_W work-items with consecutive x that run in lock step through SIMD registers, masks for those
   that wait (after ispc: Pharr and Mark, "ispc: A SPMD Compiler for High-Performance CPU Programming"). The
   host compiler vectorises straight chunks by itself; chunks with loops it does not, and those are emitted as
   gangs. A value is the same for the whole gang (ONE: a scalar), steps by a constant from member to member
   (LINE: a scalar, that of the first member), or is free (GANG: a vector for 32-bit numbers and bool, else an
   array). */
#ifndef QN__C_GANG_H
#define QN__C_GANG_H

#include "emit/c/internal.h"

typedef enum c_shape { SHAPE_ONE, SHAPE_LINE, SHAPE_GANG } c_shape;

typedef struct c_line {
    uint8_t state; /* 0: not seen yet, LINE_IS, LINE_NOT */
    bool guarded;  /* only while an extension to 64 bits does not wrap inside the gang */
    int64_t stride;
} c_line;

enum { LINE_IS = 1, LINE_NOT = 2 };

typedef struct c_gang {
    qn__uniformity row;
    c_line *lines; /* by value id */
    bool *chunks;  /* by chunk: emitted as gangs */
    bool *wide;    /* by chunk: vectors are wide (wide.c) */
} c_gang;

/* A nest of masks: the body, then the regions that have one of their own. */
typedef struct c_mask {
    const char *name, *full; /* full: text that tells whether all are active, or NULL */
    const char *live;        /* loop: who still runs it */
    const ir_instr *construct;
    bool reduced; /* members have left since the flag was cleared */
} c_mask;

struct c_gang_state {
    QN__VEC(c_mask) masks;
    const char **lane_texts, **guards; /* by value id, for guarded lines */
    bool in_lane;                      /* inside a loop over the members: names mean one member's */
    uint32_t next;
};

c_gang *qn__c_gang_plan(qn__arena *arena, const c_plan *plan);
c_shape qn__c_shape(const c_emitter *e, const ir_value *value);
bool qn__c_is_vector(ir_type type); /* of a GANG value: a SIMD vector, not an array */
bool qn__c_line_is_exact(const c_gang *gang, const ir_instr *extension);

/* gang_ops.c */
const char *qn__c_gang_use(c_emitter *e, const ir_value *value, unsigned lane); /* as a vector */
void qn__c_gang_declare(c_emitter *e, const ir_value *value);
void qn__c_gang_instr(c_emitter *e, ir_instr *instr);
void qn__c_gang_available(c_emitter *e, const ir_value *value); /* of a value in context arrays */
/* Stores the lanes of a value into its context arrays where the mask says. */
void qn__c_gang_keep(c_emitter *e, const ir_value *to, const ir_value *from);
/* target = value where the mask says, or everywhere. */
void qn__c_gang_set(c_emitter *e, const ir_value *target, const char *value, unsigned lane, bool masked);
const char *qn__c_gang_lane_use(c_emitter *e, const ir_value *value, unsigned lane);
void qn__c_gang_define_lane(c_emitter *e, const ir_value *value, unsigned lane, const char *expression);
extern const char qn__c_gang_prelude[];

/* gang.c */
void qn__c_gang_open(c_emitter *e);
void qn__c_gang_close(c_emitter *e);
void qn__c_gang_body(c_emitter *e, ir_instr *first);
static inline c_mask *qn__c_mask(const c_emitter *e) { return &qn__vec_last(&e->gang->masks); }
const char *qn__c_full(c_emitter *e);

#endif
