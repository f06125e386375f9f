/* quern_gpu_bench: quern's GPU devices beside the drivers' own ways, as ratios in one run. See gpu.h. */
#include "gpu.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "quern_gpu_bench: quern on GPUs beside NVRTC and the bare drivers\n"
    "usage: quern_gpu_bench [--section NAME[,NAME...]] [--only CASE[,CASE...]] [--quick] [--cpu-time] "
    "[--markdown FILE]\n"
    "                       [--sample-ms N] [--reverse] [--dump FOLDER [--arch N]]\n"
    "  --section NAME   only these: code, bandwidth, overhead, compile, software, peer, ship;\n"
    "                   and, not without being asked for, variants: code compiled in different ways\n"
    "  --only CASE      of code, software and variants only cases whose name begins so\n"
    "  --quick          small sizes, few runs: does it work, not how fast\n"
    "  --cpu-time       of software drivers the processor's time, not the clock's: for a machine that is "
    "busy\n"
    "  --sample-ms N    a sample of code lasts at least N milliseconds (5)\n"
    "  --reverse        the cases of code from the last to the first: does it matter what ran before?\n"
    "  --markdown FILE  the report to a file as well\n"
    "  --dump FOLDER    write each case's PTX by quern and by NVRTC there (no GPU needed), for sm_N (90)\n"
    "example: quern_gpu_bench --section code --only matmul,sgemm\n";

static const struct section {
    const char *name;
    void (*run)(const gpu_options *o);
    bool on_request; /* not part of a whole run */
} sections[] = {{"code", gpu_code, false},         {"bandwidth", gpu_bandwidth, false},
                {"overhead", gpu_overhead, false}, {"compile", gpu_compile, false},
                {"software", gpu_software, false}, {"peer", gpu_peer, false},
                {"ship", gpu_ship, false},         {"variants", gpu_variants, true}};

typedef struct command_line {
    gpu_options options;
    const char *markdown, *dump;
    int arch;
} command_line;

/* -1 to go on, else the exit status. */
static int parse(command_line *line, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--help") == 0) {
            fputs(help, stdout);
            return 0;
        }
        if (strcmp(argv[i], "--quick") == 0) {
            line->options.quick = true;
            continue;
        }
        if (strcmp(argv[i], "--cpu-time") == 0) {
            line->options.cpu_time = true;
            continue;
        }
        if (strcmp(argv[i], "--reverse") == 0) {
            line->options.reverse = true;
            continue;
        }
        if (i + 3 < argc && strcmp(argv[i], "--child") == 0)
            return gpu_child(&line->options, argv[i + 1], argv[i + 2], argv[i + 3]);
        if (value && strcmp(argv[i], "--section") == 0)
            line->options.sections = value;
        else if (value && strcmp(argv[i], "--only") == 0)
            line->options.only = value;
        else if (value && strcmp(argv[i], "--markdown") == 0)
            line->markdown = value;
        else if (value && strcmp(argv[i], "--dump") == 0)
            line->dump = value;
        else if (value && strcmp(argv[i], "--sample-ms") == 0 && strtoul(value, NULL, 10) > 0)
            line->options.sample_ms = (unsigned)strtoul(value, NULL, 10);
        else if (value && strcmp(argv[i], "--arch") == 0)
            line->arch = (int)strtol(value, NULL, 10);
        else {
            fprintf(stderr, "quern_gpu_bench: unknown or incomplete option '%s'\n%s", argv[i], help);
            return 2;
        }
        i++;
    }
    return -1;
}

/* What is compared is compiling, so that no driver may keep what it compiled. */
static void turn_off_driver_caches(void) {
    setenv("CUDA_CACHE_DISABLE", "1", 1);
    setenv("__GL_SHADER_DISK_CACHE", "0", 1);
    setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
}

static void report_devices(void) {
    qn_context *context = NULL;
    if (qn_context_create(NULL, &context)) return;
    report("## Benchmarks\n\nMedians; each ratio is between two that ran in turn. Devices:\n\n");
    for (uint32_t i = 0; i < qn_device_count(context); i++) {
        qn_device_info info;
        if (qn_device_get_info(qn_device_at(context, i), &info)) continue;
        report("- %s: %s (%s)%s\n", info.name, info.description, info.driver,
               info.capabilities & QN_CAN_EMULATE ? ", software" : "");
    }
    qn_context_destroy(context);
}

int main(int argc, char **argv) {
    command_line line = {.arch = 90, .options.sample_ms = 5};
    int status = parse(&line, argc, argv);
    if (status >= 0) return status;
    if (line.dump) return gpu_dump(line.dump, line.options.only, line.arch);
    turn_off_driver_caches();
    gpu_stop_on_signals();
    if (!report_open(line.markdown)) {
        fprintf(stderr, "quern_gpu_bench: cannot write %s\n", line.markdown);
        return 2;
    }
    report_devices();
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        if (!gpu_selected(line.options.sections, sections[i].name) || gpu_stopped()) continue;
        if (sections[i].on_request && !line.options.sections) continue;
        int64_t begin = bench_now();
        sections[i].run(&line.options);
        fprintf(stderr, "quern_gpu_bench: %s took %.0f s\n", sections[i].name,
                (double)(bench_now() - begin) * 1e-9);
    }
    if (gpu_stopped()) report_failure("the run was cut off");
    return report_close() ? 0 : 1;
}
