/* quern bench kernels: the calls of kernels.h but for products, each a row of a table. Beside a rate of bytes there is its share of
   the device's rate of copying in the same run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_kernels.h"

static const bench_row_list *const lists[] = {&bench_rows_of_maps,    &bench_rows_of_sums,
                                              &bench_rows_of_softmax, &bench_rows_of_order,
                                              &bench_rows_of_images,  &bench_rows_of_attention};
enum { NUM_LISTS = sizeof lists / sizeof *lists };

const bench_row *bench_row_at(uint32_t index) {
    for (int i = 0; i < NUM_LISTS; i++) {
        if (index < lists[i]->count) return &lists[i]->rows[index];
        index -= lists[i]->count;
    }
    return NULL;
}

bool bench_kernels_begins(const char *name) {
    uint32_t i = 0;
    while (bench_row_at(i) && strncmp(bench_row_at(i)->what, name, strlen(name)) != 0) i++;
    return bench_row_at(i) != NULL;
}

/* ---- what rows ask for ---- */

qn_array bench_floats(const bench_operands *t, qn_buffer *buffer) {
    return QN_ARRAY(buffer, QN_F32, t->count);
}

qn_array bench_square(const bench_operands *t, qn_buffer *buffer) {
    return QN_ARRAY(buffer, QN_F32, t->side, t->side);
}

float bench_number(const void *result, uint64_t i) { return ((const float *)result)[i]; }

uint64_t bench_table_rows(const bench_operands *t) { return t->count / BENCH_TABLE_ROW; }

/* ---- one of them ---- */

typedef struct row_task {
    bench_operands *operands;
    const bench_row *row;
    const bench_peer *peer; /* whose time is measured; NULL: quern's */
    bool failed;            /* the peer's call */
} row_task;

static qn_status run_row(void *user, uint32_t first, uint32_t count) {
    const row_task *t = user;
    qn_status status = QN_OK;
    (void)first;
    for (uint32_t i = 0; i < count && !status; i++) status = t->row->run(t->operands);
    return status;
}

static qn_status run_peer(void *user, uint32_t first, uint32_t count) {
    row_task *t = user;
    const bench_operands *o = t->operands;
    const bench_peer *peer = t->peer;
    bench_work work = {.what = t->row->what, .count = o->count, .side = o->side, .image = o->image};
    qn_buffer *const used[] = {o->from, o->other, o->to};
    qn_status status = qn_stream_native_begin(o->d->stream, used, 3);
    if (status) return status;
    (void)first;
    status = bench_peer_place(peer, o->from, &work.from);
    if (!status) status = bench_peer_place(peer, o->other, &work.other);
    if (!status) status = bench_peer_place(peer, o->to, &work.to);
    for (uint32_t i = 0; i < count && !status && !t->failed; i++)
        t->failed = !peer->type->run(peer->peer, &work);
    const qn_status ended = qn_stream_native_end(o->d->stream);
    return status ? status : ended;
}

static int check(const row_task *t) {
    const bench_operands *o = t->operands;
    const uint64_t size = o->count * sizeof(float);
    void *result = tool_alloc(size);
    const qn_status status = qn_buffer_read(o->to, 0, result, size);
    int status_of_tool = status ? tool_fail_status(o->d->context, status) : TOOL_OK;
    if (!status && !t->row->is_right(o, result))
        status_of_tool =
            tool_fail(TOOL_DIFFERENT, "%s: %s of %llu elements by %s gives a wrong result", o->d->info.name,
                      t->row->what, (unsigned long long)o->count, t->peer ? t->peer->type->name : "quern");
    free(result);
    return status_of_tool;
}

/* No result of before may pass for this row's. */
static qn_status clear(const row_task *t) {
    const uint8_t ones = 0xff;
    const bench_operands *o = t->operands;
    qn_status status = qn_stream_fill(o->d->stream, o->to, 0, qn_buffer_size(o->to), &ones, 1);
    if (!status && t->row->prepare) status = t->row->prepare(o);
    return status ? status : qn_stream_wait(o->d->stream, QN_FOREVER);
}

static double work_of(const bench_operands *o, const bench_row *row) {
    const double elements = (double)(row->is_square ? o->side * o->side : o->count);
    return row->work ? row->work(o) : elements * row->bytes;
}

bool bench_row_has_work(const bench_operands *o, const bench_row *row) { return work_of(o, row) > 0; }

int bench_row_verify(bench_operands *o, const bench_row *row) {
    const row_task t = {.operands = o, .row = row};
    qn_status status = clear(&t);
    if (!status) status = row->run(o);
    if (!status) status = qn_stream_wait(o->d->stream, QN_FOREVER);
    return status ? tool_fail_status(o->d->context, status) : check(&t);
}

/* By quern, or by a peer; checked. */
static int measure(bench_operands *o, const bench_row *row, const bench_peer *peer, bench_time *time) {
    row_task t = {.operands = o, .row = row, .peer = peer};
    const bench_task task = {
        .run = peer ? run_peer : run_row, .user = &t, .on_host = peer && peer->type->on_host};
    qn_status status = clear(&t);
    if (!status && !peer) status = run_row(&t, 0, 1);
    if (!status && !peer) status = qn_kernels_wait(o->d->kernels, QN_FOREVER);
    if (!status) status = qn_stream_wait(o->d->stream, QN_FOREVER);
    const int result = status ? tool_fail_status(o->d->context, status) : bench_measure(o->d, &task, time);
    if (!result && t.failed)
        return tool_fail(TOOL_RUN_FAILED, "%s: the call for '%s' failed", peer->type->name, row->what);
    return result ? result : check(&t);
}

static void print_row(const bench_operands *o, const bench_row *row, const char *by, const bench_time *time,
                      const char *note) {
    char what[112];
    snprintf(what, sizeof what, "%s, %llu elements", row->what, (unsigned long long)o->count);
    bench_print_figure(o->d, "kernels", what, by, work_of(o, row), row->unit ? row->unit : "B/s", time, note);
}

static int measure_peer(bench_operands *o, const bench_row *row, const bench_peer *peer, double quern) {
    char note[48];
    bench_time time;
    bench_progress(o->d, peer->type->name);
    const int result = measure(o, row, peer, &time);
    if (result) return result;
    snprintf(note, sizeof note, "quern has %.3f of it", time.median / quern);
    print_row(o, row, peer->type->name, &time, note);
    return TOOL_OK;
}

/* By the choices of a tuning. */
static int measure_tuned(const bench_operands *o, const bench_row *row, double quern) {
    bench_device d = *o->d;
    bench_operands tuned = *o;
    char note[64];
    bench_time time;
    d.kernels = d.tuned;
    tuned.d = &d;
    bench_progress(&d, "tuned");
    const int result = measure(&tuned, row, NULL, &time);
    if (result) return result;
    snprintf(note, sizeof note, "the library's choice has %.3f of it", time.median / quern);
    print_row(&tuned, row, "tuned", &time, note);
    return TOOL_OK;
}

static int measure_row(bench_operands *o, const bench_row *row, double copying, const bench_peer *peers,
                       uint32_t num_peers) {
    char note[32] = "";
    bench_time time;
    if (work_of(o, row) == 0) return TOOL_OK; /* too few elements for it */
    bench_progress(o->d, row->what);
    int result = measure(o, row, NULL, &time);
    if (result) return result;
    if (!row->unit)
        snprintf(note, sizeof note, "%.3f of copying", work_of(o, row) / time.median * 1e9 / copying);
    print_row(o, row, "quern", &time, note);
    if (o->d->tuned) result = measure_tuned(o, row, time.median);
    for (uint32_t i = 0; i < num_peers && !result; i++)
        if (peers[i].type->has(peers[i].peer, row->what))
            result = measure_peer(o, row, &peers[i], time.median);
    return result;
}

/* ---- all of them ---- */

/* Of random rows, and the starts of a sparse matrix's rows, which are of one length. */
static qn_status create_indices(bench_operands *t) {
    const uint64_t rows = bench_table_rows(t), count = rows * BENCH_SPARSE_ROW;
    uint32_t *starts = tool_alloc((rows + 1) * sizeof *starts);
    for (uint64_t i = 0; i <= rows; i++) starts[i] = (uint32_t)(i * BENCH_SPARSE_ROW);
    t->places = tool_alloc((count + 1) * sizeof *t->places);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &t->y[i], sizeof bits);
        t->places[i] = (uint32_t)(bits * UINT64_C(0x9e3779b97f4a7c15) >> 32) % (uint32_t)rows;
    }
    const qn_buffer_desc places = {.size = (count + 1) * sizeof *t->places, .data = t->places},
                         begin = {.size = (rows + 1) * sizeof *starts, .data = starts};
    qn_status status = qn_buffer_create(t->d->device, &places, &t->indices);
    if (!status) status = qn_buffer_create(t->d->device, &begin, &t->starts);
    free(starts);
    return status;
}

static qn_status create_narrow(bench_operands *t) {
    const qn_buffer_desc desc = {.size = t->count * sizeof(uint16_t), .uninitialised = true};
    const qn_status status = qn_buffer_create(t->d->device, &desc, &t->narrow);
    if (status) return status;
    return qn_kernels_copy(
        t->d->kernels, t->d->stream,
        &(qn_copy_desc){.to = QN_ARRAY(t->narrow, QN_BF16, t->count), .from = bench_floats(t, t->from)});
}

static qn_status create_buffers(bench_operands *t) {
    const qn_buffer_desc from = {.size = t->count * sizeof(float), .data = t->x},
                         other = {.size = t->count * sizeof(float), .data = t->y},
                         to = {.size = t->count * sizeof(float), .uninitialised = true};
    qn_status status = qn_buffer_create(t->d->device, &from, &t->from);
    if (!status) status = qn_buffer_create(t->d->device, &other, &t->other);
    if (!status) status = create_indices(t);
    if (!status) status = create_narrow(t);
    return status ? status : qn_buffer_create(t->d->device, &to, &t->to);
}

/* More than caches hold; a driver that emulates a GPU would take minutes for it. */
static uint64_t usual_count(const bench_device *d) {
    if (bench_is_gpu(d)) return (uint64_t)1 << (d->options->is_brief ? 26 : 28);
    return d->info.kind == QN_DEVICE_CPU ? bench_beyond_caches(d) / sizeof(float) : (uint64_t)1 << 18;
}

/* A layer of networks for pictures; with few elements a smaller one, which they are enough for. */
static void choose_image(bench_operands *t) {
    static const uint32_t usual[BENCH_IMAGE_NUMBERS] = {32, 64, 56, 56, 64, 3};
    uint32_t *s = t->image;
    memcpy(s, usual, sizeof usual);
    if (!bench_is_gpu(t->d)) s[BENCH_IMAGES] = 4;
    if (t->count >= (uint64_t)s[BENCH_IMAGES] * s[BENCH_CHANNELS] * s[BENCH_ROWS] * s[BENCH_COLUMNS]) return;
    const uint32_t side = t->count >= 4 * 56 * 56 ? 56 : (uint32_t)sqrt((double)t->count / 4);
    s[BENCH_IMAGES] = 1;
    s[BENCH_CHANNELS] = s[BENCH_OUTPUTS] = side >= 6 ? 4 : 1;
    s[BENCH_ROWS] = s[BENCH_COLUMNS] = side ? side : 1;
    if (t->count < 9) s[BENCH_TAPS] = 1;
}

static int measure_rows(bench_operands *t) {
    bench_peer peers[BENCH_MAX_PEERS];
    const bench_row *row;
    double copying;
    uint32_t asked = 0;
    int first = bench_bandwidth(t->d, &copying);
    if (first) return first;
    const uint32_t num_peers = bench_peers_open(t->d, t->d->options->against, BENCH_OF_ROWS, peers);
    for (uint32_t i = 0; (row = bench_row_at(i)) != NULL; i++) asked += bench_is_asked_for(t->d, row->what);
    bench_print_head(t->d, "kernels");
    bench_steps(t->d, asked);
    for (uint32_t i = 0; (row = bench_row_at(i)) != NULL; i++) {
        if (!bench_is_asked_for(t->d, row->what)) continue;
        const int result = measure_row(t, row, copying, peers, num_peers);
        bench_step(t->d);
        if (!first) first = result;
    }
    putchar('\n');
    bench_peers_close(peers, num_peers);
    return first;
}

int bench_operands_open(bench_device *d, bench_operands *t) {
    *t = (bench_operands){.d = d, .count = d->options->elements ? d->options->elements : usual_count(d)};
    t->side = (uint64_t)sqrt((double)t->count);
    choose_image(t);
    t->x = bench_random(t->count, 4);
    t->y = bench_random(t->count, 5);
    const qn_status status = create_buffers(t);
    return status ? tool_fail_status(d->context, status) : TOOL_OK;
}

void bench_operands_close(bench_operands *t) {
    free(t->x);
    free(t->y);
    free(t->places);
    qn_buffer_destroy(t->from);
    qn_buffer_destroy(t->other);
    qn_buffer_destroy(t->to);
    qn_buffer_destroy(t->indices);
    qn_buffer_destroy(t->starts);
    qn_buffer_destroy(t->narrow);
}

int bench_kernels_run(bench_device *d) {
    bench_operands t;
    int result = bench_operands_open(d, &t);
    if (!result) result = measure_rows(&t);
    bench_operands_close(&t);
    return result;
}
