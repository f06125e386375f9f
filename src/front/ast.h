/* The typed syntax tree of OpenCL C, between the parser with its semantic checks (which build it) and the
   lowering to IR (which reads it). After semantic analysis every expression has its final type, and every
   conversion the language makes silently is an explicit node (EXPR_CONVERT, EXPR_LOAD, EXPR_DECAY), so that
   the lowering decides nothing. A tree is only lowered when its file had no error. Everything lives in the
   compile's arena. */
#ifndef QN__AST_H
#define QN__AST_H

#include "ir/ir.h"

/* ---- types ---- */

typedef enum ast_kind {
    AST_VOID,
    AST_BOOL, /* scalars in order of conversion rank, up to double */
    AST_CHAR,
    AST_UCHAR,
    AST_SHORT,
    AST_USHORT,
    AST_INT,
    AST_UINT,
    AST_LONG,
    AST_ULONG,
    AST_HALF,
    AST_FLOAT,
    AST_DOUBLE,
    AST_BF16, /* the small floats, which promote to float */
    AST_E4M3,
    AST_E5M2,
    AST_LAST_SCALAR = AST_E5M2,
    AST_VECTOR,
    AST_POINTER,
    AST_ARRAY,
    AST_STRUCT,
    AST_UNION,
    AST_FUNCTION,
    AST_EVENT, /* event_t: an int to the IR */
    AST_OPAQUE /* an image or sampler; .length tells which. Never lowered: see front/sema/image.c */
} ast_kind;

enum { AST_CONST = 1, AST_VOLATILE = 2, AST_RESTRICT = 4 };

typedef struct ast_type ast_type;
typedef struct ast_record ast_record;
typedef struct ast_expr ast_expr;
typedef struct ast_stmt ast_stmt;
typedef struct ast_decl ast_decl;
typedef struct ast_builtin ast_builtin;

/* Types are interned: the same type is the same pointer. Enums are int (uint where values need it); typedefs
   and size_t, ptrdiff_t, intptr_t, uintptr_t vanish (ulong, long, long, ulong). */
struct ast_type {
    uint8_t kind;                /* ast_kind */
    uint8_t quals;               /* of an object of this type: AST_CONST ... */
    uint8_t space;               /* ir_space of an object of this type; IR_PRIVATE unless declared */
    uint8_t lanes;               /* vector */
    const ast_type *unqualified; /* without quals and space; itself if it has none */
    const ast_type *base;        /* vector: element; pointer: pointee (with quals and space); array: element;
                                    function: result */
    uint64_t length;             /* array; 0 with is_incomplete */
    bool is_incomplete;          /* T[] */
    bool is_variadic;            /* function */
    ast_record *record;          /* struct and union */
    const ast_type *const *params; /* function */
    uint32_t num_params;
    uint64_t size; /* bytes; 3-vector: 4 elements; void and function: 0 */
    uint32_t align;
    uint32_t id; /* dense */
};

typedef struct ast_field {
    const char *name; /* NULL: unnamed bit-field, or anonymous struct/union */
    const ast_type *type;
    uint64_t offset; /* bytes; of a bit-field: of its storage unit (an integer of `type`'s size) */
    bool is_bit_field;
    uint8_t bit_offset, bit_width;
    ir_loc loc;
} ast_field;

struct ast_record {
    const char *tag;          /* or NULL */
    bool is_named_by_typedef; /* had no tag; `tag` is the name that a typedef gave it */
    bool is_complete, is_packed;
    bool is_open; /* its members are being parsed */
    QN__VEC(ast_field) fields;
    uint64_t size;
    uint32_t align;
    ir_matrix matrix; /* a matrix fragment, which has no fields; element 0: none */
};

static inline bool qn__type_is_integer(const ast_type *t) {
    return t->kind >= AST_BOOL && t->kind <= AST_ULONG;
}
static inline bool qn__type_is_float(const ast_type *t) {
    return t->kind >= AST_HALF && t->kind <= AST_LAST_SCALAR;
}
static inline bool qn__type_is_small_float(const ast_type *t) {
    return t->kind >= AST_BF16 && t->kind <= AST_LAST_SCALAR;
}
static inline bool qn__type_is_scalar(const ast_type *t) {
    return t->kind >= AST_BOOL && t->kind <= AST_LAST_SCALAR;
}
static inline bool qn__type_is_record(const ast_type *t) {
    return t->kind == AST_STRUCT || t->kind == AST_UNION;
}
static inline bool qn__type_is_matrix(const ast_type *t) {
    return t->kind == AST_STRUCT && t->record->matrix.element;
}
/* Element of a vector, else the type itself (unqualified). */
static inline const ast_type *qn__type_element(const ast_type *t) {
    return t->kind == AST_VECTOR ? t->base->unqualified : t->unqualified;
}
static inline unsigned qn__type_lanes(const ast_type *t) { return t->kind == AST_VECTOR ? t->lanes : 1; }
/* Signed integer (or vector of). char is signed. */
static inline bool qn__type_is_signed(const ast_type *t) {
    unsigned kind = qn__type_element(t)->kind;
    return kind == AST_CHAR || kind == AST_SHORT || kind == AST_INT || kind == AST_LONG;
}
/* The IR type of a value: scalars, vectors, pointers (event_t: i32; bool: IR_BOOL; small floats: their bits). Records and arrays have
   none (IR_VOID). In memory bool is a byte, 0 or 1. */
ir_type qn__type_to_ir(const ast_type *type);
const char *qn__type_name(qn__arena *arena, const ast_type *type); /* as written in C: "__global float4*" */

/* ---- declarations ---- */

typedef enum ast_decl_kind { DECL_VARIABLE, DECL_PARAMETER, DECL_FUNCTION } ast_decl_kind;

/* One place to store a constant or expression in an object: designators and nested braces are flattened.
   Later items override earlier ones at the same place; bytes without an item are zero (a local variable's
   whole object is zeroed first if `zero_first`). */
typedef struct ast_init_item {
    uint64_t offset;      /* bytes from the object's start */
    const ast_type *type; /* of the sub-object; a char array with a string literal has the array's type */
    const ast_field *bit_field; /* or NULL */
    ast_expr *value; /* converted to type; a string literal or record-typed expression stays as it is */
} ast_init_item;

typedef struct ast_init {
    QN__VEC(ast_init_item) items;
    bool zero_first;
} ast_init;

struct ast_decl {
    uint8_t decl_kind;
    const char *name;
    const ast_type
        *type; /* with quals and space: IR_LOCAL_SPACE, IR_CONSTANT_SPACE (program scope or in a kernel) */
    ir_loc loc;
    uint32_t align;      /* attribute aligned, or the type's */
    ast_init *init;      /* variables; NULL: none. For __constant ones a constant image is in `data` */
    const uint8_t *data; /* __constant: the initial bytes (type->size) */
    QN__VEC(struct ast_address {
        uint64_t offset;
        ast_decl *target;
        int64_t addend;
    })
    addresses;            /* in data */
    bool is_static_local; /* function-scope `__constant` or static variable: one object for the program */
    bool is_state; /* in global memory, alive as long as the program: `data` (or zeros) at state_offset */
    uint64_t state_offset;

    /* names with linkage: functions, and variables at file scope or declared extern */
    bool is_defined; /* not only declared */
    bool is_static;
    ast_decl *definition; /* of what is only declared here; NULL: there is none, or this is it */

    /* functions */
    bool is_kernel;
    bool is_inline; /* all its declarations are, none is extern: it is this file's own (C99 6.7.4) */
    QN__VEC(ast_decl *) params;
    ast_stmt *body;
    uint32_t reqd_local[3], hint_local[3], sub_group_size, cluster;
    const char *vec_type_hint;
    bool is_pure;       /* a maths helper, or attribute const/pure: same arguments, same result */
    bool is_library;    /* from src/lib: means what IEEE 754 says; no contraction, no fast-math flags */
    bool is_contracted; /* products and sums may be fused: FP_CONTRACT at its end */
    bool uses_goto;
    bool is_space_open;  /* a pointer declared without an address space, to be that of what it first gets */
    bool is_space_taken; /* the same once it has that address space; a parameter has that of the call */
    bool is_called;
    uint32_t mentions;
    bool is_size_type;      /* parameter declared with size_t, ptrdiff_t, intptr_t or uintptr_t */
    const uint16_t *frozen; /* a library function's body as packed IR (front/frozen.h), in place of `body` */
    uint32_t visit;         /* for the call graph (recursion) */
    bool uses_state;        /* it, or a function that it calls, uses a variable of the program's state */
    const char *opaque_use; /* what the function, or one that it calls, uses of images; NULL: nothing */
    ir_loc opaque_loc;

    /* set and used by the lowering */
    ir_value *address; /* of variables and parameters in memory */
    ir_function *function;
    uint32_t global_index;
    bool is_lowered;
    const ast_stmt *loop;               /* a local variable's: the innermost loop around its declaration */
    bool is_warned;                     /* of being read before it is written */
    bool is_address_taken, is_assigned; /* parameter facts from the parser: whether it needs memory */
};

/* The function or variable that a declaration means. */
static inline ast_decl *qn__decl_definition(ast_decl *decl) {
    return decl->definition ? decl->definition : decl;
}

/* ---- expressions ---- */

typedef enum ast_expr_kind {
    EXPR_INT,      /* .int_value; any integer type, bool too */
    EXPR_FLOAT,    /* .float_value, already rounded to the type */
    EXPR_STRING,   /* .string: bytes with the zero; an lvalue of type __constant char[N] */
    EXPR_VARIABLE, /* lvalue: .decl */
    EXPR_UNARY,    /* .unary, operand a */
    EXPR_BINARY,   /* .binary, a and b of one type (shifts: b has a's lanes, any integer type; pointer +
                       integer) */
    EXPR_ASSIGN,   /* a = b; value is the new value, converted to a's type */
    EXPR_ASSIGN_OP, /* a op= b: computed in .compute_type, then converted to a's type (.binary); EXPR_INCREMENT, too */
    EXPR_INCREMENT, /* ++ -- : .is_decrement, .is_postfix; a is an lvalue of any scalar, vector or pointer
                       type */
    EXPR_LOGICAL,   /* && || : scalars give int 0/1 with short circuit (.binary is BINARY_AND or BINARY_OR) */
    EXPR_CONDITIONAL, /* a ? b : c with a scalar a (already bool); vectors' ?: is EXPR_SELECT */
    EXPR_SELECT,      /* lane-wise: b where the sign bit of integer vector a's lane is set, else c */
    EXPR_COMMA,
    EXPR_LOAD,    /* lvalue a to its value; type is unqualified */
    EXPR_CONVERT, /* a's value to the node's type: .convert says how */
    EXPR_DECAY,   /* array lvalue a to a pointer to its first element */
    EXPR_ADDRESS, /* &a (lvalue) or a function name */
    EXPR_DEREF,   /* *a: lvalue */
    EXPR_INDEX,   /* a[b]: lvalue; a is a pointer value, b a long or ulong value (already widened) */
    EXPR_MEMBER, /* a.field: a record lvalue (or a record value: then not an lvalue); -> is MEMBER of DEREF */
    EXPR_SWIZZLE, /* a.xyz: .lanes, .num_lanes; lvalue if a is an lvalue and no lane repeats; one lane: scalar
                   */
    EXPR_VECTOR,  /* vector literal: .args scalars or vectors whose lanes make up the type; one scalar: splat
                   */
    EXPR_COMPOUND,  /* compound literal: lvalue of a new object; .init */
    EXPR_STATEMENT, /* GNU's ({ ... }): runs .block, then the value is a's; void where a is NULL */
    EXPR_CALL,      /* .callee (user's or library function), .args converted to the parameters */
    EXPR_BUILTIN    /* .builtin: built-in function with a lowering of its own; .args converted */
} ast_expr_kind;

typedef enum ast_unary {
    UNARY_NEGATE,
    UNARY_COMPLEMENT,
    UNARY_NOT
} ast_unary; /* NOT of a vector gives 0 / -1 lanes */

typedef enum ast_binary {
    BINARY_ADD,
    BINARY_SUB, /* pointer - pointer too: long */
    BINARY_MUL,
    BINARY_DIV,
    BINARY_REM,
    BINARY_SHL,
    BINARY_SHR,
    BINARY_AND,
    BINARY_OR,
    BINARY_XOR,
    BINARY_EQ, /* comparisons: a scalar one has type int (0/1); a vector one the signed vector of a's size
                  (0/-1) */
    BINARY_NE,
    BINARY_LT,
    BINARY_LE,
    BINARY_GT,
    BINARY_GE
} ast_binary;

typedef enum ast_convert {
    CONVERT_NUMBER,  /* C conversion between scalars, or convert_T between vectors: .rounding, .saturate */
    CONVERT_TO_BOOL, /* scalar or pointer != 0: type bool */
    CONVERT_SPLAT,   /* scalar (already of the element type) to vector */
    CONVERT_BITS,    /* as_type: same size, any number types (3- and 4-vectors mix: lane 3 is undefined) */
    CONVERT_POINTER, /* pointer to pointer of the same space; to generic and back: null where it lies elsewhere */
    CONVERT_TO_POINTER,   /* integer to pointer (null constants too) */
    CONVERT_FROM_POINTER, /* pointer to integer */
    CONVERT_VOID
} ast_convert;

/* How CONVERT_NUMBER rounds. DEFAULT: to nearest even into floats, to zero into integers. */
typedef enum ast_rounding { ROUND_DEFAULT, ROUND_RTE, ROUND_RTZ, ROUND_RTP, ROUND_RTN } ast_rounding;

struct ast_expr {
    uint8_t expr_kind;
    bool is_lvalue;
    bool is_constant;      /* integer constant expression folded into EXPR_INT, for diagnostics */
    bool is_parenthesized; /* for diagnostics */
    uint16_t height;       /* operators one in another, this one counted: what a walk of the tree recurses */
    const ast_type *type;
    ir_loc loc; /* of the operator or first token */
    ast_expr *a, *b, *c;
    union {
        uint64_t int_value; /* truncated to the type's width, sign-extended for signed types */
        double float_value;
        qn__str string;
        ast_decl *decl;
        struct {
            uint8_t unary, binary;
            bool is_decrement, is_postfix;
            const ast_type *compute_type;
        };
        struct {
            uint8_t convert, rounding;
            bool saturate;
        };
        const ast_field *field;
        struct {
            uint8_t lanes[16];
            uint8_t num_lanes;
        };
        ast_init *init;
        ast_stmt *block;
    };
    QN__VEC(ast_expr *) args;
    ast_decl *callee;           /* EXPR_CALL */
    const ast_builtin *builtin; /* EXPR_BUILTIN: see builtin.h */
};

/* ---- statements ---- */

typedef enum ast_stmt_kind {
    STMT_EMPTY,
    STMT_EXPR,
    STMT_DECL,     /* .decls */
    STMT_COMPOUND, /* .body */
    STMT_IF,       /* cond is already bool; then_stmt, else_stmt (may be NULL) */
    STMT_WHILE,
    STMT_DO,
    STMT_FOR,    /* init, cond and step may be NULL */
    STMT_SWITCH, /* cond is an integer value; .cases lists the STMT_CASE and STMT_DEFAULT labels inside, in
                    order */
    STMT_CASE,   /* labels then_stmt with .case_low (sign-extended to the switch type) */
    STMT_DEFAULT,
    STMT_BREAK,    /* .target: the loop or switch */
    STMT_CONTINUE, /* .target: the loop */
    STMT_RETURN,   /* cond: the value, converted; or NULL */
    STMT_GOTO,     /* .target: the STMT_LABEL */
    STMT_LABEL     /* labels then_stmt: .label */
} ast_stmt_kind;

struct ast_stmt {
    uint8_t stmt_kind;
    ir_loc loc, end; /* end: of a compound statement's closing brace */
    ast_expr *expr;  /* STMT_EXPR */
    ast_expr *cond;
    ast_stmt *init; /* for: a declaration or expression statement */
    ast_expr *step;
    ast_stmt *then_stmt, *else_stmt; /* loops, switch and labels: then_stmt is the body */
    QN__VEC(ast_stmt *) body;
    QN__VEC(ast_decl *) decls;
    QN__VEC(ast_stmt *) cases;
    ast_stmt *target;
    const char *label;
    uint64_t case_low;
    int32_t unroll; /* loops: as ir_attr.unroll */
};

/* A kernel that uses images: no part of the unit's functions. */
typedef struct ast_refusal {
    const char *kernel, *what;
    ir_loc loc; /* of the use */
} ast_refusal;

/* A parsed program. */
typedef struct ast_unit {
    QN__VEC(ast_decl *)
    functions; /* defined ones in order of definition, library helpers they need included */
    QN__VEC(ast_decl *) constants; /* __constant objects, in order */
    QN__VEC(ast_decl *) state;     /* variables in global memory, of the program and of functions (static) */
    uint64_t state_size;
    QN__VEC(ast_refusal) refused;
} ast_unit;

#endif
