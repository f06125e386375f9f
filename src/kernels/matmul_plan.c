/* How a qn_kernels_matmul is done when its way has been chosen: the numbers and options that the kernels get. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernels/matmul.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

/* ---- options ---- */

typedef struct text {
    char at[2048];
    size_t size;
} text;

static void add(text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(t->at + t->size, sizeof t->at - t->size, format, args);
    va_end(args);
    t->size += n > 0 ? (size_t)n : 0;
    if (t->size >= sizeof t->at) t->size = sizeof t->at - 1;
}

static const char *const words_of[QN__MATMUL_OPERANDS] = {"OUT", "A", "B", "C", "BIAS", "RESIDUAL"};

static qn_element sum_of(const qn__matmul *q) {
    return qn__matmul_is_double(q) ? QN_F64 : qn__matmul_is_integer(q) ? QN_I32 : QN_F32;
}
static qn_element result_of(const qn__matmul *q) {
    return qn__matmul_is_integer(q) && !q->plain ? QN_F32 : sum_of(q);
}

/* Whether results can be stored four at a time. */
static bool has_store4(const qn__matmul *q) {
    const qn_element result = result_of(q), to = q->arrays[QN__MATMUL_OUT].type;
    const int64_t column = q->column[QN__MATMUL_OUT], row = q->row[QN__MATMUL_OUT];
    if (result == QN_F64 && to == QN_F64) return qn__matmul_in_pairs(q, QN__MATMUL_OUT, column, row);
    const bool can = (result == QN_F32 && (to == QN_F32 || to == QN_F16 || to == QN_BF16)) ||
                     (result == QN_I32 && to == QN_I32);
    return can && qn__matmul_in_fours(q, QN__MATMUL_OUT, column, row);
}

static void add_types(text *t, const qn__matmul *q) {
    const qn_element sum = sum_of(q), result = result_of(q);
    const char *s = qn__element(sum)->value, *r = qn__element(result)->value;
    add(t, "-D SUM=%s -D SUM4=%s4 -D SUM16=%s16 -D RESULT=%s -D RESULT4=%s4 -D FACTOR=%s", s, s, s, r, r,
        qn__matmul_is_double(q) ? "double" : "float");
    for (int i = 0; i < QN__MATMUL_OPERANDS; i++) {
        const qn__element_info *e = qn__element(q->has[i] ? q->arrays[i].type : QN_F32);
        add(t, " -D %s_T=%s -D %s_%s=%s", words_of[i], e->storage, words_of[i], i ? "LOAD" : "STORE",
            i ? e->load : e->store);
        if (i == QN__MATMUL_A || i == QN__MATMUL_B) add(t, " -D %s_LOAD4=%s4", words_of[i], e->load);
        if (i >= QN__MATMUL_C && q->has[i]) add(t, " -D HAS_%s", words_of[i]);
    }
    const qn_element to = q->arrays[QN__MATMUL_OUT].type;
    const bool narrows = result == QN_I32 && !qn__element(to)->is_float && to != QN_I32;
    const qn__conversion conversion = qn__element_conversion(result, to);
    const char *convert = narrows ? qn__element(to)->to_value : conversion.text;
    add(t, " -D TO_OUT=%s -D ACTIVATION=%d%s", convert, (int)q->activation, q->plain ? " -D PLAIN" : "");
    if (sum == QN_I32) add(t, " -D SUM_IS_INTEGER");
    if (has_store4(q)) add(t, " -D OUT_STORE4=%s4", qn__element(to)->store);
    if (q->n % 4 == 0 && has_store4(q)) add(t, " -D WHOLE_RUNS");
}

static void add_operand(text *t, const qn__matmul *q, qn__matmul_operand x) {
    add(t, " -D %s_ALONG_K=%d -D %s_VECTORS=%d", words_of[x], qn__matmul_taken_along_k(q, x), words_of[x],
        qn__matmul_in_pieces(q, x));
}

static uint32_t strip_rows(const qn__matmul *q) { return q->m >= 8 ? 8 : q->m >= 4 ? 4 : 1; }

enum { STRIP_COLUMNS = 16 };

/* ---- the numbers ---- */

static qn_status set_numbers(const qn_kernels *kernels, const qn__matmul *q, qn__matmul_plan *p,
                             uint32_t *batches) {
    static const char *const names[QN__MATMUL_OPERANDS] = {"the batches of out",  "the batches of a",
                                                           "the batches of b",    "the batches of c",
                                                           "the batches of bias", "the batches of residual"};
    qn_array before[QN__MATMUL_OPERANDS] = {{0}};
    const qn_array *at[QN__MATMUL_OPERANDS];
    for (int i = 0; i < QN__MATMUL_OPERANDS; i++) {
        at[i] = &before[i];
        if (!q->has[i]) continue;
        before[i] = q->arrays[i];
        before[i].rank = before[i].rank > 2 ? before[i].rank - 2 : 0;
    }
    qn__walk walk;
    const qn_status status =
        qn__walk_make(kernels, "qn_kernels_matmul", at, names, QN__MATMUL_OPERANDS, &walk);
    if (status) return status;
    const uint64_t head[] = {0, 0, 0, 0, 0, 0, q->m, q->n, q->k, p->part};
    uint64_t *w = p->words;
    for (size_t i = 0; i < COUNT(head); i++) *w++ = head[i];
    static const qn__matmul_operand order[] = {QN__MATMUL_A, QN__MATMUL_B,    QN__MATMUL_OUT,
                                               QN__MATMUL_C, QN__MATMUL_BIAS, QN__MATMUL_RESIDUAL};
    for (size_t i = 0; i < COUNT(order); i++) {
        *w++ = (uint64_t)q->row[order[i]];
        *w++ = (uint64_t)q->column[order[i]];
    }
    for (uint32_t d = 0; d < walk.rank; d++) *w++ = walk.sizes[d];
    for (int i = 0; i < QN__MATMUL_OPERANDS; i++)
        for (uint32_t d = 0; d < walk.rank; d++) *w++ = (uint64_t)walk.strides[i][d];
    p->num_words = (uint32_t)(w - p->words);
    *batches = walk.rank;
    return QN_OK;
}

static void set_range(const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_choice *c,
                      qn__matmul_plan *p) {
    const qn__matmul_variant *v = c->variant;
    const uint64_t batches = qn__matmul_batches(q);
    qn_range *r = &p->range;
    if (v->family == QN__BY_TILES || v->family == QN__BY_UNITS) {
        const uint64_t tiles =
            divide_up(q->m, qn__matmul_tile_rows(v)) * divide_up(q->n, qn__matmul_tile_columns(v));
        const qn__matmul_cut cut = c->cut;
        *r = (qn_range){.global = {tiles * qn__matmul_tile_items(kernels, v) * (cut.joined ? cut.splits : 1),
                                   cut.joined ? 1 : cut.splits, batches},
                        .local = {qn__matmul_tile_items(kernels, v), 1, 1}};
    } else if (v->family == QN__BY_STRIP)
        *r = (qn_range){.global = {divide_up(q->n, STRIP_COLUMNS), divide_up(q->m, strip_rows(q)), batches}};
    else
        *r = qn__matmul_vector_range(kernels, q, c->cut.splits);
    p->finish_range = (qn_range){.global = {q->n, q->m, batches}};
}

/* Whether rows of sums are rows of the results, or of the parts of k, as they are, and begin where fragments may. */
static bool stores_sums(const qn__matmul *q, bool splits) {
    if (q->n % 4) return false;
    return splits || (q->plain && q->arrays[QN__MATMUL_OUT].type == sum_of(q) && has_store4(q));
}

static void add_units(text *t, const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_variant *v,
                      const qn__matmul_plan *p) {
    static const char *const bits[] = {[1] = "uchar", [2] = "ushort", [4] = "uint", [8] = "ulong"};
    const qn_element a = q->arrays[QN__MATMUL_A].type, b = q->arrays[QN__MATMUL_B].type;
    const uint32_t size = qn__element(a)->size;
    add(t, " -D WM=%u -D WN=%u -D SM=%u -D SN=%u -D ITEMS=%u -D SIZE=%u -D BITS=%s -D A_UNIT=%s -D B_UNIT=%s",
        v->wm, v->wn, v->tm, v->tn, qn__matmul_tile_items(kernels, v), size, bits[size],
        qn__matmul_unit(q, a), qn__matmul_unit(q, b));
    add(t, " -D BYTES=%u -D LANES=%u", (unsigned)qn__matmul_units_bytes(q), kernels->info.sub_group_size);
    if (kernels->info.kind == QN_DEVICE_VULKAN) add(t, " -D TWO_AHEAD");
    if (qn__matmul_is_double(q)) add(t, " -D STAGES=%d", QN__MATMUL_STAGES);
    if (stores_sums(q, p->splits > 1)) add(t, " -D DIRECT");
    add_operand(t, q, QN__MATMUL_A);
    add_operand(t, q, QN__MATMUL_B);
}

static void add_tile_operand(text *t, const qn__matmul *q, qn__matmul_operand x, uint32_t tile) {
    const bool k_first = qn__matmul_taken_along_k(q, x);
    const int64_t near = k_first ? qn__matmul_along_k(q, x) : qn__matmul_along_side(q, x);
    add(t, " -D %s_ALONG_K=%d -D %s_NEAR=%d -D %s_VECTORS=%d -D SHORT_%s=%d", words_of[x], k_first,
        words_of[x], near == 1, words_of[x], qn__matmul_in_vectors(q, x), words_of[x],
        qn__matmul_side(q, x) < tile);
}

static void add_tile(text *t, const qn__matmul *q, const qn__matmul_variant *v) {
    add(t, " -D WM=%u -D WN=%u -D LM=%u -D LN=%u -D TM=%u -D TN=%u -D BK=%u", v->wm, v->wn, v->lm, v->ln,
        v->tm, v->tn, v->step);
    add_tile_operand(t, q, QN__MATMUL_A, qn__matmul_tile_rows(v));
    add_tile_operand(t, q, QN__MATMUL_B, qn__matmul_tile_columns(v));
    const bool whole_runs = q->n % 4 == 0 && has_store4(q);
    if (!whole_runs && q->column[QN__MATMUL_OUT] == 1 && q->n > 4) add(t, " -D STAGED");
}

static void add_family(text *t, const qn_kernels *kernels, const qn__matmul *q, const qn__matmul_variant *v,
                       const qn__matmul_plan *p) {
    if (v->family == QN__BY_QUADS) {
        const qn__matmul_quad quad = qn__matmul_quad_of(v, p->splits);
        qn__matmul_quad_options(q, &quad, &p->tensors, t->at + t->size, sizeof t->at - t->size);
        t->size += strlen(t->at + t->size);
    } else if (v->family == QN__BY_TILES) {
        add_tile(t, q, v);
    } else if (v->family == QN__BY_UNITS) {
        add_units(t, kernels, q, v, p);
    } else if (v->family == QN__BY_PACKED) {
        qn__matmul_packed_options(kernels, q, qn__matmul_batches(q), t->at + t->size, sizeof t->at - t->size);
        t->size += strlen(t->at + t->size);
    } else if (v->family == QN__BY_PANELS) {
        qn__matmul_panels_options(q, t->at + t->size, sizeof t->at - t->size);
        t->size += strlen(t->at + t->size);
    } else if (v->family == QN__BY_VECTOR) {
        qn__matmul_vector_options(kernels, q, t->at + t->size, sizeof t->at - t->size);
        t->size += strlen(t->at + t->size);
    } else {
        const qn_element b = q->arrays[QN__MATMUL_B].type;
        const bool vectors =
            q->column[QN__MATMUL_B] == 1 && q->n >= STRIP_COLUMNS && (b == QN_F32 || b == QN_F64);
        add(t, " -D ROWS=%u -D B_VECTORS=%d", strip_rows(q), vectors);
    }
}

/* Parts of k begin where vectors along k may, of 16 elements at most. */
enum { PART_UNIT = 16 };

/* None of the parts is empty. */
static void set_parts(const qn__matmul *q, qn__matmul_cut *cut, qn__matmul_plan *p) {
    if (cut->splits > q->k) cut->splits = q->k ? q->k : 1;
    p->part = divide_up(divide_up(q->k, cut->splits), PART_UNIT) * PART_UNIT;
    if (!cut->joined) p->splits = cut->splits = p->part ? divide_up(q->k, p->part) : 1;
}

static void keep_choice(qn_kernels *kernels, const qn__matmul *q, const qn__matmul_choice *c) {
    if (c->variant->family == QN__BY_VECTOR) qn__matmul_vector_keep(kernels, q);
    if (!qn__matmul_is_open(q)) return;
    qn__tuned t = qn__matmul_tuned(kernels, q);
    t.values[QN__TUNE_matmul_variant] = qn__matmul_variant_index(c->variant) + 1;
    t.values[QN__TUNE_matmul_parts] = (uint32_t)c->cut.splits;
    qn__tuned_keep(kernels, &t);
}

/* Many parts are added by slices of a work-group. */
static qn_status get_finish(qn_kernels *kernels, const text *options, qn__matmul_plan *p) {
    enum { MANY = 16, SLICES = 8, ITEMS = 32 };
    text own = *options;
    if (p->splits >= MANY && !qn__is_processor(kernels) && kernels->info.max_group_size >= ITEMS * SLICES) {
        qn_range *r = &p->finish_range;
        add(&own, " -D SLICES=%d", SLICES);
        *r = (qn_range){
            .global = {divide_up(r->global[0], ITEMS) * ITEMS, r->global[1] * SLICES, r->global[2]},
            .local = {ITEMS, SLICES, 1}};
    }
    return qn__variant_get(kernels, &(qn__variant){"matmul/finish.cl", NULL, own.at}, &p->finish);
}

static qn_status make(qn_kernels *kernels, const void *request, void *plan) {
    static const char *const files[] = {"matmul/tile.cl",   "matmul/units.cl",  "matmul/quad.cl",
                                        "matmul/packed.cl", "matmul/panels.cl", "matmul/vector.cl",
                                        "matmul/strip.cl"};
    qn__matmul own = *(const qn__matmul *)request, turned;
    const qn__matmul *q = &own;
    qn__matmul_plan *p = plan;
    qn__matmul_choice c;
    qn_status status = qn__matmul_choose(kernels, &own, &c);
    if (status) return status;
    keep_choice(kernels, request, &c);
    qn__matmul_cut *cut = &c.cut;
    const qn__matmul_quad quad = qn__matmul_quad_of(c.variant, cut->splits);
    if (quad.turned) turned = qn__matmul_turned(q);
    if (quad.turned) q = &turned;
    if (c.variant->family == QN__BY_QUADS)
        qn__matmul_quad_plan(kernels, q, &quad, p);
    else
        set_parts(q, cut, p);
    uint32_t batches = 0;
    status = set_numbers(kernels, q, p, &batches);
    if (status) return status;
    if (c.variant->family == QN__BY_PACKED)
        status = qn__matmul_packed_plan(kernels, q, qn__matmul_batches(q), p);
    else if (c.variant->family == QN__BY_PANELS)
        status = qn__matmul_panels_plan(kernels, q, p);
    else if (c.variant->family != QN__BY_QUADS)
        set_range(kernels, q, &c, p);
    text options = {.size = 0};
    add_types(&options, q);
    add(&options, " -D BATCHES=%u", batches);
    if (quad.turned) add(&options, " -D TURNED");
    if (c.variant->family == QN__BY_QUADS) cut->splits = p->splits;
    if (cut->joined) {
        add(&options, " -D CLUSTER=%u", (unsigned)cut->splits);
    } else if (cut->splits > 1) {
        const uint64_t size = qn__matmul_is_double(q) ? 8 : 4, elements = q->m * q->n * qn__matmul_batches(q);
        if (elements > UINT64_MAX / size / cut->splits)
            return qn__op_fail(kernels, QN_ERROR_DEVICE_MEMORY,
                               "qn_kernels_matmul: %llu parts of k take too much memory",
                               (unsigned long long)cut->splits);
        p->work = elements * size * cut->splits;
        status = get_finish(kernels, &options, p);
        add(&options, " -D SPLIT");
    }
    add_family(&options, kernels, q, c.variant, p);
    qn__variant text = {files[c.variant->family], NULL, options.at};
    if (!status && p->has_tensors && p->tensors.tail) {
        p->splits = p->tensors.tail;
        text.kernel = "finish_tail";
        status = qn__variant_get(kernels, &text, &p->finish);
        text.kernel = "matmul";
    }
    if (!status && (c.variant->family == QN__BY_PACKED || c.variant->family == QN__BY_PANELS)) {
        text.kernel = "pack";
        if (p->work) status = qn__variant_get(kernels, &text, &p->pack);
        text.kernel = "matmul";
    }
    return status ? status : qn__variant_get(kernels, &text, &p->kernel);
}

const qn__op qn__matmul_op = {"qn_kernels_matmul", sizeof(qn__matmul_plan), make};
