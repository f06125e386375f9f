/* qn_kernels_map: functions of elements. One kernel text, kernels/map.cl; functions are rows of QN_MAP_MAP and macros of
   kernels/map_functions.h. Where arrays lie so that all of them have neighbours side by side, or one element for all of a row, a work-item
   moves 16 bytes or more at once. */
#include <stdio.h>

#include "kernels/op.h"

enum { OPERANDS = 3 };

typedef enum map_kind { ANY, REAL, WHOLE, TRUTH, REAL_TRUTH } map_kind;

static const struct {
    const char *word;
    uint32_t operands;
    map_kind kind;
} functions[QN_MAP_COUNT] = {
#define ROW(name, word, operands, kind) {#word, operands, kind},
    QN_MAP_MAP(ROW)
#undef ROW
};

const char *qn_map_name(qn_map_function function) {
    return (unsigned)function < QN_MAP_COUNT ? functions[function].word : NULL;
}

uint32_t qn_map_operands(qn_map_function function) {
    return (unsigned)function < QN_MAP_COUNT ? functions[function].operands : 0;
}

static const char *const operand_names[OPERANDS] = {"from[0]", "from[1]", "from[2]"};

/* A call whose arrays have been checked. */
typedef struct request {
    qn_map_desc d;
    uint32_t operands;
    qn_element computed;
    bool in_place;
} request;

static bool is_scalar(const request *r, uint32_t i) { return r->d.scalars >> i & 1; }
/* The condition of QN_MAP_WHERE is not computed with. */
static bool is_condition(const request *r, uint32_t i) { return r->d.function == QN_MAP_WHERE && i == 0; }
static qn_element operand_type(const request *r, uint32_t i) {
    return is_condition(r, i) ? QN_BOOL : r->computed;
}

/* What an element counts as. */
static qn_element counts_as(qn_element type) {
    if (type == QN_BOOL) return QN_I32;
    return qn__element(type)->is_float && type != QN_F64 ? QN_F32 : type;
}

/* The type for both; QN_ELEMENT_COUNT: two integer types. */
static qn_element common(qn_element a, qn_element b) {
    if (a == b) return a;
    if (a == QN_F64 || b == QN_F64) return QN_F64;
    return a == QN_F32 || b == QN_F32 ? QN_F32 : QN_ELEMENT_COUNT;
}

static qn_status choose_type(const qn_kernels *kernels, request *r) {
    bool found = false;
    qn_element type = counts_as(r->d.to.type);
    const map_kind kind = functions[r->d.function].kind;
    for (uint32_t i = 0; i < r->operands; i++) {
        if (is_scalar(r, i) || is_condition(r, i)) continue;
        const qn_element own = counts_as(r->d.from[i].type), both = found ? common(type, own) : own;
        if (both == QN_ELEMENT_COUNT)
            return qn__op_fail(
                kernels, QN_ERROR_ARGUMENT,
                "qn_kernels_map: %s is of %s and another operand of %s; integers have to be of one type",
                operand_names[i], qn__element(own)->name, qn__element(type)->name);
        type = both;
        found = true;
    }
    if ((kind == REAL || kind == REAL_TRUTH) && !qn__element(type)->is_float) type = QN_F32;
    if (kind == WHOLE && qn__element(type)->is_float)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "qn_kernels_map: %s takes integers, not %s",
                           functions[r->d.function].word, qn__element(type)->name);
    r->computed = type;
    const bool wide = type == QN_F64 || r->d.to.type == QN_F64;
    if (wide && !(kernels->info.capabilities & QN_CAN_F64))
        return qn__op_fail(kernels, QN_ERROR_UNSUPPORTED, "qn_kernels_map: %s has no f64",
                           kernels->info.name);
    return QN_OK;
}

/* Element after element lies where the other's does; types may differ, but not their sizes. */
static bool is_in_place(const qn_array *to, const qn_array *from) {
    qn_array as_to = *from;
    if (qn__element(to->type)->size == qn__element(from->type)->size) as_to.type = to->type;
    return qn__array_is_same(to, &as_to);
}

static qn_status check_arrays(const qn_kernels *kernels, const qn_map_desc *desc, request *r) {
    r->d = *desc;
    r->operands = functions[desc->function].operands;
    qn_status status = qn__array_check_written(kernels, "qn_kernels_map", "to", &desc->to, &r->d.to);
    for (uint32_t i = 0; i < r->operands && !status; i++) {
        if (is_scalar(r, i)) continue;
        status = qn__array_check(kernels, "qn_kernels_map", operand_names[i], &desc->from[i], &r->d.from[i]);
        if (status) return status;
        if (is_in_place(&r->d.to, &r->d.from[i]))
            r->in_place = true;
        else
            status =
                qn__array_apart(kernels, "qn_kernels_map", "to", &r->d.to, operand_names[i], &r->d.from[i]);
    }
    return status;
}

/* Walks over `to` and the operands that are arrays. */
typedef struct map_walk {
    qn__walk walk;
    uint32_t count;
    const qn_array *arrays[1 + OPERANDS];
} map_walk;

static qn_status make_walk(const qn_kernels *kernels, const request *r, map_walk *w) {
    const char *names[1 + OPERANDS] = {"to"};
    w->arrays[0] = &r->d.to;
    w->count = 1;
    for (uint32_t i = 0; i < r->operands; i++) {
        if (is_scalar(r, i)) continue;
        names[w->count] = operand_names[i];
        w->arrays[w->count++] = &r->d.from[i];
    }
    const qn_status status = qn__walk_make(kernels, "qn_kernels_map", w->arrays, names, w->count, &w->walk);
    qn__walk_give_dimension(&w->walk, w->count);
    return status;
}

/* How many neighbours a work-item takes, at best: 16 bytes of the narrowest array, at most 32 of the widest. */
static uint32_t best_width(const map_walk *w) {
    uint32_t least = 8, most = 1;
    for (uint32_t i = 0; i < w->count; i++) {
        const uint32_t size = qn__element(w->arrays[i]->type)->size;
        least = size < least ? size : least;
        most = size > most ? size : most;
    }
    return 16 / least < 32 / most ? 16 / least : 32 / most;
}

/* Functions with long ways that few elements take: work-items that go them in step cost a processor three to six times as much. */
static bool has_rare_ways(qn_map_function f) {
    return f == QN_MAP_SIN || f == QN_MAP_COS || f == QN_MAP_TAN || f == QN_MAP_POWER;
}

/* 1 where they do not lie so, and on processors, whose compilers make vectors of work-items. */
static uint32_t choose_width(const qn_kernels *kernels, const request *r, const map_walk *w) {
    const uint32_t width = best_width(w);
    if (w->walk.strides[0][0] != 1) return 1;
    if (qn__is_processor(kernels) && !has_rare_ways(r->d.function)) return 1;
    for (uint32_t i = 0; i < w->count; i++) {
        const int64_t *strides = w->walk.strides[i];
        if (strides[0] == 0) continue;
        if (strides[0] != 1 || w->arrays[i]->offset % width) return 1;
        for (uint32_t d = 1; d < w->walk.rank; d++)
            if (strides[d] % (int64_t)width) return 1;
    }
    return width;
}

typedef struct plan {
    qn_kernel *kernel;
    qn_range range;
    qn__walk_block walk;
    qn_element computed;
} plan;

enum { OPTIONS = 1024 };

static size_t add_operand(char *at, size_t room, const request *r, uint32_t i, uint32_t count) {
    const qn__element_info *e = qn__element(r->d.from[i].type);
    const qn_element type = operand_type(r, i);
    const char letter = "ABC"[i];
    if (is_scalar(r, i))
        return (size_t)snprintf(at, room, " -D %c_SCALAR=%s", letter, qn__element(type)->value);
    return (size_t)snprintf(
        at, room, " -D %c=%s -D %c_LOADED=%s -D %c_CONVERT=%s -D %c_COUNT=%u -D %c_WORD=%s", letter,
        e->storage, letter, e->value, letter, qn__element_conversion(r->d.from[i].type, type).text, letter,
        count, letter, qn__element_word(e->size * count));
}

/* The innermost strides that are 0 or 1, for a processor. */
static size_t add_strides(char *at, size_t room, const request *r, const map_walk *w) {
    static const char *const names[] = {"TO", "A", "B", "C"};
    size_t used = 0;
    for (uint32_t i = 0, array = 0; i <= r->operands; i++) {
        if (i > 0 && is_scalar(r, i - 1)) continue;
        const int64_t stride = w->walk.strides[array++][0];
        if (stride == 0 || stride == 1)
            used += (size_t)snprintf(at + used, room - used, " -D %s_INNER=%d", names[i], (int)stride);
    }
    return used;
}

static qn_status get_kernel(qn_kernels *kernels, const request *r, const map_walk *w, uint32_t width,
                            const char *lines, qn_kernel **kernel) {
    const map_kind kind = functions[r->d.function].kind;
    const bool truth = kind == TRUTH || kind == REAL_TRUTH, real = qn__element(r->computed)->is_float;
    const qn_element result = truth ? QN_BOOL : r->computed;
    const char *value = qn__element(r->computed)->value;
    char options[OPTIONS];
    size_t at = (size_t)snprintf(
        options, sizeof options,
        "-D OP=map_%s -D ARITY=%u -D VALUE=%s -D FIRST_VALUE=%s -D RESULT=%s -D TO=%s -D TO_WORD=%s -D "
        "TO_CONVERT=%s -D "
        "N=%u "
        "-D ARRAYS=%u -D RANK=%u -D RESTRICT=%s%s%s%s",
        functions[r->d.function].word, r->operands, value, qn__element(operand_type(r, 0))->value,
        qn__element(result)->value, qn__element(r->d.to.type)->storage,
        qn__element_word(qn__element(r->d.to.type)->size * width),
        qn__element_conversion(result, r->d.to.type).text, width, w->count, w->walk.rank,
        r->in_place ? "" : "restrict", *lines || w->walk.sizes[0] % width ? " -D UNEVEN" : "", lines,
        !real                   ? ""
        : r->computed == QN_F64 ? " -D REAL -D K(x)=x"
                                : " -D REAL -D K(x)=x##f");
    for (uint32_t i = 0, array = 1; i < r->operands; i++) {
        const uint32_t count = !is_scalar(r, i) && w->walk.strides[array][0] ? width : 1;
        at += add_operand(options + at, sizeof options - at, r, i, count);
        array += !is_scalar(r, i);
    }
    if (qn__is_processor(kernels)) add_strides(options + at, sizeof options - at, r, w);
    return qn__variant_get(kernels, &(qn__variant){"map.cl", "map", options}, kernel);
}

static qn_status make_map(qn_kernels *kernels, const void *given, void *out) {
    request r = *(const request *)given;
    plan *p = out;
    qn_status status = choose_type(kernels, &r);
    if (status) return status;
    map_walk w;
    status = make_walk(kernels, &r, &w);
    if (status) return status;
    const uint32_t width = choose_width(kernels, &r, &w), times = best_width(&w) / width;
    const uint64_t packs = (w.walk.sizes[0] + width - 1) / width;
    char lines[64] = "";
    p->computed = r.computed;
    p->range = qn__walk_range(&w.walk);
    p->range.global[0] = packs;
    p->walk = qn__walk_block_of(&w.walk, w.count);
    if (times > 1 && !qn__is_processor(kernels) && kernels->info.max_group_size >= QN__LINES_GROUP) {
        const qn__lines l = qn__lines_of(&w.walk, packs, times < 8 ? times : 8);
        p->range = l.range;
        snprintf(lines, sizeof lines, " -D U=%u -D LX=%u -D LY=%u%s", l.times, l.range.local[0],
                 l.range.local[1], l.along ? " -D ALONG" : "");
    }
    return get_kernel(kernels, &r, &w, width, lines, &p->kernel);
}

static const qn__op map_op = {"qn_kernels_map", sizeof(plan), make_map};

static void make_key(const request *r, qn__key *key) {
    qn__key_add(key, (uint64_t)r->d.function << 8 | r->d.scalars << 1 | r->in_place);
    qn__key_add_array(key, &r->d.to);
    qn__key_add(key, r->d.to.offset % 16);
    for (uint32_t i = 0; i < r->operands; i++) {
        if (is_scalar(r, i)) continue;
        qn__key_add_array(key, &r->d.from[i]);
        qn__key_add(key, r->d.from[i].offset % 16);
    }
}

static qn_status launch(qn_stream *stream, const plan *p, request *r) {
    unsigned char scalars[OPERANDS][8];
    qn_arg args[3 + 2 * OPERANDS] = {qn_arg_bytes(p->walk.words, p->walk.size),
                                     qn_arg_unsigned(r->d.to.offset), qn_arg_buffer(r->d.to.buffer)};
    uint32_t count = 3;
    r->computed = p->computed;
    for (uint32_t i = 0; i < r->operands; i++) {
        if (is_scalar(r, i)) {
            qn__element_encode(operand_type(r, i), r->d.scalar[i], scalars[i]);
            args[count++] = qn_arg_bytes(scalars[i], qn__element(operand_type(r, i))->size);
        } else {
            args[count++] = qn_arg_unsigned(r->d.from[i].offset);
            args[count++] = qn_arg_buffer(r->d.from[i].buffer);
        }
    }
    return qn_launch(stream, p->kernel, &p->range, args, count);
}

qn_status qn_kernels_map(qn_kernels *kernels, qn_stream *stream, const qn_map_desc *desc) {
    qn_status status = qn__op_begin(kernels, stream, desc, "qn_kernels_map");
    if (status) return status;
    if ((unsigned)desc->function >= QN_MAP_COUNT)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_map: function is %u, which is no qn_map_function",
                           (unsigned)desc->function);
    if (desc->scalars >> functions[desc->function].operands)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_kernels_map: scalars is 0x%x, but %s has %u operands", (unsigned)desc->scalars,
                           functions[desc->function].word, (unsigned)functions[desc->function].operands);
    request r = {0};
    status = check_arrays(kernels, desc, &r);
    if (status || qn_array_count(&r.d.to) == 0) return status;
    qn__key key = {0};
    make_key(&r, &key);
    plan p;
    status = qn__plan_get(kernels, &map_op, &key, &r, &p);
    return status ? status : launch(stream, &p, &r);
}
