/* The OpenCL C target, inside: what its files share. clc.c is the frame of a module and its kernels, text.c
   names, types and lines, ops.c operations on values, memory.c what touches memory, flow.c
   constructs, data.c constants, space.c which pointers are to __constant memory.
   Every integer is spelled unsigned, whose arithmetic wraps; signed operations cast. f16 is the ushort of its
   bits (arithmetic on it has been lowered). A bool is `bool`; a vector of bool is a vector of int, 0 or -1. */
#ifndef QN__CLC_INTERNAL_H
#define QN__CLC_INTERNAL_H

#include "emit/cflow.h"
#include "emit/emit.h"
#include "pass/analysis.h"

typedef struct clc_emitter {
    qn__arena *arena;
    ir_module *module;
    ir_function *kernel; /* the one at work */
    const qn__emit_options *options;
    qn__emit_result *result;
    qn__c_writer text; /* of the kernel's body */
    qn__buf helpers;   /* types and functions that the text uses, each once */
    qn__map helper_names;
    bool *global_used;             /* of the module's __constant objects */
    bool uses_f64, uses_64_atomic; /* for the pragmas */
    /* of the kernel at work */
    uint32_t *uses;              /* of each value, by id */
    qn__points_to constant_sets; /* of pointers into __constant */
    bool *space_is_object;       /* of a set's representative */
    QN__VEC(qn__implicit) implicit;
    uint32_t num_instrs;
    qn__c_flow flow;
    ir_loc loc; /* of the instruction at work, for errors and #line */
    bool guarded, uses_sync, uses_sub_groups, prints;
} clc_emitter;

/* ---- text.c ---- */

#define qn__clc_line(e, ...) qn__c_write(&(e)->text, __VA_ARGS__)
#define qn__clc_open(e, ...) qn__c_write_open(&(e)->text, __VA_ARGS__)
static inline void qn__clc_close(clc_emitter *e, const char *text) { qn__c_write_close(&e->text, text); }
void qn__clc_locate(clc_emitter *e, ir_loc loc); /* what is at work from now on */
/* The first error stays. */
void qn__clc_error(clc_emitter *e, const char *message);
/* True once for a name: then the caller writes its definition to `helpers`. */
bool qn__clc_need(clc_emitter *e, const char *name);

const char *qn__clc_type(clc_emitter *e, ir_type type);   /* "uint4", "int4" for bools; no pointers */
const char *qn__clc_signed(clc_emitter *e, ir_type type); /* "int4"; floats: the integer of that width */
const char *qn__clc_space(clc_emitter *e, const ir_value *pointer); /* "__global" */
/* "float4 " or "__global uchar *": what stands before a variable's name. */
const char *qn__clc_declarator(clc_emitter *e, const ir_value *value);
const char *qn__clc_name(clc_emitter *e, const ir_value *value);
const char *qn__clc_use(clc_emitter *e, const ir_value *value); /* its name, or a literal */
/* Gives the value its expression. */
void qn__clc_define(clc_emitter *e, const ir_value *value, const char *expression);
/* A implicit argument as an expression (a 64-bit word, or the print buffer); it is added where it is new. */
const char *qn__clc_implicit(clc_emitter *e, qn__implicit_kind kind, uint32_t dim);

/* ---- data.c ---- */

const char *qn__clc_constant(clc_emitter *e, const ir_value *value); /* as an expression */
void qn__clc_constants(clc_emitter *e, qn__buf *out);                /* the module's objects that are used */

/* ---- the rest ---- */

bool qn__clc_memory(clc_emitter *e, const ir_instr *instr); /* false: not one of memory's */
/* What a load or store accesses, `more` bytes behind its address, as an lvalue; NULL where the address was no index
   into an array. The type has `size` bytes. */
const char *qn__clc_index(clc_emitter *e, const ir_instr *access, const char *type, unsigned size,
                          int64_t more);
void qn__clc_count_indexed(clc_emitter *e); /* before the text: uses as the text has them */
void qn__clc_fence(clc_emitter *e, unsigned scope);
bool qn__clc_group(clc_emitter *e, const ir_instr *instr); /* queries, barriers, sub-groups */
bool qn__clc_in_words(qn__implicit_kind kind);             /* a implicit argument that is a uint2 */
bool qn__clc_is_low_word(const ir_instr *instr);           /* of a size that is one */
const char *qn__clc_low_word(clc_emitter *e, const ir_instr *trunc);
void qn__clc_op(clc_emitter *e, const ir_instr *instr);
/* Of an instruction other than insert; NULL: the target cannot do it. */
const char *qn__clc_expression(clc_emitter *e, const ir_instr *instr);
void qn__clc_region(clc_emitter *e, ir_region *region);

/* Finds which __constant pointers may be to objects of the program; the others are to buffers and are spelled
   __global, which have no limit of size. */
void qn__clc_find_spaces(clc_emitter *e);
bool qn__clc_is_object(const clc_emitter *e, const ir_value *pointer);

#endif
