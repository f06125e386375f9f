/* Built-in functions. Every built-in is a row in builtins.def: a name, the overloads it accepts, and how it is made:
     OP      one IR op on whole operands (vectors too): fma, floor, clz
     LIB     a function written in OpenCL C in src/lib, parsed when first called and inlined; written once for a
             generic type T and instantiated for the types of the call
     LIB_MAP the same, written for scalars only and applied lane by lane to vectors
     SPECIAL lowered by a function of its own in lower_builtin*.c: work-item queries, atomics, vload, barriers, ...
   The semantic analysis resolves a call here and builds EXPR_BUILTIN (OP, LIB_MAP on vectors, SPECIAL) or EXPR_CALL to
   the parsed library function (LIB, and LIB_MAP on scalars). */
#ifndef QN__BUILTIN_H
#define QN__BUILTIN_H

#include "front/ast.h"

typedef enum ast_builtin_kind {
    BUILTIN_OP,
    BUILTIN_LIB,
    BUILTIN_LIB_MAP,
    BUILTIN_SPECIAL,
    BUILTIN_IMAGE /* never lowered: front/sema/image.c */
} ast_builtin_kind;

/* Lowerings of their own, by family; what differs within a family is in `variant`. */
typedef enum ast_special {
    SPECIAL_NONE,
    SPECIAL_QUERY,     /* get_global_id...: variant is the ir_op; the dimension argument may be dynamic */
    SPECIAL_LINEAR_ID, /* get_global_linear_id, get_local_linear_id: variant is IR_GLOBAL_ID or IR_LOCAL_ID */
    SPECIAL_BARRIER,   /* barrier, work_group_barrier, sub_group_barrier: variant is the ir_scope */
    SPECIAL_FENCE, /* mem_fence, read_mem_fence, write_mem_fence: variant 0, 1, 2; atomic_work_item_fence: 3 */
    SPECIAL_VLOAD, /* vloadn: from the result type */
    SPECIAL_VSTORE,
    SPECIAL_VLOAD_HALF,     /* vload_half(n): variant 0; vloada_halfn: 1 (aligned) */
    SPECIAL_VSTORE_HALF,    /* variant: 1 aligned; + 2 * ast_rounding */
    SPECIAL_ATOMIC_OLD,     /* atomic_add, atom_add...: variant is the ir_combine; relaxed, device scope */
    SPECIAL_ATOMIC_INC,     /* atomic_inc (variant 0), atomic_dec (1) */
    SPECIAL_ATOMIC_CMPXCHG, /* atomic_cmpxchg, atom_cmpxchg */
    SPECIAL_ATOMIC_INIT,
    SPECIAL_ATOMIC_LOAD, /* C11 family: order and scope are optional constant arguments */
    SPECIAL_ATOMIC_STORE,
    SPECIAL_ATOMIC_FETCH, /* atomic_fetch_*: variant ir_combine; atomic_exchange too */
    SPECIAL_ATOMIC_CAS,   /* atomic_compare_exchange_strong/weak(_explicit) */
    SPECIAL_FLAG_TEST_SET,
    SPECIAL_FLAG_CLEAR,
    SPECIAL_GROUP_VOTE, /* variant: ir_scope * 2 + (0 all, 1 any), + 16 over the active; int argument and result */
    SPECIAL_GROUP_BROADCAST, /* variant: ir_scope; one to three local id arguments */
    SPECIAL_GROUP_REDUCE, /* variant: ir_scope * 64 + ir_combine (signed forms; unsigned and float by the type),
                             + 256 over the active */
    SPECIAL_GROUP_SCAN,   /* the same + 32 if exclusive */
    SPECIAL_SHUFFLE,      /* sub_group_shuffle: variant 0, _xor 1, _up 2, _down 3; also _rotate 4 */
    SPECIAL_BALLOT,       /* sub_group_ballot: uint4 */
    SPECIAL_VECTOR_SHUFFLE, /* shuffle (variant 1 operand), shuffle2 (2) */
    SPECIAL_SELECT,         /* select(a, b, c) */
    SPECIAL_DOT4,           /* integer dot: variant is the ir_op * 2, + 1 with its operands swapped */
    SPECIAL_GET_FENCE,      /* of a generic pointer */
    SPECIAL_PRINTF,
    SPECIAL_PREFETCH,
    SPECIAL_MATRIX,        /* on matrix fragments: variant is the ir_op */
    SPECIAL_NATIVE,        /* variant: ir_native */
    SPECIAL_QUAD_PRODUCT,  /* qn_quad_multiply_add */
    SPECIAL_PANEL_PRODUCT, /* variant: ir_panel_kind */
    SPECIAL_ASYNC,         /* of library texts: variant 0 copies an element, 1 commits, 2 waits */
    SPECIAL_COUNT
} ast_special;

/* A resolved built-in. */
struct ast_builtin {
    const char *name;
    uint8_t builtin_kind; /* ast_builtin_kind */
    ir_op op;             /* BUILTIN_OP: chosen by the operand's type (min: smin, umin or fmin) */
    uint8_t special;      /* ast_special */
    int32_t variant;
    /* LIB, LIB_MAP: the parsed function (of the element type for LIB_MAP); set by the analysis. */
    ast_decl *function;
};

#endif
