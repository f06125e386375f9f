/* Attributes: __attribute__((...)) wherever it may stand. What is known is a table; what has no meaning here
   is accepted in silence where other compilers know it, and with a warning where nobody does. */
#include "front/parse/parser.h"

#include <string.h>

typedef enum attribute_kind {
    ATTR_IGNORED,
    ATTR_ALIGNED,
    ATTR_PACKED,
    ATTR_REQD_SIZE,
    ATTR_SIZE_HINT,
    ATTR_VEC_TYPE_HINT,
    ATTR_SUB_GROUP_SIZE,
    ATTR_CLUSTER,
    ATTR_UNROLL,
    ATTR_OVERLOADABLE,
    ATTR_CONST,
    ATTR_VECTOR
} attribute_kind;

static const struct attribute_row {
    const char *name;
    attribute_kind kind;
} attribute_rows[] = {
    {"aligned", ATTR_ALIGNED},
    {"packed", ATTR_PACKED},
    {"reqd_work_group_size", ATTR_REQD_SIZE},
    {"work_group_size_hint", ATTR_SIZE_HINT},
    {"vec_type_hint", ATTR_VEC_TYPE_HINT},
    {"intel_reqd_sub_group_size", ATTR_SUB_GROUP_SIZE},
    {"qn_cluster_size", ATTR_CLUSTER},
    {"opencl_unroll_hint", ATTR_UNROLL},
    {"overloadable", ATTR_OVERLOADABLE},
    {"const", ATTR_CONST},
    {"pure", ATTR_CONST},
    {"ext_vector_type", ATTR_VECTOR},
    {"always_inline", ATTR_IGNORED},
    {"noinline", ATTR_IGNORED},
    {"flatten", ATTR_IGNORED},
    {"unused", ATTR_IGNORED},
    {"used", ATTR_IGNORED},
    {"nothrow", ATTR_IGNORED},
    {"nounwind", ATTR_IGNORED},
    {"convergent", ATTR_IGNORED},
    {"noduplicate", ATTR_IGNORED},
    {"artificial", ATTR_IGNORED},
    {"gnu_inline", ATTR_IGNORED},
    {"may_alias", ATTR_IGNORED},
    {"deprecated", ATTR_IGNORED},
    {"hot", ATTR_IGNORED},
    {"cold", ATTR_IGNORED},
    {"weak", ATTR_IGNORED},
    {"leaf", ATTR_IGNORED},
    {"visibility", ATTR_IGNORED},
    {"section", ATTR_IGNORED},
    {"nonnull", ATTR_IGNORED},
    {"warn_unused_result", ATTR_IGNORED},
    {"format", ATTR_IGNORED},
    {"annotate", ATTR_IGNORED},
    {"optnone", ATTR_IGNORED},
    {"fallthrough", ATTR_IGNORED},
    {"nosvm", ATTR_IGNORED},
    {"endian", ATTR_IGNORED},
    {"max_work_group_size", ATTR_IGNORED},
    {"num_compute_units", ATTR_IGNORED},
    {"num_simd_work_items", ATTR_IGNORED},
    {"uniform_work_group_size", ATTR_IGNORED},
    {"work_group_size", ATTR_IGNORED},
    {"qcom_reqd_sub_group_size", ATTR_IGNORED},
    {"kernel", ATTR_IGNORED},
    {"blocking", ATTR_IGNORED},
};

/* Name without the underscores of __packed__. */
static qn__str bare_name(const front_token *token) {
    qn__str name = {token->text, token->len};
    if (name.len > 4 && !memcmp(name.data, "__", 2) && !memcmp(name.data + name.len - 2, "__", 2))
        name = (qn__str){name.data + 2, name.len - 4};
    return name;
}

static const struct attribute_row *attribute_find(qn__str name) {
    for (size_t i = 0; i < QN__COUNT(attribute_rows); i++)
        if (qn__str_is(name, attribute_rows[i].name)) return &attribute_rows[i];
    return NULL;
}

/* '(' constant (',' constant){count - 1} ')'; without the parentheses false, where `optional`. */
static bool attribute_numbers(front_parser *p, uint32_t *numbers, unsigned count, bool optional) {
    if (optional && !qn__peek(p, FRONT_T_LPAREN)) return false;
    if (!qn__expect(p, FRONT_T_LPAREN, "after the attribute")) return false;
    bool good = true;
    for (unsigned i = 0; i < count; i++) {
        if (i && !qn__expect(p, FRONT_T_COMMA, "in the attribute")) return false;
        front_loc loc = qn__here(p);
        int64_t value = 0;
        if (!qn__parse_constant(p, "attribute argument", &value, NULL)) {
            good = false;
        } else if (value < 0 || value > INT32_MAX) {
            qn__diag_error(p->diag, loc, "attribute argument %lld is out of range", (long long)value);
            good = false;
        } else {
            numbers[i] = (uint32_t)value;
        }
    }
    return qn__expect(p, FRONT_T_RPAREN, "after the attribute's arguments") && good;
}

static void attribute_aligned(front_parser *p, front_attributes *attributes, front_loc loc) {
    enum { MOST = 1 << 16, BIGGEST = 128 };
    uint32_t align = BIGGEST;
    if (qn__peek(p, FRONT_T_LPAREN) && !attribute_numbers(p, &align, 1, false)) return;
    if (align == 0 || (align & (align - 1)) || align > MOST)
        qn__diag_error(p->diag, loc, "alignment %u is not a power of two up to %d", align, MOST);
    else if (align > attributes->align)
        attributes->align = align;
}

static void attribute_sizes(front_parser *p, uint32_t *sizes, front_loc loc) {
    uint32_t read[3] = {0, 0, 0};
    if (!attribute_numbers(p, read, 3, false)) return;
    if (!read[0] || !read[1] || !read[2]) {
        qn__diag_error(p->diag, loc, "a work-group size must not be zero");
        return;
    }
    memcpy(sizes, read, sizeof read);
}

static void attribute_cluster(front_parser *p, front_attributes *attributes, front_loc loc) {
    enum { MOST = 8 }; /* that every device with clusters takes */
    uint32_t size = 0;
    if (!attribute_numbers(p, &size, 1, false)) return;
    if (size == 0 || size > MOST)
        qn__diag_error(p->diag, loc, "a cluster has 1 to %d work-groups, not %u", MOST, size);
    else if (!p->context->target.has_hopper)
        qn__diag_error(
            p->diag, loc,
            "this device has no clusters of work-groups: CUDA devices of compute capability 9.0 have");
    else
        attributes->cluster = size;
}

static void attribute_type_hint(front_parser *p, front_attributes *attributes) {
    if (!qn__expect(p, FRONT_T_LPAREN, "after 'vec_type_hint'")) return;
    attributes->vec_type_hint = qn__type_text(p, qn__parse_type_name(p));
    qn__expect(p, FRONT_T_RPAREN, "after the type");
}

static void attribute_skip_arguments(front_parser *p) {
    if (qn__accept(p, FRONT_T_LPAREN)) qn__skip_to(p, FRONT_T_RPAREN);
}

static void attribute_apply(front_parser *p, front_attributes *attributes, attribute_kind kind,
                            front_loc loc) {
    uint32_t number = 0;
    switch (kind) {
    case ATTR_IGNORED: attribute_skip_arguments(p); return;
    case ATTR_ALIGNED: attribute_aligned(p, attributes, loc); return;
    case ATTR_PACKED: attributes->packed = true; return;
    case ATTR_REQD_SIZE: attribute_sizes(p, attributes->reqd_local, loc); return;
    case ATTR_SIZE_HINT: attribute_sizes(p, attributes->hint_local, loc); return;
    case ATTR_VEC_TYPE_HINT: attribute_type_hint(p, attributes); return;
    case ATTR_SUB_GROUP_SIZE:
        if (attribute_numbers(p, &number, 1, false)) attributes->sub_group_size = number;
        return;
    case ATTR_CLUSTER: attribute_cluster(p, attributes, loc); return;
    case ATTR_UNROLL:
        attributes->unroll = attribute_numbers(p, &number, 1, true) && number ? (int32_t)number : -1;
        return;
    case ATTR_OVERLOADABLE: attributes->is_overloadable = true; return;
    case ATTR_CONST: attributes->is_const = true; return;
    case ATTR_VECTOR:
        if (!attribute_numbers(p, &number, 1, false)) return;
        if (number == 2 || number == 3 || number == 4 || number == 8 || number == 16)
            attributes->vector_lanes = number;
        else
            qn__diag_error(p->diag, loc, "a vector has 2, 3, 4, 8 or 16 components, not %u", number);
        return;
    }
}

/* attribute: name ('(' ... ')')? | nothing */
static void parse_attribute(front_parser *p, front_attributes *attributes) {
    const front_token *token = p->at;
    bool is_word = token->kind == FRONT_T_IDENTIFIER || token->kind >= FRONT_T_AUTO;
    if (!is_word) {
        if (!qn__peek(p, FRONT_T_COMMA) && !qn__peek(p, FRONT_T_RPAREN))
            qn__syntax_error(p, "expected the name of an attribute");
        return;
    }
    qn__advance(p);
    qn__str name = bare_name(token);
    const struct attribute_row *row = attribute_find(name);
    if (row) {
        attribute_apply(p, attributes, row->kind, token->loc);
        return;
    }
    qn__diag_warning(p->diag, FRONT_WARN_ATTRIBUTE, token->loc, "unknown attribute '%.*s' ignored",
                     QN__STR_PRINTF(name));
    attribute_skip_arguments(p);
}

/* attributes: ('__attribute__' '((' attribute (',' attribute)* '))' | '_Alignas' '(' (type | constant)
   ')')* */
void qn__parse_attributes(front_parser *p, front_attributes *attributes) {
    while (qn__accept(p, FRONT_T_ATTRIBUTE)) {
        if (!qn__expect(p, FRONT_T_LPAREN, "after '__attribute__'")) return;
        if (!qn__expect(p, FRONT_T_LPAREN, "after '__attribute__('")) return;
        do {
            parse_attribute(p, attributes);
        } while (!p->panic && qn__accept(p, FRONT_T_COMMA));
        if (!qn__expect(p, FRONT_T_RPAREN, "after the attributes")) return;
        if (!qn__expect(p, FRONT_T_RPAREN, "after the attributes")) return;
    }
}
