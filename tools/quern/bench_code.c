/* quern bench code: what quern's compiler makes of kernel files, beside other compilers with the same files, work-groups and data. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_code.h"
#include "bench_text.h"

static const bench_case_list *const lists[] = {&bench_cases_of_floats, &bench_cases_of_integers,
                                               &bench_cases_of_rows};
enum { NUM_LISTS = sizeof lists / sizeof *lists };

/* NULL: there are no more. */
static const bench_case *case_at(uint32_t index) {
    for (int i = 0; i < NUM_LISTS; i++) {
        if (index < lists[i]->count) return &lists[i]->cases[index];
        index -= lists[i]->count;
    }
    return NULL;
}

bool bench_code_begins(const char *name) {
    uint32_t i = 0;
    while (case_at(i) && strncmp(case_at(i)->name, name, strlen(name)) != 0) i++;
    return case_at(i) != NULL;
}

/* Of the tool's own texts, or of those that ship with quern. */
static const char *source_of(const char *file) {
    qn_program_desc desc = {0};
    const char *own = bench_text(file, NULL);
    return own ? own : qn_kernels_source(file, &desc) ? desc.source : NULL;
}

/* ---- quern's side, the same functions as a peer's ---- */

typedef struct session {
    bench_workload_buffers buffers;
    qn_program *program;
    qn_kernel **kernels; /* one a step */
} session;

static void release(session *s) {
    for (uint32_t i = 0; i < s->buffers.load->num_steps; i++) qn_kernel_destroy(s->kernels[i]);
    bench_buffers_free(&s->buffers);
    qn_program_destroy(s->program);
    free(s->kernels);
}

static qn_status prepare(session *s, const char *source, const char *options, bool safe) {
    const bench_workload *load = s->buffers.load;
    s->kernels = tool_alloc(load->num_steps * sizeof *s->kernels);
    const qn_program_desc desc = {.source = source, .options = options, .safe = safe};
    qn_status status = qn_program_create(s->buffers.d->device, &desc, &s->program);
    if (!status) status = qn_program_wait(s->program, QN_FOREVER);
    for (uint32_t i = 0; i < load->num_steps && !status; i++)
        status = qn_kernel_create(s->program, load->steps[i].kernel, &s->kernels[i]);
    return status ? status : bench_buffers_make(&s->buffers);
}

static qn_arg convert(const session *s, bench_arg arg) {
    switch (arg.kind) {
    case BENCH_BUFFER: return qn_arg_buffer(s->buffers.all[arg.value.u]);
    case BENCH_UINT: return qn_arg_unsigned(arg.value.u);
    case BENCH_INT: return qn_arg_signed(arg.value.i);
    case BENCH_FLOAT: return qn_arg_float(arg.value.f);
    default: return qn_arg_local(arg.value.u);
    }
}

static qn_status run_once(const session *s) {
    qn_status status = QN_OK;
    for (uint32_t i = 0; i < s->buffers.load->num_steps && !status; i++) {
        const bench_workload_step *step = &s->buffers.load->steps[i];
        const qn_range range = {.global = {step->global[0], step->global[1]},
                                .local = {step->local[0], step->local[1]}};
        qn_arg args[BENCH_MAX_ARGS];
        for (uint32_t a = 0; a < step->num_args; a++) args[a] = convert(s, step->args[a]);
        status = qn_launch(s->buffers.d->stream, s->kernels[i], &range, args, step->num_args);
    }
    return status;
}

/* ---- either side ---- */

typedef struct runner {
    const char *name;
    session own;
    const bench_peer *peer; /* NULL: quern */
    void *theirs;           /* the peer's session */
    bool failed;
} runner;

static qn_status run(void *user, uint32_t first, uint32_t count) {
    runner *r = user;
    qn_status status = QN_OK;
    (void)first;
    if (r->peer) r->failed = r->failed || !r->peer->type->code->run(r->theirs, count);
    for (uint32_t i = 0; i < count && !r->peer && !status; i++) status = run_once(&r->own);
    return status;
}

/* Once on fresh data. */
static int run_fresh(runner *r, void *result) {
    const bench_workload *load = r->own.buffers.load;
    if (r->peer) {
        const bench_code_peer *code = r->peer->type->code;
        if (code->reset(r->theirs) && code->run(r->theirs, 1) && code->read(r->theirs, load->result, result))
            return TOOL_OK;
        return tool_fail(TOOL_RUN_FAILED, "%s: a run failed", r->name);
    }
    qn_status status = bench_buffers_reset(&r->own.buffers);
    if (!status) status = run_once(&r->own);
    if (!status) status = bench_buffers_read(&r->own.buffers, load->result, result);
    return status ? tool_fail_status(r->own.buffers.d->context, status) : TOOL_OK;
}

static int check(runner *r, const bench_case *which) {
    const bench_workload *load = r->own.buffers.load;
    const size_t size = load->buffers[load->result].size;
    void *result = tool_alloc(size);
    memset(result, 0xff, size);
    int status = run_fresh(r, result);
    const double error = status ? 0 : which->error(load, result);
    if (!(error <= which->bound))
        status = tool_fail(TOOL_DIFFERENT, "%s: %s by %s gives a wrong result: error %.3g, allowed %.3g",
                           r->own.buffers.d->info.name, which->name, r->name, error, which->bound);
    free(result);
    return status;
}

static int measure(runner *r, const bench_case *which, bench_time *time) {
    const bench_task task = {.run = run, .user = r, .on_host = r->peer && r->peer->type->on_host};
    int result = check(r, which);
    if (!result) result = bench_measure(r->own.buffers.d, &task, time);
    if (!result && r->failed) result = tool_fail(TOOL_RUN_FAILED, "%s: a run failed", r->name);
    return result ? result : check(r, which);
}

/* ---- a case ---- */

/* What safe programs take by what others take. */
typedef struct costs {
    double logs, worst;
    uint32_t count;
    const char *worst_of;
} costs;

typedef struct table {
    bench_device *d;
    bench_peer peers[BENCH_MAX_PEERS];
    uint32_t num_peers;
    bench_means means;
    costs safe;
} table;

typedef struct trial {
    table *table;
    const bench_case *which;
    bench_workload load;
    double quern; /* nanoseconds */
    char what[112];
} trial;

static void print(const trial *t, const char *by, const bench_time *time, const char *note) {
    const bool is_flops = t->load.flops > 0 && t->load.bytes == 0;
    const double work = is_flops ? t->load.flops : t->load.bytes;
    bench_print_figure(t->table->d, "code", t->what, by, work,
                       is_flops   ? "FLOP/s"
                       : work > 0 ? "B/s"
                                  : "ns",
                       time, note);
}

/* What a launch takes beside its work is no measure of code. */
static void add_ratio(const trial *t, const char *of, double ratio) {
    if (t->load.bytes > 0 || t->load.flops > 0) bench_means_add(&t->table->means, of, ratio, t->which->name);
}

static int measure_quern(trial *t, const char *by, const char *options) {
    runner r = {.name = by, .own.buffers = {.d = t->table->d, .load = &t->load}};
    char note[64] = "";
    bench_time time = {.median = 0};
    bench_progress(t->table->d, t->which->name);
    const qn_status status = prepare(&r.own, source_of(t->which->file), options, false);
    const int result = status ? tool_fail_status(t->table->d->context, status) : measure(&r, t->which, &time);
    if (!result && t->quern > 0) {
        snprintf(note, sizeof note, "untuned %.3f of its speed", time.median / t->quern);
        add_ratio(t, by, time.median / t->quern);
    }
    if (!result) print(t, by, &time, note);
    if (!result && t->quern == 0) t->quern = time.median;
    release(&r.own);
    return result;
}

static void add_cost(trial *t, double cost) {
    if (t->load.bytes == 0 && t->load.flops == 0) return; /* as with ratios */
    costs *c = &t->table->safe;
    c->logs += log(cost);
    if (c->count++ == 0 || cost > c->worst) c->worst = cost, c->worst_of = t->which->name;
}

static void print_costs(const costs *c) {
    if (c->count)
        printf("  safe programs: geometric mean: %.3f of the time; most: %.3f, %s\n", exp(c->logs / c->count),
               c->worst, c->worst_of);
}

/* The kernels again, whose accesses are kept inside. One that cannot be checked is no failure of the bench. */
static int measure_safe(trial *t) {
    runner r = {.name = "safe", .own.buffers = {.d = t->table->d, .load = &t->load}};
    char note[64];
    bench_time time;
    bench_progress(t->table->d, "safe");
    const qn_status status = prepare(&r.own, source_of(t->which->file), NULL, true);
    int result = TOOL_OK;
    if (status == QN_ERROR_UNSUPPORTED) {
        bench_progress(t->table->d, NULL);
        printf("    safe: none: %s\n", qn_error_message(t->table->d->context));
    } else {
        result = status ? tool_fail_status(t->table->d->context, status) : measure(&r, t->which, &time);
    }
    if (!result && !status) {
        snprintf(note, sizeof note, "%.3f of the time", time.median / t->quern);
        add_cost(t, time.median / t->quern);
        print(t, "safe", &time, note);
    }
    release(&r.own);
    return result;
}

/* A compiler that does not take the file is no failure of the bench. */
static int measure_peer(trial *t, const bench_peer *peer) {
    runner r = {.name = peer->type->name, .own.buffers = {.d = t->table->d, .load = &t->load}, .peer = peer};
    char why[BENCH_WHY] = "", note[64];
    bench_time time;
    bench_progress(t->table->d, peer->type->name);
    r.theirs =
        peer->type->code->prepare(peer->peer, &t->load, t->which->file, source_of(t->which->file), why);
    if (!r.theirs) {
        bench_progress(t->table->d, NULL);
        if (*why) printf("    by %s: none: %s\n", peer->type->name, why);
        return TOOL_OK;
    }
    const int result = measure(&r, t->which, &time);
    if (!result) {
        snprintf(note, sizeof note, "quern has %.3f of its speed", time.median / t->quern);
        add_ratio(t, peer->type->name, time.median / t->quern);
        print(t, peer->type->name, &time, note);
    }
    peer->type->code->release(r.theirs);
    return result;
}

/* Compiled in other ways (-qn-tune): sets of words, with colons between. */
static int measure_tuned(trial *t, const char *sets) {
    int first = TOOL_OK;
    while (sets && *sets) {
        const int length = (int)strcspn(sets, ":");
        char by[40], options[96];
        snprintf(by, sizeof by, "tuned: %.*s", length, sets);
        snprintf(options, sizeof options, "-qn-tune=%.*s", length, sets);
        const int result = measure_quern(t, by, options);
        if (!first) first = result;
        sets += length + (sets[length] == ':');
    }
    return first;
}

static void print_elsewhere(const trial *t) {
    const bench_result *r;
    for (size_t from = 0; (r = bench_elsewhere(t->table->d, "code", t->what, &from)) != NULL;) {
        char of[80];
        const bench_result *own = &t->table->d->report->results[t->table->d->report->count - 1];
        const double ratio = r->is_time ? r->value / own->value : own->value / r->value;
        snprintf(of, sizeof of, "%s on %s", r->by, r->device);
        printf("    %.3f of the speed of %s\n", ratio, of);
        add_ratio(t, of, ratio);
    }
}

static bench_scale scale_of(const bench_device *d) {
    const uint64_t elements = d->options->elements;
    if (elements) return elements < 1 << 20 ? BENCH_QUICK : elements < 1 << 24 ? BENCH_CPU : BENCH_GPU;
    return bench_is_gpu(d) ? BENCH_GPU : d->info.kind == QN_DEVICE_CPU ? BENCH_CPU : BENCH_QUICK;
}

static int measure_case(table *table, const bench_case *which) {
    trial t = {.table = table, .which = which};
    which->make(&t.load, scale_of(table->d));
    if (table->d->info.kind != QN_DEVICE_CPU) bench_workload_fix_groups(&t.load);
    snprintf(t.what, sizeof t.what, "%s, %s", which->name, t.load.size);
    int first = measure_quern(&t, "quern", NULL);
    if (!first) print_elsewhere(&t);
    if (!first) first = measure_tuned(&t, table->d->options->tune);
    if (!first && table->d->options->safe) first = measure_safe(&t);
    for (uint32_t i = 0; i < table->num_peers && t.quern > 0; i++) {
        const int result = measure_peer(&t, &table->peers[i]);
        if (!first) first = result;
    }
    bench_workload_free(&t.load);
    return first;
}

int bench_code_run(bench_device *d) {
    table t = {.d = d};
    const bench_case *which;
    uint32_t asked = 0;
    int first = TOOL_OK;
    t.num_peers = bench_peers_open(d, d->options->against, BENCH_OF_CODE, t.peers);
    for (uint32_t i = 0; (which = case_at(i)) != NULL; i++) asked += bench_is_asked_for(d, which->name);
    bench_print_head(d, "code");
    bench_steps(d, asked);
    for (uint32_t i = 0; (which = case_at(i)) != NULL; i++) {
        if (!bench_is_asked_for(d, which->name)) continue;
        const int result = measure_case(&t, which);
        bench_step(d);
        if (!first) first = result;
    }
    bench_means_print(&t.means);
    print_costs(&t.safe);
    putchar('\n');
    bench_peers_close(t.peers, t.num_peers);
    return first;
}
