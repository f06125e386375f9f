/* quern bench: measures this machine. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_peer.h"

/* ---- the command line ---- */

typedef struct section {
    const char *name;
    int (*run)(bench_device *d);
    bench_peer_use use; /* of what it measures by peers */
} section;

static int run_matmul(bench_device *d) {
    return d->options->ladder ? bench_ladder_run(d) : bench_matmul_run(d);
}

static const section sections[] = {
    {"matmul", run_matmul, BENCH_OF_PRODUCTS},        {"kernels", bench_kernels_run, BENCH_OF_ROWS},
    {"code", bench_code_run, BENCH_OF_CODE},          {"tensor", bench_tensor_run, BENCH_OF_TENSORS},
    {"start", bench_start_run, BENCH_OF_NOTHING},     {"launch", bench_launch_run, BENCH_OF_LAUNCHES},
    {"memory", bench_memory_run, BENCH_OF_NOTHING},   {"transfer", bench_transfer_run, BENCH_OF_TRANSFERS},
    {"compile", bench_compile_run, BENCH_OF_LOADING}, {"rings", bench_rings_run, BENCH_OF_NOTHING}};
enum { NUM_SECTIONS = sizeof sections / sizeof *sections };

static int parse(int argc, char **argv, bench_options *o, bool *chosen) {
    bool any = false;
    for (int i = 1; i < argc; i++) {
        const int result = bench_option(o, argc, argv, &i);
        if (result > 0) return result;
        if (result < 0) continue;
        bool known = false;
        for (int s = 0; s < NUM_SECTIONS; s++)
            if (strcmp(argv[i], "all") == 0 || strcmp(argv[i], sections[s].name) == 0)
                known = chosen[s] = any = true;
        if (!known) return tool_fail(TOOL_USAGE, "there is no bench '%s'; see `quern bench --help`", argv[i]);
    }
    bool all = true;
    for (int s = 0; s < NUM_SECTIONS; s++) all = (chosen[s] = chosen[s] || !any) && all;
    o->is_brief = all;
    if (o->seconds == 0) o->seconds = all ? 0.1 : 1;
    return bench_options_check(o);
}

/* ---- devices ---- */

/* Those that are asked for by their names are missed where they have nothing to do. */
static void print_unused_peers(const bench_device *d, const bool *chosen) {
    const char *list = d->options->against;
    char name[32];
    if (!list || strcmp(list, "all") == 0) return;
    while (bench_list_next(&list, name, sizeof name)) {
        bool is_used = false;
        for (int s = 0; s < NUM_SECTIONS; s++)
            is_used = is_used || (chosen[s] && bench_peer_is_for(d, name, sections[s].use));
        if (!is_used) printf("%s has nothing to compare with on %s\n", name, d->info.name);
    }
}

static int run_on(const bench_options *o, bench_report *report, const bool *chosen, qn_context *context,
                  const char *name) {
    bench_device d = {.options = o, .report = report};
    int result = bench_device_open(&d, context, name), first = result;
    if (!result) print_unused_peers(&d, chosen);
    for (int s = 0; s < NUM_SECTIONS && !result; s++) {
        bench_steps(&d, 0);
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

/* As above. */
static int run_on_list(const bench_options *o, bench_report *report, const bool *chosen,
                       qn_context *context) {
    int first = TOOL_OK;
    const char *list = o->devices;
    char name[64];
    while (bench_list_next(&list, name, sizeof name)) {
        const int result = run_on(o, report, chosen, context, name);
        if (!first) first = result;
    }
    return first;
}

/* What is measured is compiling: no driver may have done it before. Nothing is changed that the user has set. */
static void turn_off_driver_caches(void) {
#if !defined(_WIN32)
    setenv("CUDA_CACHE_DISABLE", "1", 0);
    setenv("__GL_SHADER_DISK_CACHE", "0", 0);
    setenv("MESA_SHADER_CACHE_DISABLE", "true", 0);
#endif
}

static int measure(const bench_options *o, bench_report *report, const bool *chosen) {
    qn_context *context;
    turn_off_driver_caches();
    const qn_status status = qn_context_create(&(qn_context_desc){.cpu_compile_first = true}, &context);
    if (status) return tool_fail(TOOL_RUN_FAILED, "%s", qn_status_text(status));
    if (o->devices && strstr(o->devices, "webgpu")) qn_device_count(context); /* tells what hardware it is */
    const int result = !o->devices                      ? run_on(o, report, chosen, context, NULL)
                       : strcmp(o->devices, "all") == 0 ? run_on_all(o, report, chosen, context)
                                                        : run_on_list(o, report, chosen, context);
    qn_context_destroy(context);
    return result;
}

/* Before minutes of measuring. */
static int check_writable(const char *path) {
    errno = 0;
    FILE *file = path ? fopen(path, "ab") : NULL;
    if (path && !file) return tool_fail(TOOL_RUN_FAILED, "%s: %s", path, strerror(errno));
    if (file) fclose(file);
    return TOOL_OK;
}

static int run(int argc, char **argv) {
    bench_options o = {.seconds = 0};
    bench_report report = {0}, before = {0};
    bool chosen[NUM_SECTIONS] = {false};
    int result = parse(argc, argv, &o, chosen);
    char *tuning = NULL;
    if (!result && o.before) result = bench_report_read(o.before, &before);
    if (!result && o.tuning_file) result = bench_tuning_read(o.tuning_file, &tuning);
    if (!result) result = check_writable(o.json);
    if (!result) result = check_writable(o.svg);
    o.tuning = tuning;
    if (!result) {
        int written = TOOL_OK;
        result = measure(&o, &report, chosen);
        if (o.json) written = bench_report_write(&report, o.json);
        if (!written && o.svg) written = bench_draw(&report, o.svg);
        if (!result) result = written;
    }
    if (!result && o.before) result = bench_compare(&report, &before, o.before);
    bench_report_free(&report);
    bench_report_free(&before);
    free(tuning);
    return result;
}

const tool_command tool_bench = {
    "bench", "measure this machine",
    "usage: quern bench [matmul|kernels|code|tensor|start|launch|memory|transfer|compile|rings|all]... "
    "[--device "
    "NAME[,NAME...]|all]\n"
    "                   [--against NAME[,NAME...]|all] [--ladder] [--safe] [--type T[,T...]] [--size "
    "MxNxK[,...]]\n"
    "                   [--variant NAME[,NAME...]|all] [--splits N[,N...]] [--elements N] [--only "
    "NAME[,...]]\n"
    "                   [--tune WORD[,...][:WORD...]] [--seconds S] [--soak S] [--tuning FILE] [--json FILE] "
    "[--svg "
    "FILE]\n"
    "                   [--compare FILE]\n\n"
    "Measures with the device's own clock: medians of samples, after a warm-up, on random data and on "
    "operands that\n"
    "together are larger than the caches. Every result is verified. `spread` is half the distance between "
    "the tenth\n"
    "and the ninetieth of a hundred samples.\n\n"
    "  matmul            qn_kernels_matmul over shapes met in practice, beside the libraries of --against; "
    "with --ladder\n"
    "                    each kernel of kernels/matmul, from the simplest to the tuned one, beside the "
    "device's peak in\n"
    "                    this run and a loop in C\n"
    "  kernels           the other calls of kernels.h, beside copying in the same run\n"
    "  code              what quern's compiler makes of kernels, beside what others make of them\n"
    "  tensor            fused kernels beside copying, what tensors cost the host, models in training; "
    "beside "
    "PyTorch\n"
    "                    with --against torch (by $QUERN_PYTHON, or python3)\n"
    "  start             a context, a device, the first result of a kernel, a program with the disk cache\n"
    "  launch            what a launch, a graph and a call of qn_kernels_matmul cost the host, and until "
    "they are\n"
    "                    done; a launch while it is traced\n"
    "  memory            a copy within pairs of buffers that are made one after another, early and late\n"
    "  transfer          copies between host and device, from pinned and ordinary memory and by mapping, "
    "within the\n"
    "                    device, and to another one of its kind\n"
    "  compile           kernels to each target's text, to a program, and from a packed program; without "
    "the cache\n"
    "  rings             messages to a ring and back (ring.h); for --soak S alone under full load\n"
    "  --device NAMES    on these devices, or all (the default device)\n"
    "  --against NAMES   measure these too where they are there, or all:\n"
    "                    " BENCH_PEERS "\n"
    "  --type T          of products: names of " BENCH_TYPES " (on a\n"
    "                    GPU the first three, else the first)\n"
    "  --size MxNxK      these products alone; one number is for all three (of the ladder 4096 on a GPU, "
    "else 512);\n"
    "                    random:SEED:N is N that chance picks, the same ones for a seed\n"
    "  --variant NAME    qn_kernels_matmul by these of its ways, as \"tile 64x64\", or all: a line for each "
    "that can\n"
    "  --splits N        with k in so many parts: a line for each\n"
    "  --elements N      of what `kernels` works on (2^28 on a GPU, 2^26 of all sections; else more than "
    "the caches\n"
    "                    hold); of `code` and `tensor` the choice of sizes, too: below 2^20, 2^24, 2^26\n"
    "  --safe            safe `code`, too\n"
    "  --tuning FILE     measure products by the choices of a file of `quern tune`, too\n"
    "  --tune WORDS      `code` compiled with -qn-tune=WORDS too; several sets of words have colons between\n"
    "  --only NAME       rows of `kernels`, `code`, `tensor` whose names begin so\n"
    "  --seconds S       of measuring, for each figure (1; 0.1 of all sections); at least three samples are "
    "taken\n"
    "  --json FILE       write all figures\n"
    "  --svg FILE        draw the figures as bars, with the ratios to --against; the ladder, and a roofline\n"
    "  --compare FILE    then say what differs from the figures of an earlier --json beyond the spread of "
    "both\n\n"
    "exit status: 0 done; 2 usage; 3 failure; 4 a result is wrong, or --compare finds something slower\n\n"
    "example: quern bench matmul --against all\n"
    "         quern bench matmul --ladder --device all --svg ladder.svg\n",
    run};
