/* qn_kernels_softmax, qn_kernels_layer_norm and their kin: functions of rows, by kernels/rows.cl and norm_backward.cl. A work-group has a row; what
   fits into its work-items' registers is read once. The gradients by weights are sums over rows: each of some work-groups leaves
   one of its own, and qn_kernels_reduce adds them. */
#include <stdio.h>
#include <string.h>

#include "kernels/op.h"

enum {
    MOST_LOCAL = 512,    /* work-items of a group */
    GROUP = 256,         /* of one that has several rows */
    MOST_HELD = 32,      /* elements that a work-item keeps of an array */
    MOST_REGISTERS = 64, /* of MOST_LOCAL work-items, so that two groups share a multiprocessor's */
    MOST_LOCAL_BACKWARD = 1024,
    MOST_HELD_BACKWARD = 16,
    GROUPS_A_UNIT =
        4 /* work-groups that go through the rows, for each compute unit; where it is not known how many run at a time */
};

enum { TO, A, B, WEIGHT, BIAS, ARRAYS };

/* A call. Arrays without a buffer are not there. */
typedef struct request {
    const char *function, *operation; /* "qn_kernels_softmax", "log_softmax" */
    const char *names[ARRAYS];
    qn_array arrays[ARRAYS];
    double epsilon;
    bool backward;
    qn_array to_weight, to_bias; /* for `backward` */
} request;

static bool has(const request *r, uint32_t i) { return r->arrays[i].buffer != NULL; }

typedef struct plan {
    qn_kernel *kernel;
    uint64_t rows, groups, length;
    uint32_t local, walk_size; /* work-items of a row */
    uint32_t rows_a_group;
    bool wide;
    uint64_t walk[(1 + 3) * QN_MAX_RANK + 3];
} plan;

static qn_element computed(const request *r) {
    for (uint32_t i = 0; i < ARRAYS; i++)
        if (has(r, i) && r->arrays[i].type == QN_F64) return QN_F64;
    return QN_F32;
}

/* `array` without its last dimension. */
static qn_array outer_of(const qn_array *array) {
    qn_array outer = *array;
    outer.rank--;
    return outer;
}

static int64_t row_stride(const qn_array *a) { return a->strides[a->rank - 1]; }
static uint64_t row_length(const request *r) { return r->arrays[A].sizes[r->arrays[A].rank - 1]; }
/* A processor reads a row again from its cache, and has few registers for two arrays and two sums. */
static uint64_t most_held(const qn_kernels *kernels, const request *r) {
    return !r->backward ? MOST_HELD : qn__is_processor(kernels) ? 0 : MOST_HELD_BACKWARD;
}

/* Whether elements of rows are next to each other. */
static bool is_unit(const request *r) {
    for (uint32_t i = 0; i < ARRAYS; i++)
        if (has(r, i) && row_stride(&r->arrays[i]) != 1) return false;
    return true;
}

/* How many neighbours a work-item takes at once: 1 where arrays do not lie so. */
static uint32_t choose_width(const request *r, const qn__walk *walk, uint32_t count) {
    uint32_t least = 8, most = 1;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t size = qn__element(r->arrays[i].type)->size;
        least = size < least ? size : least;
        most = size > most ? size : most;
    }
    const uint32_t width = 16 / least < 32 / most ? 16 / least : 32 / most;
    for (uint32_t i = 0; i < ARRAYS; i++) {
        if (!has(r, i)) continue;
        if (row_stride(&r->arrays[i]) != 1 || r->arrays[i].offset % width) return 1;
        for (uint32_t d = 0; i < count && d < walk->rank; d++)
            if (walk->sizes[d] > 1 && walk->strides[i][d] % (int64_t)width) return 1;
    }
    return width;
}

static uint32_t power_from(uint64_t value, uint32_t least, uint32_t most) {
    uint32_t p = least;
    while (p < most && p < value) p *= 2;
    return p;
}

static size_t add_array(char *at, size_t room, const char *word, const qn_array *a, qn_element value,
                        uint32_t width) {
    const qn__element_info *e = qn__element(a->type);
    return (size_t)snprintf(at, room, " -D %s=%s -D %s_LOADED=%s -D %s_CONVERT=%s -D %s_WORD=%s", word,
                            e->storage, word, e->value, word, qn__element_conversion(a->type, value).text,
                            word, qn__element_word(e->size * width));
}

static qn_status get_kernel(qn_kernels *kernels, const request *r, const qn__walk *walk, uint32_t count,
                            uint32_t width, plan *p) {
    static const char *const words[ARRAYS] = {"TO", "A", "B", "WEIGHT", "BIAS"};
    const qn_element value = computed(r);
    const qn__element_info *to = qn__element(r->arrays[TO].type);
    char options[1024];
    size_t at = (size_t)snprintf(
        options, sizeof options,
        "-D OP_%s -D VALUE=%s -D TO=%s -D TO_WORD=%s -D TO_CONVERT=%s -D N=%u -D LOCAL=%u "
        "-D RANK=%u -D ARRAYS=%u%s",
        r->operation, qn__element(value)->value, to->storage, qn__element_word(to->size * width),
        qn__element_conversion(value, r->arrays[TO].type).text, width, p->local, walk->rank, count,
        value == QN_F32 && !qn__is_processor(kernels) ? " -D NATIVE" : "");
    const uint64_t step = (uint64_t)p->local * width, held = (p->length + step - 1) / step;
    const bool is_held = held * width <= most_held(kernels, r), exact = width > 1 && p->length % step == 0;
    at += (size_t)snprintf(options + at, sizeof options - at, " -D EXACT=%d%s%s%s", exact,
                           is_unit(r) ? " -D UNIT" : "", r->to_weight.buffer ? " -D WEIGHT_PARTS" : "",
                           r->to_bias.buffer ? " -D BIAS_PARTS" : "");
    if (p->rows_a_group > 1)
        at += (size_t)snprintf(options + at, sizeof options - at, " -D ROWS=%u", p->rows_a_group);
    if (r->backward && !qn__is_processor(kernels) && kernels->info.sub_group_size >= 4)
        at += (size_t)snprintf(options + at, sizeof options - at, " -D SUBS=%u", (p->local - 1) / 4 + 1);
    if (is_held) at += (size_t)snprintf(options + at, sizeof options - at, " -D HELD=%u", (unsigned)held);
    if (kernels->info.kind == QN_DEVICE_CUDA && !r->backward && value == QN_F32 && p->local == MOST_LOCAL)
        at += (size_t)snprintf(options + at, sizeof options - at, " -cl-nv-maxrregcount=%u",
                               (unsigned)MOST_REGISTERS);
    for (uint32_t i = A; i < ARRAYS; i++)
        if (has(r, i))
            at += add_array(options + at, sizeof options - at, words[i], &r->arrays[i], value, width);
    return qn__variant_get(
        kernels, &(qn__variant){r->backward ? "norm_backward.cl" : "rows.cl", NULL, options}, &p->kernel);
}

/* Work-items of a row: as few as hold it in their registers, at most what the device has. Where they are part of a sub-group, a group
   has several rows. */
static void choose_items(const qn_kernels *kernels, const request *r, uint64_t wanted, plan *p) {
    const qn_device_info *info = &kernels->info;
    p->rows_a_group = 1;
    if (!r->backward && !qn__is_processor(kernels) && wanted <= info->sub_group_size &&
        info->max_group_size >= GROUP && GROUP % info->sub_group_size == 0) {
        p->local = power_from(wanted, 1, info->sub_group_size);
        p->rows_a_group = GROUP / p->local;
        return;
    }
    const uint32_t largest = r->backward ? MOST_LOCAL_BACKWARD : MOST_LOCAL;
    uint32_t most =
        info->max_group_size < largest ? power_from(info->max_group_size / 2 + 1, 1, largest) : largest;
    if (r->backward && qn__is_processor(kernels) && most > 32) most = 32;
    p->local = power_from(wanted, most < 32 ? most : 32, most);
}

/* As many as run at a time: each goes through as many rows, and leaves one sum. */
static void choose_group(qn_kernels *kernels, const request *r, uint32_t width, plan *p) {
    const char *operation = r->operation;
    const uint64_t each = r->backward ? MOST_HELD_BACKWARD : width < 4 ? 16 : width * 4;
    const bool says_so = strstr(operation, "backward") != NULL;
    qn__tuned tuned =
        qn__tuned_of(kernels, QN__CALL_rows, (const uint64_t[]){p->rows, p->length}, "%s%s %s", operation,
                     r->backward && !says_so ? "_backward" : "", qn__element(r->arrays[A].type)->name);
    const uint32_t set = tuned.values[QN__TUNE_rows_items];
    choose_items(kernels, r, set ? set : (p->length + each - 1) / each, p);
    tuned.values[QN__TUNE_rows_items] = p->local;
    qn__tuned_keep(kernels, &tuned);
}

static qn_status limit_groups(const qn_kernels *kernels, plan *p) {
    const uint32_t units = kernels->info.compute_units;
    const qn_range range = {.global = {p->local}, .local = {p->local}};
    qn_kernel_resources resources;
    const qn_status status = qn_kernel_get_resources(p->kernel, &range, &resources);
    if (status) return status;
    const uint64_t most = resources.resident_on_device ? resources.resident_on_device
                                                       : (uint64_t)(units ? units : 1) * GROUPS_A_UNIT;
    if (p->groups > most) p->groups = most;
    return QN_OK;
}

static qn_status make_rows(qn_kernels *kernels, const void *given, void *out) {
    const request *r = given;
    plan *p = out;
    if (computed(r) == QN_F64 && !(kernels->info.capabilities & QN_CAN_F64))
        return qn__op_fail(kernels, QN_ERROR_UNSUPPORTED, "%s: %s has no f64", r->function,
                           kernels->info.name);
    const uint32_t count = has(r, B) ? 3 : 2;
    qn_array outer[3];
    for (uint32_t i = 0; i < count; i++) outer[i] = outer_of(&r->arrays[i]);
    qn__walk walk;
    const qn_status status =
        qn__walk_make(kernels, r->function, (const qn_array *const[]){&outer[0], &outer[1], &outer[2]},
                      r->names, count, &walk);
    if (status) return status;
    qn__walk_give_dimension(&walk, count);
    const uint32_t width = choose_width(r, &walk, count);
    p->wide = computed(r) == QN_F64;
    p->length = r->arrays[A].sizes[r->arrays[A].rank - 1];
    p->rows = qn_array_count(&outer[0]);
    choose_group(kernels, r, width, p);
    p->groups = (p->rows - 1) / p->rows_a_group + 1;
    const qn__walk_block block = qn__walk_block_of(&walk, count);
    memcpy(p->walk, block.words, block.size);
    int64_t strides[3] = {0};
    for (uint32_t i = 0; i < count; i++) strides[i] = row_stride(&r->arrays[i]);
    memcpy((char *)p->walk + block.size, strides, sizeof strides);
    p->walk_size = block.size + (uint32_t)sizeof strides;
    const qn_status made = get_kernel(kernels, r, &walk, count, width, p);
    return made || !(r->to_weight.buffer || r->to_bias.buffer) ? made : limit_groups(kernels, p);
}

static const qn__op rows_op = {"rows", sizeof(plan), make_rows};

/* `parts`: of the gradients by weights and biases, or NULL. */
static qn_status launch(qn_stream *stream, const plan *p, const request *r, qn_buffer *const parts[2]) {
    const uint32_t local = p->local * p->rows_a_group;
    const qn_range range = {.global = {p->groups * local}, .local = {local}};
    const float single = (float)r->epsilon;
    qn_arg args[4 + 2 * 3 + 3 * 2 + 2] = {qn_arg_bytes(p->walk, p->walk_size)};
    uint32_t count = 1;
    args[count++] = qn_arg_unsigned(p->rows);
    args[count++] = qn_arg_unsigned(p->length);
    args[count++] =
        p->wide ? qn_arg_bytes(&r->epsilon, sizeof r->epsilon) : qn_arg_bytes(&single, sizeof single);
    for (uint32_t i = 0; i < ARRAYS; i++) {
        if (!has(r, i)) continue;
        if (i >= WEIGHT) args[count++] = qn_arg_signed(row_stride(&r->arrays[i]));
        args[count++] = qn_arg_unsigned(r->arrays[i].offset);
        args[count++] = qn_arg_buffer(r->arrays[i].buffer);
    }
    for (int i = 0; i < 2; i++)
        if (parts[i]) args[count++] = qn_arg_buffer(parts[i]);
    return qn_launch(stream, p->kernel, &range, args, count);
}

/* Adds the work-groups' shares of a gradient. */
static qn_status add_parts(qn_kernels *kernels, qn_stream *stream, const plan *p, const qn_array *to,
                           qn_buffer *parts) {
    const qn_array from = {parts, 0, p->wide ? QN_F64 : QN_F32, 2, {p->groups, p->length}, {0}};
    return qn_kernels_reduce(kernels, stream, &(qn_reduce_desc){.axes = 1, .to = *to, .from = from});
}

static qn_status launch_all(qn_kernels *kernels, qn_stream *stream, const plan *p, const request *r) {
    const qn_array *const sums[2] = {&r->to_weight, &r->to_bias};
    qn_buffer *parts[2] = {NULL, NULL};
    qn_status status = QN_OK;
    for (int i = 0; i < 2 && !status; i++)
        if (sums[i]->buffer)
            status = qn__scratch(kernels, p->groups * p->length * (p->wide ? 8 : 4), &parts[i]);
    if (!status) status = launch(stream, p, r, parts);
    for (int i = 0; i < 2; i++) {
        if (parts[i] && !status) status = add_parts(kernels, stream, p, sums[i], parts[i]);
        qn_buffer_destroy(parts[i]);
    }
    return status;
}

/* Numbers along a row: weights. */
static qn_status check_weights(const qn_kernels *kernels, const request *r, const char *name,
                               const qn_array *a) {
    if (a->rank == 1 && a->sizes[0] == row_length(r)) return QN_OK;
    return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                       "%s: %s (%s) is not one dimension of %llu, as the rows of %s (%s)", r->function, name,
                       qn__shape(a).text, (unsigned long long)row_length(r), r->names[A],
                       qn__shape(&r->arrays[A]).text);
}

static qn_status check_float(const qn_kernels *kernels, const request *r, const char *name,
                             const qn_array *a) {
    if (qn__element(a->type)->is_float) return QN_OK;
    return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "%s: %s is of %s; it has to be of a float type",
                       r->function, name, qn__element(a->type)->name);
}

/* A gradient by weights, which shares no memory with anything else. */
static qn_status check_sum(const qn_kernels *kernels, const request *r, const char *name, qn_array *a) {
    const qn_array given = *a;
    qn_status status = qn__array_check_written(kernels, r->function, name, &given, a);
    if (!status) status = check_float(kernels, r, name, a);
    if (!status) status = check_weights(kernels, r, name, a);
    for (uint32_t i = 0; i < ARRAYS && !status; i++)
        if (has(r, i)) status = qn__array_apart(kernels, r->function, name, a, r->names[i], &r->arrays[i]);
    return status;
}

static qn_status check_sums(const qn_kernels *kernels, request *r) {
    qn_status status = QN_OK;
    if (r->to_weight.buffer) status = check_sum(kernels, r, "to_weight", &r->to_weight);
    if (!status && r->to_bias.buffer) status = check_sum(kernels, r, "to_bias", &r->to_bias);
    if (status || !r->to_weight.buffer || !r->to_bias.buffer) return status;
    return qn__array_apart(kernels, r->function, "to_weight", &r->to_weight, "to_bias", &r->to_bias);
}

static qn_status check_array(const qn_kernels *kernels, request *r, uint32_t i) {
    qn_array *a = &r->arrays[i];
    const qn_array given = *a;
    qn_status status = i == TO ? qn__array_check_written(kernels, r->function, r->names[i], &given, a)
                               : qn__array_check(kernels, r->function, r->names[i], &given, a);
    if (status) return status;
    status = check_float(kernels, r, r->names[i], a);
    if (status) return status;
    if (i != TO) status = qn__array_apart(kernels, r->function, r->names[TO], &r->arrays[TO], r->names[i], a);
    if (status || i == TO || i >= WEIGHT) return status;
    if (a->rank == r->arrays[TO].rank && a->rank > 0 &&
        memcmp(a->sizes, r->arrays[TO].sizes, sizeof a->sizes) == 0)
        return QN_OK;
    return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                       "%s: %s (%s) is not of the shape of %s (%s), with a dimension at least", r->function,
                       r->names[i], qn__shape(a).text, r->names[TO], qn__shape(&r->arrays[TO]).text);
}

static qn_status check(const qn_kernels *kernels, request *r) {
    qn_status status = QN_OK;
    for (uint32_t i = 0; i < ARRAYS && !status; i++) {
        const bool is_there = i < WEIGHT || has(r, i);
        if (r->names[i] && is_there) status = check_array(kernels, r, i);
    }
    for (uint32_t i = WEIGHT; i < ARRAYS && !status; i++)
        if (has(r, i)) status = check_weights(kernels, r, r->names[i], &r->arrays[i]);
    return status ? status : check_sums(kernels, r);
}

/* Of no rows. */
static qn_status clear_sums(qn_kernels *kernels, qn_stream *stream, const request *r) {
    qn_status status = QN_OK;
    if (r->to_weight.buffer) status = qn_kernels_fill(kernels, stream, &(qn_fill_desc){.to = r->to_weight});
    if (!status && r->to_bias.buffer)
        status = qn_kernels_fill(kernels, stream, &(qn_fill_desc){.to = r->to_bias});
    return status;
}

static qn_status run(qn_kernels *kernels, qn_stream *stream, request *r) {
    qn_status status = check(kernels, r);
    if (status) return status;
    if (qn_array_count(&r->arrays[TO]) == 0) return clear_sums(kernels, stream, r);
    qn__key key = {0};
    for (const char *c = r->operation; *c; c++) qn__key_add(&key, (unsigned char)*c);
    qn__key_add(&key, r->backward | (uint64_t)(r->to_weight.buffer != NULL) << 1 |
                          (uint64_t)(r->to_bias.buffer != NULL) << 2);
    for (uint32_t i = 0; i < ARRAYS; i++) {
        qn__key_add(&key, has(r, i));
        if (!has(r, i)) continue;
        qn__key_add_array(&key, &r->arrays[i]);
        qn__key_add(&key, r->arrays[i].offset % 16);
    }
    plan p;
    status = qn__plan_get(kernels, &rows_op, &key, r, &p);
    return status ? status : launch_all(kernels, stream, &p, r);
}

qn_status qn_kernels_softmax(qn_kernels *kernels, qn_stream *stream, const qn_softmax_desc *desc) {
    const qn_status status = qn__op_begin(kernels, stream, desc, "qn_kernels_softmax");
    if (status) return status;
    request r = {.function = "qn_kernels_softmax",
                 .operation = desc->log ? "log_softmax" : "softmax",
                 .names = {"to", "from"},
                 .arrays = {desc->to, desc->from}};
    return run(kernels, stream, &r);
}

qn_status qn_kernels_softmax_backward(qn_kernels *kernels, qn_stream *stream,
                                      const qn_softmax_backward_desc *desc) {
    const qn_status status = qn__op_begin(kernels, stream, desc, "qn_kernels_softmax_backward");
    if (status) return status;
    request r = {.function = "qn_kernels_softmax_backward",
                 .operation = desc->log ? "log_softmax_backward" : "softmax_backward",
                 .names = {"to", "result", "gradient"},
                 .arrays = {desc->to, desc->result, desc->gradient}};
    return run(kernels, stream, &r);
}

static double usual_epsilon(double epsilon) { return epsilon > 0 ? epsilon : 1e-5; }

static qn_status check_epsilon(const qn_kernels *kernels, const char *function, double epsilon) {
    if (epsilon >= 0) return QN_OK;
    return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "%s: epsilon is %g", function, epsilon);
}

static qn_status norm(qn_kernels *kernels, qn_stream *stream, const qn_norm_desc *d, const char *function,
                      const char *operation) {
    qn_status status = qn__op_begin(kernels, stream, d, function);
    if (!status) status = check_epsilon(kernels, function, d->epsilon);
    if (status) return status;
    request r = {.function = function,
                 .operation = operation,
                 .names = {"to", "from", NULL, "weight", "bias"},
                 .arrays = {[TO] = d->to, [A] = d->from, [WEIGHT] = d->weight, [BIAS] = d->bias},
                 .epsilon = usual_epsilon(d->epsilon)};
    return run(kernels, stream, &r);
}

qn_status qn_kernels_layer_norm(qn_kernels *kernels, qn_stream *stream, const qn_norm_desc *desc) {
    return norm(kernels, stream, desc, "qn_kernels_layer_norm", "layer_norm");
}

qn_status qn_kernels_rms_norm(qn_kernels *kernels, qn_stream *stream, const qn_norm_desc *desc) {
    return norm(kernels, stream, desc, "qn_kernels_rms_norm", "rms_norm");
}

static qn_status norm_backward(qn_kernels *kernels, qn_stream *stream, const qn_norm_backward_desc *d,
                               const char *function, const char *operation) {
    qn_status status = qn__op_begin(kernels, stream, d, function);
    if (!status) status = check_epsilon(kernels, function, d->epsilon);
    if (status) return status;
    request r = {.function = function,
                 .operation = operation,
                 .names = {"to", "from", "gradient", "weight", NULL},
                 .arrays = {[TO] = d->to, [A] = d->from, [B] = d->gradient, [WEIGHT] = d->weight},
                 .epsilon = usual_epsilon(d->epsilon),
                 .backward = true,
                 .to_weight = d->to_weight,
                 .to_bias = d->to_bias};
    return run(kernels, stream, &r);
}

qn_status qn_kernels_layer_norm_backward(qn_kernels *kernels, qn_stream *stream,
                                         const qn_norm_backward_desc *desc) {
    return norm_backward(kernels, stream, desc, "qn_kernels_layer_norm_backward", "layer_norm");
}

qn_status qn_kernels_rms_norm_backward(qn_kernels *kernels, qn_stream *stream,
                                       const qn_norm_backward_desc *desc) {
    return norm_backward(kernels, stream, desc, "qn_kernels_rms_norm_backward", "rms_norm");
}
