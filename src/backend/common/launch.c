/* From a launch to grids: its parts, the implicit arguments of each, a local size where none is given, and the copy
   of the kernels that a loaded program keeps. The contract is emit/gpu_abi.h. */
#include <string.h>

#include "backend/common/common.h"

/* ---- parts ---- */

/* Work-items of a part in one dimension at most: where a work-item is in its part is a number of 32 bits, and with
   one bit to spare no sum with an offset wraps. */
enum { MOST_ITEMS = INT32_MAX };

void qn__parts_begin(qn__parts *parts, const qn__command *launch, const qn__kernel_info *kernel,
                     const uint32_t max_groups[3]) {
    *parts = (qn__parts){.launch = launch, .guarded = kernel->guarded};
    for (int d = 0; d < 3; d++) {
        uint64_t global = launch->global[d], local = launch->local[d];
        uint64_t most = MOST_ITEMS / local < max_groups[d] ? MOST_ITEMS / local : max_groups[d];
        parts->num_groups[d] = global / local + (global % local != 0);
        parts->max_groups[d] = most ? (uint32_t)most : 1;
        if (global == 0) parts->done = true;
    }
}

/* The groups of one dimension from parts->at on: as many as are equal and fit a grid. */
static void take_groups(const qn__parts *parts, int d, qn__part *part) {
    uint64_t at = parts->at[d], total = parts->num_groups[d], local = parts->launch->local[d];
    uint64_t rest = parts->launch->global[d] % local; /* items of a last, smaller group */
    uint64_t end = total;
    part->local[d] = (uint32_t)local;
    part->group_base[d] = (uint32_t)at;
    if (rest && !parts->guarded) {
        if (at == total - 1)
            part->local[d] = (uint32_t)rest;
        else
            end = total - 1;
    }
    uint64_t count = end - at < parts->max_groups[d] ? end - at : parts->max_groups[d];
    part->groups[d] = (uint32_t)count;
    if (rest && parts->guarded && at + count == total) part->overhang |= 1u << d;
}

bool qn__parts_next(qn__parts *parts, qn__part *part) {
    if (parts->done) return false;
    *part = (qn__part){0};
    for (int d = 0; d < 3; d++) take_groups(parts, d, part);
    parts->done = true;
    for (int d = 0; d < 3 && parts->done; d++) { /* the next in x, then y, then z */
        parts->at[d] += part->groups[d];
        if (parts->at[d] < parts->num_groups[d])
            parts->done = false;
        else
            parts->at[d] = 0;
    }
    return true;
}

/* ---- implicit arguments ---- */

static uint64_t buffer_offset(const qn__command *launch, uint32_t param) {
    for (uint32_t i = 0; i < launch->num_bindings; i++)
        if (launch->bindings[i].param == param) return launch->bindings[i].offset;
    return 0;
}

uint64_t qn__implicit_value(const qn__implicit *implicit, const qn__command *launch, const qn__part *part,
                            const qn__implicit_addresses *addresses) {
    uint32_t d = implicit->dim;
    if (implicit->kind == QN__IMPLICIT_BUFFER_OFFSET) return buffer_offset(launch, d);
    if (d > 2) d = 0;
    switch ((qn__implicit_kind)implicit->kind) {
    case QN__IMPLICIT_GLOBAL_BASE:
        return launch->offset[d] + (uint64_t)part->group_base[d] * launch->local[d];
    case QN__IMPLICIT_GLOBAL_SIZE: return launch->global[d];
    case QN__IMPLICIT_GLOBAL_OFFSET: return launch->offset[d];
    case QN__IMPLICIT_GROUP_BASE: return part->group_base[d];
    case QN__IMPLICIT_NUM_GROUPS: return (launch->global[d] - 1) / launch->local[d] + 1;
    case QN__IMPLICIT_ENQUEUED_SIZE: return launch->local[d];
    case QN__IMPLICIT_WORK_DIM: return launch->work_dim;
    case QN__IMPLICIT_OVERHANG: return part->overhang;
    case QN__IMPLICIT_PRINT: return addresses->print;
    case QN__IMPLICIT_CONSTANTS: return addresses->constants;
    case QN__IMPLICIT_LIMIT:
        return part->overhang >> d & 1 ? launch->global[d] - (uint64_t)part->group_base[d] * launch->local[d]
                                       : UINT32_MAX;
    case QN__IMPLICIT_ROW: /* one row */
    case QN__IMPLICIT_BUFFER_OFFSET:
    case QN__IMPLICIT_KIND_COUNT: break;
    }
    return 0;
}

void qn__params_fill(unsigned char *block, const qn__command *launch, const qn__kernel_info *kernel,
                     const qn__part *part, const qn__implicit_addresses *addresses) {
    uint32_t args = launch->args_size < kernel->params_size ? launch->args_size : kernel->params_size;
    if (args) memcpy(block, launch->args, args);
    memset(block + args, 0, kernel->params_size - args);
    for (uint32_t i = 0; i < kernel->num_implicit; i++) {
        const qn__implicit *implicit = &kernel->implicit[i];
        uint64_t value = qn__implicit_value(implicit, launch, part, addresses);
        /* little-endian; copies of a size known here are moves, others cost as much as all the rest */
        if (implicit->size == sizeof value)
            memcpy(block + implicit->offset, &value, sizeof value);
        else
            memcpy(block + implicit->offset, &value, sizeof(uint32_t));
    }
}

/* ---- local sizes ---- */

enum {
    USUAL_GROUP = 256,     /* work-items: enough to fill a multiprocessor several times over */
    GROUPS_TO_SPREAD = 64, /* fewer groups than this leave parts of a GPU idle: make them smaller */
    LEAST_SPREAD = 64
};

/* The largest divisor of `size` up to `limit`. */
static uint32_t divisor(uint64_t size, uint32_t limit) {
    uint32_t best = size < limit ? (uint32_t)size : limit;
    while (best > 1 && size % best) best--;
    return best ? best : 1;
}

/* How many work-items in one dimension. Overhanging groups cost idle work-items; a kernel that cannot overhang
   is launched in parts, which costs more, so that it also takes a divisor half, or a quarter, the size. */
static uint32_t fit(uint64_t size, uint32_t limit, uint32_t wide, bool guarded) {
    if (size <= limit) return (uint32_t)size;
    for (uint32_t n = limit / wide * wide; n >= wide && n >= limit / 2; n -= wide)
        if (size % n == 0) return n;
    if (!guarded) {
        uint32_t n = divisor(size, limit);
        if (n >= (limit + 3) / 4) return n;
    }
    return limit >= wide ? limit / wide * wide : limit;
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

void qn__choose_local(const uint64_t global[3], uint32_t work_dim, bool guarded, uint32_t most, uint32_t wide,
                      const uint32_t max_local[3], uint32_t local[3]) {
    uint32_t wanted = most < USUAL_GROUP ? most : USUAL_GROUP;
    if (wanted == 0) wanted = 1;
    if (wide == 0) wide = 1;
    double items = (double)global[0] * (double)global[1] * (double)global[2];
    while (wanted / 2 >= LEAST_SPREAD && wanted / 2 >= wide && items / wanted < GROUPS_TO_SPREAD) wanted /= 2;
    bool rows = work_dim > 1 && global[1] * global[2] > 1;
    uint32_t x = wanted;
    if (rows) { /* a block rather than a row: what neighbours load is shared in both directions */
        x = wide;
        if (global[0] % wide && wide % 2 == 0 && global[0] % (wide / 2) == 0) x = wide / 2;
    }
    local[0] = fit(global[0], least(least(x, wanted), max_local[0]), least(x, wide), guarded);
    uint32_t room = wanted / local[0];
    local[1] = fit(global[1], least(room ? room : 1, max_local[1]), 1, guarded);
    room = wanted / (local[0] * local[1]);
    local[2] = fit(global[2], least(room ? room : 1, max_local[2]), 1, guarded);
    for (int d = 0; d < 3; d++)
        if (local[d] == 0) local[d] = 1;
}
