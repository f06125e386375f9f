/* What a group does, as OpenCL C. Values that are the same for all of a row are computed before the loop that needs them (`head`), the others in
   it (`body`), where a work-item takes a pack of neighbours at once if they lie so. Sizes and strides are arguments: numbers n.v[..];
   which of them are 0 or 1, and what is read where, is text. */
#include <stdio.h>
#include <string.h>

#include "tensor/kernel.h"

static const qn__instance *instance_of(const qn__maker *m, uint32_t i) { return &m->demand->instances[i]; }

/* ---- reductions ---- */

static const char *const barrier_text = "    barrier(CLK_LOCAL_MEM_FENCE);\n";

/* By sub-groups, then all of these. A group does that once for each of its `parts`, so that nobody waits behind it. Where all sub-groups are
   known to be as large, the loops are unrolled. */
static void join_group(const qn__maker *m, qn__text *to, const char *value, const char *join) {
    const qn_device_info *info = &m->schedule->tensors->info;
    const bool is_known = info->kind == QN_DEVICE_CUDA && m->shape.lanes % info->sub_group_size == 0;
    char half[40] = "get_max_sub_group_size() / 2", number[40] = "get_num_sub_groups()";
    const char *unroll = is_known ? "_Pragma(\"unroll\") " : "";
    if (is_known) {
        snprintf(half, sizeof half, "%u", info->sub_group_size / 2);
        snprintf(number, sizeof number, "%u", m->shape.lanes / info->sub_group_size);
    }
    qn__text_add(to,
                 "    %sfor (uint step = %s; step > 0; step /= 2) {\n"
                 "        const %s a = sub_group_shuffle_xor(x, step);\n        x = %s;\n    }\n"
                 "    if (get_sub_group_local_id() == 0) parts[get_sub_group_id()] = x;\n%s"
                 "    x = parts[0];\n"
                 "    %sfor (uint i = 1; i < %s; i++) {\n"
                 "        const %s a = parts[i];\n        x = %s;\n    }\n",
                 unroll, half, value, join, barrier_text, unroll, number, value, join);
}

/* The function by which a team joins its shares: team_sum_float. */
static void define_team(qn__maker *m, qn__op op, qn_element type) {
    const qn__shape *s = &m->shape;
    const char *value = qn__element_of(type)->value, *word = qn__ops[op].word;
    const char *const a[] = {"a"};
    char head[128];
    qn__text join = {.tensors = m->schedule->tensors};
    snprintf(head, sizeof head, "static %s team_%s_%s(%s x, local %s *parts) {\n", value, word, value, value,
             value);
    if (s->team == QN__ALONE || (m->helpers.text && strstr(m->helpers.text, head))) return;
    qn__text_op(&join, &m->helpers, op, type, a, qn__unbounded, "x");
    qn__text *h = &m->helpers;
    qn__text_add(h, "%s", head);
    if (s->team == QN__SUB_GROUP) {
        qn__text_add(h,
                     "    for (uint step = 1; step < %u; step *= 2) {\n"
                     "        const %s a = sub_group_shuffle_xor(x, step);\n        x = %s;\n    }\n",
                     s->lanes, value, join.text);
    } else if (s->team == QN__GROUP && s->rows == 1 && !s->walks) {
        join_group(m, h, value, join.text);
    } else {
        qn__text_add(h,
                     "    const uint across = get_local_id(0) %% %u;\n"
                     "    parts[get_local_id(0)] = x;\n%s    x = parts[across];\n"
                     "    for (uint i = 1; i < %u; i++) {\n"
                     "        const %s a = parts[i * %u + across];\n        x = %s;\n    }\n%s",
                     s->rows, barrier_text, s->lanes, value, s->rows, join.text, barrier_text);
    }
    qn__text_add(h, "    return x;\n}\n");
    qn__text_free(&join);
}

/* What member `i` of the group reduces. */
static uint32_t reduced_instance(const qn__maker *m, uint32_t member) {
    qn__node *node = m->schedule->walk->nodes[m->group->members[member]];
    const qn__root root = {node->sources[0], false};
    return (uint32_t)(qn__demand_root(m->demand, &root) - m->demand->instances);
}

static uint32_t output_instance(const qn__maker *m, uint32_t member) {
    qn__node *node = m->schedule->walk->nodes[m->group->members[member]];
    const qn__root root = {node, m->schedule->items[node->index].extent == QN__ROWS};
    return (uint32_t)(qn__demand_root(m->demand, &root) - m->demand->instances);
}

/* ---- storing ---- */

static bool guards_rows(const qn__maker *m) {
    return m->shape.team == QN__SUB_GROUP || m->shape.team == QN__COLUMNS;
}

static void add_store(qn__maker *m, qn__text *to, const qn__node *node, const char *value, bool k) {
    const uint32_t array = qn__array_number(m, node, true);
    qn__text_add(to, "y%u[", array);
    qn__form_add(m, to, &m->arrays[array].form, k);
    qn__text_add(to, "] = %s%s;\n", node->type == QN_F16 ? "(half)" : "", value);
}

/* An element of each iteration. */
static void store_element(qn__maker *m, const qn__node *node, uint32_t i, qn__text *packs, qn__text *to,
                          qn__text *after, const char *indent) {
    const uint32_t array = qn__array_number(m, node, true), width = m->shape.width;
    const qn__element_info *e = qn__element_of((qn_element)node->type);
    const char *outer = m->has_rows ? "        " : "    ";
    if (!qn__is_packed(m, &m->arrays[array].form)) {
        qn__text_add(to, "%s%s", indent, guards_rows(m) ? "if (own < rows) " : "");
        add_store(m, to, node, m->values[i].name, true);
        return;
    }
    const uint32_t bytes = e->size * width, words = bytes > 16 ? bytes / 16 : 1;
    const char *word = bytes >= 16 ? "uint4" : bytes >= 8 ? "uint2" : bytes >= 4 ? "uint" : "ushort";
    qn__pack_define(m, e->storage, bytes);
    qn__text_add(packs, "%s%s_%u s%u;\n", outer, e->storage, width, array);
    qn__text_add(to, "%ss%u.e[k] = %s%s;\n", indent, array, node->type == QN_F16 ? "(half)" : "",
                 m->values[i].name);
    qn__text_add(after, "%sglobal %s *t%u = (global %s *)(y%u + ", outer, word, array, word, array);
    qn__form_add(m, after, &m->arrays[array].form, false);
    qn__text_add(after, ");\n");
    for (uint32_t w = 0; w < words; w++)
        qn__text_add(after, "%s%st%u[%u] = s%u.w[%u];\n", outer, guards_rows(m) ? "if (own < rows) " : "",
                     array, w, array, w);
}

/* ---- phases ---- */

static void mark_needed(qn__maker *m) {
    for (size_t at = m->demand->count; at-- > 0;) {
        const qn__instance *instance = instance_of(m, m->order[at]);
        if (!m->values[m->order[at]].needed || instance->stopped || m->values[m->order[at]].kept) continue;
        for (uint32_t s = 0; s < instance->node->num_sources; s++)
            m->values[instance->sources[s]].needed = true;
    }
}

static void clear_needed(qn__maker *m) {
    for (size_t i = 0; i < m->demand->count; i++) m->values[i].needed = false;
}

/* What is needed, each where it belongs. */
static void write_needed(qn__maker *m, qn__text *packs, qn__text *elements, const char *indent) {
    mark_needed(m);
    for (size_t at = 0; at < m->demand->count; at++) {
        qn__value *v = &m->values[m->order[at]];
        if (!v->needed) continue;
        if (v->is_inner)
            qn__value_write(m, m->order[at], elements, packs, indent);
        else if (!v->written)
            qn__value_write(m, m->order[at], v->is_fixed ? &m->fixed : &m->head, NULL, "    ");
    }
}

static void begin_reduction(qn__maker *m, uint32_t member) {
    const qn__node *node = m->schedule->walk->nodes[m->group->members[member]];
    qn__text_add(&m->head, "    %s r%u = %s;\n", qn__element_of((qn_element)node->type)->value, member,
                 qn__text_start((qn__op)node->op, (qn_element)node->type));
}

static void add_to_reduction(qn__maker *m, uint32_t member, qn__text *to, const char *indent) {
    const qn__node *node = m->schedule->walk->nodes[m->group->members[member]];
    const char *const operands[] = {m->values[reduced_instance(m, member)].name};
    char result[16];
    snprintf(result, sizeof result, "r%u", member);
    qn__text_add(to, "%s%s = ", indent, result);
    qn__text_op(to, &m->helpers, (qn__op)node->op, (qn_element)node->type, operands, qn__unbounded, result);
    qn__text_add(to, ";\n");
}

static void end_reduction(qn__maker *m, uint32_t member) {
    const qn__node *node = m->schedule->walk->nodes[m->group->members[member]];
    const qn_element type = (qn_element)node->type;
    if (m->shape.team == QN__ALONE) return;
    define_team(m, (qn__op)node->op, type);
    const char *value = qn__element_of(type)->value;
    if (m->shape.team != QN__SUB_GROUP)
        qn__text_add(&m->head, "    local %s parts%u[%u];\n", value, member, m->shape.lanes * m->shape.rows);
    char parts[16];
    snprintf(parts, sizeof parts, "parts%u", member);
    qn__text_add(&m->head, "    r%u = team_%s_%s(r%u, %s);\n", member, qn__ops[node->op].word, value, member,
                 m->shape.team == QN__SUB_GROUP ? "0" : parts);
}

/* Whether a member has to do with the loop of a phase. */
static bool is_of_phase(const qn__maker *m, uint32_t member, uint32_t phase, bool reduction) {
    const qn__item *item = &m->schedule->items[m->group->members[member]];
    if ((item->extent == QN__REDUCTION) != reduction || item->extent == QN__ROWS) return false;
    if (!reduction && !item->stored) return false;
    return m->values[reduction ? reduced_instance(m, member) : output_instance(m, member)].phase + 1 == phase;
}

static void add_pack_loop(qn__maker *m, qn__text *to, const qn__text *elements, const char *indent) {
    if (!elements->length) return;
    if (m->shape.width > 1)
        qn__text_add(to, "%s_Pragma(\"unroll\") for (uint k = 0; k < %u; k++) {\n%s%s}\n", indent,
                     m->shape.width, elements->text, indent);
    else
        qn__text_add(to, "%s", elements->text);
}

/* Marks what the loop of a phase needs. */
static void mark_phase(qn__maker *m, uint32_t phase) {
    clear_needed(m);
    for (uint32_t i = 0; i < m->group->count; i++) {
        if (is_of_phase(m, i, phase, true)) m->values[reduced_instance(m, i)].needed = true;
        if (is_of_phase(m, i, phase, false)) m->values[output_instance(m, i)].needed = true;
    }
    mark_needed(m);
}

/* Registers of 32 bits, of work-groups that a unit is to have more than one of; large ones have fewer. */
enum { MOST_HELD = 96, LARGE = 512, MOST_OF_LARGE = 40 };

static uint64_t most_held(const qn__maker *m) {
    return m->shape.lanes * m->shape.rows > LARGE ? MOST_OF_LARGE : MOST_HELD;
}

/* Whether an earlier phase than this one, and this one, need a value. */
static bool is_again_in(const qn__value *v, uint32_t phase) {
    const uint64_t bit = (uint64_t)1 << phase;
    return v->is_inner && (v->phases & bit) && (v->phases & (bit - 1));
}

/* Of what phases before it have computed, a phase needs this for what it is the first to compute. */
static void hold_for(qn__maker *m, uint32_t phase) {
    const uint64_t bit = (uint64_t)1 << phase;
    for (uint32_t i = 0; i < m->group->count; i++)
        for (int reduction = 0; reduction < 2; reduction++) {
            if (!is_of_phase(m, i, phase, reduction)) continue;
            qn__value *root = &m->values[reduction ? reduced_instance(m, i) : output_instance(m, i)];
            root->held = root->held || is_again_in(root, phase);
        }
    for (size_t i = 0; i < m->demand->count; i++) {
        const qn__instance *instance = instance_of(m, (uint32_t)i);
        const bool is_new = (m->values[i].phases & (2 * bit - 1)) == bit;
        for (uint32_t k = 0; is_new && !instance->stopped && k < instance->node->num_sources; k++) {
            qn__value *source = &m->values[instance->sources[k]];
            source->held = source->held || is_again_in(source, phase);
        }
    }
}

/* The registers of 32 bits that it takes. */
static uint64_t held_words(const qn__maker *m) {
    uint64_t words = 0;
    for (size_t i = 0; i < m->demand->count; i++) {
        const qn__node *node = instance_of(m, (uint32_t)i)->node;
        const uint32_t size = qn_element_size(qn__value_type((qn_element)node->type));
        if (m->values[i].held) words += (uint64_t)m->shape.held * m->shape.width * (size > 4 ? 2 : 1);
    }
    return words;
}

/* What a phase needs of those before it is kept in registers where a work-item's share of a row fits; or all that it loads again. */
static void choose_held(qn__maker *m, uint32_t phases) {
    if (phases < 2 || phases > 63) m->shape.held = 0;
    if (!m->shape.held) return;
    for (uint32_t p = 1; p <= phases; p++) {
        mark_phase(m, p);
        for (size_t i = 0; i < m->demand->count; i++)
            m->values[i].phases |= (uint64_t)m->values[i].needed << p;
    }
    for (uint32_t p = 2; p <= phases; p++) hold_for(m, p);
    if (held_words(m) > most_held(m))
        for (size_t i = 0; i < m->demand->count; i++) {
            qn__value *v = &m->values[i];
            v->held = v->loads && v->is_inner && (v->phases & (v->phases - 1));
        }
    const uint64_t words = held_words(m);
    if (words && words <= most_held(m)) return;
    for (size_t i = 0; i < m->demand->count; i++) m->values[i].held = false;
    m->shape.held = 0;
}

/* Registers for what this phase is the first to compute. */
static void declare_held(qn__maker *m) {
    for (size_t i = 0; i < m->demand->count; i++) {
        const qn__value *v = &m->values[i];
        if (!v->held || v->kept || !v->needed) continue;
        const qn_element type = (qn_element)instance_of(m, (uint32_t)i)->node->type;
        qn__text_add(&m->head, "    %s h%zu[%u];\n", qn__element_of(type)->value, i,
                     m->shape.held * m->shape.width);
    }
}

static void keep_held(qn__maker *m) {
    for (size_t i = 0; i < m->demand->count; i++)
        if (m->values[i].held && m->values[i].needed) m->values[i].kept = true;
}

/* No place of the innermost loop is found by dividing, so that neighbouring work-items are seen to read neighbours. */
static void begin_nest(qn__maker *m, const char *place) {
    const uint32_t inner = m->loops.count - 1, size = qn__number_add(m, (int64_t)m->loops.at[inner].size);
    const qn__loops all = m->loops;
    m->loops.count = inner;
    qn__text_add(&m->head, "    for (%s j = 0; j < n.v[%u]; j++) {\n", place,
                 qn__number_add(m, (int64_t)qn__iterations(m, true)));
    qn__loop_variables_add(m, &m->head, true, "j", "    ");
    m->loops = all;
    qn__text_add(&m->head, "    for (%s i%u = (%s)lane; i%u < n.v[%u]; i%u += %u) {\n", place, inner, place,
                 inner, size, inner, m->shape.lanes);
}

static void begin_loop(qn__maker *m) {
    const qn__shape *s = &m->shape;
    const char *place = s->wide ? "long" : "int";
    if (s->held) {
        qn__text_add(&m->head, "    _Pragma(\"unroll\") for (uint h = 0; h < %u; h++) {\n", s->held);
        qn__text_add(&m->head, "        const %s j = (%s)(h * %u + lane * %u);\n", place, place,
                     s->lanes * s->width, s->width);
        if (!s->exact) qn__text_add(&m->head, "        if (j < length) {\n");
    } else if (s->team == QN__ALONE) {
        qn__text_add(&m->head, "    for (%s j = 0; j < length; j += %u) {\n", place, s->width);
    } else if (s->nests) {
        begin_nest(m, place);
        return;
    } else if (s->ahead) {
        qn__text_add(&m->head, "    _Pragma(\"unroll\") for (uint u = 0; u < %u; u++) {\n", s->ahead);
        qn__text_add(&m->head, "        const %s j = turn + (%s)u * %u;\n", place, place, s->lanes);
    } else {
        qn__text_add(&m->head, "    for (%s j = (%s)lane * %u; j < length; j += %u) {\n", place, place,
                     s->width, s->lanes * s->width);
    }
    qn__loop_variables_add(m, &m->head, true, "j", "        ");
}

/* A turn of the loop begins with all that it loads, so that it is on its way together. */
static void begin_turn(qn__maker *m, const qn__text *loads) {
    const qn__shape *s = &m->shape;
    const char *place = s->wide ? "long" : "int";
    qn__text_add(&m->head, "    for (%s turn = (%s)lane; turn < length; turn += %u) {\n", place, place,
                 s->lanes * s->ahead);
    for (size_t i = 0; i < m->demand->count; i++) {
        const qn__value *v = &m->values[i];
        const qn_element type = (qn_element)instance_of(m, (uint32_t)i)->node->type;
        if (v->needed && v->loads && v->is_inner)
            qn__text_add(&m->head, "    %s a%zu[%u];\n", qn__element_of(type)->value, i, s->ahead);
    }
    begin_loop(m);
    qn__text_add(&m->head, "%s    }\n", loads->length ? loads->text : "");
}

/* The loop of a phase, or the only elements of a map. */
static void write_phase(qn__maker *m, uint32_t phase) {
    qn_tensors *tensors = m->schedule->tensors;
    qn__text packs = {.tensors = tensors}, elements = {.tensors = tensors}, after = {.tensors = tensors};
    const bool wide = m->shape.width > 1;
    const char *outer = m->has_rows ? "        " : "    ",
               *indent = m->shape.turns ? "            "
                         : m->has_rows  ? (wide ? "            " : "        ")
                         : wide         ? "        "
                                        : "    ";
    mark_phase(m, phase);
    declare_held(m);
    write_needed(m, &packs, &elements, indent);
    for (uint32_t i = 0; i < m->group->count; i++) {
        if (is_of_phase(m, i, phase, true)) {
            begin_reduction(m, i);
            add_to_reduction(m, i, &elements, indent);
        } else if (is_of_phase(m, i, phase, false)) {
            store_element(m, m->schedule->walk->nodes[m->group->members[i]], output_instance(m, i), &packs,
                          &elements, &after, indent);
        }
    }
    if (m->shape.ahead) begin_turn(m, &packs);
    if (m->has_rows) begin_loop(m);
    if (m->shape.turns) qn__turn_read(m);
    if (packs.length && !m->shape.ahead) qn__text_add(&m->head, "%s", packs.text);
    add_pack_loop(m, &m->head, &elements, outer);
    if (after.length) qn__text_add(&m->head, "%s", after.text);
    if (m->has_rows)
        qn__text_add(&m->head, m->shape.nests || m->shape.ahead   ? "    }\n    }\n"
                               : m->shape.held && !m->shape.exact ? "        }\n    }\n"
                                                                  : "    }\n");
    if (m->shape.turns) qn__text_add(&m->head, "        }\n    }\n");
    keep_held(m);
    for (uint32_t i = 0; i < m->group->count; i++)
        if (is_of_phase(m, i, phase, true)) end_reduction(m, i);
    m->failed = m->failed || packs.failed || elements.failed || after.failed;
    qn__text_free(&packs);
    qn__text_free(&elements);
    qn__text_free(&after);
}

static uint32_t count_phases(const qn__maker *m) {
    uint32_t most = 1;
    for (uint32_t i = 0; i < m->group->count; i++)
        for (uint32_t p = most + 1; p <= m->group->count + 1; p++)
            if (is_of_phase(m, i, p, true) || is_of_phase(m, i, p, false)) most = p;
    return most;
}

/* One element of each row. */
static void write_row_outputs(qn__maker *m) {
    clear_needed(m);
    for (uint32_t i = 0; i < m->group->count; i++)
        if (m->schedule->items[m->group->members[i]].extent == QN__ROWS)
            m->values[output_instance(m, i)].needed = true;
    write_needed(m, NULL, NULL, "    ");
    for (uint32_t i = 0; i < m->group->count; i++) {
        const qn__node *node = m->schedule->walk->nodes[m->group->members[i]];
        const qn__item *item = &m->schedule->items[node->index];
        char name[16];
        if (item->extent == QN__WHOLE_SPACE || !item->stored) continue;
        snprintf(name, sizeof name, "r%u", i);
        if (item->extent == QN__ROWS) memcpy(name, m->values[output_instance(m, i)].name, sizeof name);
        qn__text_add(&m->head, m->shape.team == QN__ALONE ? "    "
                               : guards_rows(m)           ? "    if (lane == 0 && own < rows) "
                                                          : "    if (lane == 0) ");
        add_store(m, &m->head, node, name, false);
    }
}

/* ---- the whole ---- */

static void begin_rows(qn__maker *m) {
    const qn__shape *s = &m->shape;
    qn__text *h = &m->head;
    const char *place = s->wide ? "long" : "int";
    qn__text_add(h, "    const %s length = n.v[%u];\n", place,
                 qn__number_add(m, (int64_t)qn__iterations(m, true)));
    if (s->team == QN__GROUP)
        qn__text_add(h, "    const uint lane = get_local_id(0);\n    const %s row = (%s)get_group_id(0);\n",
                     place, place);
    if (s->team == QN__SUB_GROUP)
        qn__text_add(h,
                     "    const uint item = get_sub_group_id() * get_max_sub_group_size() + "
                     "get_sub_group_local_id(), lane = item %% %u, team = item / %u;\n",
                     s->lanes, s->lanes);
    if (s->team == QN__COLUMNS)
        qn__text_add(h, "    const uint team = get_local_id(0) %% %u, lane = get_local_id(0) / %u;\n",
                     s->rows, s->rows);
    if (guards_rows(m))
        qn__text_add(
            h,
            "    const %s rows = n.v[%u], own = (%s)get_group_id(0) * %u + team, row = min(own, rows - 1);\n",
            place, qn__number_add(m, (int64_t)qn__iterations(m, false)), place, s->rows);
    qn__loop_variables_add(m, h, false, "row", "    ");
}

static void begin_map(qn__maker *m) {
    const qn__shape *s = &m->shape;
    qn__text *h = &m->head;
    const uint32_t rank = m->loops.count;
    const char *place = s->wide ? "long" : "int";
    if (!rank) return;
    if (s->turns) {
        qn__turn_begin(m);
        return;
    }
    if (s->flat) {
        qn__loop_variables_add(m, h, false, "first", "    ");
        return;
    }
    qn__text_add(h, "    const %s i%u = (%s)get_global_id(0) * %u, i%u = (%s)get_global_id(1);\n", place,
                 rank - 1, place, s->width, rank - 2, place);
    if (rank == 2) return;
    qn__text_add(h, "    const %s rest = (%s)get_global_id(2);\n", place, place);
    qn__loops all = m->loops;
    m->loops.count = rank - 2;
    qn__loop_variables_add(m, h, false, "rest", "    ");
    m->loops = all;
}

static void write_body(qn__maker *m) {
    if (!m->has_rows) {
        begin_map(m);
        write_phase(m, 1);
        return;
    }
    begin_rows(m);
    const uint32_t phases = count_phases(m);
    choose_held(m, phases);
    for (uint32_t p = 1; p <= phases; p++) write_phase(m, p);
    write_row_outputs(m);
}

/* ---- for people ---- */

static void describe_op(qn__maker *m, qn__op op, uint64_t operations) {
    qn__text_add(&m->words, "%s%s", m->words.length ? " " : "", qn__ops[op].word);
    m->operations += operations;
}

static bool is_described(const qn__maker *m, const qn__node *reduction, size_t before) {
    for (size_t i = 0; i < before; i++)
        if (instance_of(m, m->order[i])->node == reduction) return true;
    return false;
}

/* Elements of a node's memory that its instances load, each place of the loops that they depend on once. */
static uint64_t count_loaded(const qn__maker *m, const qn__node *node) {
    uint64_t loaded = 0;
    for (size_t i = 0; i < m->demand->count; i++) {
        uint64_t places = 1;
        if (instance_of(m, (uint32_t)i)->node != node || !m->values[i].loads) continue;
        for (uint32_t l = 0; l < m->loops.count; l++)
            if (m->values[i].form.steps[l]) places *= m->loops.at[l].size;
        loaded += places;
    }
    return loaded < qn__node_count(node) ? loaded : qn__node_count(node);
}

/* The ops' words, how many operations they are, and the bytes that they move. A reduction is an operation for each element. */
static void describe(qn__maker *m) {
    const uint64_t outer = qn__iterations(m, false), all = outer * qn__iterations(m, true);
    for (size_t at = 0; at < m->demand->count; at++) {
        const qn__value *v = &m->values[m->order[at]];
        const qn__node *node = instance_of(m, m->order[at])->node;
        const qn__op_info *info = &qn__ops[node->op];
        const bool is_reduction = info->kind == QN__REDUCE;
        if (v->loads || info->kind == QN__VIEW || info->kind == QN__CREATE) continue;
        if (is_reduction && is_described(m, node, at)) continue;
        describe_op(m, (qn__op)node->op, is_reduction || v->is_inner ? all : outer);
    }
    for (size_t i = 0; i < m->group->count; i++) { /* those that nothing follows */
        const qn__node *node = m->schedule->walk->nodes[m->group->members[i]];
        if (m->schedule->items[node->index].extent == QN__REDUCTION &&
            !is_described(m, node, m->demand->count))
            describe_op(m, (qn__op)node->op, all);
    }
    for (uint32_t a = 0; a < m->num_arrays; a++) {
        const qn__node *node = m->arrays[a].node;
        const uint64_t count = m->arrays[a].written ? qn__node_count(node) : count_loaded(m, node);
        m->bytes += count * qn_element_size((qn_element)node->type);
    }
}

qn_status qn__group_write(qn__maker *m) {
    qn_tensors *tensors = m->schedule->tensors;
    m->values = qn__tensors_allocate(tensors, (m->demand->count + 1) * sizeof *m->values);
    m->order = qn__tensors_allocate(tensors, (m->demand->count + 1) * sizeof *m->order);
    if (!m->values || !m->order) return QN_ERROR_OUT_OF_MEMORY;
    const qn_status status = qn__accesses_find(m);
    if (status) return status;
    qn__shape_choose(m);
    write_body(m);
    describe(m);
    if (m->too_large)
        return qn__tensors_fail(tensors, QN_ERROR_INTERNAL, "tensors: a kernel of too many numbers");
    return m->failed || m->head.failed || m->fixed.failed || m->types.failed || m->helpers.failed ||
                   m->words.failed
               ? QN_ERROR_OUT_OF_MEMORY
               : QN_OK;
}
