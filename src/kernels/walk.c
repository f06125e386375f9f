/* Walks: how to visit the elements of several arrays together, with broadcasting. */
#include "kernels/op.h"

/* The stride of dimension `d` of the first array in an array that is broadcast to it. */
static qn_status broadcast_stride(const qn_kernels *kernels, const char *function, const qn_array *to,
                                  const char *to_name, const qn_array *a, const char *name, uint32_t d,
                                  int64_t *stride) {
    *stride = 0;
    if (to->rank - d > a->rank) return QN_OK;
    const uint32_t own = d - (to->rank - a->rank);
    if (a->sizes[own] == 1) return QN_OK;
    *stride = a->strides[own];
    if (a->sizes[own] == to->sizes[d]) return QN_OK;
    return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "%s: %s (%s) cannot be broadcast to %s (%s)", function,
                       name, qn__shape(a).text, to_name, qn__shape(to).text);
}

static uint64_t size_of_step(int64_t stride) { return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride; }

/* Puts dimension `d` of the walk where the first array's strides want it: the smallest first. */
static void sort_in(qn__walk *walk, uint32_t d, uint32_t count) {
    for (; d > 0 && d < QN_MAX_RANK &&
           size_of_step(walk->strides[0][d]) < size_of_step(walk->strides[0][d - 1]);
         d--) {
        const uint64_t size = walk->sizes[d];
        walk->sizes[d] = walk->sizes[d - 1];
        walk->sizes[d - 1] = size;
        for (uint32_t i = 0; i < count; i++) {
            const int64_t stride = walk->strides[i][d];
            walk->strides[i][d] = walk->strides[i][d - 1];
            walk->strides[i][d - 1] = stride;
        }
    }
}

/* Whether dimension `d` goes on where the one before it ends, in all arrays. */
static bool goes_on(const qn__walk *walk, uint32_t d, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if ((uint64_t)walk->strides[i][d] != (uint64_t)walk->strides[i][d - 1] * walk->sizes[d - 1])
            return false;
    return true;
}

static void join(qn__walk *walk, uint32_t count) {
    uint32_t rank = 0;
    for (uint32_t d = 0; d < walk->rank; d++) {
        walk->sizes[rank] = walk->sizes[d];
        for (uint32_t i = 0; i < count; i++) walk->strides[i][rank] = walk->strides[i][d];
        if (rank > 0 && goes_on(walk, rank, count))
            walk->sizes[rank - 1] *= walk->sizes[rank];
        else
            rank++;
    }
    walk->rank = rank;
}

qn_status qn__walk_make(const qn_kernels *kernels, const char *function, const qn_array *const *arrays,
                        const char *const *names, uint32_t count, qn__walk *walk) {
    const qn_array *to = arrays[0];
    *walk = (qn__walk){0};
    for (uint32_t i = 1; i < count; i++)
        if (arrays[i]->rank > to->rank)
            return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "%s: %s has %u dimensions, %s only %u", function,
                               names[i], arrays[i]->rank, names[0], to->rank);
    for (uint32_t d = 0; d < to->rank; d++) {
        int64_t strides[QN__WALK_ARRAYS] = {to->strides[d]};
        for (uint32_t i = 1; i < count; i++) {
            const qn_status status =
                broadcast_stride(kernels, function, to, names[0], arrays[i], names[i], d, &strides[i]);
            if (status) return status;
        }
        if (to->sizes[d] == 1) continue;
        walk->sizes[walk->rank] = to->sizes[d];
        for (uint32_t i = 0; i < count; i++) walk->strides[i][walk->rank] = strides[i];
        sort_in(walk, walk->rank++, count);
    }
    join(walk, count);
    return QN_OK;
}

void qn__walk_give_dimension(qn__walk *walk, uint32_t count) {
    if (walk->rank) return;
    walk->rank = 1;
    walk->sizes[0] = 1;
    for (uint32_t i = 0; i < count; i++) walk->strides[i][0] = 1;
}

qn_range qn__walk_range(const qn__walk *walk) {
    qn_range r = {.global = {walk->sizes[0], 1, 1}};
    if (walk->rank > 1) r.global[1] = walk->sizes[1];
    for (uint32_t d = 2; d < walk->rank; d++) r.global[2] *= walk->sizes[d];
    return r;
}

qn__walk_block qn__walk_block_of(const qn__walk *walk, uint32_t count) {
    qn__walk_block b = {.size = (uint32_t)((1 + count) * walk->rank * sizeof *b.words)};
    uint64_t *at = b.words;
    for (uint32_t d = 0; d < walk->rank; d++) *at++ = walk->sizes[d];
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t d = 0; d < walk->rank; d++) *at++ = (uint64_t)walk->strides[i][d];
    return b;
}

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

uint64_t qn__power_from(uint64_t value) {
    uint64_t p = 1;
    while (p < value) p *= 2;
    return p;
}

qn__lines qn__lines_of(const qn__walk *walk, uint64_t packs, uint32_t times) {
    const uint64_t rows = walk->rank > 1 ? walk->sizes[1] : 1, rest = qn__walk_range(walk).global[2];
    const bool along = rows == 1 || packs >= (uint64_t)QN__LINES_GROUP * times * 4;
    uint64_t x = along ? QN__LINES_GROUP : smaller(qn__power_from(packs), QN__LINES_GROUP), y = 1;
    while (!along && x > 32 && (packs + x - 1) / x * x * 7 > packs * 8) x /= 2; /* an eighth may be idle */
    if (!along) {
        y = smaller(QN__LINES_GROUP / x, qn__power_from(rows));
        while (x * y < 32) y *= 2;
        while (times > 1 && y * times > qn__power_from(rows)) times /= 2;
    }
    const uint64_t across = x * (along ? times : 1), down = y * times;
    return (qn__lines){.along = along,
                       .times = times,
                       .range = {.global = {((packs - 1) / across + 1) * x,
                                            along ? rows : ((rows - 1) / down + 1) * y, rest},
                                 .local = {(uint32_t)x, (uint32_t)y, 1}}};
}
