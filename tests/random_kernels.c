/* Random kernels, the same on all ways to run them: the CPU device at each optimisation level against the
   interpreter, which is the definition; or another device against the interpreter with sub-groups of that device's
   size. A seed that fails prints how to see its source. */
#include <quern/quern.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compile.h"
#include "guarded.h"
#include "random_launch.h"
#include "vm/vm.h"

enum {
    BATCH = 8, /* kernels of a program and a process, if nothing else is said */
    MOST_BATCH = 64,
    TEXT_SIZE = 1 << 20,
    MOST_CONFIGS = 4,
    SECONDS_A_BATCH = 240,
    SKIPPED = 77,
    LOCAL_MEMORY = 64 << 10
};
enum { OUT_COUNT = RANDOM_OUT_COUNT };

typedef struct config {
    const char *name, *device;
    int opt_level;
    bool interpret;
} config;

/* The first tells the truth. */
static const config configs[] = {{"interpreter", "cpu", -1, true},
                                 {"cpu, not optimised", "cpu", -1, false},
                                 {"cpu, quick", "cpu", 1, false},
                                 {"cpu, full", "cpu", 0, false}};

typedef struct options {
    unsigned long long first, count;
    unsigned statements, features, batch;
    const char *compiler; /* of the CPU device */
    const char *device;   /* compare this device, at full optimisation, in place of the CPU's levels */
    const char *text;     /* a file */
    bool show, safe;
} options;

static const char help[] =
    "random_kernels: random OpenCL C on the CPU device at all levels, against the interpreter\n"
    "usage: random_kernels [--first SEED] [--count N] [--statements N] [--device NAME]\n"
    "                      [--compiler NAME] [--plain | --features N] [--show]\n"
    "  --first SEED     the first seed (1)\n"
    "  --count N        how many kernels (64)\n"
    "  --statements N   about how many statements a kernel has (40); fewer make a failure easier to read\n"
    "  --device NAME    compare this device with the interpreter\n"
    "  --compiler NAME  the C compiler of the CPU device\n"
    "  --plain          no doubles, no sub-groups, no returns before barriers\n"
    "  --features N     which of them, a sum: 1 doubles, 2 sub-groups, 4 returns before barriers, 8 generic "
    "pointers\n"
    "  --safe           safe programs, some of whose indices are out of range; no sub-groups\n"
    "  --batch N        kernels of a program and a process (8; at most 64): more save contexts\n"
    "  --show           print the source instead\n"
    "  --text FILE      with --count 1: FILE, in place of the seed's kernel, which it was\n";

/* ---- programs ---- */

static char *text_of(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = file ? calloc(1, TEXT_SIZE) : NULL;
    if (text && !fread(text, 1, TEXT_SIZE - 1, file)) {
        free(text);
        text = NULL;
    }
    if (file) fclose(file);
    if (!text) fprintf(stderr, "%s cannot be read\n", path);
    return text;
}

static char *source_of(const options *o, unsigned long long first, unsigned count) {
    if (o->text) return text_of(o->text);
    char *text = malloc(TEXT_SIZE), name[16];
    if (!text) return NULL;
    size_t length = (size_t)snprintf(text, TEXT_SIZE, "%s", random_prelude);
    for (unsigned i = 0; i < count && length; i++) {
        snprintf(name, sizeof name, "k%u", i);
        qn_range range = random_range(first + i);
        bool required = (first + i) / 4 % 2;
        length = random_kernel(text, TEXT_SIZE, name, first + i, o->statements, o->features,
                               required ? range.local : NULL, NULL);
    }
    if (!length) free(text);
    return length ? text : NULL;
}

static bool complain(qn_context *context, const config *c, const char *what) {
    const char *message = qn_error_message(context);
    printf("  %s: %s: %s\n", c->name, what, message[0] ? message : "failed");
    return false;
}

/* ---- one way to run a batch ---- */

static qn_status run_kernel(qn_device *device, qn_kernel *kernel, qn_range range, bool safe,
                            guarded *memory) {
    int32_t n = 29;
    qn_arg args[4];
    for (int i = 0; i < 3; i++) args[i] = qn_arg_buffer(memory[i].buffer);
    args[3] = qn_arg_bytes(&n, sizeof n);
    qn_status status = qn_launch(NULL, kernel, &range, args, 4);
    if (!status) status = qn_stream_wait(qn_device_stream(device), QN_FOREVER);
    return safe && status == QN_ERROR_KERNEL_FAILED ? QN_OK : status; /* it tells of an index out of range */
}

/* Nothing but the buffers may have changed. */
static bool are_intact(const guarded *memory) {
    for (int i = 0; i < 3; i++)
        if (!guarded_is_intact(&memory[i]))
            return printf("  memory around buffer %d was changed\n", i), false;
    return true;
}

static qn_status launch(qn_device *device, qn_program *program, unsigned index, unsigned long long seed,
                        bool safe, uint32_t *out) {
    int32_t ints[RANDOM_INPUTS];
    float floats[RANDOM_INPUTS];
    qn_kernel *kernel = NULL;
    guarded memory[3] = {{NULL}};
    random_inputs(ints, floats);
    memset(out, 0, OUT_COUNT * sizeof *out);
    char name[16];
    snprintf(name, sizeof name, "k%u", index);
    qn_status status = qn_kernel_create(program, name, &kernel);
    if (!status) status = guarded_create(device, out, OUT_COUNT * sizeof *out, &memory[0]);
    if (!status) status = guarded_create(device, ints, sizeof ints, &memory[1]);
    if (!status) status = guarded_create(device, floats, sizeof floats, &memory[2]);
    if (!status) status = run_kernel(device, kernel, random_range(seed), safe, memory);
    if (!status) status = qn_buffer_read(memory[0].buffer, 0, out, OUT_COUNT * sizeof *out);
    if (!status && !are_intact(memory)) status = QN_ERROR_KERNEL_FAILED;
    for (int i = 0; i < 3; i++) guarded_destroy(device, &memory[i]);
    qn_kernel_destroy(kernel);
    return status;
}

/* Runs all kernels of the batch into out[kernel]. */
static bool run_config(const options *o, const config *c, const char *text, unsigned long long first,
                       unsigned count, uint32_t (*out)[OUT_COUNT]) {
    qn_context_desc desc = {.disable_cache = true,
                            .cpu_threads = 1,
                            .cpu_compiler = c->interpret ? "none" : o->compiler,
                            .cpu_compile_first = true};
    qn_context *context = NULL;
    qn_device *device = NULL;
    qn_program *program = NULL;
    if (qn_context_create(&desc, &context)) return false;
    qn_program_desc program_desc = {.source = text,
                                    .path = "random.cl",
                                    .options = random_options,
                                    .opt_level = c->opt_level,
                                    .safe = o->safe};
    bool fine = qn_device_get(context, c->device, &device) == QN_OK || complain(context, c, "device");
    fine = fine &&
           (qn_program_create(device, &program_desc, &program) == QN_OK || complain(context, c, "program"));
    for (unsigned i = 0; i < count && fine; i++)
        fine =
            launch(device, program, i, first + i, o->safe, out[i]) == QN_OK || complain(context, c, "launch");
    qn_program_destroy(program);
    qn_context_destroy(context);
    return fine;
}

/* ---- the interpreter with another device's sub-groups ---- */

/* Sub-groups have as many work-items as the device has them in; what the device lacks is not asked for. */
static bool look_at_device(options *o, uint32_t *sub_group) {
    const char *text = "kernel void k(global uint *o) { o[get_global_id(0)] = get_max_sub_group_size(); }";
    enum { ITEMS = 128 }; /* in a smaller group than a sub-group, that is the size */
    const config c = {.name = o->device};
    qn_context_desc desc = {.disable_cache = true, .cpu_compile_first = true};
    qn_context *context = NULL;
    qn_device *device = NULL;
    qn_device_info info;
    qn_program *program = NULL;
    qn_kernel *kernel = NULL;
    qn_buffer *buffer = NULL;
    *sub_group = 32;
    if (qn_context_create(&desc, &context)) return false;
    qn_status status = qn_device_get(context, o->device, &device);
    if (!status) status = qn_device_get_info(device, &info);
    bool asks = !status && info.capabilities & QN_CAN_SUB_GROUPS;
    if (asks) status = qn_program_create(device, &(qn_program_desc){.source = text}, &program);
    if (asks && !status) status = qn_kernel_create(program, "k", &kernel);
    if (asks && !status) status = qn_buffer_create(device, &(qn_buffer_desc){.size = 4 * ITEMS}, &buffer);
    const qn_range range = {.global = {ITEMS}, .local = {ITEMS}};
    if (asks && !status) status = qn_launch(NULL, kernel, &range, QN_ARGS(buffer));
    if (asks && !status) status = qn_buffer_read(buffer, 0, sub_group, sizeof *sub_group);
    if (status)
        complain(context, &c, "sub-groups");
    else {
        if (!asks) o->features &= ~(unsigned)RANDOM_SUB_GROUPS;
        if (!(info.capabilities & QN_CAN_F64)) o->features &= ~(unsigned)RANDOM_F64;
        if (info.kind != QN_DEVICE_CUDA && info.kind != QN_DEVICE_CPU)
            o->features &= ~(unsigned)RANDOM_RETURN_BEFORE_BARRIER;
    }
    qn_context_destroy(context);
    return !status;
}

static const char *interpret_kernel(qn__vm_program *program, qn_range range, uint32_t *out) {
    static _Alignas(QN__CPU_ALIGN) unsigned char local[LOCAL_MEMORY];
    int32_t ints[RANDOM_INPUTS];
    float floats[RANDOM_INPUTS];
    uint64_t items = 1;
    random_inputs(ints, floats);
    memset(out, 0, OUT_COUNT * sizeof *out);
    const struct {
        void *out, *ints, *floats;
        int32_t n;
    } args = {out, ints, floats, 29};
    qn_cpu_launch launch = {.work_dim = range.global[1] ? 2 : 1, .args = (const unsigned char *)&args};
    for (int d = 0; d < 3; d++) {
        launch.global_size[d] = range.global[d] ? range.global[d] : 1;
        launch.local_size[d] = range.local[d] ? range.local[d] : 1;
        launch.num_groups[d] = (launch.global_size[d] - 1) / launch.local_size[d] + 1;
        items *= launch.local_size[d];
    }
    if (qn__vm_static_local(program) > LOCAL_MEMORY) return "too much local memory";
    unsigned char *scratch = aligned_alloc(
        QN__CPU_ALIGN, (size_t)(qn__vm_scratch_size(program, items) / QN__CPU_ALIGN + 1) * QN__CPU_ALIGN);
    const char *error = scratch ? NULL : "out of memory";
    for (uint64_t y = 0; y < launch.num_groups[1] && !error; y++)
        error = qn__vm_run(program, &launch, 0, launch.num_groups[0], y, 0, local, scratch, 0);
    free(scratch);
    return error;
}

/* An escape from the arena: out of memory. */
static const char *interpret_all(const qn__compile_result *compiled, qn__arena *arena,
                                 unsigned long long first, uint32_t sub_group, uint32_t (*out)[OUT_COUNT]) {
    jmp_buf escape;
    const char *error = NULL;
    arena->escape = &escape;
    if (setjmp(escape)) return "out of memory";
    for (uint32_t i = 0; i < compiled->info.num_kernels; i++) {
        qn__vm_program *program =
            qn__vm_prepare_named(arena, compiled->module, compiled->info.kernels[i].name, sub_group, &error);
        if (program) error = interpret_kernel(program, random_range(first + i), out[i]);
        if (error) return error;
    }
    return NULL;
}

static bool interpret(const char *text, unsigned long long first, uint32_t sub_group,
                      uint32_t (*out)[OUT_COUNT]) {
    const qn__compile_request request = {.source = text,
                                         .options = random_options,
                                         .target.kind = QN__TARGET_IR,
                                         .target.sub_group_size = sub_group};
    qn__compile_result result;
    qn__arena arena;
    qn__arena_init(&arena, NULL, 0);
    const char *error =
        qn__compile(&request, &result) ? result.log : interpret_all(&result, &arena, first, sub_group, out);
    if (error) printf("  interpreter: %s\n", error);
    qn__arena_free(&arena);
    qn__compile_free(&result);
    return !error;
}

/* ---- batches ---- */

static unsigned compare(const config *c, const options *o, unsigned long long seed, const uint32_t *expected,
                        const uint32_t *found) {
    for (unsigned i = 0; i < OUT_COUNT; i++) {
        if (expected[i] == found[i]) continue;
        printf("seed %llu: %s: work-item %u, slot %u: %08x, interpreter %08x (random_kernels --first %llu "
               "--count 1 --statements %u --features %u --show)\n",
               seed, c->name, i / RANDOM_OUT_SLOTS, i % RANDOM_OUT_SLOTS, found[i], expected[i], seed,
               o->statements, o->features);
        return 1;
    }
    return 0;
}

static unsigned run_batch(const options *wanted, unsigned long long first, unsigned count) {
    static uint32_t results[2][MOST_BATCH][OUT_COUNT];
    options own = *wanted;
    const options *o = &own;
    unsigned failures = 0;
    uint32_t sub_group;
    if (own.device && !look_at_device(&own, &sub_group)) return 1;
    char *text = source_of(o, first, count);
    config other = {o->device, o->device, 0, false};
    bool told = text && (o->device && !o->safe ? interpret(text, first, sub_group, results[0])
                                               : run_config(o, &configs[0], text, first, count, results[0]));
    if (!told) {
        printf("seeds from %llu: the interpreter did not run\n", first);
        free(text);
        return 1;
    }
    for (unsigned c = 1; c < (o->device ? 2 : sizeof configs / sizeof *configs); c++) {
        const config *config = o->device ? &other : &configs[c];
        if (!run_config(o, config, text, first, count, results[1])) {
            printf("seeds from %llu: %s did not run\n", first, config->name);
            failures++;
            continue;
        }
        for (unsigned i = 0; i < count; i++)
            failures += compare(config, o, first + i, results[0][i], results[1][i]);
    }
    free(text);
    return failures;
}

/* In a process of its own, so that a crash or a hang is one failure. */
static bool guarded_batch(const options *o, unsigned long long first, unsigned count) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS_A_BATCH);
        unsigned failures = run_batch(o, first, count);
        fflush(stdout);
        _exit(failures != 0);
    }
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) < 0) return false;
    if (WIFSIGNALED(status))
        printf("seeds %llu to %llu: signal %d\n", first, first + count - 1, WTERMSIG(status));
    return status == 0;
}

/* Asked in a process of its own, because a driver does not survive the forks to come. */
static bool device_is_missing(const char *name) {
    fflush(stdout);
    pid_t child = name ? fork() : -1;
    if (child == 0) {
        qn_context *context = NULL;
        qn_device *device = NULL;
        qn_status status = qn_context_create(NULL, &context);
        if (!status) status = qn_device_get(context, name, &device);
        if (status) printf("skipped: %s\n", qn_error_message(context));
        fflush(stdout);
        _exit(status == QN_ERROR_NO_DEVICE ? SKIPPED : 0);
    }
    int status = 0;
    if (child > 0) waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED;
}

int main(int argc, char **argv) {
    options o = {.first = 1, .count = 64, .statements = 40, .batch = BATCH, .features = RANDOM_EVERYTHING};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--show") == 0) {
            o.show = true;
        } else if (strcmp(argv[i], "--safe") == 0) {
            o.safe = true;
            o.features = (o.features | RANDOM_WILD) & ~(unsigned)RANDOM_SUB_GROUPS;
        } else if (strcmp(argv[i], "--plain") == 0) {
            o.features = 0;
        } else if (strcmp(argv[i], "--first") == 0) {
            o.first = strtoull(value, NULL, 0), i++;
        } else if (strcmp(argv[i], "--count") == 0) {
            o.count = strtoull(value, NULL, 0), i++;
        } else if (strcmp(argv[i], "--statements") == 0) {
            o.statements = (unsigned)strtoul(value, NULL, 0), i++;
        } else if (strcmp(argv[i], "--features") == 0) {
            o.features = (unsigned)strtoul(value, NULL, 0), i++;
        } else if (strcmp(argv[i], "--batch") == 0) {
            o.batch = (unsigned)strtoul(value, NULL, 0), i++;
        } else if (strcmp(argv[i], "--text") == 0) {
            o.text = value, i++;
        } else if (strcmp(argv[i], "--compiler") == 0) {
            o.compiler = value, i++;
        } else if (strcmp(argv[i], "--device") == 0) {
            o.device = value, i++;
        } else {
            fputs(help, strcmp(argv[i], "--help") == 0 ? stdout : stderr);
            return strcmp(argv[i], "--help") == 0 ? 0 : 2;
        }
    }
    if (o.statements < 4) o.statements = 4;
    if (o.batch < 1 || o.batch > MOST_BATCH) o.batch = BATCH;
    if (o.show) {
        char *text = source_of(&o, o.first, o.count < o.batch ? (unsigned)o.count : o.batch);
        if (text) fputs(text, stdout);
        free(text);
        return text ? 0 : 1;
    }
    if (device_is_missing(o.device)) return SKIPPED;
    bool fine = true;
    for (unsigned long long at = 0; at < o.count; at += o.batch) {
        unsigned count = o.count - at < o.batch ? (unsigned)(o.count - at) : o.batch;
        if (!guarded_batch(&o, o.first + at, count)) fine = false;
    }
    if (fine) printf("%llu random kernels from seed %llu: all the same\n", o.count, o.first);
    return fine ? 0 : 1;
}
