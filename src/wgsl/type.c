/* Types: each made once; their layout in memory (WGSL section 14.4), their names, and what an expression means as a type. */
#include <string.h>

#include "wgsl/internal.h"

/* ---- the scalars ---- */

static const struct scalar {
    const char *name;
    uint8_t ir_kind, size;
} scalars[WGSL_LAST_SCALAR + 1] = {
    [WGSL_VOID] = {"nothing", IR_VOID, 0},
    [WGSL_BOOL] = {"bool", IR_BOOL, 4},
    [WGSL_ABSTRACT_INT] = {"abstract-int", IR_I64, 8},
    [WGSL_ABSTRACT_FLOAT] = {"abstract-float", IR_F64, 8},
    [WGSL_I32] = {"i32", IR_I32, 4},
    [WGSL_U32] = {"u32", IR_I32, 4},
    [WGSL_F32] = {"f32", IR_F32, 4},
    [WGSL_F16] = {"f16", IR_F16, 2},
};

void qn__wf_types_init(wgsl_lower *w) {
    for (unsigned kind = 0; kind <= WGSL_LAST_SCALAR; kind++) {
        wgsl_type *type = QN__NEW(w->arena, wgsl_type);
        type->kind = (uint8_t)kind;
        type->size = type->align = scalars[kind].size;
        type->has_bool = kind == WGSL_BOOL;
        w->scalars[kind] = type;
    }
}

bool qn__wf_is_abstract(const wgsl_type *t) {
    if (t->kind == WGSL_ARRAY) return qn__wf_is_abstract(t->element);
    if (t->kind == WGSL_STRUCT)
        return t->num_members && qn__wf_is_abstract(t->members[0].type); /* of built-in functions */
    const wgsl_type *scalar = qn__wf_scalar_of(t);
    return scalar->kind == WGSL_ABSTRACT_INT || scalar->kind == WGSL_ABSTRACT_FLOAT;
}

ir_type qn__wf_ir_type(const wgsl_type *type) {
    return qn__ir_type((ir_kind)scalars[qn__wf_scalar_of(type)->kind].ir_kind, qn__wf_lanes(type));
}

ir_type qn__wf_memory_type(const wgsl_type *type) {
    const wgsl_type *plain = type->kind == WGSL_ATOMIC ? type->element : type;
    ir_type result = qn__wf_ir_type(plain);
    if (result.kind == IR_BOOL) result.kind = IR_I32;
    return result;
}

/* ---- types that are made of others ---- */

static const wgsl_type *intern(wgsl_lower *w, const wgsl_type *wanted) {
    for (size_t i = 0; i < w->types.len; i++) {
        const wgsl_type *t = w->types.data[i];
        if (t->kind == wanted->kind && t->element == wanted->element && t->length == wanted->length &&
            t->lanes == wanted->lanes && t->columns == wanted->columns && t->space == wanted->space &&
            t->access == wanted->access && t->is_overridable == wanted->is_overridable)
            return t;
    }
    const wgsl_type *made = qn__arena_copy(w->arena, wanted, sizeof *wanted);
    qn__vec_push(w->arena, &w->types, made);
    return made;
}

static uint64_t rounded(uint64_t size, uint64_t align) { return (size + align - 1) / align * align; }

const wgsl_type *qn__wf_vector(wgsl_lower *w, const wgsl_type *element, unsigned lanes) {
    if (lanes == 1) return element;
    const wgsl_type **known = &w->vectors[element->kind][lanes];
    if (*known) return *known;
    wgsl_type *type = QN__NEW(w->arena, wgsl_type);
    *type = (wgsl_type){.kind = WGSL_VECTOR,
                        .lanes = (uint8_t)lanes,
                        .element = element,
                        .size = element->size * lanes,
                        .align = element->align * (lanes == 3 ? 4 : lanes),
                        .stride = element->size,
                        .has_bool = element->has_bool};
    return *known = type;
}

const wgsl_type *qn__wf_matrix(wgsl_lower *w, const wgsl_type *element, unsigned columns, unsigned rows) {
    const wgsl_type *column = qn__wf_vector(w, element, rows);
    wgsl_type type = {
        .kind = WGSL_MATRIX, .lanes = (uint8_t)rows, .columns = (uint8_t)columns, .element = column};
    type.align = column->align;
    type.stride = rounded(column->size, column->align);
    type.size = type.stride * columns;
    return intern(w, &type);
}

const wgsl_type *qn__wf_array(wgsl_lower *w, const wgsl_type *element, uint64_t length) {
    wgsl_type type = {.kind = WGSL_ARRAY,
                      .element = element,
                      .length = length,
                      .align = element->align,
                      .has_atomic = element->has_atomic,
                      .has_bool = element->has_bool,
                      .has_runtime = !length};
    type.stride = rounded(element->size, element->align);
    type.size = type.stride * length;
    return intern(w, &type);
}

const wgsl_type *qn__wf_pointer(wgsl_lower *w, const wgsl_type *element, unsigned space, unsigned access) {
    const wgsl_type type = {
        .kind = WGSL_POINTER, .element = element, .space = (uint8_t)space, .access = (uint8_t)access};
    return intern(w, &type);
}

const wgsl_type *qn__wf_atomic_type(wgsl_lower *w, const wgsl_type *element) {
    const wgsl_type type = {
        .kind = WGSL_ATOMIC, .element = element, .size = 4, .align = 4, .has_atomic = true};
    return intern(w, &type);
}

const wgsl_type *qn__wf_result_struct(wgsl_lower *w, const char *name, const char *const *names,
                                      const wgsl_type *const *types, uint32_t count) {
    for (size_t i = 0; i < w->types.len; i++) {
        const wgsl_type *t = w->types.data[i];
        if (t->kind == WGSL_STRUCT && qn__str_is(t->name, name) && t->members[0].type == types[0]) return t;
    }
    wgsl_type *type = QN__NEW(w->arena, wgsl_type);
    *type = (wgsl_type){.kind = WGSL_STRUCT, .name = qn__str_of(name), .num_members = count, .align = 1};
    type->members = QN__NEW_ARRAY(w->arena, wgsl_member, count);
    for (uint32_t i = 0; i < count; i++) {
        type->size = rounded(type->size, types[i]->align);
        type->members[i] =
            (wgsl_member){.name = qn__str_of(names[i]), .type = types[i], .offset = (uint32_t)type->size};
        type->size += types[i]->size;
        if (types[i]->align > type->align) type->align = types[i]->align;
        type->has_bool |= types[i]->has_bool;
    }
    type->size = rounded(type->size, type->align);
    qn__vec_push(w->arena, &w->types, type);
    return type;
}

/* ---- parts ---- */

uint64_t qn__wf_num_parts(const wgsl_type *type) {
    return type->kind == WGSL_MATRIX  ? type->columns
           : type->kind == WGSL_ARRAY ? type->length
                                      : type->num_members;
}

const wgsl_type *qn__wf_part_type(const wgsl_type *type, uint64_t index) {
    return type->kind == WGSL_STRUCT ? type->members[index].type : type->element;
}

uint64_t qn__wf_part_offset(const wgsl_type *type, uint64_t index) {
    return type->kind == WGSL_STRUCT ? type->members[index].offset : type->stride * index;
}

uint64_t qn__wf_count_parts(const wgsl_type *type, uint64_t limit) {
    if (qn__wf_is_value(type) || type->kind == WGSL_ATOMIC) return 1;
    if (type->kind == WGSL_ARRAY) {
        const uint64_t each = qn__wf_count_parts(type->element, limit);
        return each && type->length > limit / each ? limit + 1 : each * type->length;
    }
    uint64_t count = 0;
    for (uint64_t i = 0; i < qn__wf_num_parts(type) && count <= limit; i++)
        count += qn__wf_count_parts(qn__wf_part_type(type, i), limit);
    return count;
}

/* ---- names ---- */

static const char *const space_names[] = {"function", "private", "workgroup", "uniform", "storage", "table"};
static const char *const access_names[] = {"", "read", "write", "read_write"};

const char *qn__wf_type_name(wgsl_lower *w, const wgsl_type *t) {
    if (t->kind <= WGSL_LAST_SCALAR) return scalars[t->kind].name;
    const char *element = t->element ? qn__wf_type_name(w, t->element) : "";
    switch (t->kind) {
    case WGSL_VECTOR: return qn__arena_printf(w->arena, "vec%d<%s>", t->lanes, element);
    case WGSL_MATRIX:
        return qn__arena_printf(w->arena, "mat%dx%d<%s>", t->columns, t->lanes,
                                qn__wf_type_name(w, t->element->element));
    case WGSL_ARRAY:
        if (!t->length) return qn__arena_printf(w->arena, "array<%s>", element);
        return qn__arena_printf(w->arena, "array<%s, %llu>", element, (unsigned long long)t->length);
    case WGSL_ATOMIC: return qn__arena_printf(w->arena, "atomic<%s>", element);
    case WGSL_POINTER:
        if (t->space != WGSL_STORAGE)
            return qn__arena_printf(w->arena, "ptr<%s, %s>", space_names[t->space], element);
        return qn__arena_printf(w->arena, "ptr<%s, %s, %s>", space_names[t->space], element,
                                access_names[t->access]);
    default: return qn__arena_strndup(w->arena, t->name.data, t->name.len);
    }
}

/* ---- types that expressions mean ---- */

static bool no_parameters(wgsl_lower *w, const wgsl_expr *e) {
    if (!e->parameters.len) return true;
    qn__wf_error(w, e->loc, "type '%.*s' takes no template parameters", QN__STR_PRINTF(e->name));
    return false;
}

static bool check_f16(wgsl_lower *w, const wgsl_expr *e) {
    if (!w->source->enables_f16) {
        qn__wf_error(w, e->loc, "'%.*s' needs the extension f16", QN__STR_PRINTF(e->name));
        qn__wf_hint(w, "begin the module with 'enable f16;'");
        return false;
    }
    return true;
}

/* The single parameter of vec, mat and atomic. */
static const wgsl_type *element_parameter(wgsl_lower *w, const wgsl_expr *e) {
    if (e->parameters.len != 1) {
        qn__wf_error(w, e->loc, "type '%.*s' takes one template parameter, its element type",
                     QN__STR_PRINTF(e->name));
        return NULL;
    }
    return qn__wf_type_of(w, e->parameters.data[0]);
}

/* vec2, vec3f, mat4x3h: the shape, and the element where a suffix tells it. */
static bool read_shape(qn__str name, unsigned *columns, unsigned *rows, char *suffix) {
    const bool is_vector = qn__str_starts(name, "vec"), is_matrix = qn__str_starts(name, "mat");
    const size_t digits = is_matrix ? 6 : 4;
    if ((!is_vector && !is_matrix) || name.len < digits || name.len > digits + 1) return false;
    *columns = is_matrix ? (unsigned)(name.data[3] - '0') : 1;
    *rows = (unsigned)(name.data[is_matrix ? 5 : 3] - '0');
    *suffix = name.len > digits ? name.data[digits] : 0;
    if (*rows < 2 || *rows > 4 || (is_matrix && (*columns < 2 || *columns > 4 || name.data[4] != 'x')))
        return false;
    return !*suffix || strchr(is_matrix ? "fh" : "iufh", *suffix);
}

static const wgsl_type *shaped(wgsl_lower *w, const wgsl_expr *e, unsigned columns, unsigned rows,
                               char suffix) {
    const wgsl_type *element;
    if (suffix) {
        if (!no_parameters(w, e) || (suffix == 'h' && !check_f16(w, e))) return NULL;
        element = w->scalars[suffix == 'i'   ? WGSL_I32
                             : suffix == 'u' ? WGSL_U32
                             : suffix == 'f' ? WGSL_F32
                                             : WGSL_F16];
    } else {
        element = element_parameter(w, e);
    }
    if (!element) return NULL;
    const bool fits =
        columns > 1 ? element->kind == WGSL_F32 || element->kind == WGSL_F16 : qn__wf_is_scalar(element);
    if (!fits) {
        qn__wf_error(w, e->loc, "'%.*s': a %s of '%s' is not possible", QN__STR_PRINTF(e->name),
                     columns > 1 ? "matrix" : "vector", qn__wf_type_name(w, element));
        return NULL;
    }
    return columns > 1 ? qn__wf_matrix(w, element, columns, rows) : qn__wf_vector(w, element, rows);
}

static bool check_element(wgsl_lower *w, const wgsl_type *element, front_loc loc) {
    const bool fits = element->kind != WGSL_POINTER && element->kind != WGSL_VOID && !element->has_runtime;
    if (!fits) qn__wf_error(w, loc, "'%s' cannot be an array's element", qn__wf_type_name(w, element));
    return fits;
}

static const wgsl_type *array_type(wgsl_lower *w, const wgsl_expr *e) {
    if (!e->parameters.len || e->parameters.len > 2) {
        qn__wf_error(
            w, e->loc,
            "type 'array' takes its element type and, unless it is known at run time only, its length");
        return NULL;
    }
    if (e->parameters.data[0]->kind != WGSL_EXPR_NAME) {
        qn__wf_error(w, e->parameters.data[0]->loc,
                     "type 'array' takes the type of its elements first, not %s",
                     qn__wf_quote(w, e->parameters.data[0]));
        return NULL;
    }
    const wgsl_type *element = qn__wf_type_of(w, e->parameters.data[0]);
    if (!element || !check_element(w, element, e->parameters.data[0]->loc)) return NULL;
    if (e->parameters.len == 1) return qn__wf_array(w, element, 0);
    int64_t length;
    if (!qn__wf_const_int(w, e->parameters.data[1], WGSL_STAGE_OVERRIDE, "an array's length", &length))
        return NULL;
    const uint64_t stride = rounded(element->size, element->align);
    const wgsl_value known = qn__wf_rvalue(w, e->parameters.data[1]);
    if (length < 1 || (uint64_t)length > UINT32_MAX || (stride && (uint64_t)length > UINT32_MAX / stride)) {
        qn__wf_error(w, e->parameters.data[1]->loc,
                     length < 1 ? "an array's length must be at least 1; this is %lld"
                                : "an array of %lld elements is too large",
                     (long long)length);
        return NULL;
    }
    wgsl_type type = *qn__wf_array(w, element, (uint64_t)length);
    type.is_overridable = known.stage == WGSL_STAGE_OVERRIDE;
    return intern(w, &type);
}

static int find_word(const wgsl_expr *e, const char *const *words, int count) {
    for (int i = 0; i < count; i++)
        if (e->kind == WGSL_EXPR_NAME && qn__str_is(e->name, words[i])) return i;
    return -1;
}

static const wgsl_type *pointer_type(wgsl_lower *w, const wgsl_expr *e) {
    const size_t count = e->parameters.len;
    if (count < 2 || count > 3) {
        qn__wf_error(w, e->loc, "type 'ptr' takes an address space, a type, and for storage an access mode");
        return NULL;
    }
    const int space = find_word(e->parameters.data[0], space_names, WGSL_TABLE);
    if (space < 0) {
        qn__wf_error(w, e->parameters.data[0]->loc, "there is no such address space");
        qn__wf_hint(w, "there are function, private, workgroup, uniform and storage");
        return NULL;
    }
    int access = space == WGSL_UNIFORM || space == WGSL_STORAGE ? WGSL_READ : WGSL_READ_WRITE;
    if (count == 3) access = find_word(e->parameters.data[2], access_names, 4);
    if (access <= 0 || (count == 3 && space != WGSL_STORAGE)) {
        qn__wf_error(w, e->parameters.data[2]->loc,
                     access <= 0 ? "there is no such access mode"
                                 : "an access mode is for the address space 'storage' only");
        return NULL;
    }
    const wgsl_type *element = qn__wf_type_of(w, e->parameters.data[1]);
    return element ? qn__wf_pointer(w, element, (unsigned)space, (unsigned)access) : NULL;
}

static const wgsl_type *atomic_type(wgsl_lower *w, const wgsl_expr *e) {
    const wgsl_type *element = element_parameter(w, e);
    if (!element) return NULL;
    if (element->kind == WGSL_I32 || element->kind == WGSL_U32) return qn__wf_atomic_type(w, element);
    qn__wf_error(w, e->loc, "an atomic is of i32 or u32, not of '%s'", qn__wf_type_name(w, element));
    return NULL;
}

static bool is_graphics(qn__str name) {
    return qn__str_starts(name, "texture_") || qn__str_starts(name, "sampler") ||
           qn__str_is(name, "binding_array");
}

const wgsl_type *qn__wf_predeclared(wgsl_lower *w, const wgsl_expr *e, bool *is_type) {
    unsigned columns, rows;
    char suffix;
    *is_type = true;
    for (unsigned kind = WGSL_BOOL; kind <= WGSL_LAST_SCALAR; kind++) {
        const bool is_abstract = kind == WGSL_ABSTRACT_INT || kind == WGSL_ABSTRACT_FLOAT;
        if (is_abstract || !qn__str_is(e->name, scalars[kind].name)) continue;
        if (!no_parameters(w, e) || (kind == WGSL_F16 && !check_f16(w, e))) return NULL;
        return w->scalars[kind];
    }
    if (read_shape(e->name, &columns, &rows, &suffix)) return shaped(w, e, columns, rows, suffix);
    if (qn__str_is(e->name, "array")) return array_type(w, e);
    if (qn__str_is(e->name, "atomic")) return atomic_type(w, e);
    if (qn__str_is(e->name, "ptr")) return pointer_type(w, e);
    if (is_graphics(e->name)) {
        qn__wf_error(w, e->loc, "'%.*s': quern has no textures and no samplers", QN__STR_PRINTF(e->name));
        qn__wf_hint(w, "compute shaders can use storage buffers in their place");
        return NULL;
    }
    *is_type = false;
    return NULL;
}

const wgsl_type *qn__wf_type_of(wgsl_lower *w, const wgsl_expr *e) {
    if (!e) return NULL;
    if (e->kind != WGSL_EXPR_NAME) {
        qn__wf_error(w, e->loc, "expected a type");
        return NULL;
    }
    const wgsl_value v = qn__wf_lookup(w, e);
    if (qn__wf_is_error(&v)) return NULL;
    if (v.form == WGSL_FORM_TYPE) return v.type;
    qn__wf_error(w, e->loc, "'%.*s' is no type", QN__STR_PRINTF(e->name));
    return NULL;
}

/* ---- structs ---- */

static void place_member(wgsl_lower *w, wgsl_type *type, wgsl_member *member, const wgsl_decl *decl,
                         bool is_last) {
    const wgsl_attribute *align = qn__wf_attribute(&decl->attributes, "align");
    const wgsl_attribute *size = qn__wf_attribute(&decl->attributes, "size");
    uint64_t aligned = member->type->align, bytes = member->type->size;
    if (align) {
        const uint64_t wanted = qn__wf_attribute_number(w, align, 0, 1, WGSL_STAGE_CONST);
        if (wanted & (wanted - 1) || wanted > UINT32_MAX / 2)
            qn__wf_error(w, align->loc, "@align takes a power of two");
        else if (wanted && wanted % aligned)
            qn__wf_error(w, align->loc, "@align(%llu) is less than '%s' needs, which is %llu",
                         (unsigned long long)wanted, qn__wf_type_name(w, member->type),
                         (unsigned long long)aligned);
        else if (wanted)
            aligned = wanted;
    }
    if (size) {
        const uint64_t wanted = qn__wf_attribute_number(w, size, 0, 1, WGSL_STAGE_CONST);
        if (wanted && wanted < bytes)
            qn__wf_error(w, size->loc, "@size(%llu) is less than '%s' takes, which is %llu",
                         (unsigned long long)wanted, qn__wf_type_name(w, member->type),
                         (unsigned long long)bytes);
        else if (wanted)
            bytes = wanted;
    }
    if (member->type->has_runtime && !is_last)
        qn__wf_error(w, decl->loc,
                     "'%.*s' is an array without a length, which can only be a struct's last member",
                     QN__STR_PRINTF(decl->name));
    const uint64_t offset = rounded(type->size, aligned);
    member->offset = (uint32_t)offset;
    type->size = offset + bytes;
    if (type->size > UINT32_MAX) {
        qn__wf_error(w, decl->loc, "the struct is too large");
        type->size = bytes;
    }
    if (aligned > type->align) type->align = (uint32_t)aligned;
}

const wgsl_type *qn__wf_struct(wgsl_lower *w, wgsl_decl *decl) {
    wgsl_type *type = QN__NEW(w->arena, wgsl_type);
    const size_t count = decl->members.len;
    *type = (wgsl_type){.kind = WGSL_STRUCT, .align = 1, .name = decl->name};
    type->members = QN__NEW_ARRAY(w->arena, wgsl_member, count + 1);
    for (size_t i = 0; i < count; i++) {
        const wgsl_decl *from = decl->members.data[i];
        const wgsl_type *member = qn__wf_type_of(w, from->type);
        if (!member) return NULL;
        const bool fits = member->kind != WGSL_POINTER && !member->is_overridable &&
                          !(member->kind == WGSL_STRUCT && member->has_runtime);
        if (!fits) {
            qn__wf_error(w, from->loc, "'%s' cannot be a struct's member", qn__wf_type_name(w, member));
            return NULL;
        }
        for (size_t k = 0; k < i; k++)
            if (qn__str_equal(type->members[k].name, from->name))
                qn__wf_error(w, from->loc, "member '%.*s' is there twice", QN__STR_PRINTF(from->name));
        type->members[i] = (wgsl_member){.name = from->name, .type = member, .loc = from->loc};
        type->has_atomic |= member->has_atomic;
        type->has_runtime |= member->has_runtime;
        type->has_bool |= member->has_bool;
        place_member(w, type, &type->members[i], from, i + 1 == count);
    }
    type->num_members = (uint32_t)count;
    type->size = rounded(type->size, type->align);
    qn__vec_push(w->arena, &w->types, type);
    return type;
}
