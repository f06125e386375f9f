/* Values of elements as OpenCL C: where they are read, and the expressions that they are. A value that differs within the inner loop is
   of element k of a pack, where a work-item takes several. */
#include <stdio.h>
#include <string.h>

#include "tensor/kernel.h"

static const qn__instance *instance_of(const qn__maker *m, uint32_t i) { return &m->demand->instances[i]; }

/* ---- numbers and places ---- */

uint32_t qn__number_add(qn__maker *m, int64_t value) {
    if (!qn__reserve(m->schedule->tensors, &m->numbers, &m->number_room, m->num_numbers,
                     sizeof *m->numbers)) {
        m->failed = true;
        return 0;
    }
    m->numbers[m->num_numbers] = value;
    return (uint32_t)m->num_numbers++;
}

/* Whether the form is a multiple of the work-item's number, and something. */
static bool goes_through(const qn__maker *m, const qn__form *form) {
    if (!qn__counts_through(m) || !form->steps[m->loops.count - 1]) return false;
    for (uint32_t l = m->loops.count - 1; l-- > 0;)
        if (form->steps[l] != form->steps[l + 1] * (int64_t)m->loops.at[l + 1].size) return false;
    return true;
}

/* The form, element k of a pack if `k`. */
void qn__form_add(qn__maker *m, qn__text *to, const qn__form *form, bool k) {
    const uint32_t inner = qn__inner_loop(m);
    bool any = false;
    if (goes_through(m, form)) {
        const int64_t step = form->steps[m->loops.count - 1];
        if (form->base) qn__text_add(to, "n.v[%u] + ", qn__number_add(m, form->base));
        qn__text_add(to, "through");
        if (step != 1) qn__text_add(to, " * n.v[%u]", qn__number_add(m, step));
        return;
    }
    if (form->base) {
        qn__text_add(to, "n.v[%u]", qn__number_add(m, form->base));
        any = true;
    }
    for (uint32_t l = 0; l < m->loops.count; l++) {
        if (!form->steps[l]) continue;
        const bool pack = k && l == inner && m->shape.width > 1;
        qn__text_add(to, pack ? "%s(i%u + k)" : "%si%u", any ? " + " : "", l);
        if (form->steps[l] != 1) qn__text_add(to, " * n.v[%u]", qn__number_add(m, form->steps[l]));
        any = true;
    }
    if (!any) qn__text_add(to, "0");
}

/* x / size without a division where x is below 2^31, which processors' vectors do not have and GPUs take a dozen instructions for: by
   Granlund and Montgomery, "Division by Invariant Integers using Multiplication". `most` is what x is below. */
static const char *const quotient_text =
    "static int quotient(int x, uint factor, uint shift) {\n"
    "    return (int)((mul_hi((uint)x, factor) + (uint)x) >> shift);\n}\n";

static void add_quotient(qn__maker *m, qn__text *to, const char *x, uint64_t most, uint64_t size,
                         uint32_t number) {
    if (most > INT32_MAX) {
        qn__text_add(to, "%s / n.v[%u]", x, number);
        return;
    }
    uint32_t shift = 0;
    while ((uint64_t)1 << shift < size) shift++;
    const uint64_t factor = ((((uint64_t)1 << shift) - size) << 32) / size + 1;
    if (!m->helpers.text || !strstr(m->helpers.text, quotient_text))
        qn__text_add(&m->helpers, "%s", quotient_text);
    qn__text_add(to, "quotient((int)%s, (uint)n.v[%u]", x, qn__number_add(m, (int64_t)factor));
    qn__text_add(to, ", (uint)n.v[%u])", qn__number_add(m, shift));
}

/* Loop variables of the loops that are reduced or not, from one that counts through all of them. */
void qn__loop_variables_add(qn__maker *m, qn__text *to, bool reduced, const char *from, const char *indent) {
    uint32_t list[QN__LOOPS], count = 0;
    for (uint32_t l = m->loops.count; l-- > 0;)
        if (m->loops.at[l].reduced == reduced) list[count++] = l;
    const char *place = m->shape.wide ? "long" : "int";
    char rest[16];
    snprintf(rest, sizeof rest, "%s", from);
    for (uint32_t i = 0; i < count; i++) {
        if (i + 1 == count) {
            qn__text_add(to, "%sconst %s i%u = %s;\n", indent, place, list[i], rest);
            return;
        }
        const uint32_t size = qn__number_add(m, (int64_t)m->loops.at[list[i]].size);
        qn__text_add(to, "%sconst %s o%u = ", indent, place, list[i]);
        add_quotient(m, to, rest, qn__iterations(m, reduced), m->loops.at[list[i]].size, size);
        qn__text_add(to, ", i%u = %s - o%u * n.v[%u];\n", list[i], rest, list[i], size);
        snprintf(rest, sizeof rest, "o%u", list[i]);
    }
}

static void add_condition(qn__maker *m, qn__text *to, uint32_t condition, bool k) {
    const char *place = m->shape.wide ? "ulong" : "uint";
    for (bool any = false; condition; any = true) {
        const qn__condition *c = &m->demand->conditions[condition - 1];
        qn__text_add(to, "%s((%s)(", any ? " & " : "", place);
        qn__form_add(m, to, &c->form, k);
        qn__text_add(to, ") < n.v[%u])", qn__number_add(m, (int64_t)c->size));
        condition = c->outer;
    }
}

/* ---- values ---- */

void qn__pack_define(qn__maker *m, const char *storage, uint32_t bytes) {
    char text[160], *word = bytes >= 16 ? "uint4" : bytes >= 8 ? "uint2" : bytes >= 4 ? "uint" : "ushort";
    const uint32_t size = bytes >= 16 ? 16 : bytes;
    snprintf(text, sizeof text, "typedef union %s_%u {\n    %s e[%u];\n    %s w[%u];\n} %s_%u;\n", storage,
             m->shape.width, storage, m->shape.width, word, bytes / size, storage, m->shape.width);
    if (!m->types.text || !strstr(m->types.text, text)) qn__text_add(&m->types, "%s", text);
}

uint32_t qn__array_number(const qn__maker *m, const qn__node *node, bool written) {
    uint32_t i = 0;
    while (m->arrays[i].node != node || m->arrays[i].written != written) i++;
    return i;
}

/* Whether a load is one of packs, and what that is under. */
static bool is_pack_load(const qn__maker *m, uint32_t i) {
    const qn__value *v = &m->values[i];
    uint32_t c = instance_of(m, i)->place.condition;
    for (; c; c = m->demand->conditions[c - 1].outer)
        if (qn__is_inner(m, &m->demand->conditions[c - 1].form)) return false;
    return v->is_inner && qn__is_packed(m, &v->form);
}

static void write_load(qn__maker *m, uint32_t i, qn__text *to, qn__text *packs, const char *indent) {
    const qn__node *node = instance_of(m, i)->node;
    qn__value *v = &m->values[i];
    const qn_element type = (qn_element)node->type;
    const qn__element_info *e = qn__element_of(type);
    const uint32_t array = qn__array_number(m, node, false), condition = instance_of(m, i)->place.condition;
    snprintf(v->name, sizeof v->name, "v%u", i);
    if (v->turned) {
        qn__turn_load(m, to, i, indent);
        return;
    }
    if (m->shape.ahead && v->is_inner && packs) {
        write_load(m, i, packs, NULL, indent);
        qn__text_add(packs, "%sa%u[u] = %s;\n", indent, i, v->name);
        qn__text_add(to, "%sconst %s %s = a%u[u];\n", indent, e->value, v->name, i);
        return;
    }
    if (!packs || !is_pack_load(m, i)) {
        if (!condition) {
            qn__text_add(to, "%sconst %s %s = x%u[", indent, e->value, v->name, array);
            qn__form_add(m, to, &v->form, v->is_inner);
            qn__text_add(to, "];\n");
            return;
        }
        /* With the place before the question a processor's compiler makes vectors of it. */
        qn__text_add(to, "%sconst %s at%u = ", indent, m->shape.wide ? "long" : "int", i);
        qn__form_add(m, to, &v->form, v->is_inner);
        qn__text_add(to, ";\n%sconst %s %s = ", indent, e->value, v->name);
        add_condition(m, to, condition, v->is_inner);
        qn__text_add(to, " ? x%u[at%u] : 0;\n", array, i);
        return;
    }
    const uint32_t bytes = e->size * m->shape.width, words = bytes > 16 ? bytes / 16 : 1;
    const char *word = bytes >= 16 ? "uint4" : bytes >= 8 ? "uint2" : bytes >= 4 ? "uint" : "ushort";
    const char *outer = m->has_rows ? "        " : "    ";
    qn__pack_define(m, e->storage, bytes);
    qn__text_add(packs, "%s%s_%u p%u%s;\n%s", outer, e->storage, m->shape.width, i,
                 condition ? " = {{0}}" : "", outer);
    if (condition) {
        qn__text_add(packs, "if (");
        add_condition(m, packs, condition, false);
        qn__text_add(packs, ") {\n%s    ", outer);
    }
    qn__text_add(packs, "global const %s *q%u = (global const %s *)(x%u + ", word, i, word, array);
    qn__form_add(m, packs, &v->form, false);
    qn__text_add(packs, ");\n");
    for (uint32_t w = 0; w < words; w++)
        qn__text_add(packs, "%s%sp%u.w[%u] = q%u[%u];\n", outer, condition ? "    " : "", i, w, i, w);
    if (condition) qn__text_add(packs, "%s}\n", outer);
    qn__text_add(to, "%sconst %s %s = p%u.e[k];\n", indent, e->value, v->name, i);
}

static void write_constant(qn__maker *m, uint32_t i) {
    const uint32_t node = instance_of(m, i)->node->index;
    uint32_t c = 0;
    while (c < m->num_constants && m->constants[c] != node) c++;
    if (c == QN__KERNEL_CONSTANTS) {
        m->too_large = true;
        return;
    }
    if (c == m->num_constants) m->constants[m->num_constants++] = node;
    snprintf(m->values[i].name, sizeof m->values[i].name, "c%u", c);
}

static void write_pad(qn__maker *m, uint32_t i, qn__text *to, const char *indent) {
    const qn__instance *instance = instance_of(m, i);
    const uint32_t inside = instance->sources[0];
    qn__text_add(to, "%sconst %s v%u = ", indent, qn__element_of((qn_element)instance->node->type)->value, i);
    add_condition(m, to, instance->condition, m->values[i].is_inner);
    qn__text_add(to, " ? %s : %s;\n", m->values[inside].name, m->values[instance->sources[1]].name);
    snprintf(m->values[i].name, sizeof m->values[i].name, "v%u", i);
}

static void write_map(qn__maker *m, uint32_t i, qn__text *to, const char *indent) {
    const qn__instance *instance = instance_of(m, i);
    const qn__node *node = instance->node;
    const char *operands[3] = {NULL};
    for (uint32_t s = 0; s < node->num_sources; s++) operands[s] = m->values[instance->sources[s]].name;
    const qn_element type = (qn_element)node->type;
    /* The last operand's type is the one that is computed in: of `where` the first is bool. */
    const qn_element from = (qn_element)node->sources[node->num_sources - 1]->type;
    qn__text_add(to, "%sconst %s v%u = ", indent, qn__element_of(type)->value, i);
    if (node->op == QN__OP_CAST)
        qn__text_cast(to, from, type, operands[0]);
    else
        qn__text_op(to, &m->helpers, (qn__op)node->op, from, operands, m->values[instance->sources[0]].bounds,
                    "");
    qn__text_add(to, ";\n");
    snprintf(m->values[i].name, sizeof m->values[i].name, "v%u", i);
}

void qn__value_write(qn__maker *m, uint32_t i, qn__text *to, qn__text *packs, const char *indent) {
    const qn__instance *instance = instance_of(m, i);
    const qn__node *node = instance->node;
    qn__value *v = &m->values[i];
    v->written = true;
    if (v->kept) { /* a view has had its source's name */
        snprintf(v->name, sizeof v->name, "v%u", i);
        qn__text_add(to, "%sconst %s %s = h%u[h * %u%s];\n", indent,
                     qn__element_of((qn_element)node->type)->value, v->name, i, m->shape.width,
                     m->shape.width > 1 ? " + k" : "");
    } else if (v->loads) {
        write_load(m, i, to, packs, indent);
    } else if (node->op == QN__OP_FULL) {
        write_constant(m, i);
    } else if (node->op == QN__OP_INDEX) {
        qn__text_add(to, "%sconst long v%u = ", indent, i);
        qn__form_add(m, to, &v->form, v->is_inner);
        qn__text_add(to, ";\n");
        snprintf(v->name, sizeof v->name, "v%u", i);
    } else if (node->op == QN__OP_PAD) {
        write_pad(m, i, to, indent);
    } else if (qn__ops[node->op].kind == QN__VIEW) {
        memcpy(v->name, m->values[instance->sources[0]].name, sizeof v->name);
    } else if (qn__ops[node->op].kind == QN__REDUCE) {
        const qn__item *item = &m->schedule->items[node->index];
        uint32_t member = 0;
        while (m->group->members[member] != node->index) member++;
        snprintf(v->name, sizeof v->name, "r%u", item->group == m->number ? member : 0);
    } else {
        write_map(m, i, to, indent);
    }
    if (v->held && !v->kept)
        qn__text_add(to, "%sh%u[h * %u%s] = %s;\n", indent, i, m->shape.width,
                     m->shape.width > 1 ? " + k" : "", v->name);
}
