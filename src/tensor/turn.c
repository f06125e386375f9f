/* Maps that read arrays across the order in which they write: a work-group takes a tile of 32 by 32 elements through local memory, so that neighbours
   read neighbours there and write neighbours here (Ruetsch and Micikevicius, Optimizing matrix transpose in CUDA, 2009). Each work-item
   does four elements. */
#include <stdio.h>

#include "tensor/kernel.h"

enum {
    SIDE = 32,
    ROOM = SIDE * (SIDE + 1), /* elements of a tile; rows are one apart in the banks of local memory */
    GROUP = 256,
    STEP = GROUP / SIDE,
    LEAST = 1 << 12,      /* elements of a map that is worth it */
    MOST_LOCAL = 16 << 10 /* bytes of tiles */
};

static bool is_turned(const qn__maker *m, uint32_t i, uint32_t across) {
    const qn__value *v = &m->values[i];
    const uint32_t inner = qn__inner_loop(m);
    const int64_t step = v->form.steps[inner], along = v->form.steps[across];
    return v->loads && !m->demand->instances[i].place.condition && (along == 1 || along == -1) &&
           (step > 1 || step < -1);
}

/* The loop along which the first load lies that is across. */
static uint32_t find_across(const qn__maker *m) {
    const uint32_t inner = qn__inner_loop(m);
    for (uint32_t i = 0; i < m->demand->count; i++)
        for (uint32_t l = 0; l < m->loops.count; l++)
            if (l != inner && m->loops.at[l].size >= SIDE && is_turned(m, i, l)) return l;
    return QN__NONE;
}

static uint64_t tiles_along(const qn__maker *m, uint32_t loop) {
    return (m->loops.at[loop].size + SIDE - 1) / SIDE;
}

bool qn__turn_choose(qn__maker *m) {
    qn__shape *s = &m->shape;
    const qn_device_info *info = &m->schedule->tensors->info;
    const uint32_t inner = qn__inner_loop(m);
    if (m->loops.count < 2 || m->loops.at[inner].size < SIDE || qn__iterations(m, false) < LEAST)
        return false;
    if (info->max_group_size < GROUP) return false;
    const uint32_t across = find_across(m);
    if (across == QN__NONE) return false;
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < m->demand->count; i++) {
        const qn_element type = (qn_element)m->demand->instances[i].node->type;
        const uint32_t room = ROOM * qn__element_of(type)->size;
        m->values[i].turned = is_turned(m, i, across) && bytes + room <= MOST_LOCAL;
        if (m->values[i].turned) bytes += room;
    }
    uint64_t rest = 1;
    for (uint32_t l = 0; l < m->loops.count; l++)
        if (l != inner && l != across) rest *= m->loops.at[l].size;
    const uint64_t groups = tiles_along(m, inner) * tiles_along(m, across) * rest;
    s->width = 1;
    s->turns = true;
    s->across = across;
    s->range = (qn_range){.global = {groups * GROUP}, .local = {GROUP}};
    qn__accesses_relate(m);
    return true;
}

/* The loop through the work-item's elements, as tiles are read or as they are written, and their places. Outside of the array the last elements are
   read, which nobody asks for: without branches the loads are all under way at once. */
static void begin_elements(qn__maker *m, bool reads, const uint32_t sizes[2]) {
    const uint32_t inner = qn__inner_loop(m), across = m->shape.across;
    const bool is_exact = m->loops.at[inner].size % SIDE == 0 && m->loops.at[across].size % SIDE == 0;
    const char *place = m->shape.wide ? "long" : "int", *r = reads ? "r" : "next",
               *other = reads ? "next" : "r";
    qn__text *h = &m->head;
    qn__text_add(
        h, "    _Pragma(\"unroll\") for (uint e = 0; e < %d; e++) {\n        const uint r = down + e * %d;\n",
        SIDE / STEP, STEP);
    if (reads && !is_exact)
        qn__text_add(h,
                     "        const %s i%u = min(first + (%s)r, n.v[%u] - 1), i%u = min(second + (%s)next, "
                     "n.v[%u] - 1);\n",
                     place, inner, place, sizes[0], across, place, sizes[1]);
    else
        qn__text_add(h, "        const %s i%u = first + %s, i%u = second + %s;\n", place, inner, r, across,
                     other);
    if (!reads && !is_exact)
        qn__text_add(h, "        if (i%u < n.v[%u] && i%u < n.v[%u]) {\n", inner, sizes[0], across, sizes[1]);
    else
        qn__text_add(h, "        {\n");
}

void qn__turn_begin(qn__maker *m) {
    const uint32_t inner = qn__inner_loop(m), across = m->shape.across;
    const char *place = m->shape.wide ? "long" : "int";
    const uint32_t along_inner = qn__number_add(m, (int64_t)tiles_along(m, inner)),
                   along_across = qn__number_add(m, (int64_t)tiles_along(m, across));
    qn__text_add(
        &m->head,
        "    const uint next = get_local_id(0) %% %d, down = get_local_id(0) / %d;\n"
        "    const %s tile = (%s)get_group_id(0), over = tile / n.v[%u], rest = over / n.v[%u];\n"
        "    const %s first = (tile - over * n.v[%u]) * %d, second = (over - rest * n.v[%u]) * %d;\n",
        SIDE, SIDE, place, place, along_inner, along_across, place, along_inner, SIDE, along_across, SIDE);
    const qn__loops all = m->loops;
    m->loops.at[inner].reduced = m->loops.at[across].reduced = true; /* the others are counted by `rest` */
    qn__loop_variables_add(m, &m->head, false, "rest", "    ");
    m->loops = all;
}

void qn__turn_read(qn__maker *m) {
    const uint32_t inner = qn__inner_loop(m), across = m->shape.across;
    const uint32_t sizes[2] = {qn__number_add(m, (int64_t)m->loops.at[inner].size),
                               qn__number_add(m, (int64_t)m->loops.at[across].size)};
    for (uint32_t i = 0; i < m->demand->count; i++)
        if (m->values[i].turned)
            qn__text_add(&m->head, "    local %s l%u[%d];\n",
                         qn__element_of((qn_element)m->demand->instances[i].node->type)->storage, i, ROOM);
    begin_elements(m, true, sizes);
    for (uint32_t i = 0; i < m->demand->count; i++) {
        if (!m->values[i].turned) continue;
        qn__text_add(&m->head, "            l%u[r * %d + next] = x%u[", i, SIDE + 1,
                     qn__array_number(m, m->demand->instances[i].node, false));
        qn__form_add(m, &m->head, &m->values[i].form, false);
        qn__text_add(&m->head, "];\n");
    }
    qn__text_add(&m->head, "        }\n    }\n    barrier(CLK_LOCAL_MEM_FENCE);\n");
    begin_elements(m, false, sizes);
}

void qn__turn_load(const qn__maker *m, qn__text *to, uint32_t i, const char *indent) {
    const qn__node *node = m->demand->instances[i].node;
    qn__text_add(to, "%sconst %s v%u = l%u[next * %d + r];\n", indent,
                 qn__element_of((qn_element)node->type)->value, i, i, SIDE + 1);
}
