/* quern bench tensor: what tensors cost: fused kernels beside copying, an op's and a step's cost for the host, and models in training. */
#include <stdlib.h>
#include <string.h>

#include "bench_tensor.h"

static const bench_tensor_list *const lists[] = {&bench_tensor_maps, &bench_tensor_host,
                                                 &bench_tensor_models};
enum { NUM_LISTS = sizeof lists / sizeof *lists, MOST_TAKEN = 64 };

static const bench_tensor_row *row_at(uint32_t index) {
    for (int l = 0; l < NUM_LISTS; l++) {
        if (index < lists[l]->count) return &lists[l]->rows[index];
        index -= lists[l]->count;
    }
    return NULL;
}

bool bench_tensor_begins(const char *name) {
    const bench_tensor_row *row;
    for (uint32_t i = 0; (row = row_at(i)) != NULL; i++)
        if (strncmp(row->what, name, strlen(name)) == 0) return true;
    return false;
}

int bench_tensor_fail(const bench_tensors *b, qn_status status) {
    return status ? tool_fail_status(b->d->context, status) : TOOL_OK;
}

/* What was measured, for the peer. */
typedef struct taken_list {
    bench_tensors b;
    bench_tensor_taken all[MOST_TAKEN];
    uint32_t count;
} taken_list;

void bench_tensor_print(bench_tensors *b, const bench_tensor_row *row, const char *of, double work,
                        const char *unit, const bench_time *time, const char *note) {
    taken_list *list = (taken_list *)b; /* its first member */
    bench_tensor_taken taken = {.ns = time->median, .work = work};
    qn_tensors_stats stats = {.tensors = 0};
    char line[160], memory[32];
    qn_tensors_get_stats(b->t, &stats);
    bench_with_unit(memory, (double)stats.most_allocated, "B");
    snprintf(line, sizeof line, "%s%s%s", note, *note ? ", " : "", memory);
    snprintf(taken.what, sizeof taken.what, "%s", row->what);
    snprintf(taken.label, sizeof taken.label, "%s%s%s", row->what, *of ? ", " : "", of);
    snprintf(taken.unit, sizeof taken.unit, "%s", unit);
    bench_print_figure(b->d, "tensor", taken.label, "quern", work, unit, time, line);
    if (list->count < MOST_TAKEN) list->all[list->count++] = taken;
}

static int measure_row(taken_list *list, const bench_tensor_row *row) {
    bench_tensors *b = &list->b;
    const qn_tensors_desc desc = {.stream = b->d->stream, .seed = 7};
    const qn_status status = qn_tensors_create(b->d->device, &desc, &b->t);
    if (status) return bench_tensor_fail(b, status);
    bench_progress(b->d, row->what);
    const int result = row->measure(b, row);
    qn_tensors_destroy(b->t);
    return result;
}

/* Peers are of a device's kind, the same one of both: it is opened once. */
static int measure_peer(taken_list *list) {
    bench_peer peers[BENCH_MAX_PEERS];
    int result = TOOL_OK;
    const uint32_t count = bench_peers_open(list->b.d, list->b.d->options->against, BENCH_OF_TENSORS, peers);
    for (uint32_t p = 0; p < count && !result; p++)
        result = bench_torch_run(&list->b, list->all, list->count);
    bench_peers_close(peers, count);
    return result;
}

/* More than caches hold; a driver that emulates a GPU would take minutes for it. */
static uint64_t usual_count(const bench_device *d) {
    if (bench_is_gpu(d)) return (uint64_t)1 << (d->options->is_brief ? 26 : 28);
    return d->info.kind == QN_DEVICE_CPU ? bench_beyond_caches(d) / sizeof(float) : (uint64_t)1 << 18;
}

int bench_tensor_run(bench_device *d) {
    const bench_tensor_row *row;
    taken_list list = {
        .b = {.d = d, .elements = d->options->elements ? d->options->elements : usual_count(d)}};
    list.b.is_small = list.b.elements < (uint64_t)1 << 26 || !bench_is_gpu(d);
    uint32_t asked = 0;
    int first = bench_bandwidth(d, &list.b.copying);
    if (first) return first;
    for (uint32_t i = 0; (row = row_at(i)) != NULL; i++) asked += bench_is_asked_for(d, row->what);
    bench_print_head(d, "tensor");
    bench_steps(d, asked);
    for (uint32_t i = 0; (row = row_at(i)) != NULL; i++) {
        if (!bench_is_asked_for(d, row->what)) continue;
        const int result = measure_row(&list, row);
        bench_step(d);
        if (!first) first = result;
    }
    const int result = measure_peer(&list);
    putchar('\n');
    return first ? first : result;
}
