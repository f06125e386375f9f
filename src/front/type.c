/* The table of types. A hash table over what makes a type; see type.h. Records are the exception: each
   declaration is a type of its own, and its qualified variants are kept in a list, because they must learn of
   the layout when the record is completed. */
#include "front/type.h"

#include <string.h>

/* No type is nested deeper than this, whatever typedefs do: code may walk types by recursion. */
enum { MAX_DEPTH = 250 };

typedef struct type_node {
    ast_type type; /* first: an ast_type * of the table is a type_node * */
    struct type_node *next_variant;
    uint32_t depth;
} type_node;

static const uint8_t scalar_sizes[AST_LAST_SCALAR + 1] = {0, 1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
static const char *const scalar_names[AST_LAST_SCALAR + 1] = {
    "void", "bool",  "char", "uchar", "short",  "ushort",  "int",     "uint",
    "long", "ulong", "half", "float", "double", "qn_bf16", "qn_e4m3", "qn_e5m2"};

static type_node *node_of(const ast_type *type) { return (type_node *)(uintptr_t)type; }

/* ---- the table ---- */

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
}

static uint64_t type_hash(const ast_type *type) {
    uint64_t hash = (uint64_t)type->kind | (uint64_t)type->quals << 8 | (uint64_t)type->space << 16 |
                    (uint64_t)type->lanes << 24 | (uint64_t)type->is_incomplete << 32 |
                    (uint64_t)type->is_variadic << 33;
    hash = mix(hash, (uintptr_t)type->base);
    hash = mix(hash, type->length);
    hash = mix(hash, (uintptr_t)type->record);
    for (uint32_t i = 0; i < type->num_params; i++) hash = mix(hash, (uintptr_t)type->params[i]);
    return hash;
}

static bool type_equal(const ast_type *a, const ast_type *b) {
    return a->kind == b->kind && a->quals == b->quals && a->space == b->space && a->lanes == b->lanes &&
           a->is_incomplete == b->is_incomplete && a->is_variadic == b->is_variadic && a->base == b->base &&
           a->length == b->length && a->record == b->record && a->num_params == b->num_params &&
           (a->num_params == 0 || memcmp(a->params, b->params, a->num_params * sizeof *a->params) == 0);
}

static void table_grow(ast_types *types) {
    uint32_t cap = types->cap ? types->cap * 2 : 128;
    const ast_type **slots = QN__NEW_ARRAY(types->arena, const ast_type *, cap);
    for (uint32_t i = 0; i < types->cap; i++) {
        if (!types->slots[i]) continue;
        uint64_t at = type_hash(types->slots[i]);
        while (slots[at & (cap - 1)]) at++;
        slots[at & (cap - 1)] = types->slots[i];
    }
    types->slots = slots;
    types->cap = cap;
}

static uint32_t depth_of(const ast_type *type) {
    uint32_t depth = type->base ? node_of(type->base)->depth : 0;
    for (uint32_t i = 0; i < type->num_params; i++)
        if (node_of(type->params[i])->depth > depth) depth = node_of(type->params[i])->depth;
    return depth + 1;
}

static const ast_type *type_add(ast_types *types, const ast_type *key, const ast_type *unqualified) {
    type_node *node = QN__NEW(types->arena, type_node);
    node->type = *key;
    node->type.id = types->len;
    node->depth = depth_of(key);
    if (unqualified) {
        type_node *origin = node_of(unqualified);
        node->type.unqualified = unqualified;
        node->depth = origin->depth;
        node->next_variant = origin->next_variant;
        origin->next_variant = node;
    } else {
        node->type.unqualified = &node->type;
    }
    return &node->type;
}

/* The type of the table that equals the key; `unqualified` is NULL for types without qualifiers. */
static const ast_type *type_intern(ast_types *types, const ast_type *key, const ast_type *unqualified) {
    if (types->len * 2 >= types->cap) table_grow(types);
    uint64_t at = type_hash(key);
    for (;; at++) {
        const ast_type **slot = &types->slots[at & (types->cap - 1)];
        if (!*slot) {
            *slot = type_add(types, key, unqualified);
            types->len++;
            return node_of(*slot)->depth > MAX_DEPTH ? types->error : *slot;
        }
        if (type_equal(*slot, key)) return node_of(*slot)->depth > MAX_DEPTH ? types->error : *slot;
    }
}

static void make_tensor_map(ast_types *types) {
    enum { WORDS = 16, ALIGN = 64 };
    const ast_type *words = qn__type_array(types, types->scalars[AST_ULONG], WORDS);
    types->tensor_map = qn__type_record(types, AST_STRUCT, "qn_tensor_map");
    qn__vec_push(types->arena, &types->tensor_map->record->fields,
                 (ast_field){.name = "words", .type = words});
    qn__record_layout(types, types->tensor_map, ALIGN);
}

void qn__types_init(ast_types *types, qn__arena *arena) {
    *types = (ast_types){.arena = arena};
    for (unsigned kind = AST_VOID; kind <= AST_LAST_SCALAR; kind++) {
        ast_type key = {.kind = (uint8_t)kind, .size = scalar_sizes[kind], .align = scalar_sizes[kind]};
        if (kind == AST_VOID) key.align = 1;
        types->scalars[kind] = type_intern(types, &key, NULL);
    }
    ast_type event = {.kind = AST_EVENT, .size = 4, .align = 4};
    types->event = type_intern(types, &event, NULL);
    ast_type error = {.kind = AST_VOID, .align = 1, .is_incomplete = true};
    types->error = type_intern(types, &error, NULL);
    make_tensor_map(types);
}

/* ---- making types ---- */

const ast_type *qn__type_vector(ast_types *types, const ast_type *element, unsigned lanes) {
    element = element->unqualified;
    if (lanes == 1 || !qn__type_is_scalar(element)) return element;
    const ast_type **known = &types->vectors[element->kind][lanes];
    if (*known) return *known;
    uint32_t size = (uint32_t)element->size * (lanes == 3 ? 4 : lanes);
    ast_type key = {
        .kind = AST_VECTOR, .lanes = (uint8_t)lanes, .base = element, .size = size, .align = size};
    *known = type_intern(types, &key, NULL);
    return *known;
}

const ast_type *qn__type_pointer(ast_types *types, const ast_type *pointee) {
    if (qn__type_is_error(types, pointee)) return types->error;
    ast_type key = {.kind = AST_POINTER, .base = pointee, .size = 8, .align = 8};
    return type_intern(types, &key, NULL);
}

static const ast_type *array_of(ast_types *types, const ast_type *element, uint64_t length,
                                bool is_incomplete) {
    if (qn__type_is_error(types, element)) return types->error;
    ast_type key = {.kind = AST_ARRAY,
                    .base = element->unqualified,
                    .length = length,
                    .is_incomplete = is_incomplete,
                    .size = length * element->size,
                    .align = element->align};
    const ast_type *array = type_intern(types, &key, NULL);
    return qn__type_qualified(types, array, element->quals, element->space);
}

const ast_type *qn__type_array(ast_types *types, const ast_type *element, uint64_t length) {
    return array_of(types, element, length, false);
}

const ast_type *qn__type_array_incomplete(ast_types *types, const ast_type *element) {
    return array_of(types, element, 0, true);
}

const ast_type *qn__type_function(ast_types *types, const ast_type *result, const ast_type *const *params,
                                  uint32_t num_params, bool is_variadic) {
    ast_type key = {.kind = AST_FUNCTION,
                    .base = result,
                    .params = qn__arena_copy(types->arena, params, num_params * sizeof *params),
                    .num_params = num_params,
                    .is_variadic = is_variadic,
                    .align = 1};
    return type_intern(types, &key, NULL);
}

const ast_type *qn__type_record(ast_types *types, ast_kind kind, const char *tag) {
    ast_record *record = QN__NEW(types->arena, ast_record);
    record->tag = tag;
    record->align = 1;
    ast_type key = {.kind = (uint8_t)kind, .record = record, .align = 1};
    return type_intern(types, &key, NULL);
}

const ast_type *qn__type_matrix(ast_types *types, ir_matrix matrix, const ast_type *element, uint32_t share) {
    static const char *const uses[IR_MATRIX_USES] = {"qn_use_a", "qn_use_b", "qn_use_accumulator"};
    for (size_t i = 0; i < types->matrices.len; i++) {
        const ir_matrix other = types->matrices.data[i]->record->matrix;
        if (memcmp(&other, &matrix, sizeof other) == 0) return types->matrices.data[i];
    }
    const char *tag = qn__arena_printf(types->arena, "qn_matrix(%s, %u, %u, %s)", scalar_names[element->kind],
                                       matrix.rows, matrix.columns, uses[matrix.use]);
    const ast_type *type = qn__type_record(types, AST_STRUCT, tag);
    ast_record *record = type->record;
    record->is_named_by_typedef = record->is_complete = true;
    record->matrix = matrix;
    type_node *node = node_of(type);
    const uint32_t word = element->size > 4 ? (uint32_t)element->size : 4; /* as it is held in registers */
    node->type.size = record->size = (share * element->size + word - 1) / word * word;
    node->type.align = record->align = word;
    qn__vec_push(types->arena, &types->matrices, type);
    return type;
}

const ast_type *qn__type_qualified(ast_types *types, const ast_type *type, unsigned quals, unsigned space) {
    if (type->quals == quals && type->space == space) return type;
    const ast_type *plain = type->unqualified;
    if (quals == 0 && space == IR_PRIVATE) return plain;
    if (plain == types->error) return plain;
    ast_type key = *plain;
    key.quals = (uint8_t)quals;
    key.space = (uint8_t)space;
    if (plain->kind == AST_ARRAY)
        key.base = qn__type_qualified(types, plain->base, plain->base->quals | quals, space);
    return type_intern(types, &key, plain);
}

const ast_type *qn__type_add_quals(ast_types *types, const ast_type *type, unsigned quals) {
    return qn__type_qualified(types, type, type->quals | quals, type->space);
}

const ast_type *qn__type_with_element(ast_types *types, const ast_type *type, ast_kind element) {
    return qn__type_vector(types, types->scalars[element], qn__type_lanes(type));
}

const ast_type *qn__type_integer_like(ast_types *types, const ast_type *type, bool is_signed) {
    ast_kind kind = AST_LONG;
    switch (qn__type_element(type)->size) {
    case 1: kind = AST_CHAR; break;
    case 2: kind = AST_SHORT; break;
    case 4: kind = AST_INT; break;
    default: break;
    }
    return qn__type_with_element(types, type, is_signed ? kind : kind + 1);
}

/* ---- layout of records ---- */

typedef struct layout {
    ast_record *record;
    bool is_union;
    uint64_t size; /* bytes so far */
    uint32_t align;
    uint64_t bit_end; /* bits used behind `unit`, while bit-fields follow each other */
    bool in_bits;
} layout;

static uint64_t align_up(uint64_t value, uint64_t align) { return (value + align - 1) / align * align; }

static void place_field(layout *at, ast_field *field, uint32_t align) {
    uint64_t offset = at->is_union ? 0 : align_up(at->size, align);
    field->offset = offset;
    uint64_t end = offset + field->type->size;
    if (end > at->size) at->size = end;
    if (align > at->align) at->align = align;
    at->in_bits = false;
}

/* As the System V ABI does: a bit-field must not cross a boundary of its type's size. */
static void place_bit_field(layout *at, ast_field *field) {
    uint64_t bits = field->type->size * 8;
    uint64_t start = at->is_union ? 0 : at->in_bits ? at->bit_end : at->size * 8;
    if (field->bit_width == 0) {
        at->bit_end = align_up(start, bits);
        at->size = at->is_union ? at->size : (at->bit_end + 7) / 8;
        at->in_bits = true;
        return;
    }
    if (!at->record->is_packed && start / bits != (start + field->bit_width - 1) / bits)
        start = align_up(start, bits);
    uint64_t unit = start / bits * (bits / 8);
    if (start / bits != (start + field->bit_width - 1) / bits) { /* packed: go by bytes as far as it fits */
        unit = start / 8;
        if (start - unit * 8 + field->bit_width > bits) start = unit * 8 + 8, unit++;
    }
    field->offset = unit;
    field->bit_offset = (uint8_t)(start - unit * 8);
    at->bit_end = start + field->bit_width;
    uint64_t end = (at->bit_end + 7) / 8;
    if (end > at->size) at->size = end;
    uint32_t align = at->record->is_packed ? 1 : field->type->align;
    if (field->name && align > at->align) at->align = align;
    at->in_bits = true;
}

/* A storage unit must lie within the record: at the end of a packed one it is moved back or made smaller;
   where neither is possible, the record grows. */
static void fit_unit(ast_types *types, layout *at, ast_field *field) {
    uint64_t size = align_up(at->size, at->align);
    while (field->offset + field->type->size > size && field->type->size > 1 &&
           field->type->kind > AST_UCHAR && field->bit_offset + field->bit_width <= field->type->size * 4)
        field->type = types->scalars[field->type->kind - 2];
    uint64_t beyond = field->offset + field->type->size > size ? field->offset + field->type->size - size : 0;
    if (beyond > field->offset) {
        at->size = field->offset + field->type->size;
        return;
    }
    field->offset -= beyond;
    field->bit_offset = (uint8_t)(field->bit_offset + 8 * beyond);
}

bool qn__record_layout(ast_types *types, const ast_type *type, uint32_t align) {
    ast_record *record = type->record;
    layout at = {.record = record, .is_union = type->kind == AST_UNION, .align = 1};
    uint32_t depth = 0;
    for (size_t i = 0; i < record->fields.len; i++) {
        ast_field *field = &record->fields.data[i];
        if (node_of(field->type)->depth > depth) depth = node_of(field->type)->depth;
        /* A field's own `aligned` attribute was left in offset by the parser. */
        uint32_t own = (uint32_t)field->offset;
        uint32_t natural = record->is_packed ? 1 : field->type->align;
        if (field->is_bit_field)
            place_bit_field(&at, field);
        else
            place_field(&at, field, own > natural ? own : natural);
        if (at.size > UINT32_MAX) return false;
    }
    if (align > at.align) at.align = align;
    for (size_t i = 0; i < record->fields.len; i++)
        if (record->fields.data[i].is_bit_field && record->fields.data[i].bit_width)
            fit_unit(types, &at, &record->fields.data[i]);
    record->size = align_up(at.size, at.align);
    record->align = at.align;
    record->is_complete = true;
    for (type_node *node = node_of(type->unqualified); node; node = node->next_variant) {
        node->type.size = record->size;
        node->type.align = record->align;
        node->depth = depth + 1;
    }
    return depth + 1 <= MAX_DEPTH;
}

/* ---- facts ---- */

bool qn__type_is_complete(const ast_type *type) {
    switch (type->kind) {
    case AST_VOID:
    case AST_FUNCTION: return false;
    case AST_ARRAY: return !type->is_incomplete;
    case AST_STRUCT:
    case AST_UNION: return type->record->is_complete;
    default: return true;
    }
}

unsigned qn__type_bits(const ast_type *type) { return (unsigned)qn__type_element(type)->size * 8; }

unsigned qn__type_rank(const ast_type *type) {
    static const uint8_t ranks[AST_LAST_SCALAR + 1] = {0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8, 7, 7, 7};
    return type->kind <= AST_LAST_SCALAR ? ranks[type->kind] : 0;
}

const qn__float_format *qn__type_format(const ast_type *type) {
    switch (type->kind) {
    case AST_HALF: return &qn__float_16;
    case AST_FLOAT: return &qn__float_32;
    case AST_BF16: return &qn__float_bf16;
    case AST_E4M3: return &qn__float_e4m3;
    case AST_E5M2: return &qn__float_e5m2;
    default: return &qn__float_64;
    }
}

bool qn__type_compatible(const ast_type *a, const ast_type *b) {
    a = a->unqualified;
    b = b->unqualified;
    if (a == b) return true;
    if (a->kind != b->kind) return false;
    if (a->kind == AST_ARRAY)
        return (a->is_incomplete || b->is_incomplete || a->length == b->length) &&
               qn__type_compatible(a->base, b->base);
    if (a->kind == AST_POINTER)
        return a->base->quals == b->base->quals && a->base->space == b->base->space &&
               qn__type_compatible(a->base, b->base);
    return false;
}

bool qn__type_contains(const ast_type *type, ast_kind kind) {
    if (type->kind == kind) return true;
    if (type->kind == AST_ARRAY || type->kind == AST_VECTOR) return qn__type_contains(type->base, kind);
    if (!qn__type_is_record(type)) return false;
    for (size_t i = 0; i < type->record->fields.len; i++)
        if (qn__type_contains(type->record->fields.data[i].type, kind)) return true;
    return false;
}

ir_type qn__type_to_ir(const ast_type *type) {
    static const uint8_t kinds[AST_LAST_SCALAR + 1] = {IR_VOID, IR_BOOL, IR_I8,  IR_I8,  IR_I16, IR_I16,
                                                       IR_I32,  IR_I32,  IR_I64, IR_I64, IR_F16, IR_F32,
                                                       IR_F64,  IR_I16,  IR_I8,  IR_I8};
    if (type->kind <= AST_LAST_SCALAR) return qn__ir_type((ir_kind)kinds[type->kind], 1);
    switch (type->kind) {
    case AST_VECTOR: return qn__ir_type((ir_kind)kinds[type->base->kind], type->lanes);
    case AST_POINTER: return qn__ir_pointer((ir_space)type->base->space);
    case AST_EVENT: return qn__ir_type(IR_I32, 1);
    default: return qn__ir_type(IR_VOID, 1);
    }
}

/* ---- names of types that need no declaration ---- */

typedef struct name_row {
    const char *name;
    uint8_t kind; /* AST_STRUCT: one that is not supported; AST_VECTOR: an element, lanes may follow */
    uint8_t element;
} name_row;

/* By first letter, so that a name which is no type is told after one or two comparisons. */
static const name_row type_names[] = {
    {"atomic_int", AST_INT, 0},
    {"atomic_uint", AST_UINT, 0},
    {"atomic_long", AST_LONG, 0},
    {"atomic_ulong", AST_ULONG, 0},
    {"atomic_float", AST_FLOAT, 0},
    {"atomic_double", AST_DOUBLE, 0},
    {"atomic_flag", AST_INT, 0},
    {"atomic_size_t", AST_ULONG, 0},
    {"atomic_ptrdiff_t", AST_LONG, 0},
    {"atomic_intptr_t", AST_LONG, 0},
    {"atomic_uintptr_t", AST_ULONG, 0},
    {"char", AST_VECTOR, AST_CHAR},
    {"clk_event_t", AST_STRUCT, 0},
    {"cl_mem_fence_flags", AST_UINT, 0},
    {"double", AST_VECTOR, AST_DOUBLE},
    {"event_t", AST_EVENT, 0},
    {"float", AST_VECTOR, AST_FLOAT},
    {"half", AST_VECTOR, AST_HALF},
    {"int", AST_VECTOR, AST_INT},
    {"intptr_t", AST_LONG, 0},
    {"image1d_t", AST_OPAQUE, 0},
    {"image1d_array_t", AST_OPAQUE, 0},
    {"image1d_buffer_t", AST_OPAQUE, 0},
    {"image2d_t", AST_OPAQUE, 0},
    {"image2d_array_t", AST_OPAQUE, 0},
    {"image2d_depth_t", AST_OPAQUE, 0},
    {"image2d_array_depth_t", AST_OPAQUE, 0},
    {"image2d_msaa_t", AST_OPAQUE, 0},
    {"image2d_msaa_depth_t", AST_OPAQUE, 0},
    {"image2d_array_msaa_t", AST_OPAQUE, 0},
    {"image2d_array_msaa_depth_t", AST_OPAQUE, 0},
    {"image3d_t", AST_OPAQUE, 0},
    {"long", AST_VECTOR, AST_LONG},
    {"memory_order", AST_INT, 0},
    {"memory_scope", AST_INT, 0},
    {"ndrange_t", AST_STRUCT, 0},
    {"ptrdiff_t", AST_LONG, 0},
    {"pipe", AST_STRUCT, 0},
    {"qn_barrier", AST_ULONG, 0},
    {"qn_bf16", AST_VECTOR, AST_BF16},
    {"qn_e4m3", AST_VECTOR, AST_E4M3},
    {"qn_e5m2", AST_VECTOR, AST_E5M2},
    {"qn_tensor_map", AST_STRUCT, 1},
    {"queue_t", AST_STRUCT, 0},
    {"reserve_id_t", AST_STRUCT, 0},
    {"short", AST_VECTOR, AST_SHORT},
    {"size_t", AST_ULONG, 0},
    {"sampler_t", AST_OPAQUE, 0},
    {"uchar", AST_VECTOR, AST_UCHAR},
    {"uint", AST_VECTOR, AST_UINT},
    {"uintptr_t", AST_ULONG, 0},
    {"ulong", AST_VECTOR, AST_ULONG},
    {"ushort", AST_VECTOR, AST_USHORT},
};

/* ---- names ---- */

static void put_quals(qn__buf *out, const ast_type *type) {
    static const char *const spaces[] = {"", "__global ", "__constant ", "__local ", "", "__generic "};
    qn__buf_puts(out, spaces[type->space % QN__COUNT(spaces)]);
    if (type->quals & AST_CONST) qn__buf_puts(out, "const ");
    if (type->quals & AST_VOLATILE) qn__buf_puts(out, "volatile ");
    if (type->quals & AST_RESTRICT) qn__buf_puts(out, "restrict ");
}

static void put_base(qn__buf *out, const ast_type *type) {
    if (type->kind == AST_VOID && type->is_incomplete)
        qn__buf_puts(out, "<error>");
    else if (type->kind <= AST_LAST_SCALAR)
        qn__buf_puts(out, scalar_names[type->kind]);
    else if (type->kind == AST_VECTOR)
        qn__buf_printf(out, "%s%s%u", scalar_names[type->base->kind],
                       qn__type_is_small_float(type->base) ? "x" : "", type->lanes);
    else if (type->kind == AST_EVENT)
        qn__buf_puts(out, "event_t");
    else if (type->kind == AST_OPAQUE)
        qn__buf_puts(out, type_names[type->length].name);
    else
        qn__buf_printf(out, "%s%s",
                       type->record->is_named_by_typedef ? ""
                       : type->kind == AST_STRUCT        ? "struct "
                                                         : "union ",
                       type->record->tag ? type->record->tag : "<unnamed>");
}

static void put_suffix(qn__buf *out, const ast_type *type);
static void put_type(qn__buf *out, const ast_type *type);

/* What stands before the (absent) name, declarators read inside out. */
static void put_prefix(qn__buf *out, const ast_type *type) {
    switch (type->kind) {
    case AST_POINTER:
        put_prefix(out, type->base);
        if (type->base->kind == AST_ARRAY || type->base->kind == AST_FUNCTION) qn__buf_putc(out, '(');
        qn__buf_putc(out, '*');
        if (type->quals || type->space) {
            qn__buf_putc(out, ' ');
            put_quals(out, type);
            out->data[--out->len] = '\0';
        }
        return;
    case AST_ARRAY:
    case AST_FUNCTION: put_prefix(out, type->base); return;
    default: put_quals(out, type); put_base(out, type);
    }
}

static void put_suffix(qn__buf *out, const ast_type *type) {
    switch (type->kind) {
    case AST_POINTER:
        if (type->base->kind == AST_ARRAY || type->base->kind == AST_FUNCTION) qn__buf_putc(out, ')');
        put_suffix(out, type->base);
        return;
    case AST_ARRAY:
        if (type->is_incomplete)
            qn__buf_puts(out, "[]");
        else
            qn__buf_printf(out, "[%llu]", (unsigned long long)type->length);
        put_suffix(out, type->base);
        return;
    case AST_FUNCTION:
        qn__buf_putc(out, '(');
        for (uint32_t i = 0; i < type->num_params && out->len < 1000; i++) {
            if (i) qn__buf_puts(out, ", ");
            put_type(out, type->params[i]);
        }
        qn__buf_puts(out, type->is_variadic ? ", ...)" : ")");
        put_suffix(out, type->base);
        return;
    default: return;
    }
}

static void put_type(qn__buf *out, const ast_type *type) {
    if (out->len > 1000) return; /* a function type of function types can be exponential */
    put_prefix(out, type);
    put_suffix(out, type);
}

const char *qn__type_name(qn__arena *arena, const ast_type *type) {
    if (type->kind <= AST_LAST_SCALAR && type->unqualified == type && !type->is_incomplete)
        return scalar_names[type->kind];
    qn__buf out;
    qn__buf_init(&out, arena);
    put_type(&out, type);
    return out.data;
}

/* ---- types by name ---- */

/* Lanes that the digits behind an element's name tell; 0: none such. An 'x' keeps them from the digits of the name. */
static unsigned lanes_of(qn__str digits, bool has_digits) {
    if (digits.len == 0) return 1;
    if (has_digits) {
        if (digits.len == 1 || digits.data[0] != 'x') return 0;
        digits = (qn__str){digits.data + 1, digits.len - 1};
    }
    if (digits.len == 2) return digits.data[0] == '1' && digits.data[1] == '6' ? 16 : 0;
    char c = digits.data[0];
    return digits.len == 1 && (c == '2' || c == '3' || c == '4' || c == '8') ? (unsigned)(c - '0') : 0;
}

const ast_type *qn__type_by_name(ast_types *types, qn__str name, bool *is_unsupported) {
    *is_unsupported = false;
    if (name.len < 3) return NULL;
    for (size_t i = 0; i < QN__COUNT(type_names); i++) {
        const name_row *row = &type_names[i];
        if (row->name[0] < name.data[0]) continue;
        if (row->name[0] > name.data[0]) break;
        size_t len = strlen(row->name);
        if (name.len < len || memcmp(row->name, name.data, len) != 0) continue;
        qn__str rest = {name.data + len, name.len - len};
        if (row->kind == AST_VECTOR) {
            unsigned lanes = lanes_of(rest, row->element > AST_DOUBLE);
            if (lanes) return qn__type_vector(types, types->scalars[row->element], lanes);
        } else if (rest.len == 0) {
            if (row->kind == AST_EVENT) return types->event;
            if (row->kind == AST_STRUCT && row->element) return types->tensor_map;
            if (row->kind == AST_OPAQUE) {
                ast_type key = {.kind = AST_OPAQUE, .length = i, .size = 8, .align = 8};
                return type_intern(types, &key, NULL);
            }
            *is_unsupported = row->kind == AST_STRUCT;
            if (*is_unsupported) return types->error;
            const ast_type *type = types->scalars[row->kind];
            return row->name[0] == 'a' ? qn__type_add_quals(types, type, AST_VOLATILE) : type;
        }
    }
    return NULL;
}
