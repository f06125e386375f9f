/* quern bench matmul: qn_matmul over shapes met in practice, beside the libraries that are there for it. */
#include <math.h>
#include <string.h>

#include "bench_peer.h"

/* m, n, k: squares, also of odd sizes; layers of transformers for 1, 8, 64 and 512 rows; tall, wide, flat and deep. */
static const uint64_t usual[][3] = {
    {256, 256, 256},    {512, 512, 512},    {1024, 1024, 1024}, {2048, 2048, 2048}, {4096, 4096, 4096},
    {8192, 8192, 8192}, {1000, 1000, 1000}, {1023, 1023, 1023}, {1025, 1025, 1025}, {2047, 2047, 2047},
    {3000, 3000, 3000}, {4097, 4097, 4097}, {1, 768, 768},      {1, 3072, 768},     {1, 768, 3072},
    {1, 4096, 4096},    {1, 11008, 4096},   {1, 4096, 11008},   {8, 768, 768},      {8, 3072, 768},
    {8, 768, 3072},     {8, 4096, 4096},    {8, 11008, 4096},   {8, 4096, 11008},   {64, 768, 768},
    {64, 3072, 768},    {64, 768, 3072},    {64, 4096, 4096},   {64, 11008, 4096},  {64, 4096, 11008},
    {512, 768, 768},    {512, 3072, 768},   {512, 768, 3072},   {512, 4096, 4096},  {512, 11008, 4096},
    {512, 4096, 11008}, {16384, 64, 1024},  {64, 16384, 1024},  {8192, 8192, 64},   {128, 128, 65536},
};
enum { NUM_USUAL = sizeof usual / sizeof *usual };

static const qn_element types[] = {QN_F32, QN_BF16, QN_F16};
enum { NUM_TYPES = sizeof types / sizeof *types };

typedef struct matmul_task {
    const bench_device *d;
    const bench_product *product;
} matmul_task;

static qn_status run_matmul(void *user, uint32_t first, uint32_t count) {
    const matmul_task *t = user;
    const bench_product *p = t->product;
    qn_status status = QN_OK;
    for (uint32_t i = first; i < first + count && !status; i++) {
        const uint32_t copy = i % p->on_device[0].count;
        status =
            qn_matmul(t->d->kernels, t->d->stream,
                      &(qn_matmul_desc){.out = QN_ARRAY(p->on_device[2].views[copy], p->type, p->m, p->n),
                                        .a = QN_ARRAY(p->on_device[0].views[copy], p->type, p->m, p->k),
                                        .b = QN_ARRAY(p->on_device[1].views[copy], p->type, p->k, p->n)});
    }
    return status;
}

/* The first call compiles; on the processor what it compiles is final later. */
static int measure_quern(const bench_device *d, bench_product *p, const char *what, bench_time *time) {
    matmul_task t = {d, p};
    const bench_task task = {.run = run_matmul, .user = &t};
    bench_progress(d, what);
    qn_status status = run_matmul(&t, 0, 1);
    if (!status) status = qn_kernels_wait(d->kernels, QN_FOREVER);
    if (status) return tool_fail_status(d->context, status);
    const int result = bench_measure(d, &task, time);
    return result ? result : bench_product_check(d, p, time->runs, what);
}

/* ---- the table ---- */

static bench_result *add_row(const bench_device *d, const char *what, const char *by, const bench_product *p,
                             const bench_time *time) {
    bench_result *result = bench_report_row(d, "matmul", what, by, "FLOP/s");
    bench_rate(result, 2.0 * (double)p->m * (double)p->n * (double)p->k, time);
    return result;
}

/* Of quern's speed by that of another library, over the shapes. */
typedef struct mean {
    char of[80]; /* "cublas", "cublas on cuda:0" */
    double logs;
    uint32_t count;
} mean;

typedef struct table {
    bench_peer peers[BENCH_MAX_PEERS];
    uint32_t num_peers;
    mean means[2 * BENCH_MAX_PEERS];
    uint32_t num_means;
} table;

static void add_ratio(table *t, const char *of, double ratio) {
    uint32_t i = 0;
    while (i < t->num_means && strcmp(t->means[i].of, of) != 0) i++;
    if (i == sizeof t->means / sizeof *t->means) return;
    if (i == t->num_means) {
        t->num_means++;
        t->means[i] = (mean){.logs = 0};
        snprintf(t->means[i].of, sizeof t->means[i].of, "%s", of);
    }
    t->means[i].logs += log(ratio);
    t->means[i].count++;
}

/* What libraries did on the same hardware through another of its interfaces, earlier in this run: cuBLAS's figures are the
   measure of a GPU's Vulkan device too. */
static void compare_ways(const bench_device *d, table *t, const char *what, double quern) {
    static const uint8_t unknown[16];
    if (memcmp(d->info.uuid, unknown, sizeof unknown) == 0) return;
    for (size_t i = 0; i < d->report->count; i++) {
        const bench_result *r = &d->report->results[i];
        char of[80];
        if (strcmp(r->by, "quern") == 0 || strcmp(r->what, what) != 0 ||
            strcmp(r->device, d->info.name) == 0 || memcmp(r->uuid, d->info.uuid, sizeof r->uuid) != 0)
            continue;
        snprintf(of, sizeof of, "%s on %s", r->by, r->device);
        printf("  %.3f of %s", quern / r->value, of);
        add_ratio(t, of, quern / r->value);
    }
}

static void print_head(const bench_device *d, const table *t, qn_element type) {
    printf("matmul of %s on %s: %s\n\n  %-20s %12s   spread", qn_element_name(type), d->info.name,
           d->info.description, "m x n x k", "GFLOP/s");
    for (uint32_t i = 0; i < t->num_peers; i++)
        if (t->peers[i].type->takes(type)) printf(" %12s   ratio", t->peers[i].type->name);
    putchar('\n');
}

static int measure_peers(table *t, bench_product *p, const char *what, double quern) {
    for (uint32_t i = 0; i < t->num_peers; i++) {
        const bench_peer *peer = &t->peers[i];
        bench_time time;
        if (!peer->type->takes(p->type)) continue;
        const int result = bench_peer_measure(peer, p, &time);
        bench_progress(peer->d, NULL);
        if (result) return result;
        const double rate = add_row(peer->d, what, peer->type->name, p, &time)->value;
        add_ratio(t, peer->type->name, quern / rate);
        printf(" %12.1f %7.3f", rate * 1e-9, quern / rate);
    }
    return TOOL_OK;
}

static int measure_shape(const bench_device *d, table *t, const uint64_t shape[3], qn_element type) {
    bench_product p;
    bench_time time;
    char what[64], size[48];
    snprintf(size, sizeof size, "%llux%llux%llu", (unsigned long long)shape[0], (unsigned long long)shape[1],
             (unsigned long long)shape[2]);
    snprintf(what, sizeof what, "%s %s", size, qn_element_name(type));
    int result = bench_product_create(d, shape, type, &p);
    if (!result) result = measure_quern(d, &p, what, &time);
    bench_progress(d, NULL);
    if (!result) {
        const bench_result row = *add_row(d, what, "quern", &p, &time);
        printf("  %-20s %12.*f  %5.1f %%", size, row.value < 1e9 ? 4 : 1, row.value * 1e-9,
               bench_spread(&row) * 100);
        result = measure_peers(t, &p, what, row.value);
        compare_ways(d, t, what, row.value);
        putchar('\n');
        fflush(stdout);
    }
    bench_product_free(&p);
    return result;
}

/* Shapes that a device of this kind does in seconds. */
static bool is_for(const bench_device *d, const uint64_t shape[3]) {
    const uint64_t work = shape[0] * shape[1] * shape[2];
    if (bench_is_gpu(d)) return true;
    return work <= (uint64_t)1 << (d->info.kind == QN_DEVICE_CPU ? 33 : 27);
}

static int measure_type(const bench_device *d, table *t, qn_element type) {
    const uint64_t *asked = d->options->shape;
    int result = TOOL_OK;
    t->num_means = 0;
    print_head(d, t, type);
    if (asked[0]) result = measure_shape(d, t, asked, type);
    for (int i = 0; i < NUM_USUAL && !asked[0] && !result; i++)
        if (is_for(d, usual[i])) result = measure_shape(d, t, usual[i], type);
    if (result) return result;
    for (uint32_t i = 0; i < t->num_means; i++)
        printf("  geometric mean: %.3f of the speed of %s\n", exp(t->means[i].logs / t->means[i].count),
               t->means[i].of);
    putchar('\n');
    return TOOL_OK;
}

int bench_matmul_run(bench_device *d) {
    const bench_options *o = d->options;
    table t = {.num_peers = 0};
    int result = TOOL_OK;
    t.num_peers = bench_peers_open(d, o->against, t.peers);
    for (int i = 0; i < NUM_TYPES && !result; i++) {
        const bool is_usual = i == 0 || bench_is_gpu(d);
        if (o->type ? strcmp(o->type, qn_element_name(types[i])) == 0 : is_usual)
            result = measure_type(d, &t, types[i]);
    }
    bench_peers_close(t.peers, t.num_peers);
    return result;
}

bool bench_matmul_takes(const char *type) {
    for (int i = 0; i < NUM_TYPES; i++)
        if (strcmp(type, qn_element_name(types[i])) == 0) return true;
    return false;
}
