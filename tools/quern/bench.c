/* quern bench: measures this machine. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_peer.h"
#include "options.h"

/* ---- the command line ---- */

typedef struct section {
    const char *name;
    int (*run)(bench_device *d);
} section;

static int run_matmul(bench_device *d) {
    return d->options->ladder ? bench_ladder_run(d) : bench_matmul_run(d);
}

static const section sections[] = {{"matmul", run_matmul},
                                   {"kernels", bench_kernels_run},
                                   {"launch", bench_launch_run},
                                   {"transfer", bench_transfer_run},
                                   {"compile", bench_compile_run}};
enum { NUM_SECTIONS = sizeof sections / sizeof *sections };

static bool parse_shape(const char *text, uint64_t shape[3]) {
    for (int i = 0; i < 3; i++) {
        char *end;
        if (*text < '0' || *text > '9') return false;
        shape[i] = strtoull(text, &end, 10);
        if (shape[i] == 0 || shape[i] > (uint64_t)1 << 40) return false;
        if (i == 0 && !*end) shape[1] = shape[2] = shape[0];
        if (i == 0 && !*end) return true;
        if (*end != (i < 2 ? 'x' : 0)) return false;
        text = end + 1;
    }
    return true;
}

static bool parse_seconds(const char *text, double *seconds) {
    char *end;
    *seconds = strtod(text, &end);
    return end != text && !*end && *seconds > 0 && *seconds <= 3600;
}

bool bench_list_next(const char **list, char *name, size_t size) {
    if (!*list) return false;
    const char *comma = strchr(*list, ',');
    const size_t length = comma ? (size_t)(comma - *list) : strlen(*list);
    snprintf(name, size, "%.*s", (int)(length < size ? length : size - 1), *list);
    *list = comma ? comma + 1 : NULL;
    return true;
}

static bool parse_shapes(const char *list, bench_options *o) {
    char shape[64];
    for (o->num_shapes = 0; bench_list_next(&list, shape, sizeof shape); o->num_shapes++)
        if (o->num_shapes == BENCH_MAX_SHAPES || !parse_shape(shape, o->shapes[o->num_shapes])) return false;
    return true;
}

static bool parse_splits(const char *list, bench_options *o) {
    char text[16], *end;
    for (o->num_splits = 0; bench_list_next(&list, text, sizeof text); o->num_splits++) {
        if (o->num_splits == BENCH_MAX_SPLITS || *text < '1' || *text > '9') return false;
        const unsigned long parts = strtoul(text, &end, 10);
        if (*end || parts > 65535) return false;
        o->splits[o->num_splits] = (uint32_t)parts;
    }
    return true;
}

static bool variant_known(const char *name) {
    uint32_t i = 0;
    while (qn_matmul_variant(i) && strcmp(qn_matmul_variant(i), name) != 0) i++;
    return qn_matmul_variant(i) != NULL;
}

static bool type_known(const char *name) { return bench_type_named(name) != NULL; }

/* Whether each word of the list is. */
static bool all_known(const char *list, bool (*known)(const char *name)) {
    char name[64];
    while (bench_list_next(&list, name, sizeof name))
        if (!known(name)) return false;
    return true;
}

/* As program_option: -1 taken, 0 none of these, else the exit status. */
static int parse_text_option(bench_options *o, int argc, char **argv, int *i) {
    const struct {
        const char *name, **to;
    } texts[] = {{"--device", &o->devices},   {"--against", &o->against}, {"--type", &o->types},
                 {"--variant", &o->variants}, {"--only", &o->only},       {"--json", &o->json},
                 {"--svg", &o->svg},          {"--compare", &o->before}};
    const char *given = argv[*i];
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        if (option_value(texts[t].name, argc, argv, i, texts[t].to))
            return *texts[t].to ? -1 : needs_value(given);
    return 0;
}

static int parse_option(bench_options *o, int argc, char **argv, int *i) {
    const char *value, *given = argv[*i];
    const int result = parse_text_option(o, argc, argv, i);
    if (result) return result;
    if (strcmp(given, "--ladder") == 0) {
        o->ladder = true;
        return -1;
    }
    if (option_value("--seconds", argc, argv, i, &value)) {
        if (!value) return needs_value(given);
        if (parse_seconds(value, &o->seconds)) return -1;
        return tool_fail(TOOL_USAGE, "--seconds is a number above 0, up to 3600, not '%s'", value);
    }
    if (option_value("--elements", argc, argv, i, &value)) {
        char *end;
        if (!value) return needs_value(given);
        o->elements = *value >= '1' && *value <= '9' ? strtoull(value, &end, 10) : 0;
        if (o->elements && !*end && o->elements <= (uint64_t)1 << 40) return -1;
        return tool_fail(TOOL_USAGE, "--elements is a number above 0, not '%s'", value);
    }
    if (option_value("--size", argc, argv, i, &value)) {
        if (!value) return needs_value(given);
        if (parse_shapes(value, o)) return -1;
        return tool_fail(
            TOOL_USAGE,
            "--size is MxNxK or one number for all three, or up to %d of them with commas, not '%s'",
            BENCH_MAX_SHAPES, value);
    }
    if (option_value("--splits", argc, argv, i, &value)) {
        if (!value) return needs_value(given);
        if (parse_splits(value, o)) return -1;
        return tool_fail(TOOL_USAGE,
                         "--splits is a number from 1 to 65535, or up to %d of them with commas, not '%s'",
                         BENCH_MAX_SPLITS, value);
    }
    return given[0] == '-' ? tool_fail(TOOL_USAGE, "unknown option '%s'", given) : 0;
}

static int parse(int argc, char **argv, bench_options *o, bool *chosen) {
    bool any = false;
    for (int i = 1; i < argc; i++) {
        const int result = parse_option(o, argc, argv, &i);
        if (result > 0) return result;
        if (result < 0) continue;
        bool known = false;
        for (int s = 0; s < NUM_SECTIONS; s++)
            if (strcmp(argv[i], "all") == 0 || strcmp(argv[i], sections[s].name) == 0)
                known = chosen[s] = any = true;
        if (!known) return tool_fail(TOOL_USAGE, "there is no bench '%s'; see `quern bench --help`", argv[i]);
    }
    for (int s = 0; s < NUM_SECTIONS && !any; s++) chosen[s] = true;
    if (o->against && !bench_peers_known(o->against))
        return tool_fail(TOOL_USAGE, "--against is all or names of " BENCH_PEERS ", not '%s'", o->against);
    if (o->types && !all_known(o->types, type_known))
        return tool_fail(TOOL_USAGE, "--type is names of " BENCH_TYPES " with commas, not '%s'", o->types);
    if (o->variants && strcmp(o->variants, "all") != 0 && !all_known(o->variants, variant_known))
        return tool_fail(TOOL_USAGE, "--variant is all or names of qn_matmul_variant with commas, not '%s'",
                         o->variants);
    if (o->ladder && o->num_shapes > 1) return tool_fail(TOOL_USAGE, "--ladder takes one --size");
    if (o->svg && !o->ladder) return tool_fail(TOOL_USAGE, "--svg draws the ladder: give --ladder");
    return TOOL_OK;
}

/* ---- devices ---- */

static int run_on(const bench_options *o, bench_report *report, const bool *chosen, qn_context *context,
                  const char *name) {
    bench_device d = {.options = o, .report = report};
    int result = bench_device_open(&d, context, name), first = result;
    for (int s = 0; s < NUM_SECTIONS && !result; s++) {
        const int status = chosen[s] ? sections[s].run(&d) : TOOL_OK;
        bench_progress(&d, NULL);
        if (!first) first = status;
    }
    bench_device_close(&d);
    return first;
}

/* What one device fails in does not keep the others from being measured. */
static int run_on_all(const bench_options *o, bench_report *report, const bool *chosen, qn_context *context) {
    int first = TOOL_OK;
    for (uint32_t i = 0; i < qn_device_count(context); i++) {
        qn_device_info info;
        const qn_status status = qn_device_get_info(qn_device_at(context, i), &info);
        const int result =
            status ? tool_fail_status(context, status) : run_on(o, report, chosen, context, info.name);
        if (!first) first = result;
    }
    return first;
}

static int run_on_list(const bench_options *o, bench_report *report, const bool *chosen,
                       qn_context *context) {
    int first = TOOL_OK;
    const char *list = o->devices;
    char name[64];
    while (!first && bench_list_next(&list, name, sizeof name))
        first = run_on(o, report, chosen, context, name);
    return first;
}

static int measure(const bench_options *o, bench_report *report, const bool *chosen) {
    qn_context *context;
    const qn_status status = qn_context_create(&(qn_context_desc){.cpu_compile_first = true}, &context);
    if (status) return tool_fail(TOOL_RUN_FAILED, "%s", qn_status_text(status));
    const int result = !o->devices                      ? run_on(o, report, chosen, context, NULL)
                       : strcmp(o->devices, "all") == 0 ? run_on_all(o, report, chosen, context)
                                                        : run_on_list(o, report, chosen, context);
    qn_context_destroy(context);
    return result;
}

static int run(int argc, char **argv) {
    bench_options o = {.seconds = 1};
    bench_report report = {0}, before = {0};
    bool chosen[NUM_SECTIONS] = {false};
    int result = parse(argc, argv, &o, chosen);
    if (!result && o.before) result = bench_report_read(o.before, &before);
    if (!result) {
        int written = TOOL_OK;
        result = measure(&o, &report, chosen);
        if (o.json) written = bench_report_write(&report, o.json);
        if (!written && o.svg && report.num_ladders) written = bench_draw(&report, o.svg);
        if (!result) result = written;
    }
    if (!result && o.before) result = bench_compare(&report, &before, o.before);
    bench_report_free(&report);
    bench_report_free(&before);
    return result;
}

const tool_command tool_bench = {
    "bench", "measure this machine",
    "usage: quern bench [matmul|kernels|launch|transfer|compile|all]... [--device NAME[,NAME...]|all]\n"
    "                   [--against NAME[,NAME...]|all] [--ladder] [--type T[,T...]] [--size MxNxK[,...]]\n"
    "                   [--variant NAME[,NAME...]|all] [--splits N[,N...]] [--elements N] [--only "
    "NAME[,...]]\n"
    "                   [--seconds S] [--json FILE] [--svg FILE] [--compare FILE]\n\n"
    "Measures with the device's own clock: medians of samples, after a warm-up, on random data and on "
    "operands that\n"
    "together are larger than the caches. Every result is verified. `spread` is half the distance between "
    "the tenth\n"
    "and the ninetieth of a hundred samples.\n\n"
    "  matmul            qn_matmul over shapes met in practice, beside the libraries of --against; with "
    "--ladder each\n"
    "                    kernel of kernels/matmul, from the simplest to the tuned one, beside the device's "
    "peak in this\n"
    "                    run and a loop in C\n"
    "  kernels           the other calls of kernels.h, beside copying in the same run\n"
    "  launch            what a launch, a graph and a call of qn_matmul cost the host, and until they are "
    "done\n"
    "  transfer          copies between host and device, from pinned and ordinary memory, and within the "
    "device\n"
    "  compile           kernels to each target's text, and to a program; without the cache\n"
    "  --device NAMES    on these devices, or all (the default device)\n"
    "  --against NAMES   measure these libraries too where they are there, or all: " BENCH_PEERS "\n"
    "  --type T          of products: names of " BENCH_TYPES " (on a\n"
    "                    GPU the first three, else the first)\n"
    "  --size MxNxK      these products alone; one number is for all three (of the ladder 4096 on a GPU, "
    "else 512)\n"
    "  --variant NAME    qn_matmul by these of its ways, as \"tile 64x64\", or all: a line for each that "
    "can\n"
    "  --splits N        with k in so many parts: a line for each\n"
    "  --elements N      of what `kernels` works on (2^28 on a GPU, else more than the caches hold)\n"
    "  --only NAME       of `kernels` the rows whose names begin so\n"
    "  --seconds S       of measuring, for each figure (1); at least three samples are taken\n"
    "  --json FILE       write all figures\n"
    "  --svg FILE        draw the ladder, and a roofline\n"
    "  --compare FILE    then say what differs from the figures of an earlier --json beyond the spread of "
    "both\n\n"
    "exit status: 0 done; 2 usage; 3 failure; 4 a result is wrong, or --compare finds something slower\n\n"
    "example: quern bench matmul --against all\n"
    "         quern bench matmul --ladder --device all --svg ladder.svg\n",
    run};
