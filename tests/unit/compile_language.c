/* The language through the whole chain: each case is a kernel, compiled at every level with the verifier on
   and run by the VM; what it leaves in `out` is compared with the numbers given. Eight work-items in groups
   of four; `in` holds 1.5, 2.5, 3.5, ... */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <unistd.h>

#include "compile.h"
#include "vm/vm.h"

enum { ITEMS = 8, LOCAL = 4, OUT = 64, IN = 64, LOCAL_BYTES = 64 << 10 };

typedef struct language_case {
    const char *name;
    const char *body;     /* of `kernel void k(global int *out, global float *in)`; "!": a whole file */
    const char *expected; /* the first numbers of out */
} language_case;

static const language_case cases[] = {
#include "compile_language_cases.h"
};

/* ---- running ---- */

typedef struct machine {
    int32_t out[OUT];
    float in[IN];
} machine;

static void reset(machine *m) {
    memset(m->out, 0, sizeof m->out);
    for (int i = 0; i < IN; i++) m->in[i] = 1.5f + (float)i;
}

typedef struct group_memory {
    unsigned char *local, *scratch;
} group_memory;

static group_memory memory_new(uint64_t scratch_size) {
    group_memory memory = {
        aligned_alloc(QN__CPU_ALIGN, LOCAL_BYTES),
        aligned_alloc(QN__CPU_ALIGN, (size_t)(scratch_size / QN__CPU_ALIGN + 2) * QN__CPU_ALIGN)};
    memset(memory.local, 0xa5, LOCAL_BYTES);
    return memory;
}

static void memory_free(group_memory *memory) {
    free(memory->local);
    free(memory->scratch);
}

static qn_cpu_launch launch_of(void *const *args) {
    return (qn_cpu_launch){.work_dim = 1,
                           .global_size = {ITEMS, 1, 1},
                           .local_size = {LOCAL, 1, 1},
                           .num_groups = {ITEMS / LOCAL, 1, 1},
                           .args = (const unsigned char *)args};
}

static void launch_vm(const qn__compile_result *result, const qn__kernel_info *kernel, machine *m,
                      const char *name) {
    qn__arena arena;
    jmp_buf escape;
    qn__arena_init(&arena, NULL, 0);
    arena.escape = &escape;
    if (setjmp(escape)) fail_msg("%s: out of memory", name);
    const char *error = NULL;
    qn__vm_program *program = qn__vm_prepare_named(&arena, result->module, kernel->name, 4, &error);
    if (!program) fail_msg("%s: the VM refuses: %s", name, error);
    void *args[2] = {m->out, m->in};
    qn_cpu_launch launch = launch_of(args);
    group_memory memory = memory_new(qn__vm_scratch_size(program, LOCAL));
    const char *problem =
        qn__vm_run(program, &launch, 0, ITEMS / LOCAL, 0, 0, memory.local, memory.scratch, 10000000);
    memory_free(&memory);
    qn__arena_free(&arena);
    if (problem) fail_msg("%s: %s", name, problem);
}

/* The text as a loaded shared object; the file is gone again when it is loaded. */
static void *load_text(const qn__compile_result *result, const char *name) {
    char base[] = "/tmp/quern-test-XXXXXX", path[64], command[512];
    assert_non_null(mkdtemp(base));
    snprintf(path, sizeof path, "%s/k.c", base);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(result->text, 1, result->text_size, file), result->text_size);
    fclose(file);
    snprintf(command, sizeof command,
             "%s -w -std=gnu11 -shared -fPIC -ffp-contract=off -fno-strict-aliasing -o %s/k.so %s/k.c -lm",
             getenv("CC") ? getenv("CC") : "cc", base, base);
    if (system(command) != 0) fail_msg("%s: the compiler refused:\n%s", name, result->text);
    snprintf(path, sizeof path, "%s/k.so", base);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) fail_msg("%s: %s", name, dlerror());
    snprintf(command, sizeof command, "rm -rf %s", base);
    assert_int_equal(system(command), 0);
    return handle;
}

static void launch_c(const qn__compile_result *result, machine *m, const char *name) {
    const qn__kernel_info *kernel = &result->info.kernels[result->info.num_kernels - 1];
    void *handle = load_text(result, name);
    qn_cpu_kernel *function;
    *(void **)&function = dlsym(handle, kernel->symbol);
    assert_non_null(function);
    void *args[2] = {m->out, m->in};
    qn_cpu_launch launch = launch_of(args);
    group_memory memory = memory_new(kernel->scratch_fixed + kernel->scratch_per_item * LOCAL);
    function(&launch, 0, ITEMS / LOCAL, 0, 0, memory.local, memory.scratch);
    memory_free(&memory);
    dlclose(handle);
}

static char *whole_source(const char *body) {
    size_t size = strlen(body) + 256;
    char *source = malloc(size);
    if (*body == '!')
        snprintf(source, size, "%s", body + 1);
    else
        snprintf(source, size,
                 "kernel void k(global int *out, global float *in) {\nint i = get_global_id(0);\n%s\n}\n",
                 body);
    return source;
}

static void check_output(const language_case *test, const char *where, int level, const machine *m,
                         const char *dump) {
    const char *at = test->expected;
    for (int i = 0; *at; i++) {
        char *end;
        long expected = strtol(at, &end, 0);
        if (m->out[i] != (int32_t)expected)
            fail_msg("%s (%s, level %d): out[%d] is %d, not %ld\n%s", test->name, where, level, i,
                     (int)m->out[i], expected, dump);
        for (at = end; *at == ' '; at++) {
        }
    }
}

static void run_case(const language_case *test, qn__target_kind target, int level) {
    char *source = whole_source(test->body);
    qn__compile_request request = {.source = source,
                                   .name = test->name,
                                   .options = "-cl-std=CL3.0",
                                   .target.kind = target,
                                   .level = level,
                                   .verify = true,
                                   .target.sub_group_size = 4,
                                   .dump = ""};
    qn__compile_result result;
    if (qn__compile(&request, &result) != QN__COMPILE_OK)
        fail_msg("%s at level %d: %s\n%s", test->name, level, qn__compile_status_name(result.status),
                 result.log);
    assert_true(result.info.num_kernels >= 1);
    machine m;
    reset(&m);
    if (target == QN__TARGET_IR)
        launch_vm(&result, &result.info.kernels[result.info.num_kernels - 1], &m, test->name);
    else
        launch_c(&result, &m, test->name);
    check_output(test, target == QN__TARGET_IR ? "vm" : "c", level, &m, result.dump);
    qn__compile_free(&result);
    free(source);
}

static void run_levels(void **state) {
    const language_case *test = *state;
    for (int level = 0; level <= 2; level++) run_case(test, QN__TARGET_IR, level);
    for (int level = 0; level <= 2; level += 2) run_case(test, QN__TARGET_C, level);
}

int main(void) {
    enum { COUNT = sizeof cases / sizeof cases[0] };
    struct CMUnitTest tests[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        tests[i] = (struct CMUnitTest){
            .name = cases[i].name, .test_func = run_levels, .initial_state = (void *)(uintptr_t)&cases[i]};
    return _cmocka_run_group_tests("language", tests, COUNT, NULL, NULL);
}
