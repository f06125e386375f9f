/* quern_bench: quern's CPU device beside PoCL, or beside itself compiled otherwise, on the same kernels, sizes and number of
   threads. Each case is run by one engine and the other in turn; what is shown is the median. Every result is checked first. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NUM_ENGINES = 2, MAX_REPEAT = 1000 };

/* The peer: another engine, or quern with -qn-tune. */
typedef struct peer {
    const engine_type *type;
    const char *name, *key; /* in the table, in the JSON */
} peer;
static const peer pocl = {&engine_pocl, "PoCL", "pocl"}, tuned = {&engine_quern, "tuned", "tuned"};

typedef struct options {
    const char *only, *json, *tune;
    const peer *peer;
    bool quick, cpu_time;
    unsigned repeat, threads;
} options;

typedef struct outcome {
    const bench_case *which;
    char size[32];
    double median_ms[NUM_ENGINES], best_ms[NUM_ENGINES], error[NUM_ENGINES]; /* median 0: not run */
    double rate;
    const char *unit;
    bool wrong;
} outcome;

static const char help[] =
    "quern_bench: quern's CPU device against PoCL\n"
    "usage: quern_bench [--only NAME[,NAME...]] [--quick] [--repeat N] [--threads N] [--json FILE] "
    "[--cpu-time] [--tune WORDS] [--list]\n"
    "  --only NAME   only cases whose name begins so\n"
    "  --quick       small sizes, few runs: does it work, not how fast\n"
    "  --repeat N    runs of each case by each engine (else by time: 7 to 51)\n"
    "  --threads N   threads of both engines (else one per processor)\n"
    "  --json FILE   all figures, also as JSON\n"
    "  --cpu-time    processor time over threads instead of wall-clock time: for a machine that is busy\n"
    "  --tune WORDS  in place of PoCL: quern itself, compiled with -qn-tune=WORDS (\"\": as it is)\n"
    "  --list        names of the cases\n"
    "example: quern_bench --only matmul,nbody --json build/bench.json\n";

/* Is `name` in the comma-separated list of beginnings? */
static bool selected(const char *list, const char *name) {
    if (!list) return true;
    while (*list) {
        size_t length = strcspn(list, ",");
        if (length && strncmp(list, name, length) == 0) return true;
        list += length + (list[length] == ',');
    }
    return false;
}

static const engine_type *engine_at(const options *opt, int e) { return e ? opt->peer->type : &engine_quern; }

/* ---- one case ---- */

/* A first run, its result checked. */
static bool verify(const options *opt, session *s, const workload *load, outcome *o, int e) {
    const engine_type *type = engine_at(opt, e);
    char why[WHY_SIZE] = "";
    void *result = bench_alloc(load->buffers[load->result].size);
    bool fine = type->reset(s) && type->run(s, why) && type->read(s, load->result, result);
    if (fine) {
        o->error[e] = o->which->error(load, result);
        fine = o->error[e] <= o->which->bound;
        if (!fine)
            snprintf(why, sizeof why, "wrong result: error %.3g, allowed %.3g", o->error[e], o->which->bound);
    }
    if (!fine) fprintf(stderr, "quern_bench: %s by %s: %s\n", o->which->name, type->name, why);
    if (!fine && type == &engine_quern) o->wrong = true;
    free(result);
    return fine;
}

static double timed_run(const options *opt, const engine_type *type, session *s) {
    char why[WHY_SIZE];
    int64_t (*now)(void) = opt->cpu_time ? bench_cpu_now : bench_now;
    type->reset(s);
    int64_t begin = now();
    if (!type->run(s, why)) return 0;
    return (double)(now() - begin) * 1e-6 / (opt->cpu_time ? opt->threads : 1);
}

static unsigned choose_repeat(const options *opt, double once_ms) {
    if (opt->repeat) return opt->repeat < MAX_REPEAT ? opt->repeat : MAX_REPEAT;
    if (opt->quick) return 3;
    double wanted = 1000.0 / (once_ms + 0.01);
    return wanted < 7 ? 7 : wanted > 51 ? 51 : (unsigned)wanted;
}

static void time_sessions(const options *opt, session **sessions, outcome *o) {
    static double times[NUM_ENGINES][MAX_REPEAT];
    double once = 0;
    for (int e = 0; e < NUM_ENGINES; e++)
        if (sessions[e]) once = fmax(once, timed_run(opt, engine_at(opt, e), sessions[e]));
    unsigned repeat = choose_repeat(opt, once);
    for (unsigned i = 0; i < repeat; i++)
        for (int e = 0; e < NUM_ENGINES; e++)
            if (sessions[e]) times[e][i] = timed_run(opt, engine_at(opt, e), sessions[e]);
    for (int e = 0; e < NUM_ENGINES; e++) {
        if (!sessions[e]) continue;
        o->median_ms[e] = bench_median(times[e], repeat);
        o->best_ms[e] = times[e][0];
    }
}

static session *prepare(const options *opt, engine **engines, const workload *load, outcome *o, int e) {
    char why[WHY_SIZE] = "", tuning[256];
    const engine_type *type = engine_at(opt, e);
    const char *options = o->which->options;
    if (!engines[e]) return NULL;
    snprintf(tuning, sizeof tuning, "%s -qn-tune=%s", options ? options : "", opt->tune ? opt->tune : "");
    session *s =
        type->prepare(engines[e], bench_source(o->which->file), opt->tune && e ? tuning : options, load, why);
    if (!s) {
        fprintf(stderr, "quern_bench: %s by %s: %s\n", o->which->name, type->name, why);
        if (type == &engine_quern) o->wrong = true;
    } else if (!verify(opt, s, load, o, e)) {
        type->release(s);
        s = NULL;
    }
    return s;
}

static void run_case(const options *opt, engine **engines, outcome *o) {
    workload load = {0};
    session *sessions[NUM_ENGINES];
    o->which->make(&load, opt->quick ? BENCH_QUICK : BENCH_CPU);
    memcpy(o->size, load.size, sizeof o->size);
    for (int e = 0; e < NUM_ENGINES; e++) sessions[e] = prepare(opt, engines, &load, o, e);
    time_sessions(opt, sessions, o);
    if (o->median_ms[0] > 0) {
        bool flops = load.flops > 0 && load.bytes == 0;
        o->unit = flops ? "GFLOP/s" : load.bytes > 0 ? "GB/s" : "";
        o->rate = (flops ? load.flops : load.bytes) / o->median_ms[0] * 1e-6;
    }
    for (int e = 0; e < NUM_ENGINES; e++)
        if (sessions[e]) engine_at(opt, e)->release(sessions[e]);
    workload_free(&load);
}

static double ratio(const outcome *o) {
    return o->median_ms[0] > 0 && o->median_ms[1] > 0 ? o->median_ms[1] / o->median_ms[0] : 0;
}

/* ---- output ---- */

static void print_time(double ms) {
    if (ms > 0)
        printf(" %9.3f", ms);
    else
        printf(" %9s", "-");
}

static void print_outcome(const outcome *o) {
    printf("%-17s %-15s", o->which->name, o->size);
    print_time(o->median_ms[0]);
    print_time(o->median_ms[1]);
    if (o->unit && o->unit[0])
        printf("  %7.2f %-7s", o->rate, o->unit);
    else
        printf("  %15s", "");
    if (ratio(o) > 0) printf("  %6.3f", ratio(o));
    printf("%s\n", o->wrong ? "  FAILED" : "");
    fflush(stdout);
}

static void summarise(const outcome *outcomes, size_t count, double *mean, double *worst,
                      const char **which) {
    double logs = 0;
    size_t ratios = 0;
    *mean = *worst = 0;
    *which = "";
    for (size_t i = 0; i < count; i++) {
        double r = ratio(&outcomes[i]);
        if (r <= 0) continue;
        logs += log(r);
        if (ratios++ == 0 || r < *worst) {
            *worst = r;
            *which = outcomes[i].which->name;
        }
    }
    if (ratios) *mean = exp(logs / (double)ratios);
}

static void json_string(FILE *f, const char *text) {
    fputc('"', f);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') fputc('\\', f);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, f);
    }
    fputc('"', f);
}

static void json_header(FILE *f, int argc, char **argv, engine **engines, const options *opt) {
    fprintf(f, "{\n  \"command\": [");
    for (int i = 0; i < argc; i++) {
        if (i) fprintf(f, ", ");
        json_string(f, argv[i]);
    }
    fprintf(f, "],\n  \"threads\": %u,\n  \"compiler\": ", opt->threads);
    json_string(f, __VERSION__);
    for (int e = 0; e < NUM_ENGINES; e++) {
        fprintf(f, ",\n  \"%s\": ", e ? opt->peer->key : "quern");
        json_string(f, engines[e] ? engine_at(opt, e)->version(engines[e]) : "not found");
    }
}

static bool write_json(const char *path, int argc, char **argv, engine **engines, const options *opt,
                       const outcome *outcomes, size_t count) {
    FILE *f = fopen(path, "w");
    if (!f) return false;
    json_header(f, argc, argv, engines, opt);
    fprintf(f, ",\n  \"cases\": [");
    for (size_t i = 0; i < count; i++) {
        const outcome *o = &outcomes[i];
        fprintf(f,
                "%s\n    {\"name\": \"%s\", \"size\": \"%s\", \"quern_ms\": %.6g, \"quern_best_ms\": %.6g, "
                "\"%s_ms\": %.6g, \"%s_best_ms\": %.6g, \"ratio\": %.4g, \"rate\": %.6g, \"unit\": \"%s\", "
                "\"error\": %.3g, \"correct\": %s}",
                i ? "," : "", o->which->name, o->size, o->median_ms[0], o->best_ms[0], opt->peer->key,
                o->median_ms[1], opt->peer->key, o->best_ms[1], ratio(o), o->rate, o->unit ? o->unit : "",
                isfinite(o->error[0]) ? o->error[0] : -1, o->wrong ? "false" : "true");
    }
    double mean, worst;
    const char *which;
    summarise(outcomes, count, &mean, &worst, &which);
    fprintf(f, "\n  ],\n  \"geometric_mean\": %.4g,\n  \"worst\": {\"name\": \"%s\", \"ratio\": %.4g}", mean,
            which, worst);
    fprintf(f, "\n}\n");
    return fclose(f) == 0;
}

/* ---- the program ---- */

static int list_cases(void) {
    for (size_t i = 0; i < bench_num_cases; i++) puts(bench_cases[i].name);
    return 0;
}

/* -1 to go on, else the exit status. */
static int parse(options *opt, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(help, stdout);
            return 0;
        }
        if (strcmp(argv[i], "--list") == 0) return list_cases();
        if (strcmp(argv[i], "--quick") == 0) {
            opt->quick = true;
            continue;
        }
        if (strcmp(argv[i], "--cpu-time") == 0) {
            opt->cpu_time = true;
            continue;
        }
        if (value && strcmp(argv[i], "--only") == 0)
            opt->only = value;
        else if (value && strcmp(argv[i], "--json") == 0)
            opt->json = value;
        else if (value && strcmp(argv[i], "--tune") == 0)
            opt->tune = value, opt->peer = &tuned;
        else if (value && strcmp(argv[i], "--repeat") == 0)
            opt->repeat = (unsigned)strtoul(value, NULL, 10);
        else if (value && strcmp(argv[i], "--threads") == 0)
            opt->threads = (unsigned)strtoul(value, NULL, 10);
        else {
            fprintf(stderr, "quern_bench: unknown or incomplete option '%s'\n%s", argv[i], help);
            return 2;
        }
        i++;
    }
    return -1;
}

static void open_engines(const options *opt, engine **engines) {
    for (int e = 0; e < NUM_ENGINES; e++) {
        char why[WHY_SIZE] = "";
        engines[e] = engine_at(opt, e)->open(opt->threads, why);
        printf("%-6s %s%s\n", e ? opt->peer->name : "quern",
               engines[e] ? "" : "not found: ", engines[e] ? engine_at(opt, e)->version(engines[e]) : why);
    }
    if (opt->tune) printf("tuned: -qn-tune=%s\n", opt->tune);
    printf("threads: %u each%s\n\n", opt->threads, opt->cpu_time ? "; processor time / threads" : "");
}

int main(int argc, char **argv) {
    options opt = {.peer = &pocl, .threads = (unsigned)sysconf(_SC_NPROCESSORS_ONLN)};
    int status = parse(&opt, argc, argv);
    if (status >= 0) return status;
    outcome *outcomes = bench_alloc(bench_num_cases * sizeof *outcomes);
    engine *engines[NUM_ENGINES];
    size_t count = 0;
    bool failed = false;
    open_engines(&opt, engines);
    char peer_ms[16];
    snprintf(peer_ms, sizeof peer_ms, "%s ms", opt.peer->name);
    printf("%-17s %-15s %9s %9s  %-15s  %6s\n", "case", "size", "quern ms", peer_ms, "quern", "ratio");
    for (size_t i = 0; i < bench_num_cases && engines[0]; i++) {
        if (!selected(opt.only, bench_cases[i].name)) continue;
        outcomes[count].which = &bench_cases[i];
        run_case(&opt, engines, &outcomes[count]);
        print_outcome(&outcomes[count]);
        failed = failed || outcomes[count++].wrong;
    }
    double mean, worst;
    const char *which;
    summarise(outcomes, count, &mean, &worst, &which);
    if (mean > 0)
        printf("\nratio = %s's time / quern's, above 1 quern is faster: geometric mean %.3f, worst %.3f "
               "(%s)\n",
               opt.peer->name, mean, worst, which);
    if (opt.json && !write_json(opt.json, argc, argv, engines, &opt, outcomes, count)) {
        fprintf(stderr, "quern_bench: cannot write %s\n", opt.json);
        failed = true;
    }
    for (int e = 0; e < NUM_ENGINES; e++)
        if (engines[e]) engine_at(&opt, e)->close(engines[e]);
    free(outcomes);
    return failed || !engines[0];
}
