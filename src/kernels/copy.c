/* qn_kernels_copy and qn_kernels_fill. What is contiguous and of one type is left to the device's own copies and fills; for all else there
   is kernels/copy.cl. */
#include <stdio.h>
#include <string.h>

#include "kernels/op.h"

typedef enum way {
    EACH,  /* an element a work-item */
    WHOLE, /* qn_stream_copy or qn_stream_fill */
    LINES, /* packs of neighbours */
    TILES  /* through local memory */
} way;

typedef struct plan {
    way way;
    uint32_t head;
    uint64_t bytes;
    qn_kernel *kernel;
    qn_range range;
    qn__walk_block walk;
} plan;

/* Same types are moved as integers of their size. */
static const qn__element_info *as_bits(const qn__element_info *e) {
    static const qn_element by_size[] = {[1] = QN_U8, [2] = QN_U16, [4] = QN_U32, [8] = QN_U64};
    return qn__element(by_size[e->size]);
}

/* ---- the ways to copy ---- */

enum { GROUP = QN__LINES_GROUP, PACK_BYTES = 16, TILE = 64, TILE_BYTES = 16 * 1024 };

typedef struct request {
    const qn_copy_desc *d;
    const qn__element_info *from, *to; /* integers of their size, where the types are the same */
    qn__walk walk;
} request;

enum { TO, FROM }; /* arrays of the walk */

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t size_of_step(int64_t stride) { return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride; }

static qn_status get_kernel(qn_kernels *kernels, const request *r, const char *file, const char *kernel,
                            const char *more, plan *p) {
    char options[512];
    snprintf(
        options, sizeof options,
        "-D FROM=%s -D FROM_LOAD=%s -D FROM_LOADED=%s -D TO=%s -D TO_STORE=%s -D CONVERT=%s -D RANK=%u%s",
        r->from->storage, r->from->load, r->from->value, r->to->storage, r->to->store,
        qn__element_conversion(r->d->from.type, r->d->to.type).text, r->walk.rank, more);
    p->walk = qn__walk_block_of(&r->walk, 2);
    return qn__variant_get(kernels, &(qn__variant){file, kernel, options}, &p->kernel);
}

/* The dimension that is innermost for `from` where it is not for `to`; 0: there is none. */
static uint32_t crossing(const qn__walk *walk) {
    uint32_t best = 0;
    if (walk->strides[FROM][0] == 0) return 0;
    for (uint32_t d = 1; d < walk->rank; d++)
        if (walk->strides[FROM][d] != 0 &&
            size_of_step(walk->strides[FROM][d]) < size_of_step(walk->strides[FROM][best]))
            best = d;
    return best;
}

static void exchange(qn__walk *walk, uint32_t a, uint32_t b) {
    const uint64_t size = walk->sizes[a];
    walk->sizes[a] = walk->sizes[b];
    walk->sizes[b] = size;
    for (uint32_t i = 0; i < 2; i++) {
        const int64_t stride = walk->strides[i][a];
        walk->strides[i][a] = walk->strides[i][b];
        walk->strides[i][b] = stride;
    }
}

/* An element a work-item: best where work-items are lanes of a vector, and right everywhere. Where the arrays are gone through along
   different dimensions, work-groups have as much of both as the first cache keeps. */
static qn_status make_each(qn_kernels *kernels, request *r, plan *p) {
    enum { SIDE = 32 };
    const bool contiguous = r->walk.strides[TO][0] == 1 && r->walk.strides[FROM][0] == 1;
    const uint32_t cross = kernels->info.kind == QN_DEVICE_CPU ? crossing(&r->walk) : 0;
    if (cross > 1) exchange(&r->walk, 1, cross);
    p->way = EACH;
    p->range = qn__walk_range(&r->walk);
    if (cross) p->range.local[0] = p->range.local[1] = SIDE, p->range.local[2] = 1;
    return get_kernel(kernels, r, "copy.cl", "copy",
                      contiguous                    ? " -D CONTIGUOUS"
                      : r->walk.strides[TO][0] == 1 ? " -D TO_STRIDE=1"
                                                    : "",
                      p);
}

/* Whether packs of `width` along `dimension` lie at multiples of it all over array `i`, if they do at `offset`. */
static bool lies_in_packs(const qn__walk *walk, uint32_t i, uint32_t dimension, uint64_t offset,
                          uint32_t width) {
    if (walk->strides[i][dimension] != 1) return width == 1;
    for (uint32_t d = 0; d < walk->rank; d++)
        if (d != dimension && walk->strides[i][d] % (int64_t)width) return false;
    return offset % width == 0;
}

/* Elements of 8 and 16 bits are moved by 32 bits where they lie so. */
static uint32_t tile_width(const request *r, uint32_t i, uint32_t dimension, uint64_t offset, uint32_t size) {
    uint32_t width = size < 4 ? 4 / size : 1;
    while (!lies_in_packs(&r->walk, i, dimension, offset, width)) width /= 2;
    return width;
}

typedef struct tile {
    uint64_t edge[2], elements;
} tile;

/* As large as pays: rows of `to` that begin and end within sectors of memory want to be long, and narrow elements that are moved in words
   many. */
static tile choose_tile(const qn_kernels *kernels, const request *r, bool in_words) {
    const uint32_t size = r->from->size;
    const bool roomy = kernels->info.local_memory >= 3 * TILE_BYTES, narrow = size < 4 && in_words,
               ragged = size == 4 && (uint64_t)r->walk.strides[TO][1] * r->to->size % 32;
    const uint64_t first = roomy && (ragged || narrow) ? 2 * TILE : TILE, second = narrow     ? 2 * TILE
                                                                                   : size > 4 ? TILE / 2
                                                                                              : TILE;
    return (tile){{first, second}, first * second};
}

/* In local memory, with a column more. */
static bool fits_tile(const qn_kernels *kernels, const request *r, uint64_t t0, uint64_t t1) {
    const uint64_t most = (uint64_t)4 * TILE * TILE; /* registers */
    return t0 * (t1 + 4) * r->from->size <= kernels->info.local_memory && t0 * t1 <= most;
}

static qn_status make_tiles(qn_kernels *kernels, request *r, uint32_t cross, plan *p) {
    qn__walk *walk = &r->walk;
    exchange(walk, 1, cross);
    const uint32_t from = tile_width(r, FROM, 1, r->d->from.offset, r->from->size),
                   to = tile_width(r, TO, 0, r->d->to.offset, r->to->size);
    const tile t = choose_tile(kernels, r, from > 1 && to > 1);
    qn__tuned tuned =
        qn__tuned_of(kernels, QN__CALL_copy,
                     (const uint64_t[]){walk->sizes[0], walk->sizes[1], qn__walk_range(walk).global[2]},
                     "%s %s", r->from->name, r->to->name);
    uint64_t t0 = smaller(qn__power_from(walk->sizes[0]), t.edge[0]),
             t1 = smaller(qn__power_from(walk->sizes[1]), t.elements / t0);
    t0 = smaller(qn__power_from(walk->sizes[0]), t.elements / t1);
    const uint64_t set0 = qn__tuned_number(&tuned, QN__TUNE_copy_rows, (uint32_t)t0),
                   set1 = qn__tuned_number(&tuned, QN__TUNE_copy_columns, (uint32_t)t1);
    if (fits_tile(kernels, r, set0, set1)) {
        t0 = set0;
        t1 = set1;
    }
    while (t0 * t1 < (uint64_t)GROUP * PACK_BYTES / 4) t0 *= 2;
    tuned.values[QN__TUNE_copy_rows] = (uint32_t)t0;
    tuned.values[QN__TUNE_copy_columns] = (uint32_t)t1;
    qn__tuned_keep(kernels, &tuned);
    const qn_range range = qn__walk_range(walk);
    p->way = TILES;
    p->range = (qn_range){
        .global = {(walk->sizes[0] - 1) / t0 * GROUP + GROUP, (walk->sizes[1] - 1) / t1 + 1, range.global[2]},
        .local = {GROUP, 1, 1}};
    char more[256];
    snprintf(more, sizeof more, " -D T0=%u -D T1=%u -D VF=%u -D VT=%u -D FROM_WORD=%s -D TO_WORD=%s%s%s",
             (unsigned)t0, (unsigned)t1, from, to, qn__element_word(from * r->from->size),
             qn__element_word(to * r->to->size), walk->strides[TO][0] == 1 ? " -D TO_STRIDE=1" : "",
             walk->strides[FROM][1] == 1 ? " -D FROM_STRIDE=1" : "");
    return get_kernel(kernels, r, "copy_tiles.cl", "tiles", more, p);
}

/* How many neighbours along the rows can be moved at once: both arrays begin as far from an aligned pack, in each row. */
static uint32_t line_width(const request *r) {
    const uint32_t most = r->from->size > r->to->size ? r->from->size : r->to->size;
    const bool repeated = r->walk.strides[FROM][0] == 0;
    uint32_t width = PACK_BYTES / most; /* no more: what is stored at once lies side by side */
    const uint64_t head = r->d->to.offset % width;
    while (width > 1 &&
           !(lies_in_packs(&r->walk, TO, 0, r->d->to.offset - head % width, width) &&
             (repeated || lies_in_packs(&r->walk, FROM, 0, r->d->from.offset - head % width, width))))
        width /= 2;
    return width;
}

static qn_status make_lines(qn_kernels *kernels, const request *r, plan *p) {
    const qn__walk *walk = &r->walk;
    const uint32_t width = line_width(r), least = (uint32_t)smaller(r->from->size, r->to->size);
    const uint32_t most = (uint32_t)smaller(8, PACK_BYTES / (width * least));
    const bool repeated = walk->strides[FROM][0] == 0;
    const uint64_t packs = (walk->sizes[0] + r->d->to.offset % width - 1) / width + 1;
    const qn__lines lines = qn__lines_of(walk, packs, most);
    p->way = LINES;
    p->head = (uint32_t)(r->d->to.offset % width);
    p->range = lines.range;
    char more[256];
    snprintf(more, sizeof more,
             " -D V=%u -D U=%u -D LX=%u -D LY=%u -D FROM_COUNT=%u -D FROM_WORD=%s -D TO_WORD=%s%s%s%s", width,
             (unsigned)lines.times, (unsigned)lines.range.local[0], (unsigned)lines.range.local[1],
             repeated ? 1 : width, qn__element_word(r->from->size * (repeated ? 1 : width)),
             qn__element_word(r->to->size * width), lines.along ? " -D ALONG" : "",
             walk->strides[TO][0] == 1 ? " -D TO_STRIDE=1" : "",
             repeated                      ? " -D FROM_STRIDE=0"
             : walk->strides[FROM][0] == 1 ? " -D FROM_STRIDE=1"
                                           : "");
    return get_kernel(kernels, r, "copy_lines.cl", "lines", more, p);
}

static bool has_groups(const qn_kernels *kernels) {
    return !qn__is_processor(kernels) && kernels->info.max_group_size >= GROUP &&
           kernels->info.local_memory >= TILE_BYTES + TILE_BYTES / 4;
}

static qn_status make_copy(qn_kernels *kernels, const void *given, void *out) {
    const qn_copy_desc *d = given;
    plan *p = out;
    request r = {d, qn__element(d->from.type), qn__element(d->to.type), {0}};
    if (d->from.type == d->to.type) r.from = r.to = as_bits(r.to);
    const qn_status status =
        qn__walk_make(kernels, "qn_kernels_copy", (const qn_array *const[]){&d->to, &d->from},
                      (const char *const[]){"to", "from"}, 2, &r.walk);
    if (status) return status;
    qn__walk_give_dimension(&r.walk, 2);
    if (d->from.type == d->to.type && r.walk.rank == 1 && r.walk.strides[TO][0] == 1 &&
        r.walk.strides[FROM][0] == 1) {
        p->way = WHOLE;
        p->bytes = r.walk.sizes[0] * r.to->size;
        return QN_OK;
    }
    const bool wide = d->from.type != d->to.type && (d->from.type == QN_F64 || d->to.type == QN_F64);
    if (wide && !(kernels->info.capabilities & QN_CAN_F64))
        return qn__op_fail(kernels, QN_ERROR_UNSUPPORTED,
                           "qn_kernels_copy: %s has no f64, and cannot convert between %s and %s",
                           kernels->info.name, r.from->name, r.to->name);
    if (!has_groups(kernels)) return make_each(kernels, &r, p);
    const uint32_t cross = crossing(&r.walk);
    const bool fills =
        cross && smaller(r.walk.sizes[0], TILE) * smaller(r.walk.sizes[cross], TILE) >= GROUP / 2;
    return fills && (r.walk.sizes[0] >= TILE || r.walk.sizes[cross] >= TILE)
               ? make_tiles(kernels, &r, cross, p)
               : make_lines(kernels, &r, p);
}

static const qn__op copy_op = {"qn_kernels_copy", sizeof(plan), make_copy};

static qn_status run_copy(const plan *p, qn_stream *stream, const qn_copy_desc *d) {
    const uint32_t size = qn__element(d->to.type)->size;
    if (p->way == WHOLE)
        return qn_stream_copy(stream, d->from.buffer, d->from.offset * size, d->to.buffer,
                              d->to.offset * size, p->bytes);
    qn_arg args[6] = {qn_arg_bytes(p->walk.words, p->walk.size), qn_arg_unsigned(p->head)};
    uint32_t count = p->way == LINES ? 2 : 1;
    args[count++] = qn_arg_unsigned(d->to.offset);
    args[count++] = qn_arg_buffer(d->to.buffer);
    args[count++] = qn_arg_unsigned(d->from.offset);
    args[count++] = qn_arg_buffer(d->from.buffer);
    return qn_launch(stream, p->kernel, &p->range, args, count);
}

qn_status qn_kernels_copy(qn_kernels *kernels, qn_stream *stream, const qn_copy_desc *desc) {
    qn_status status = qn__op_begin(kernels, stream, desc, "qn_kernels_copy");
    if (status) return status;
    qn_copy_desc d;
    status = qn__array_check_written(kernels, "qn_kernels_copy", "to", &desc->to, &d.to);
    if (!status) status = qn__array_check(kernels, "qn_kernels_copy", "from", &desc->from, &d.from);
    if (!status) status = qn__array_apart(kernels, "qn_kernels_copy", "to", &d.to, "from", &d.from);
    if (status) return status;
    qn__key key = {0};
    qn__key_add_array(&key, &d.to);
    qn__key_add_array(&key, &d.from);
    qn__key_add(&key, d.to.offset % PACK_BYTES << 8 | d.from.offset % PACK_BYTES);
    if (qn_array_count(&d.to) == 0) return QN_OK;
    plan p;
    status = qn__plan_get(kernels, &copy_op, &key, &d, &p);
    return status ? status : run_copy(&p, stream, &d);
}

static qn_status make_fill(qn_kernels *kernels, const void *request, void *out) {
    const qn_array *to = request;
    plan *p = out;
    qn__walk walk;
    const qn_status status = qn__walk_make(kernels, "qn_kernels_fill", (const qn_array *const[]){to},
                                           (const char *const[]){"to"}, 1, &walk);
    if (status) return status;
    qn__walk_give_dimension(&walk, 1);
    const qn__element_info *bits = as_bits(qn__element(to->type));
    if (walk.rank == 1 && walk.strides[0][0] == 1) {
        p->way = WHOLE;
        p->bytes = walk.sizes[0] * bits->size;
        return QN_OK;
    }
    p->range = qn__walk_range(&walk);
    p->walk = qn__walk_block_of(&walk, 1);
    char options[320];
    snprintf(options, sizeof options,
             "-D FROM=%s -D FROM_LOAD=%s -D TO=%s -D TO_STORE=%s -D CONVERT= -D RANK=%u", bits->storage,
             bits->load, bits->storage, bits->store, walk.rank);
    return qn__variant_get(kernels, &(qn__variant){"copy.cl", "fill", options}, &p->kernel);
}

static const qn__op fill_op = {"qn_kernels_fill", sizeof(plan), make_fill};

qn_status qn_kernels_fill(qn_kernels *kernels, qn_stream *stream, const qn_fill_desc *desc) {
    qn_status status = qn__op_begin(kernels, stream, desc, "qn_kernels_fill");
    if (status) return status;
    qn_array to;
    status = qn__array_check_written(kernels, "qn_kernels_fill", "to", &desc->to, &to);
    if (status || qn_array_count(&to) == 0) return status;
    qn__key key = {0};
    qn__key_add_array(&key, &to);
    plan p;
    status = qn__plan_get(kernels, &fill_op, &key, &to, &p);
    if (status) return status;
    const uint32_t size = qn__element(to.type)->size;
    unsigned char value[8];
    if (desc->element)
        memcpy(value, desc->element, size);
    else
        qn__element_encode(to.type, desc->value, value);
    if (p.way == WHOLE) return qn_stream_fill(stream, to.buffer, to.offset * size, p.bytes, value, size);
    const qn_arg args[] = {qn_arg_bytes(p.walk.words, p.walk.size), qn_arg_unsigned(to.offset),
                           qn_arg_buffer(to.buffer), qn_arg_bytes(value, size)};
    return qn_launch(stream, p.kernel, &p.range, args, sizeof args / sizeof *args);
}
