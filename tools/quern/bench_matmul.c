/* quern bench matmul: qn_kernels_matmul over shapes met in practice, beside the libraries that are there for it. */
#include <math.h>
#include <stdlib.h>
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

/* ---- the call ---- */

static qn_matmul_desc desc_of(const bench_product *p, bench_way how, uint32_t copy) {
    const bench_type *type = p->type;
    qn_buffer *const b = p->on_device[1].views[copy];
    return (qn_matmul_desc){.out = QN_ARRAY(p->on_device[2].views[copy], type->to, p->m, p->n),
                            .a = QN_ARRAY(p->on_device[0].views[copy], type->from, p->m, p->k),
                            .b = type->is_turned
                                     ? qn_array_transpose(QN_ARRAY(b, type->from, p->n, p->k), 0, 1)
                                     : QN_ARRAY(b, type->from, p->k, p->n),
                            .variant = how.variant,
                            .splits = how.splits,
                            .tf32 = type->tf32};
}

qn_status bench_matmul_submit(void *matmul, uint32_t first, uint32_t count) {
    const bench_matmul *m = matmul;
    qn_status status = QN_OK;
    for (uint32_t i = first; i < first + count && !status; i++) {
        const qn_matmul_desc desc = desc_of(m->product, m->way, i % m->product->on_device[0].count);
        status = qn_kernels_matmul(m->kernels, m->d->stream, &desc);
    }
    return status;
}

int bench_matmul_compile(bench_matmul *m, bool *can) {
    qn_status status = bench_matmul_submit(m, 0, 1);
    *can = status != QN_ERROR_ARGUMENT || !(m->way.variant || m->way.splits);
    if (!*can) return TOOL_OK;
    if (!status) status = qn_kernels_wait(m->kernels, QN_FOREVER);
    return status ? tool_fail_status(m->d->context, status) : TOOL_OK;
}

int bench_matmul_measure(bench_matmul *m, bench_product *product, const char *what, bench_time *time,
                         bool *can) {
    const bench_task task = {.run = bench_matmul_submit, .user = m};
    bench_progress(m->d, what);
    int result = bench_matmul_compile(m, can);
    if (result || !*can) return result;
    result = bench_measure(m->d, &task, time);
    return result ? result : bench_product_check(m->d, product, time->runs, what);
}

/* ---- what is measured ---- */

static bool is_for(const bench_device *d, const uint64_t shape[3]) {
    const uint64_t work = shape[0] * shape[1] * shape[2];
    if (bench_is_gpu(d)) return true;
    return work <= (uint64_t)1 << (d->info.kind == QN_DEVICE_CPU ? 33 : 24);
}

bool bench_matmul_shape(const bench_device *d, uint32_t index, uint64_t shape[3]) {
    const bench_options *o = d->options;
    for (uint32_t i = 0; i < (o->num_shapes ? o->num_shapes : NUM_USUAL); i++) {
        const uint64_t *at = o->num_shapes ? o->shapes[i] : usual[i];
        if ((!o->num_shapes && !is_for(d, at)) || index--) continue;
        memcpy(shape, at, sizeof *usual);
        return true;
    }
    return false;
}

const bench_type *bench_matmul_type(const bench_device *d, uint32_t index) {
    const char *list = d->options->types;
    char name[16];
    for (uint32_t i = 0; list && bench_list_next(&list, name, sizeof name); i++)
        if (i == index) return bench_type_named(name);
    for (uint32_t i = 0; !d->options->types && bench_type_at(i); i++) {
        const bench_type *type = bench_type_at(i);
        if ((i == 0 || (type->is_usual && bench_is_gpu(d))) && index-- == 0) return type;
    }
    return NULL;
}

/* ---- the table ---- */

static bench_result *add_row(const bench_device *d, const char *what, const char *by, const bench_product *p,
                             const bench_time *time) {
    bench_result *result = bench_report_row(d, "matmul", what, by, "FLOP/s");
    bench_rate(result, 2.0 * (double)p->m * (double)p->n * (double)p->k, time);
    return result;
}

/* Clocks of a GPU follow its load, so quern and its peers take turns. Each turn's results are verified. */
enum { TURNS = 3 };

typedef struct contender {
    bench_time turns[TURNS];
    uint32_t count; /* of turns; 0: not measured */
    double rate;    /* of the shape's products; 0: likewise */
} contender;

typedef struct table {
    bench_peer peers[BENCH_MAX_PEERS];
    uint32_t num_peers;
    contender by_peers[BENCH_MAX_PEERS], by_tuned, by_quern;
    bench_means means;
    bool of_ways; /* lines say which */
} table;

static int by_median(const void *a, const void *b) {
    const double x = ((const bench_time *)a)->median, y = ((const bench_time *)b)->median;
    return (x > y) - (x < y);
}

/* The median turn, and what its samples and the others' medians lie between. */
static bench_time time_of(contender *c) {
    qsort(c->turns, c->count, sizeof *c->turns, by_median);
    bench_time time = c->turns[c->count / 2];
    time.low = fmin(time.low, c->turns[0].median);
    time.high = fmax(time.high, c->turns[c->count - 1].median);
    time.samples = 0;
    for (uint32_t i = 0; i < c->count; i++) time.samples += c->turns[i].samples;
    return time;
}

static void add_contender(const bench_device *d, const bench_product *p, const char *what, const char *by,
                          contender *c) {
    if (!c->count) return;
    const bench_time time = time_of(c);
    c->rate = add_row(d, what, by, p, &time)->value;
}

/* Beside what is known of the same hardware. */
static void compare_ways(const bench_device *d, table *t, const char *what, double quern) {
    const bench_result *r;
    for (size_t from = 0; (r = bench_elsewhere(d, "matmul", what, &from)) != NULL;) {
        char of[80];
        snprintf(of, sizeof of, "%s on %s", r->by, r->device);
        printf("  %.3f of %s", quern / r->value, of);
        bench_means_add(&t->means, of, quern / r->value, what);
    }
}

static int width(const table *t) { return t->of_ways ? 48 : 20; }

static void print_head(const bench_device *d, const table *t, const bench_type *type) {
    printf("matmul of %s on %s: %s\n\n  %-*s %12s   spread %12s", type->name, d->info.name,
           d->info.description, width(t), "m x n x k", "GFLOP/s", "us");
    if (d->tuned) printf(" %12s   ratio", "tuned");
    for (uint32_t i = 0; i < t->num_peers; i++)
        if (t->peers[i].type->takes(type)) printf(" %12s   ratio", t->peers[i].type->name);
    putchar('\n');
}

/* One that is wrong has no figure, and keeps no other from being measured. */
static int measure_peers(const bench_device *d, table *t, bench_product *p) {
    int first = TOOL_OK;
    for (uint32_t i = 0; i < t->num_peers; i++) {
        bench_peer peer = t->peers[i];
        contender *c = &t->by_peers[i];
        bool can;
        peer.d = d;
        if (!peer.type->takes(p->type)) continue;
        const int result = bench_peer_measure(&peer, p, &c->turns[c->count], &can);
        bench_progress(d, NULL);
        if (!first) first = result;
        if (can && !result) c->count++;
    }
    return first;
}

/* By the library's choice, or the tuning's. */
static int measure_choice(const bench_device *d, qn_kernels *kernels, bench_product *p, const char *what,
                          contender *c) {
    bench_matmul m = {.d = d, .kernels = kernels, .product = p};
    bool can;
    if (!kernels) return TOOL_OK;
    const int result = bench_matmul_measure(&m, p, what, &c->turns[c->count], &can);
    bench_progress(d, NULL);
    if (!result) c->count++;
    return result;
}

static void compare_peers(const table *t, const bench_type *type, double quern) {
    if (t->by_tuned.rate > 0) printf(" %12.1f %7.3f", t->by_tuned.rate * 1e-9, quern / t->by_tuned.rate);
    for (uint32_t i = 0; i < t->num_peers; i++)
        if (t->by_peers[i].rate > 0)
            printf(" %12.1f %7.3f", t->by_peers[i].rate * 1e-9, quern / t->by_peers[i].rate);
        else if (t->peers[i].type->takes(type))
            printf(" %12s %7s", "none", "");
}

/* ---- shapes and ways ---- */

/* "4096x4096x4096 f32, tile 64x64, 4 parts": the shape is named by `size`, the whole by `what`. */
typedef struct name {
    char size[64], what[112];
} name;

static void append(char *text, size_t size, const char *before, const char *word) {
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", before, word);
}

static name name_of(const bench_product *p, bench_way how) {
    name n;
    char parts[24];
    snprintf(n.size, sizeof n.size, "%llux%llux%llu", (unsigned long long)p->m, (unsigned long long)p->n,
             (unsigned long long)p->k);
    memcpy(n.what, n.size, sizeof n.size);
    append(n.what, sizeof n.what, " ", p->type->name);
    if (how.variant) append(n.what, sizeof n.what, ", ", how.variant);
    snprintf(parts, sizeof parts, "%u part%s", how.splits, how.splits > 1 ? "s" : "");
    if (how.splits) append(n.what, sizeof n.what, ", ", parts);
    return n;
}

static double print_row(const bench_device *d, table *t, const bench_product *p, bench_way how,
                        const bench_time *time) {
    const name n = name_of(p, how);
    const bench_result row = *add_row(d, n.what, "quern", p, time);
    printf("  %-*s %12.*f  %5.1f %% %12.2f", width(t), t->of_ways ? n.what : n.size, row.value < 1e9 ? 4 : 1,
           row.value * 1e-9, bench_spread(&row) * 100, time->median * 1e-3);
    compare_peers(t, p->type, row.value);
    compare_ways(d, t, name_of(p, (bench_way){NULL, 0}).what, row.value);
    putchar('\n');
    fflush(stdout);
    return row.value;
}

static int measure_way(const bench_device *d, table *t, bench_product *p, bench_way how, double *rate) {
    const name n = name_of(p, how);
    bench_time time;
    bool can;
    bench_matmul m = {d, d->kernels, p, how};
    const int result = bench_matmul_measure(&m, p, n.what, &time, &can);
    bench_progress(d, NULL);
    if (!can) printf("  %-*s %12s\n", width(t), n.what, "cannot");
    if (!result && can) *rate = fmax(*rate, print_row(d, t, p, how, &time));
    return result;
}

/* Each variant with each number of parts. What is wrong with one keeps no other from being measured. */
static int measure_ways(const bench_device *d, table *t, bench_product *p, double *best) {
    const bench_options *o = d->options;
    const bool all = o->variants && strcmp(o->variants, "all") == 0;
    const char *list = o->variants;
    char given[40];
    int first = TOOL_OK;
    for (uint32_t v = 0;; v++) {
        const char *variant = all ? qn_matmul_variant(v) : given;
        if (all ? !variant : o->variants ? !bench_list_next(&list, given, sizeof given) : v > 0) return first;
        for (uint32_t s = 0; s < (o->num_splits ? o->num_splits : 1); s++) {
            const bench_way how = {o->variants ? variant : NULL, o->num_splits ? o->splits[s] : 0};
            const int result = measure_way(d, t, p, how, best);
            if (!first) first = result;
        }
    }
}

static bool has_peers(const table *t, const bench_type *type) {
    for (uint32_t i = 0; i < t->num_peers; i++)
        if (t->peers[i].type->takes(type)) return true;
    return false;
}

/* All that are no ways, in turns if there are several. Exit status of the first that failed; *own of quern's. */
static int measure_turns(const bench_device *d, table *t, bench_product *p, const char *what, int *own) {
    const uint32_t turns = !t->of_ways && (d->tuned || has_peers(t, p->type)) ? TURNS : 1;
    bench_options options = *d->options;
    bench_device of_turn = *d;
    int peers = TOOL_OK;
    options.seconds /= turns;
    of_turn.options = &options;
    memset(t->by_peers, 0, sizeof t->by_peers);
    t->by_tuned = t->by_quern = (contender){.count = 0};
    for (uint32_t i = 0; i < turns && !*own && !peers; i++) {
        peers = measure_peers(&of_turn, t, p);
        *own = measure_choice(&of_turn, d->tuned, p, what, &t->by_tuned);
        if (!*own && !t->of_ways) *own = measure_choice(&of_turn, d->kernels, p, what, &t->by_quern);
    }
    for (uint32_t i = 0; i < t->num_peers; i++)
        add_contender(d, p, what, t->peers[i].type->name, &t->by_peers[i]);
    add_contender(d, p, what, "tuned", &t->by_tuned);
    return peers;
}

static int measure_shape(const bench_device *d, table *t, const uint64_t shape[3], const bench_type *type) {
    const bench_way chosen = {NULL, 0};
    bench_product p;
    double best = 0;
    int result = bench_product_create(d, shape, type, &p);
    const name n = name_of(&p, chosen);
    const int peers = result ? result : measure_turns(d, t, &p, n.what, &result);
    if (!result && t->of_ways) result = measure_ways(d, t, &p, &best);
    if (!result && t->by_quern.count) {
        const bench_time time = time_of(&t->by_quern);
        best = print_row(d, t, &p, chosen, &time);
    }
    if (!result) result = peers;
    for (uint32_t i = 0; i < t->num_peers && best > 0; i++)
        if (t->by_peers[i].rate > 0)
            bench_means_add(&t->means, t->peers[i].type->name, best / t->by_peers[i].rate, n.size);
    if (t->by_tuned.rate > 0 && best > 0)
        bench_means_add(&t->means, "tuned", best / t->by_tuned.rate, n.size);
    bench_product_free(&p);
    return result;
}

static int measure_type(const bench_device *d, table *t, const bench_type *type) {
    uint64_t shape[3];
    int first = TOOL_OK;
    uint32_t shapes = 0;
    t->means.count = 0;
    print_head(d, t, type);
    while (bench_matmul_shape(d, shapes, shape)) shapes++;
    bench_steps(d, shapes);
    for (uint32_t i = 0; bench_matmul_shape(d, i, shape); i++) {
        const int result = measure_shape(d, t, shape, type);
        bench_step(d);
        if (!first) first = result;
        if (result == TOOL_RUN_FAILED) break;
    }
    bench_means_print(&t->means);
    putchar('\n');
    return first;
}

int bench_matmul_run(bench_device *d) {
    const bench_options *o = d->options;
    table t = {.of_ways = o->variants || o->num_splits};
    const bench_type *type;
    int first = TOOL_OK;
    t.num_peers = bench_peers_open(d, o->against, BENCH_OF_PRODUCTS, t.peers);
    for (uint32_t i = 0; (type = bench_matmul_type(d, i)) != NULL; i++) {
        const int result = measure_type(d, &t, type);
        if (!first) first = result;
    }
    bench_peers_close(t.peers, t.num_peers);
    return first;
}
