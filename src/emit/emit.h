/* The targets: from an optimised kernel to text. Emitters print; what a target lacks has been lowered
   before. */
#ifndef QN__EMIT_H
#define QN__EMIT_H

#include "emit/describe.h"

/* What a device may lack beyond the language's optional features (FRONT_* bits): bits of `device_lacks`. */
enum {
    QN__NO_F16 = 1 << 0, /* arithmetic */
    QN__NO_F64 = 1 << 1,
    QN__NO_I8 = 1 << 2,
    QN__NO_I16 = 1 << 3,
    QN__NO_I64 = 1 << 4,
    QN__NO_STORAGE_8 = 1 << 5,  /* 8-bit loads and stores in buffers */
    QN__NO_STORAGE_16 = 1 << 6, /* 16-bit ones */
    QN__NO_I64_ATOMICS = 1 << 7,
    QN__NO_FLOAT_ATOMIC_ADD = 1 << 8,
    QN__NO_SUB_GROUPS = 1 << 9,         /* ids, size, votes, broadcast, reduce, scan */
    QN__NO_SUB_GROUP_SHUFFLE = 1 << 10, /* shuffle, ballot */
    QN__NO_UNROLLED_BARRIERS = 1 << 11, /* its compiler is slow or wrong with many barriers in a row */
    QN__NO_FMA = 1 << 12,               /* its fma rounds twice */
    QN__NO_FLOAT_CONTROLS = 1 << 13, /* SPIR-V: it cannot promise to keep zeros' signs, infinities and NaN */
    /* What it has rather than lacks, for SPIR-V. */
    QN__HAS_DENORMALS = 1 << 14,    /* can promise to keep denormal numbers */
    QN__HAS_NEAREST = 1 << 15,      /* can promise to round to nearest even */
    QN__ADDRESSES_64 = 1 << 16,     /* addresses are best made of its 64-bit integers */
    QN__FLUSHES_COMPARED = 1 << 17, /* all the same, denormal f32 are zero where they are no sum or product */
    /* SPIR-V, lacking again: where work-items leave a loop one after another, it computes what they take out of it
       anew for those that have left; and it computes with constant zeros, and x - x, without looking at x. */
    QN__NO_LOOP_RESULTS = 1 << 18,
    QN__FOLDS_ZEROS = 1 << 19,
    QN__NO_LARGE_PARAMS = 1 << 20,  /* PTX: at most QN__PTX_PARAMS bytes of parameters */
    QN__WANTS_FOUR_TURNS = 1 << 21, /* loads of several turns of a loop are best under way together */
    /* What may be tried on a device (the option -qn-tune). */
    QN__LOOSE_FMA = 1 << 22,    /* SPIR-V: every Fma may be taken apart */
    QN__EXACT_FMA = 1 << 23,    /* none may, not even those of contraction */
    QN__HINTS_UNROLL = 1 << 25, /* loops carry a hint to unroll them */
    QN__HINTS_LOOPS = 1 << 26,  /* not to unroll them */
    QN__GLSL_MEMORY = 1 << 27,  /* SPIR-V: the memory model of GLSL */
    QN__PLAIN_COPIES = 1 << 28, /* PTX: async copies are loads and stores on all devices */
    QN__HAS_DOT4 = 1 << 29,     /* SPIR-V: products of four bytes in a word */
    QN__NO_BYTE_SWAPS = 1 << 30 /* SPIR-V: its compiler takes bytes swapped by shifts for 0 */
};

typedef struct qn__emit_options {
    const char *source_name; /* for #line; NULL: none */
    bool debug;              /* #line directives and named variables for a debugger */
    uint32_t sub_group_size; /* work-items in a full sub-group; 0: 32 */
    uint32_t device_lacks;   /* QN__NO_* bits */
    uint32_t arch;           /* PTX: compute capability of the device times 10 (90 for 9.0); 0: the lowest */
} qn__emit_options;

typedef struct qn__emit_result {
    const char *text; /* the arena's; SPIR-V: the module's words, little-endian */
    size_t size;
    qn__code_info info; /* the arena's */
    const char *error;  /* NULL, or a sentence that names what the target cannot do, with error_loc */
    ir_loc error_loc;
} qn__emit_result;

/* C11 for the host compiler. The ABI is src/emit/cpu_abi.h. */
void qn__emit_c(qn__arena *arena, ir_module *module, const qn__emit_options *options,
                qn__emit_result *result);

/* The GPU targets. Their ABI is src/emit/gpu_abi.h.
   PTX: text for the CUDA driver (PTX ISA). SPIR-V: a module for Vulkan 1.2 with buffer device addresses.
   CLC: OpenCL C 1.2 text. */
void qn__emit_ptx(qn__arena *arena, ir_module *module, const qn__emit_options *options,
                  qn__emit_result *result);
void qn__emit_spirv(qn__arena *arena, ir_module *module, const qn__emit_options *options,
                    qn__emit_result *result);
void qn__emit_clc(qn__arena *arena, ir_module *module, const qn__emit_options *options,
                  qn__emit_result *result);

#endif
