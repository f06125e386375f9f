/* How a group's work is cut: work-items for the elements of a map; teams of them for rows, by how long those are and how they lie. */
#include "tensor/kernel.h"

enum {
    GROUP = 256, /* work-items of a work-group */
    MOST_LANES = 1024,
    COLUMNS = 32,    /* neighbouring rows of a work-group, where they lie across */
    MOST_TIMES = 16, /* that a work-item takes a pack, if it keeps them in registers */
    MOST_AHEAD = 8,
    FEW_LANES = 64, /* of a row that is gone through once */
    MANY_ROWS = 64, /* of a compute unit */
    SHORT_ROW = 32, /* that a work-item of a processor has for itself */
    MOST_FLAT =
        1
        << 16 /* iterations of a map whose places are found by divisions for the sake of being one kernel with others */
};

/* Software drivers of Vulkan get what GPUs do: they are there to test it. Those of OpenCL take long to compile kernels with barriers. */
bool qn__tensors_on_processor(const qn_tensors *tensors) {
    const qn_device_info *info = &tensors->info;
    return info->kind == QN_DEVICE_CPU ||
           (info->kind == QN_DEVICE_OPENCL && (info->capabilities & QN_CAN_EMULATE));
}

static bool is_processor(const qn__maker *m) { return qn__tensors_on_processor(m->schedule->tensors); }

uint64_t qn__iterations(const qn__maker *m, bool reduced) {
    uint64_t count = 1;
    for (uint32_t l = 0; l < m->loops.count; l++)
        if (m->loops.at[l].reduced == reduced) count *= m->loops.at[l].size;
    return count;
}

bool qn__is_packed(const qn__maker *m, const qn__form *form) {
    const int64_t width = m->shape.width;
    const uint32_t inner = qn__inner_loop(m);
    if (width == 1 || inner == QN__NONE || form->steps[inner] != 1 || form->base % width) return false;
    for (uint32_t l = 0; l < m->loops.count; l++)
        if (l != inner && form->steps[l] % width) return false;
    return true;
}

/* 16 bytes of the narrowest array, at most 32 of the widest, where something gains by it. */
static uint32_t choose_width(qn__maker *m) {
    const uint32_t inner = qn__inner_loop(m);
    uint32_t least = 8, most = 1;
    bool gains = false;
    for (uint32_t i = 0; i < m->num_arrays; i++) {
        const uint32_t size = qn_element_size((qn_element)m->arrays[i].node->type);
        least = size < least ? size : least;
        most = size > most ? size : most;
    }
    uint32_t width = 16 / least < 32 / most ? 16 / least : 32 / most;
    while (width > 1 && (inner == QN__NONE || m->loops.at[inner].size % width)) width /= 2;
    m->shape.width = width;
    for (size_t i = 0; i < m->demand->count; i++)
        gains = gains || (m->values[i].loads && qn__is_packed(m, &m->values[i].form));
    for (uint32_t i = 0; i < m->num_arrays; i++)
        gains = gains || (m->arrays[i].written && qn__is_packed(m, &m->arrays[i].form));
    return gains ? width : 1;
}

static uint64_t reach(const qn__maker *m, const qn__form *form) {
    uint64_t most = (uint64_t)(form->base < 0 ? -form->base : form->base);
    for (uint32_t l = 0; l < m->loops.count; l++) {
        const int64_t step = form->steps[l];
        most += (uint64_t)(step < 0 ? -step : step) * m->loops.at[l].size;
    }
    return most;
}

/* Whether 32 bits are too few for places and what is added to them. */
static bool is_wide(const qn__maker *m) {
    const uint64_t most = (uint64_t)1 << 30;
    bool wide = qn__iterations(m, true) >= most || qn__iterations(m, false) >= most;
    for (size_t i = 0; i < m->demand->count; i++) wide = wide || reach(m, &m->values[i].form) >= most;
    for (uint32_t i = 0; i < m->num_arrays; i++) wide = wide || reach(m, &m->arrays[i].form) >= most;
    for (size_t i = 0; i < m->demand->num_conditions; i++)
        wide = wide || reach(m, &m->demand->conditions[i].form) >= most;
    return wide;
}

static void choose_map(qn__maker *m) {
    qn__shape *s = &m->shape;
    const uint32_t rank = m->loops.count;
    const uint64_t packs = rank ? m->loops.at[rank - 1].size / s->width : 1;
    const uint64_t second = rank > 1 ? m->loops.at[rank - 2].size : 1,
                   all = qn__iterations(m, false) / s->width;
    const qn_device_info *info = &m->schedule->tensors->info;
    const uint64_t least = is_processor(m) ? 4 : 32; /* of a row, where the launch has its places */
    s->flat = rank < 2 || packs < least || second > info->max_global_size[1] ||
              all / packs / second > info->max_global_size[2] || (m->together && all < MOST_FLAT);
    s->range = (qn_range){.global = {all, 1, 1}};
    if (is_processor(m) && (!s->flat || rank < 2)) s->wide = true;
    if (!s->flat) s->range = (qn_range){.global = {packs, second, all / packs / second}};
}

static uint32_t power_from(uint64_t value, uint32_t least, uint32_t most) {
    uint32_t p = least;
    while (p < most && p < value) p *= 2;
    return p;
}

static uint32_t power_up_to(uint32_t value) {
    uint32_t p = 1;
    while (p * 2 <= value) p *= 2;
    return p;
}

/* Whether rows lie across: the innermost loop goes from one row to the next. */
static bool lies_across(const qn__maker *m) {
    const qn__loop *last = &m->loops.at[m->loops.count - 1];
    return !last->reduced && last->size >= COLUMNS / 4;
}

/* Whether rows are gone through once, so that nothing of them is held. */
static bool goes_once(const qn__maker *m) {
    for (size_t i = 0; i < m->demand->count; i++)
        if (m->values[i].is_inner && m->values[i].phase) return false;
    return true;
}

/* Work-items of a group that has a row. Where each row is gone through once, and there are more than enough of them, few work-items with long shares
   have less to join. */
static uint32_t choose_lanes(const qn__maker *m, uint64_t wanted, uint64_t rows, uint32_t most) {
    const qn_device_info *info = &m->schedule->tensors->info;
    const uint32_t lanes = power_from(wanted, most < 32 ? most : 32, most < MOST_LANES ? most : MOST_LANES);
    const bool has_many = info->compute_units && rows >= (uint64_t)info->compute_units * MANY_ROWS;
    if (!has_many || lanes <= FEW_LANES || !goes_once(m)) return lanes;
    return lanes / 4 > FEW_LANES ? lanes / 4 : FEW_LANES;
}

static void choose_team(qn__maker *m) {
    qn__shape *s = &m->shape;
    const qn_device_info *info = &m->schedule->tensors->info;
    const uint32_t most = power_up_to(info->max_group_size);
    const uint64_t length = qn__iterations(m, true), rows = qn__iterations(m, false);
    const uint32_t group = most < GROUP ? most : GROUP;
    *s = (qn__shape){.team = QN__ALONE, .lanes = 1, .rows = 1, .width = s->width, .wide = s->wide};
    if (lies_across(m) && !is_processor(m)) {
        s->lanes = power_from(length / 4, 1, group / COLUMNS ? group / COLUMNS : 1);
        s->team = s->lanes > 1 ? QN__COLUMNS : QN__ALONE;
        s->rows = s->lanes > 1 ? COLUMNS : 1;
        return;
    }
    if (is_processor(m)) {
        if (length < SHORT_ROW || lies_across(m)) return;
        const qn__loop *last = &m->loops.at[m->loops.count - 1];
        const uint64_t inner = last->reduced ? last->size : 1;
        s->team = QN__GROUP;
        s->lanes = most < 32 ? most : 32;
        s->walks = true;
        s->nests = inner < length && inner >= SHORT_ROW / 2;
        if (s->nests && inner < s->lanes) s->lanes = SHORT_ROW / 2;
        return;
    }
    const uint64_t wanted = (length + s->width * 4 - 1) / (s->width * 4);
    if (wanted <= 1 && rows >= GROUP) return;
    if (wanted <= info->sub_group_size && group % info->sub_group_size == 0) {
        s->team = QN__SUB_GROUP;
        s->lanes = power_from(wanted, 1, info->sub_group_size);
        s->rows = group / s->lanes;
        return;
    }
    s->team = QN__GROUP;
    s->lanes = choose_lanes(m, wanted, rows, most);
}

/* Columns of a row that lies across are short pieces of memory: of one at a time too few are on the way. */
static void choose_ahead(qn__maker *m) {
    const uint64_t length = qn__iterations(m, true);
    for (uint32_t times = MOST_AHEAD; times > 1; times /= 2) {
        if (length % ((uint64_t)m->shape.lanes * times)) continue;
        m->shape.ahead = times;
        return;
    }
}

void qn__shape_choose(qn__maker *m) {
    qn__shape *s = &m->shape;
    *s = (qn__shape){.width = 1};
    /* With 64 bits a processor's compiler sees that neighbouring work-items have neighbouring places, wherever a part begins. */
    s->wide = is_wide(m) || (m->together && is_processor(m));
    /* The work-items of a processor are the lanes of its vectors. */
    if (!m->has_rows && !m->together && !is_processor(m) && qn__turn_choose(m)) return;
    s->width = is_processor(m) ? 1 : choose_width(m);
    if (!m->has_rows) {
        choose_map(m);
        return;
    }
    choose_team(m);
    const uint64_t step = (uint64_t)s->lanes * s->width, times = (qn__iterations(m, true) + step - 1) / step;
    const bool holds = (s->team == QN__GROUP && !s->walks) || s->team == QN__SUB_GROUP;
    s->held = holds && times <= MOST_TIMES ? (uint32_t)times : 0;
    s->exact = qn__iterations(m, true) % step == 0;
    if (s->team == QN__COLUMNS || (s->team == QN__ALONE && lies_across(m))) s->width = 1;
    if (s->team == QN__COLUMNS) choose_ahead(m);
    const uint64_t rows = qn__iterations(m, false);
    const uint32_t local = s->lanes * s->rows;
    const uint64_t groups = (rows + s->rows - 1) / s->rows;
    s->range = (qn_range){.global = {rows}};
    if (s->team != QN__ALONE) s->range = (qn_range){.global = {groups * local}, .local = {local}};
}

bool qn__counts_through(const qn__maker *m) {
    return is_processor(m) && !m->has_rows && m->shape.flat && m->loops.count > 1 && m->shape.width == 1;
}

bool qn__can_be_part(const qn__maker *m) {
    const qn__shape *s = &m->shape;
    const bool is_alone = m->has_rows ? s->team == QN__ALONE : s->flat;
    return is_alone && s->wide == is_processor(m) && s->range.global[0] < (uint64_t)1 << 31;
}
