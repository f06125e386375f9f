/* From what groups do to kernels: parameters, the whole text, and the step that launches it. Groups of one launch that can are one kernel
   (multi.c); on a processor those alone that do the same, as a branch in a kernel costs its vectors more than a launch. */
#include <string.h>

#include "tensor/kernel.h"

void qn__begin_add(const qn__maker *m, qn__text *to, const char *item) {
    const qn__shape *s = &m->shape;
    const char *place = s->wide ? "long" : "int";
    if (m->has_rows ? s->team != QN__ALONE : !s->flat || !m->loops.count) return;
    qn__text_add(to, "    const %s %s = (%s)%s", place, m->has_rows ? "row" : "first", place, item);
    if (!m->has_rows && s->width > 1) qn__text_add(to, " * %u", s->width);
    qn__text_add(to, ";\n");
    if (qn__counts_through(m)) qn__text_add(to, "    const long through = (long)%s;\n", item);
}

/* ---- steps ---- */

qn_status qn__step_compile(qn_tensors *tensors, qn__text *text, qn__step *step) {
    const qn_status status = text->failed ? QN_ERROR_OUT_OF_MEMORY
                                          : qn__program_get(tensors, text->text, &step->kernel, &step->text);
    qn__text_free(text);
    return status;
}

qn_status qn__step_numbers(qn_tensors *tensors, qn__step *step, const int64_t *numbers, size_t count,
                           bool wide, uint32_t arguments) {
    const size_t size = wide ? 8 : 4;
    step->call = QN__NONE;
    step->arguments = qn__tensors_allocate(tensors, (arguments + 1) * sizeof *step->arguments);
    step->numbers = qn__tensors_allocate(tensors, count * size + 1);
    if (!step->arguments || !step->numbers) return QN_ERROR_OUT_OF_MEMORY;
    step->numbers_size = (uint32_t)(count * size);
    for (size_t i = 0; i < count; i++) {
        const int32_t narrow = (int32_t)numbers[i];
        memcpy((char *)step->numbers + i * size, wide ? (const void *)&numbers[i] : &narrow, size);
    }
    if (count) step->arguments[step->num_arguments++] = (qn__argument){QN__NUMBERS, 0};
    return QN_OK;
}

void qn__step_add_buffer(qn__step *step, const qn__node *node) {
    step->arguments[step->num_arguments++] = (qn__argument){QN__BUFFER, node->index};
}

/* ---- a kernel of one group ---- */

/* Whether an array that is written may be the memory of one that is read. */
static bool has_aliases(const qn__maker *m) {
    for (uint32_t a = 0; a < m->num_arrays; a++)
        if (m->arrays[a].written && m->schedule->items[m->arrays[a].node->index].takes_over) return true;
    return false;
}

/* Where a device does not take so many bytes of arguments the numbers are in the text: another size is another kernel there. */
static bool are_arguments(const qn__maker *m) {
    const size_t numbers = m->num_numbers * (m->shape.wide ? sizeof(int64_t) : sizeof(int32_t));
    return numbers + 8 * (size_t)(1 + m->num_constants + m->num_arrays) <=
           m->schedule->tensors->info.max_args_size;
}

static void add_fixed_numbers(const qn__maker *m, qn__text *to) {
    qn__text_add(to, "    const numbers n = {{");
    for (size_t i = 0; i < m->num_numbers; i++)
        qn__text_add(to, m->shape.wide ? "%s%lldl" : "%s%lld", i ? ", " : "", (long long)m->numbers[i]);
    qn__text_add(to, "}};\n");
}

static void add_parameters(const qn__maker *m, qn__text *to) {
    const char *restricted = has_aliases(m) ? "" : "restrict ";
    bool comma = m->num_numbers > 0 && are_arguments(m);
    if (comma) qn__text_add(to, "const numbers n");
    for (uint32_t c = 0; c < m->num_constants; c++, comma = true) {
        const qn__node *node = m->schedule->walk->nodes[m->constants[c]];
        qn__text_add(to, "%sconst %s c%u", comma ? ", " : "", qn__element_of((qn_element)node->type)->value,
                     c);
    }
    for (uint32_t a = 0; a < m->num_arrays; a++, comma = true) {
        const qn__access *access = &m->arrays[a];
        qn__text_add(to, "%sglobal %s%s *%s%c%u", comma ? ", " : "", access->written ? "" : "const ",
                     qn__element_of((qn_element)access->node->type)->storage, restricted,
                     access->written ? 'y' : 'x', a);
    }
}

static void write_one(const qn__maker *m, qn__text *to) {
    const char *place = m->shape.wide ? "long" : "int";
    if (m->types.length) qn__text_add(to, "%s", m->types.text);
    if (m->num_numbers)
        qn__text_add(to, "typedef struct numbers {\n    %s v[%zu];\n} numbers;\n", place, m->num_numbers);
    if (m->helpers.length) qn__text_add(to, "%s", m->helpers.text);
    qn__text_add(to, "kernel ");
    if (m->shape.range.local[0])
        qn__text_add(to, "__attribute__((reqd_work_group_size(%u, 1, 1))) ", m->shape.range.local[0]);
    qn__text_add(to, "void tensor(");
    add_parameters(m, to);
    qn__text_add(to, ") {\n");
    if (m->num_numbers && !are_arguments(m)) add_fixed_numbers(m, to);
    if (m->fixed.length) qn__text_add(to, "%s", m->fixed.text);
    qn__begin_add(m, to, "get_global_id(0)");
    qn__text_add(to, "%s}\n", m->head.length ? m->head.text : "");
}

static qn_status assemble_one(qn__maker *m, qn__step *step) {
    qn_tensors *tensors = m->schedule->tensors;
    qn__text whole = {.tensors = tensors};
    write_one(m, &whole);
    qn_status status = qn__step_compile(tensors, &whole, step);
    if (!status)
        status = qn__step_numbers(tensors, step, m->numbers, are_arguments(m) ? m->num_numbers : 0,
                                  m->shape.wide, 1 + m->num_constants + m->num_arrays);
    if (status) return status;
    step->range = m->shape.range;
    for (uint32_t c = 0; c < m->num_constants; c++)
        step->arguments[step->num_arguments++] = (qn__argument){QN__CONSTANT, m->constants[c]};
    for (uint32_t a = 0; a < m->num_arrays; a++) qn__step_add_buffer(step, m->arrays[a].node);
    step->operations = m->operations;
    step->bytes = m->bytes;
    step->fuses = m->words.text;
    m->words.text = NULL;
    return QN_OK;
}

/* ---- the groups of a launch ---- */

static void forget_work(qn__maker *m) {
    qn_tensors *tensors = m->schedule->tensors;
    qn__tensors_release(tensors, m->values);
    qn__tensors_release(tensors, m->order);
    m->values = NULL;
    m->order = NULL;
}

static void free_maker(qn__maker *m) {
    if (!m) return;
    qn_tensors *tensors = m->schedule->tensors;
    forget_work(m);
    qn__text_free(&m->types);
    qn__text_free(&m->helpers);
    qn__text_free(&m->head);
    qn__text_free(&m->fixed);
    qn__text_free(&m->words);
    qn__tensors_release(tensors, m->numbers);
    qn__tensors_release(tensors, m);
}

/* *out is to be freed, whatever happens. */
static qn_status write_group(qn__schedule *s, uint32_t group, bool together, qn__maker **out) {
    qn_tensors *tensors = s->tensors;
    qn_status status = qn__group_demand(s, group);
    qn__maker *m = *out = status ? NULL : qn__tensors_allocate(tensors, sizeof *m);
    if (status) return status;
    if (!m) return QN_ERROR_OUT_OF_MEMORY;
    m->schedule = s;
    m->group = &s->groups[group];
    m->number = group;
    m->demand = &s->demand;
    m->has_rows = qn__group_has_reductions(&s->groups[group]);
    m->together = together;
    m->types.tensors = m->helpers.tensors = m->head.tensors = m->fixed.tensors = m->words.tensors = tensors;
    status = qn__group_write(m);
    forget_work(m);
    return status;
}

/* What a launch is made of. */
typedef struct batch {
    qn__schedule *schedule;
    const uint32_t *groups;
    size_t count;
    qn__maker **makers; /* NULL: it is in a kernel already */
    qn__maker **chosen; /* for a kernel */
} batch;

/* Those that do the same are written anew, as parts. */
static qn_status write_twins(batch *b) {
    qn_status status = QN_OK;
    for (size_t i = 0; i < b->count && !status; i++)
        for (size_t k = i + 1; k < b->count && !status; k++) {
            if (!qn__parts_equal(b->makers[i], b->makers[k])) continue;
            b->makers[i]->together = b->makers[k]->together = true;
        }
    for (size_t i = 0; i < b->count && !status; i++) {
        if (!b->makers[i]->together) continue;
        free_maker(b->makers[i]);
        status = write_group(b->schedule, b->groups[i], true, &b->makers[i]);
    }
    return status;
}

/* A kernel of group `first` and of those behind it that go with it. */
static qn_status assemble(batch *b, size_t first, qn__step *step) {
    const bool same = qn__tensors_on_processor(b->schedule->tensors);
    size_t count = 1;
    b->chosen[0] = b->makers[first];
    b->makers[first] = NULL;
    const bool alone = !b->chosen[0]->together || !qn__can_be_part(b->chosen[0]);
    for (size_t i = first + 1; i < b->count && !alone; i++) {
        qn__maker *m = b->makers[i];
        if (!m || !m->together || !qn__can_be_part(m)) continue;
        if (same && !qn__parts_equal(b->chosen[0], m)) continue;
        b->chosen[count] = m;
        if (!qn__parts_fit(b->chosen, count + 1)) continue;
        b->makers[i] = NULL;
        count++;
    }
    const qn_status status =
        count == 1 ? assemble_one(b->chosen[0], step) : qn__parts_assemble(b->chosen, count, step);
    for (size_t i = 0; i < count; i++) free_maker(b->chosen[i]);
    return status;
}

qn_status qn__kernels_make(qn__schedule *s, const uint32_t *groups, size_t count, qn__step *steps,
                           size_t *made) {
    qn_tensors *tensors = s->tensors;
    const bool processor = qn__tensors_on_processor(tensors);
    qn__maker **makers = qn__tensors_allocate(tensors, 2 * count * sizeof *makers);
    if (!makers) return QN_ERROR_OUT_OF_MEMORY;
    batch b = {s, groups, count, makers, makers + count};
    qn_status status = QN_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = write_group(s, groups[i], count > 1 && !processor, &b.makers[i]);
    if (!status && processor) status = write_twins(&b);
    for (size_t i = 0; i < count && !status; i++)
        if (b.makers[i]) status = assemble(&b, i, &steps[(*made)++]);
    for (size_t i = 0; i < count; i++) free_maker(makers[i]);
    qn__tensors_release(tensors, makers);
    return status;
}
