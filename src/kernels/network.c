/* Rows of keys of 32 bits sorted, or the first of each found, on processors with kernels/network.cl: a row in each lane of its vectors. */
#include <stdio.h>

#include "kernels/network.h"

/* What a row may have: its vectors should stay in the second cache. */
enum { MOST_KEYS = 1 << 14 };
/* Beyond this so few are found sooner by comparing most keys with the last one that is in. */
enum { FEW_OF_ROW = 16, MOST_KEYS_OF_FEW = 1 << 12 };

static uint32_t lanes_of(const qn_kernels *kernels) {
    const uint32_t lanes = kernels->info.vector_bytes / 4;
    return lanes > 16 ? 16 : lanes;
}

static bool fits(const qn_kernels *kernels, const qn__network_rows *r) {
    const uint32_t lanes = lanes_of(kernels);
    const uint64_t most = r->wanted <= FEW_OF_ROW ? MOST_KEYS_OF_FEW : MOST_KEYS;
    return qn__is_processor(kernels) && lanes >= 4 && qn__element(r->from.type)->size == 4 &&
           r->rows >= lanes && r->length <= most;
}

qn_status qn__network_get(qn_kernels *kernels, const qn__network_rows *r, qn__network *n) {
    *n = (qn__network){.lanes = lanes_of(kernels)};
    if (!fits(kernels, r)) return QN_OK;
    const uint32_t levels = n->lanes == 16 ? 4 : 3; /* by how many registers there are */
    uint64_t kept = 16;
    while (kept < r->wanted) kept *= 2;
    const bool whole = 2 * kept > r->length;
    while (whole && kept < r->length) kept *= 2;
    const bool is_float = qn__element(r->from.type)->is_float;
    char options[160];
    snprintf(options, sizeof options, "-D LANES=%u -D LEVELS=%u -D KEPT=%u%s%s%s", n->lanes, levels,
             (unsigned)kept, whole ? "" : " -D WANTED",
             is_float                 ? " -D FLOAT"
             : r->from.type == QN_I32 ? " -D SIGNED"
                                      : "",
             r->descending ? " -D DESCENDING" : "");
    return qn__variant_get(kernels, &(qn__variant){"network.cl", NULL, options}, &n->kernel);
}

qn_status qn__network_launch(qn_stream *stream, const qn__network *n, const qn__network_rows *r) {
    const qn_arg args[] = {qn_arg_unsigned(r->rows),      qn_arg_unsigned(r->length),
                           qn_arg_unsigned(r->wanted),    qn_arg_unsigned(r->from.offset),
                           qn_arg_buffer(r->from.buffer), qn_arg_unsigned(r->to.offset),
                           qn_arg_buffer(r->to.buffer)};
    const qn_range range = {.global = {(r->rows - 1) / n->lanes + 1}, .local = {1}};
    return qn_launch(stream, n->kernel, &range, args, sizeof args / sizeof *args);
}
