/* Runs the kernel tests of tests/cl over the public API, in other processes, so that a crash is one failed test: at every
   optimisation level on the CPU device and under the interpreter, each file in a process of its own; on another
   device a batch of files in one process and context, as drivers take long to open. Every result is compared with the
   expectation at the file's head, and with the other configurations' results. See tests/README.md. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cl_case.h"
#include "cl_findings.h"
#include "cl_pool.h"

enum {
    MAX_CONFIGS = 5,
    MAX_SAID = 64,
    MAX_ONLY = 4,
    PASSED = 0,
    FAILED = 1,
    SKIPPED = 77,
    MAX_REASONS = 32,
    MAX_SLOWEST = 10,
    DEVICE_BATCH = 16,
    SECONDS_A_FILE = 120
};

typedef struct options {
    const char *device, *cache, *only[MAX_ONLY];
    unsigned num_only;
    unsigned jobs, shard, shards, batch, seconds;
    bool quiet, packed, safe, soft_f64;
    uint32_t loop_budget;
    const char **paths;
    size_t num_paths;
} options;

/* ---- one file: configurations ---- */

/* One way to run a file. `device` is the name that skip: directives use. */
typedef struct config {
    const char *name, *device;
    bool interpret;
    int opt_level;
} config;

static const config cpu_configs[] = {{"cpu, not optimised", "cpu", false, -1},
                                     {"cpu, quick", "cpu", false, 1},
                                     {"cpu, full", "cpu", false, 0},
                                     {"vm, not optimised", "vm", true, -1},
                                     {"vm, full", "vm", true, 0}};

typedef struct printed {
    pthread_mutex_t lock;
    char *text;
    size_t length;
} printed;

/* What a process keeps from one file to the next. */
typedef struct host {
    const options *options;
    qn_context *context; /* NULL: each configuration has its own */
    qn_device *device;
    printed printed;
} host;

/* A file being run. results[r][a] is what the first configuration left in a buffer. */
typedef struct session {
    cl_case *test;
    host *host;
    const config *config;
    qn_device *device;
    qn_device_info info;
    bool failed;
    char *said[MAX_SAID]; /* what was printed already: configurations mostly fail alike */
    unsigned num_said;
    bool reports_skips;      /* of single runs: once, not for each configuration */
    bool allows_flush;       /* known to the case already */
    bool seen[CL_MAX_NOTES]; /* warnings that came */
    unsigned char *results[CL_MAX_RUNS][CL_MAX_ARGS];
} session;

static void fail(session *s, const char *where, const char *what) {
    size_t size = strlen(where) + strlen(what) + 3;
    char *text = tool_alloc(size);
    snprintf(text, size, "%s%s%s", where, *where ? ": " : "", what);
    s->failed = true;
    for (unsigned i = 0; i < s->num_said; i++)
        if (strcmp(s->said[i], text) == 0) {
            free(text);
            return;
        }
    if (s->num_said < MAX_SAID) s->said[s->num_said++] = text;
    printf("      %s: %s\n", s->config->name, text);
}

static void fail_status(session *s, const char *where, qn_status status) {
    const char *message = qn_error_message(qn_device_context(s->device));
    fail(s, where, message[0] ? message : qn_status_name(status));
}

static void print(void *user, const char *text, size_t size) {
    printed *p = user;
    pthread_mutex_lock(&p->lock);
    char *longer = realloc(p->text, p->length + size + 1);
    if (longer) {
        p->text = longer;
        memcpy(longer + p->length, text, size);
        p->length += size;
        longer[p->length] = 0;
    }
    pthread_mutex_unlock(&p->lock);
}

/* ---- messages of the compiler ---- */

/* The line of "FILE:LINE:COLUMN: error: message", or 0; *message is set. */
static unsigned message_line(const char *line, size_t length, const char *mark, const char **message) {
    const char *at = strstr(line, mark);
    if (!at || at >= line + length) return 0;
    *message = at + strlen(mark);
    const char *place = at;
    for (int colons = 0; place > line; place--)
        if (place[-1] == ':' && ++colons == 2) break;
    return (unsigned)strtoul(place, NULL, 10);
}

static bool contains(const char *text, size_t length, const char *part) {
    const char *at = strstr(text, part);
    return at && at + strlen(part) <= text + length;
}

/* Every message of this kind must be at a line where the file expects one: what follows from an error there
   may be reported too. */
static void check_log(session *s, const char *log, int kind) {
    const char *mark = kind == CL_ERROR ? ": error: " : ": warning: ";
    while (*log) {
        size_t length = strcspn(log, "\n");
        const char *message;
        unsigned line = message_line(log, length, mark, &message);
        bool expected = line == 0;
        for (uint32_t i = 0; i < s->test->num_notes && line; i++) {
            const cl_note *note = &s->test->notes[i];
            if ((int)note->kind != kind || note->line != line) continue;
            expected = true;
            s->seen[i] |= contains(message, (size_t)(log + length - message), note->text);
        }
        if (!expected) {
            char text[512];
            snprintf(text, sizeof text, "%.*s", (int)length, log);
            fail(s, "not expected", text);
        }
        log += length + (log[length] == '\n');
    }
}

static void check_seen(session *s, int kind) {
    for (uint32_t i = 0; i < s->test->num_notes; i++) {
        const cl_note *note = &s->test->notes[i];
        char text[512];
        if ((int)note->kind != kind || s->seen[i]) continue;
        snprintf(text, sizeof text, "no such message at line %u: %s", note->line, note->text);
        fail(s, "", text);
    }
}

/* ---- programs and runs ---- */

/* The target of a .qnb that the configuration takes. */
static const char *packed_target(const session *s) {
    switch (s->info.kind) {
    case QN_DEVICE_CUDA: return "ptx";
    case QN_DEVICE_VULKAN: return "spirv";
    case QN_DEVICE_OPENCL: return "clc";
    case QN_DEVICE_WEBGPU: return "wgsl";
    default: return s->config->interpret ? "ir" : "c";
    }
}

/* By way of a .qnb. */
static qn_status compile_packed(const session *s, const qn_program_desc *desc, qn_program **program) {
    const qn_pack_desc pack = {.program = desc, .targets = packed_target(s)};
    qn_context *context = qn_device_context(s->device);
    char *data = NULL;
    size_t size = 0;
    qn_status status = qn_program_pack(context, &pack, &data, &size, NULL);
    const qn_program_desc packed = {.binary = data, .binary_size = size, .path = "packed.qnb"};
    if (!status) status = qn_program_create(s->device, &packed, program);
    qn_text_free(context, data);
    return status;
}

static qn_status compile(session *s, const char *cl_options, qn_program **program) {
    char soft[512];
    snprintf(soft, sizeof soft, "%s -qn-soft-f64", cl_options);
    qn_program_desc desc = {.source = s->test->source,
                            .source_size = s->test->size,
                            .path = s->test->path,
                            .options = s->host->options->soft_f64 ? soft : cl_options,
                            .opt_level = s->config->opt_level,
                            .safe = s->host->options->safe,
                            .loop_budget = s->host->options->loop_budget};
    if (tool_ends_with(s->test->path, ".wgsl")) desc.language = QN_LANGUAGE_WGSL;
    return s->host->options->packed ? compile_packed(s, &desc, program)
                                    : qn_program_create(s->device, &desc, program);
}

/* A safe kernel tells of an access or a loop of a line that is known to be wrong, or such a line is refused. */
static bool is_kept_inside(const session *s, qn_status status) {
    return s->host->options->safe && (status == QN_ERROR_KERNEL_FAILED || status == QN_ERROR_UNSUPPORTED) &&
           cl_findings_tells(s->test, qn_error_message(qn_device_context(s->device)));
}

static void expect_errors(session *s) {
    qn_program *program = NULL;
    qn_status status = compile(s, s->test->options, &program);
    if (status == QN_OK) fail(s, "", "compiled, but errors were expected");
    if (status == QN_ERROR_COMPILE)
        check_log(s, qn_error_message(qn_device_context(s->device)), CL_ERROR);
    else if (status != QN_OK)
        fail_status(s, "", status);
    if (status == QN_ERROR_COMPILE) check_seen(s, CL_ERROR);
    qn_program_destroy(program);
}

static qn_status make_args(session *s, const cl_run *run, qn_arg *args, qn_buffer **buffers) {
    for (uint32_t i = 0; i < run->num_args; i++) {
        const tool_arg *arg = &run->args[i].arg;
        qn_buffer_desc desc = {.size = arg->size,
                               .data = arg->uninitialised ? NULL : arg->data,
                               .uninitialised = arg->uninitialised};
        qn_status status = QN_OK;
        switch (arg->kind) {
        case ARG_VALUE:
        case ARG_RAW: args[i] = qn_arg_bytes(arg->data, arg->size); break;
        case ARG_NAMED:
        case ARG_STRUCT: status = QN_ERROR_ARGUMENT; break; /* tests give its bytes */
        case ARG_NULL: args[i] = qn_arg_null(); break;
        case ARG_LOCAL: args[i] = qn_arg_local(arg->size); break;
        case ARG_BUFFER:
        case ARG_FILE:
            status = qn_buffer_create(s->device, &desc, &buffers[i]);
            args[i] = qn_arg_buffer(buffers[i]);
            break;
        }
        if (status) return status;
    }
    return QN_OK;
}

/* Compares what a buffer holds now with the expectation and the first configuration. */
static void check_buffer(session *s, const cl_run *run, uint32_t index, qn_buffer *buffer) {
    const cl_arg *arg = &run->args[index];
    unsigned char **first = &s->results[run - s->test->runs][index];
    unsigned char *data = tool_alloc(arg->arg.size);
    char message[256], where[128];
    snprintf(where, sizeof where, "%s, argument %u", run->kernel, index + 1);
    qn_status status = qn_buffer_read(buffer, 0, data, arg->arg.size);
    if (status)
        fail_status(s, where, status);
    else if (!cl_expect_check(&arg->expect, data, message, sizeof message))
        fail(s, where, message);
    else if (*first && !cl_results_agree(arg, data, *first, message, sizeof message)) {
        size_t end = strlen(message);
        snprintf(message + end, sizeof message - end, "; the other value is of the first configuration");
        fail(s, where, message);
    }
    if (*first || status)
        free(data);
    else
        *first = data;
}

static void check_failure(session *s, const cl_run *run, qn_status status) {
    const char *name = qn_status_name(status), *message = qn_error_message(qn_device_context(s->device));
    size_t length = strcspn(run->fails, " ");
    const char *part = run->fails + length + strspn(run->fails + length, " ");
    if (status == QN_OK)
        fail(s, run->kernel, "ran, but was expected to fail");
    else if (strlen(name) != length || strncmp(name, run->fails, length) != 0 || !strstr(message, part))
        fail_status(s, run->kernel, status);
}

static void check_prints(session *s, const cl_run *run) {
    const char *text = s->host->printed.text ? s->host->printed.text : "";
    if (!run->prints || cl_prints_agree(run->prints, text)) return;
    char message[1024];
    snprintf(message, sizeof message, "printed \"%s\", not \"%s\"", text, run->prints);
    fail(s, run->kernel, message);
}

static void say_skipped(const session *s, const char *kernel, const char *reason) {
    printf("      %s: %s%sskipped: %s\n", s->config->device, kernel ? kernel : "", kernel ? ": " : "",
           reason);
}

/* No test goes outside of its buffers: sizes that would be required and are larger are a false alarm. */
static void check_required(session *s, const cl_run *run, qn_kernel *kernel, const qn_arg *args) {
    for (uint32_t i = 0; i < run->num_args; i++) {
        uint64_t bytes = 0;
        if (args[i].kind != QN_ARG_BUFFER || run->fails || cl_findings_expected(s->test) ||
            qn_kernel_required_size(kernel, i, &run->range, args, run->num_args, &bytes))
            continue;
        if (bytes > qn_buffer_size(args[i].value.buffer)) {
            char message[128];
            snprintf(message, sizeof message, "argument %u is said to need %llu bytes", i + 1,
                     (unsigned long long)bytes);
            fail(s, run->kernel, message);
        }
    }
}

static void run_kernel(session *s, const cl_run *run, qn_program *program) {
    qn_kernel *kernel = NULL;
    qn_arg args[CL_MAX_ARGS];
    qn_buffer *buffers[CL_MAX_ARGS] = {NULL};
    s->host->printed.length = 0;
    if (s->host->printed.text) s->host->printed.text[0] = 0;
    qn_status status = qn_kernel_create(program, run->kernel, &kernel);
    if (!status) status = make_args(s, run, args, buffers);
    if (!status) check_required(s, run, kernel, args);
    if (!status) status = qn_launch(NULL, kernel, &run->range, args, run->num_args);
    if (!status) status = qn_stream_wait(qn_device_stream(s->device), QN_FOREVER);
    if (run->fails)
        check_failure(s, run, status);
    else if (status && !is_kept_inside(s, status))
        fail_status(s, run->kernel, status);
    else if (!status) {
        for (uint32_t i = 0; i < run->num_args; i++)
            if (buffers[i]) check_buffer(s, run, i, buffers[i]);
        check_prints(s, run);
    }
    for (uint32_t i = 0; i < run->num_args; i++) qn_buffer_destroy(buffers[i]);
    qn_kernel_destroy(kernel);
}

static const char *lack_text(uint32_t bits) {
    static char text[64];
    snprintf(text, sizeof text, "the device has no %s", cl_need_name(bits));
    return text;
}

/* Runs with the same options share a program. */
static void run_all(session *s) {
    const cl_case *test = s->test;
    qn_program *program = NULL;
    for (uint32_t i = 0; i < test->num_runs; i++) {
        const cl_run *run = &test->runs[i];
        if (i == 0 || strcmp(run->options, run[-1].options) != 0) {
            qn_program_destroy(program);
            program = NULL;
            qn_status status = compile(s, run->options, &program);
            if (status) {
                if (!is_kept_inside(s, status)) fail_status(s, "", status);
                break;
            }
            check_log(s, qn_program_log(program), CL_WARNING);
        }
        uint32_t lacks = run->needs & ~s->info.capabilities;
        if (!lacks) run_kernel(s, run, program);
        if (lacks && s->reports_skips) say_skipped(s, run->kernel, lack_text(lacks));
    }
    if (program) check_seen(s, CL_WARNING);
    qn_program_destroy(program);
}

static void fail_finding(void *user, const char *text) { fail(user, "", text); }

/* ---- one file ---- */

static qn_context *open_context(host *h, bool interpret, qn_device **device) {
    const char *name = h->options->device ? h->options->device : "cpu";
    qn_context_desc desc = {.print = print,
                            .print_user = &h->printed,
                            .cache_dir = h->options->cache,
                            .disable_cache = !h->options->cache,
                            .cpu_threads = 2,
                            .cpu_compiler = interpret ? "none" : NULL,
                            .cpu_compile_first = true};
    qn_context *context = NULL;
    if (qn_context_create(&desc, &context)) exit(tool_fail(FAILED, "no context: out of memory"));
    if (qn_device_get(context, name, device)) exit(tool_fail(FAILED, "%s", qn_error_message(context)));
    return context;
}

#define NOT_CHECKED ": %llu values not checked: the device flushes denormal floats"

/* The reason why the case cannot run on the device, or NULL. */
static const char *device_lacks(session *s) {
    qn_device_get_info(s->device, &s->info);
    if (s->host->options->soft_f64) s->info.capabilities |= QN_CAN_F64;
    if (!(s->info.capabilities & QN_CAN_F32_DENORMALS) && !s->allows_flush) {
        uint64_t unchecked = cl_case_allow_flush(s->test);
        s->allows_flush = true;
        if (unchecked) printf("      %s" NOT_CHECKED "\n", s->config->device, (unsigned long long)unchecked);
    }
    uint32_t lacks = s->test->needs & ~s->info.capabilities;
    if (s->info.private_memory && s->info.private_memory < s->test->private_memory)
        return "the device has less memory for private variables";
    return lacks ? lack_text(lacks) : NULL;
}

/* Returns the reason when the configuration is skipped. */
static const char *run_config(session *s) {
    const char *reason = cl_case_skip(s->test, s->config->device);
    if (reason) return reason;
    qn_context *own = NULL;
    s->device = s->host->device;
    if (!s->host->context) own = open_context(s->host, s->config->interpret, &s->device);
    reason = device_lacks(s);
    memset(s->seen, 0, sizeof s->seen);
    if (!reason) cl_findings_begin(s->test, s->device);
    if (!reason && cl_case_count(s->test, CL_ERROR))
        expect_errors(s);
    else if (!reason)
        run_all(s);
    if (!reason) cl_findings_check(s->test, s->device, fail_finding, s);
    qn_context_destroy(own);
    return reason;
}

static uint32_t make_configs(const options *o, const cl_case *test, config configs[MAX_CONFIGS]) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < MAX_CONFIGS; i++) {
        config c = cpu_configs[i];
        if (o->device && c.interpret) continue;
        if (o->device) {
            static const char *const names[] = {"not optimised", "quick", "full"};
            c.name = names[i];
            c.device = o->device;
        }
        bool wanted = o->num_only == 0;
        for (unsigned n = 0; n < o->num_only; n++) wanted |= strstr(c.name, o->only[n]) != NULL;
        if (wanted) configs[count++] = c;
    }
    /* The front end does not know the levels. */
    return cl_case_count(test, CL_ERROR) && count ? 1 : count;
}

static void free_session(session *s) {
    for (size_t i = 0; i < CL_MAX_RUNS * CL_MAX_ARGS; i++) free(s->results[i / CL_MAX_ARGS][i % CL_MAX_ARGS]);
    for (unsigned i = 0; i < s->num_said; i++) free(s->said[i]);
    free(s);
}

/* Prints what is wrong. */
static int run_file(host *h, const char *path) {
    cl_case *test = tool_alloc(sizeof *test);
    config configs[MAX_CONFIGS];
    if (!cl_case_read(path, test)) return FAILED;
    session *s = tool_alloc(sizeof *s);
    s->test = test;
    s->host = h;
    uint32_t count = make_configs(h->options, test, configs), skipped = 0;
    for (uint32_t i = 0; i < count; i++) {
        s->config = &configs[i];
        s->reports_skips = i == 0;
        const char *reason = run_config(s);
        if (!reason) continue;
        if (skipped++ == 0) say_skipped(s, NULL, reason);
    }
    int result = s->failed ? FAILED : skipped == count ? SKIPPED : PASSED;
    free_session(s);
    return result;
}

/* ---- all files ---- */

/* Kernels compiled by another build of quern may differ: the cache's folder is named by the contents of this
   very program, which holds the library. */
static const char *cache_folder(const char *parent) {
    unsigned char *program;
    size_t size, length = strlen(parent) + 24;
    char *folder = tool_alloc(length);
    const char *error = tool_file_read("/proc/self/exe", &program, &size);
    if (error) exit(tool_fail(2, "/proc/self/exe: %s", error));
    unsigned long long hash = 0xcbf29ce484222325; /* FNV-1a */
    for (size_t i = 0; i < size; i++) hash = (hash ^ program[i]) * 0x100000001b3;
    free(program);
    mkdir(parent, 0777);
    snprintf(folder, length, "%s/%016llx", parent, hash);
    return folder;
}

/* All files: what the processes that run them (in copies of it) and the caller know. */
typedef struct suite {
    const options *options;
    host host;
    unsigned counts[3]; /* passed, failed, skipped */
    unsigned long long not_checked;
    struct slow {
        const char *name;
        unsigned ms;
    } slowest[MAX_SLOWEST];
} suite;

static bool is_good(int status) { return status == PASSED || status == SKIPPED; }

static void open_host(void *user) {
    suite *all = user;
    host *h = &all->host;
    alarm(all->options->seconds);
    pthread_mutex_init(&h->printed.lock, NULL);
    if (all->options->device && all->options->batch > 1) h->context = open_context(h, false, &h->device);
}

static int run_test(void *user, size_t index, bool last) {
    suite *all = user;
    alarm(all->options->seconds);
    int status = run_file(&all->host, all->options->paths[index]);
    /* A device that a kernel has broken is not for the next one. */
    if (last || !is_good(status)) qn_context_destroy(all->host.context);
    alarm(0); /* it may wait long for its next file */
    return status;
}

/* Why things were skipped, each reason once with its number, for the summary. */
typedef struct reason {
    char text[200];
    unsigned count;
} reason;

static reason reasons[MAX_REASONS];

static void count_reason(const char *line) {
    const char *text = strstr(line, ": skipped: ");
    if (!text || line[0] != ' ' || text > line + strcspn(line, "\n")) return;
    text += strlen(": skipped: ");
    size_t length = strcspn(text, "\n");
    for (unsigned i = 0; i < MAX_REASONS; i++) {
        reason *r = &reasons[i];
        if (r->count && (strlen(r->text) != length || memcmp(r->text, text, length) != 0)) continue;
        if (!r->count++) snprintf(r->text, sizeof r->text, "%.*s", (int)length, text);
        return;
    }
}

static void count_not_checked(suite *all, const char *line) {
    unsigned long long count;
    int length = 0;
    const char *colon = strchr(line, ':');
    if (line[0] == ' ' && colon && sscanf(colon, NOT_CHECKED "%n", &count, &length) == 1 && length)
        all->not_checked += count;
}

static const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void note_time(suite *all, const char *name, unsigned ms) {
    struct slow one = {name, ms};
    for (unsigned i = 0; i < MAX_SLOWEST; i++) {
        struct slow *at = &all->slowest[i], other = *at;
        if (one.ms <= at->ms) continue;
        *at = one;
        one = other;
    }
}

/* Nothing is held back, as the run may be cut off. */
static void report(void *user, const pool_result *r) {
    static const char *const words[] = {"ok  ", "FAIL", "skip"};
    suite *all = user;
    int result = r->status == PASSED ? 0 : r->status == SKIPPED ? 2 : 1;
    const char *name = file_name(all->options->paths[r->index]);
    bool show = !all->options->quiet || result == 1;
    all->counts[result]++;
    note_time(all, name, r->ms);
    if (show) printf(r->ms ? "%s  %s  %u ms\n" : "%s  %s\n", words[result], name, r->ms);
    if (r->status == -SIGALRM)
        printf("      did not end within %u seconds\n", all->options->seconds);
    else if (r->status < 0)
        printf("      ended by signal %d\n", -r->status);
    for (const char *line = r->output; *line;) {
        size_t length = strcspn(line, "\n");
        count_reason(line);
        count_not_checked(all, line);
        if (show) printf("%.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    fflush(stdout);
}

static void report_bad_end(void *user, const pool_result *r) {
    const suite *all = user;
    printf("FAIL  a process, its context destroyed, at exit behind its last file (%s): ",
           file_name(all->options->paths[r->index]));
    if (r->status < 0)
        printf("ended by signal %d (%s)\n", -r->status, strsignal(-r->status));
    else
        printf("exit status %d\n", r->status);
    if (r->output[0]) printf("      %s\n", r->output);
    fflush(stdout);
}

static int run_files(const options *o) {
    suite all = {.options = o, .host = {.options = o}};
    pool_desc desc = {.count = o->num_paths,
                      .jobs = o->jobs,
                      .batch = o->batch,
                      .user = &all,
                      .open = open_host,
                      .run = run_test,
                      .good = is_good,
                      .done = report,
                      .bad_end = report_bad_end};
    int bad_ends = pool_run(&desc);
    if (bad_ends < 0) return tool_fail(2, "cannot start a process");
    if (bad_ends) printf("FAIL  %d processes ended badly when all their files had passed\n", bad_ends);
    printf("%u passed, %u failed, %u skipped\n", all.counts[0], all.counts[1], all.counts[2]);
    if (all.not_checked)
        printf("  %llu values not checked: the device flushes denormal floats\n", all.not_checked);
    for (unsigned i = 0; i < MAX_REASONS && reasons[i].count; i++)
        printf("  skipped %u times: %s\n", reasons[i].count, reasons[i].text);
    for (unsigned i = 0; i < MAX_SLOWEST && all.slowest[i].ms && !o->quiet; i++)
        printf("  %6u ms: %s\n", all.slowest[i].ms, all.slowest[i].name);
    return bad_ends > 0 || all.counts[1] > 0;
}

/* ---- command line ---- */

static void add_path(options *o, const char *path) {
    o->paths = realloc(o->paths, (o->num_paths + 1) * sizeof *o->paths);
    if (!o->paths) exit(tool_fail(2, "out of memory"));
    o->paths[o->num_paths++] = path;
}

static int is_kernel_file(const struct dirent *entry) {
    return tool_ends_with(entry->d_name, ".cl") || tool_ends_with(entry->d_name, ".wgsl");
}

static void add_folder(options *o, const char *folder) {
    struct dirent **entries;
    int count = scandir(folder, &entries, is_kernel_file, alphasort);
    if (count < 0) exit(tool_fail(2, "%s cannot be read", folder));
    for (int i = 0; i < count; i++) {
        size_t size = strlen(folder) + strlen(entries[i]->d_name) + 2;
        char *path = tool_alloc(size);
        snprintf(path, size, "%s/%s", folder, entries[i]->d_name);
        if (o->shards == 0 || (unsigned)i % o->shards == o->shard) add_path(o, path);
        free(entries[i]);
    }
    free(entries);
}

static void usage(void) {
    puts(
        "usage: cl_runner [options] FOLDER|FILE.cl...\n"
        "  --device NAME   run on this device only; exit status 77 when it is not there\n"
        "  --only TEXT     only configurations whose name contains it, such as vm or 'cpu, full'; several "
        "add up\n"
        "  --cache DIR     keep compiled kernels there\n"
        "  --shard I/N     only the I-th (from 0) of N parts of a folder\n"
        "  -j N            files at a time\n"
        "  --batch N       files that a process runs, with --device in one context: 1, on other devices than "
        "the CPU 16\n"
        "  --seconds N     a file may take: 120\n"
        "  --packed        pack each program (qn_program_pack) and load that\n"
        "  --safe          programs whose accesses are kept inside\n"
        "  --loop-budget N and whose loops go round so often at most\n"
        "  --soft-f64      doubles made of integers where the device has none (-qn-soft-f64)\n"
        "  --quiet         print only what failed");
    exit(2);
}

static void add_only(options *o, const char *text) {
    if (o->num_only == MAX_ONLY) usage();
    o->only[o->num_only++] = text;
}

static const char *value_of(int argc, char **argv, int *i) {
    if (++*i == argc) usage();
    return argv[*i];
}

static unsigned number_of(int argc, char **argv, int *i) {
    unsigned number = (unsigned)strtoul(value_of(argc, argv, i), NULL, 10);
    if (number == 0) usage();
    return number;
}

static void parse(int argc, char **argv, options *o) {
    for (int i = 1; i < argc; i++) {
        struct stat info;
        if (strcmp(argv[i], "--device") == 0)
            o->device = value_of(argc, argv, &i);
        else if (strcmp(argv[i], "--only") == 0)
            add_only(o, value_of(argc, argv, &i));
        else if (strcmp(argv[i], "--cache") == 0)
            o->cache = value_of(argc, argv, &i);
        else if (strcmp(argv[i], "--packed") == 0)
            o->packed = true;
        else if (strcmp(argv[i], "--safe") == 0)
            o->safe = true;
        else if (strcmp(argv[i], "--soft-f64") == 0)
            o->soft_f64 = true;
        else if (strcmp(argv[i], "--loop-budget") == 0 && i + 1 < argc)
            o->loop_budget = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--quiet") == 0)
            o->quiet = true;
        else if (strcmp(argv[i], "-j") == 0)
            o->jobs = number_of(argc, argv, &i);
        else if (strcmp(argv[i], "--batch") == 0)
            o->batch = number_of(argc, argv, &i);
        else if (strcmp(argv[i], "--seconds") == 0)
            o->seconds = number_of(argc, argv, &i);
        else if (strcmp(argv[i], "--shard") == 0) {
            if (sscanf(value_of(argc, argv, &i), "%u/%u", &o->shard, &o->shards) != 2) usage();
        } else if (argv[i][0] == '-')
            usage();
        else if (stat(argv[i], &info) == 0 && S_ISDIR(info.st_mode))
            add_folder(o, argv[i]);
        else
            add_path(o, argv[i]);
    }
    if (o->num_paths == 0) usage();
    bool on_cpu = !o->device || strncmp(o->device, "cpu", 3) == 0;
    if (o->batch == 0) o->batch = on_cpu ? 1 : DEVICE_BATCH;
}

/* A process of its own asks for the device, because a driver does not survive the forks to come. */
static bool device_is_missing(const options *o) {
    if (!o->device) return false;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        qn_context *context = NULL;
        qn_device *device = NULL;
        qn_status status = qn_context_create(NULL, &context);
        if (!status) status = qn_device_get(context, o->device, &device);
        if (status) printf("skipped: %s\n", qn_error_message(context));
        fflush(stdout);
        _exit(status == QN_ERROR_NO_DEVICE ? SKIPPED : PASSED);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED;
}

/* What the leak sanitizer asks, where there is one: the runner's own memory lasts until its processes end. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:tool_alloc\nleak:cl_case_read\nleak:add_folder\nleak:cache_folder\n";
}

int main(int argc, char **argv) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    options o = {.jobs = processors > 0 ? (unsigned)processors : 1, .seconds = SECONDS_A_FILE};
    parse(argc, argv, &o);
    if (device_is_missing(&o)) return SKIPPED;
    if (o.cache) o.cache = cache_folder(o.cache);
    int result = run_files(&o);
    free(o.paths);
    return result;
}
