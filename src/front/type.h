/* The table of types: every type is made once, so that equal types are equal pointers. Also their layout
   (OpenCL C 6.1.5, 6.11.1), their names, and the facts that the rules of conversion ask for. */
#ifndef QN__FRONT_TYPE_H
#define QN__FRONT_TYPE_H

#include "front/ast.h"

typedef struct ast_types {
    qn__arena *arena;
    const ast_type *scalars[AST_LAST_SCALAR + 1]; /* by ast_kind, AST_VOID too */
    const ast_type *vectors[AST_LAST_SCALAR + 1][17];
    const ast_type *event;
    QN__VEC(const ast_type *) matrices;
    const ast_type *tensor_map; /* qn_tensor_map: 128 bytes that the driver has filled */
    const ast_type *error;      /* of an expression that was already complained about */
    const ast_type **slots;
    uint32_t len, cap; /* cap is a power of two */
} ast_types;

void qn__types_init(ast_types *types, qn__arena *arena);

static inline const ast_type *qn__type_scalar(const ast_types *types, ast_kind kind) {
    return types->scalars[kind];
}
static inline bool qn__type_is_error(const ast_types *types, const ast_type *type) {
    return type->unqualified == types->error;
}
/* lanes 1 gives the scalar itself. */
const ast_type *qn__type_vector(ast_types *types, const ast_type *element, unsigned lanes);
const ast_type *qn__type_pointer(ast_types *types, const ast_type *pointee);
const ast_type *qn__type_array(ast_types *types, const ast_type *element, uint64_t length);
const ast_type *qn__type_array_incomplete(ast_types *types, const ast_type *element);
const ast_type *qn__type_function(ast_types *types, const ast_type *result, const ast_type *const *params,
                                  uint32_t num_params, bool is_variadic);
/* A new struct or union; complete it with qn__record_layout. */
const ast_type *qn__type_record(ast_types *types, ast_kind kind, const char *tag);
/* How the bits of a scalar float are to be read. */
const qn__float_format *qn__type_format(const ast_type *type);
/* The matrix fragment of which a work-item holds `share` elements. */
const ast_type *qn__type_matrix(ast_types *types, ir_matrix matrix, const ast_type *element, uint32_t share);
/* The type with exactly these qualifiers and space; of an array, its elements get them too. */
const ast_type *qn__type_qualified(ast_types *types, const ast_type *type, unsigned quals, unsigned space);
/* The type with these qualifiers added. */
const ast_type *qn__type_add_quals(ast_types *types, const ast_type *type, unsigned quals);
/* Same element kind and lanes as `type` but this element. */
const ast_type *qn__type_with_element(ast_types *types, const ast_type *type, ast_kind element);
/* Signed (or unsigned) integer, or vector of them, with elements as wide as those of `type`. */
const ast_type *qn__type_integer_like(ast_types *types, const ast_type *type, bool is_signed);

/* Offsets, size and alignment of a record from its fields (types, bit widths); `align` as by an attribute, or
   0. Returns false when it is too large. */
bool qn__record_layout(ast_types *types, const ast_type *type, uint32_t align);

/* Object types whose size is known. */
bool qn__type_is_complete(const ast_type *type);
/* Bits of a scalar, or of a vector's element. */
unsigned qn__type_bits(const ast_type *type);
/* Conversion rank of a scalar: bool < char < short < int < long < half < float < double; small floats: float's. */
unsigned qn__type_rank(const ast_type *type);
/* Whether a and b denote the same type but for qualifiers at the top; pointees may differ in completeness of
   arrays. */
bool qn__type_compatible(const ast_type *a, const ast_type *b);
/* Contains bool, half, size-dependent or event members, pointers: what a kernel's argument must not. */
bool qn__type_contains(const ast_type *type, ast_kind kind);
/* float4, ulong, size_t, ...: the type that an identifier names without any declaration; NULL if none.
 *is_unsupported is set for those that quern does not even parse (pipes, queues). */
const ast_type *qn__type_by_name(ast_types *types, qn__str name, bool *is_unsupported);

#endif
