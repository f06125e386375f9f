/* The WGSL target, inside: what its files share. wgsl.c is the frame of a module and its kernels, plan.c decides which
   values and memory a kernel has, text.c names, types and lines, data.c constants, ops.c operations on values, memory.c
   what touches memory, half.c f16, atomic.c atomics, group.c ids and barriers, sub_group.c sub-groups, flow.c constructs.

   WGSL has words: integers are u32, those of 8 and 16 bits with zeros above, f16 is the u32 of its bits, or the
   language's own (half.c); arithmetic on all three has been lowered. An i64 is a vec2<u32>, low word first, or its low word alone where nothing else is wanted.
   It has no addresses: a pointer is an offset into the array that its class of objects lies in (pass/points_to.c), and
   where a class consists of several buffers a vec2<u32>, whose second word is the buffer's place in the class. */
#ifndef QN__WGSL_INTERNAL_H
#define QN__WGSL_INTERNAL_H

#include "emit/cflow.h"
#include "emit/emit.h"
#include "pass/analysis.h"

/* What a pointer may point to: a variable, a parameter, all __constant objects of the module. */
typedef struct wgsl_object {
    uint8_t space; /* ir_space */
    int32_t arg;   /* of the kernel; -1: none */
    uint64_t size;
    uint32_t align;
    uint32_t class_index;
    /* In the class's array; a buffer's place in its class; of other parameters that in the parameter block. */
    uint64_t offset;
    const char *name;
    bool is_used; /* something accesses it */
} wgsl_object;

/* Objects that share pointers: one array, but for buffers, which are a binding each. */
typedef struct wgsl_class {
    uint8_t space;
    uint8_t kind; /* of an element: IR_F32 or IR_F16 where all accesses agree, else IR_I32 */
    bool is_seen, is_mixed;
    bool atomic;      /* its elements are atomic<u32> */
    bool quads;       /* they are vectors of four; while planning: something accesses four at once */
    bool narrow;      /* accesses of less than a word */
    bool is_written;  /* by plain stores */
    bool escapes;     /* pointers to it go through memory or integers */
    bool has_dynamic; /* a __local parameter is in it: it ends with all of them */
    bool scalars;     /* not all accesses are of four */
    bool halves;      /* all accesses are of f16, by the extension */
    uint32_t step;    /* bytes that a pointer counts in: 1, 2 of halves, 4, or 16 of vectors of four */
    uint32_t num_objects, object; /* the first; buffers: by their places */
    uint64_t size;                /* bytes */
    uint64_t base;                /* the address of its begin, as a number */
    uint64_t offset_bits;         /* all byte offsets within it, ored */
    const char *name;             /* of its array; buffers: in the objects */
} wgsl_class;

typedef struct wgsl_emitter {
    qn__arena *arena;
    ir_module *module;
    ir_function *kernel; /* the one at work */
    const qn__emit_options *options;
    qn__emit_result *result;
    qn__c_writer text;   /* of the kernel's body */
    qn__buf helpers;     /* functions that the text uses, each once */
    qn__buf globals;     /* variables of the module */
    qn__map names;       /* of helpers */
    uint64_t *constants; /* offset of each __constant object; UINT64_MAX: not used */
    uint64_t constants_size;
    const char *symbol; /* of the kernel */
    /* of the kernel at work */
    const qn__param_info *params; /* its parameters */
    uint64_t static_local;        /* bytes of its __local variables */
    const uint8_t *demand;        /* QN__WANT_* of i64s, by id */
    uint32_t *uses;               /* of each value, by id */
    qn__points_to sets;
    uint32_t *object_of; /* by value id: 1 + the object that the value is the pointer to */
    uint32_t *class_of;  /* by root: 1 + class */
    QN__VEC(wgsl_object) objects;
    QN__VEC(wgsl_class) classes;
    QN__VEC(qn__implicit) implicit;
    QN__VEC(uint32_t) bindings;
    bool *is_half;         /* by value id, of f16s: the language's own, not its bits */
    bool *agrees;          /* by mark: an `if` whose condition WGSL has to be shown to be uniform */
    const char *condition; /* of the `if` at work, agreed on; or NULL */
    const bool
        *divergent; /* by mark: constructs in which work-items part; for what the device lacks, else NULL */
    uint32_t implicit_size, num_instrs, num_temps;
    uint32_t first_write; /* mark of the first instruction that may write to a buffer, or a loop with it */
    qn__c_flow flow;
    ir_loc loc;        /* of the instruction at work, for errors */
    uint32_t builtins; /* bits: WGSL_* */
    uint32_t rows;     /* of the ids, bits likewise: x is counted in rows */
    bool has_rows;     /* it may: the kernel asks for no id in y or z */
    bool guarded, uses_sync, prints, uses_params, uses_zero, has_dynamic, hides;
    bool uses_sub_groups, enables_sub_groups; /* the kernel, the module */
    bool enables_f16;                         /* the module */
    bool one_type;                            /* the text to come has buffers of one type */
    bool wants_alike;                         /* a kernel's are not, and one is written; or they are many */
} wgsl_emitter;

enum { WGSL_BASE = 256 /* the address of a buffer's begin, as a number: null is none */ };
enum { /* values of the language; the first three are vectors */
       WGSL_GLOBAL_ID,
       WGSL_LOCAL_ID,
       WGSL_GROUP_ID,
       WGSL_LOCAL_INDEX,
       WGSL_SUB_GROUP_SIZE,
       WGSL_SUB_GROUP_LANE,
       WGSL_BUILTINS
};

/* ---- text.c ---- */

#define qn__wgsl_line(e, ...) qn__c_write(&(e)->text, __VA_ARGS__)
#define qn__wgsl_open(e, ...) qn__c_write_open(&(e)->text, __VA_ARGS__)
#define qn__wgsl_text(e, ...) qn__arena_printf((e)->arena, __VA_ARGS__)
static inline void qn__wgsl_close(wgsl_emitter *e, const char *text) { qn__c_write_close(&e->text, text); }
void qn__wgsl_error(wgsl_emitter *e, const char *message); /* the first one stays */
bool qn__wgsl_need(wgsl_emitter *e, const char *name);     /* true once for a name */
const char *qn__wgsl_type(wgsl_emitter *e, ir_type type);  /* "vec4<f32>"; i64: "vec2<u32>" */
/* The same lanes of 32-bit integers, signed or not. */
const char *qn__wgsl_words(wgsl_emitter *e, ir_type type, bool is_signed);
const char *qn__wgsl_value_type(wgsl_emitter *e, const ir_value *value);
const char *qn__wgsl_name(wgsl_emitter *e, const ir_value *value);
const char *qn__wgsl_use(wgsl_emitter *e, const ir_value *value); /* its name, or a literal */
/* The same where `like` is what it meets: null has the form of its class, an f16 that of the value. */
const char *qn__wgsl_use_as(wgsl_emitter *e, const ir_value *value, const ir_value *like);
const char *qn__wgsl_low(wgsl_emitter *e, const ir_value *value);   /* an i64's low word */
bool qn__wgsl_is_low(const wgsl_emitter *e, const ir_value *value); /* an i64 that is its low word alone */
void qn__wgsl_define(wgsl_emitter *e, const ir_value *value, const char *expression);
/* A name for an expression, of a statement of its own. */
const char *qn__wgsl_let(wgsl_emitter *e, const char *expression);

/* ---- data.c ---- */

const char *qn__wgsl_literal(wgsl_emitter *e, ir_kind kind, uint64_t bits);
const char *qn__wgsl_constant(wgsl_emitter *e, const ir_value *value);
/* Puts the module's objects that are used into the description. */
void qn__wgsl_place_constants(wgsl_emitter *e);

/* ---- plan.c ---- */

void qn__wgsl_plan(wgsl_emitter *e);
wgsl_class *qn__wgsl_class(wgsl_emitter *e, const ir_value *pointer); /* NULL: points nowhere */
bool qn__wgsl_is_tagged(wgsl_emitter *e, const ir_value *pointer);    /* a pointer into several buffers */

/* An access to four aligned words at once. */
bool qn__wgsl_is_quad(ir_type type, uint32_t align);

/* A pointer as a number, its low word. */
const char *qn__wgsl_address(wgsl_emitter *e, const ir_value *pointer);

/* ---- half.c ---- */

void qn__wgsl_find_halves(wgsl_emitter *e); /* behind the classes of memory, whose accesses come then */
bool qn__wgsl_is_half(const wgsl_emitter *e, const ir_value *value);
const char *qn__wgsl_half_type(wgsl_emitter *e, ir_type type);
const char *qn__wgsl_half_constant(wgsl_emitter *e, const ir_value *value, unsigned lane);
const char *qn__wgsl_half_constants(wgsl_emitter *e, const ir_value *value); /* all lanes */
/* Between f16 and f32; NULL: it is no such conversion. */
const char *qn__wgsl_half_conversion(wgsl_emitter *e, const ir_instr *instr, const char *operand);

/* ---- group.c ---- */

/* A word of the parameter block, at an offset in bytes. */
const char *qn__wgsl_param(wgsl_emitter *e, uint32_t offset);
/* The offset of an implicit argument in the parameter block; it is added where it is new. */
uint32_t qn__wgsl_implicit(wgsl_emitter *e, qn__implicit_kind kind, uint32_t dim);
const char *qn__wgsl_builtin(wgsl_emitter *e, unsigned which); /* WGSL_*; its name */
/* Behind the arguments, where an id in x is counted in rows. */
void qn__wgsl_begin_rows(wgsl_emitter *e, qn__buf *out);
void qn__wgsl_guard(wgsl_emitter *e);
void qn__wgsl_find_first_write(wgsl_emitter *e);             /* behind the numbering of instructions */
bool qn__wgsl_group(wgsl_emitter *e, const ir_instr *instr); /* false: none of its */

/* ---- sub_group.c ---- */

extern const char *const qn__wgsl_directives; /* of a module with sub-groups, behind other extensions */
extern const char *const qn__wgsl_numbers;    /* the ids in a work-group that is one line */
const char *qn__wgsl_sub_group_query(wgsl_emitter *e, ir_op op);
const char *qn__wgsl_sub_group(wgsl_emitter *e, const ir_instr *instr); /* NULL: none of its */

/* ---- memory.c, atomic.c ---- */

/* Where an access goes: a pointer and bytes behind it. */
typedef struct wgsl_place {
    const wgsl_class *class;
    const char *offset; /* text, in the class's steps */
    const char *tag;    /* of a class of several buffers; else NULL */
    int64_t bytes;
} wgsl_place;

wgsl_place qn__wgsl_place(wgsl_emitter *e, const ir_value *pointer, int64_t bytes);
/* The index of the word there, or of the vector where a pointer counts in those, as text. */
const char *qn__wgsl_index(wgsl_emitter *e, const wgsl_place *place, int64_t more);
/* The element of that index, as an lvalue; of a class that is one variable. */
const char *qn__wgsl_element(wgsl_emitter *e, const wgsl_class *class, uint32_t object, const char *index);
const char *qn__wgsl_element_type(wgsl_emitter *e, const wgsl_class *class);
void qn__wgsl_variables(wgsl_emitter *e); /* declares the arrays of private memory, and pointers to objects */
void qn__wgsl_declare(wgsl_emitter *e);   /* those of the module */
bool qn__wgsl_memory(wgsl_emitter *e, const ir_instr *instr);
bool qn__wgsl_atomic(wgsl_emitter *e, const ir_instr *instr);

/* ---- agree.c ---- */

void qn__wgsl_find_agreements(wgsl_emitter *e); /* behind the numbering of instructions */
/* The same condition as the first work-item has it. */
const char *qn__wgsl_agreed(wgsl_emitter *e, const char *condition);

/* ---- ops.c, flow.c ---- */

void qn__wgsl_op(wgsl_emitter *e, const ir_instr *instr);
void qn__wgsl_region(wgsl_emitter *e, ir_region *region);

#endif
