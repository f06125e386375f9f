/* What a CUDA device is given for matrix fragments, run on the interpreter: the kernels of tests/cl are compiled to words of
   registers, mma and ldmatrix, as for compute capability 7.5 and 9.0, and count what is wrong. */
#include "vm_support.h"

#include "compile.h"
#include "util/file.h"

enum { ITEMS = 32, FAULT_WORDS = 64, LOCAL_BYTES = 1 << 16, STEPS = 10000000 };

static const struct {
    const char *file;
    bool before_80; /* it has words there, too */
    bool is_double; /* ldmatrix loads none; the products of capability 8.0 are others than those of 9.0 */
} files[] = {{"half_float", true, false}, {"half_half", true, false}, {"elements", true, false},
             {"float", false, false},     {"char", false, false},     {"small_floats", false, false},
             {"double", false, true}};

/* A safe kernel takes the bytes of its buffer, and where to tell what it accesses outside of it. */
static void run_kernel(const qn__compile_result *result, const qn__kernel_info *kernel, const char *name) {
    qn__arena arena;
    jmp_buf escape;
    qn__arena_init(&arena, NULL, 0);
    if (setjmp(escape)) fail_msg("out of memory");
    arena.escape = &escape;
    const char *error = NULL;
    int32_t wrong[ITEMS];
    memset(wrong, 0xff, sizeof wrong);
    qn__vm_program *program = qn__vm_prepare_named(&arena, result->module, kernel->name, ITEMS, &error);
    if (!program) fail_msg("%s: %s: %s", name, kernel->name, error);
    uint32_t faults[FAULT_WORDS] = {0};
    const uint64_t args[] = {(uintptr_t)wrong, sizeof wrong, (uintptr_t)faults};
    const qn_cpu_launch launch = {.work_dim = 1,
                                  .global_size = {ITEMS, 1, 1},
                                  .local_size = {ITEMS, 1, 1},
                                  .num_groups = {1, 1, 1},
                                  .args = (const unsigned char *)args};
    unsigned char *scratch = vm_allocate(qn__vm_scratch_size(program, ITEMS)),
                  *local = vm_allocate(LOCAL_BYTES);
    error = qn__vm_run(program, &launch, 0, 1, 0, 0, local, scratch, STEPS);
    free(local);
    free(scratch);
    qn__arena_free(&arena);
    if (error) fail_msg("%s: %s: %s", name, kernel->name, error);
    for (int i = 0; i < FAULT_WORDS; i++)
        if (faults[i]) fail_msg("%s: %s: an access is called outside", name, kernel->name);
    for (int i = 0; i < ITEMS; i++)
        if (wrong[i])
            fail_msg("%s: %s: %d elements of work-item %d are wrong", name, kernel->name, wrong[i], i);
}

static void run_file(size_t file_index, uint32_t arch, int level, bool safe) {
    const char *name = files[file_index].file;
    char path[512];
    snprintf(path, sizeof path, "%s/tests/cl/matrix_%s.cl", QN__SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    static char text[1 << 16];
    assert_non_null(file);
    const size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = 0;
    static const char *const folders[] = {QN__SOURCE_DIR "/tests/cl"};
    const qn__compile_request request = {
        .source = text,
        .include_dirs = folders,
        .num_include_dirs = 1,
        .target = {.kind = QN__TARGET_IR, .arch = arch, .has_mma = true},
        .level = level,
        .safe = safe,
        .verify = true,
        .dump = "",
    };
    qn__compile_result result;
    if (qn__compile(&request, &result) != QN__COMPILE_OK) fail_msg("%s: %s", name, result.log);
    const bool multiplies = strstr(text, "PRODUCT") != NULL;
    if (strstr(result.dump, "sub_group_shuffle")) fail_msg("%s, %u: plain elements", name, (unsigned)arch);
    if (multiplies && !strstr(result.dump, " = mma ")) fail_msg("%s, %u: no mma", name, (unsigned)arch);
    const bool loads = strstr(result.dump, " = ldmatrix ");
    if (multiplies && !safe && !loads && !files[file_index].is_double)
        fail_msg("%s, %u: no ldmatrix", name, (unsigned)arch);
    if (safe && loads) fail_msg("%s, %u: an ldmatrix, which nothing checks", name, (unsigned)arch);
    assert_true(result.info.num_kernels > 0);
    for (uint32_t i = 0; i < result.info.num_kernels; i++) run_kernel(&result, &result.info.kernels[i], name);
    qn__compile_free(&result);
}

static void words_are_multiplied_right(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (int level = 0; level <= 2; level += 2) {
            run_file(i, 90, level, false);
            if (files[i].is_double) run_file(i, 80, level, false);
            if (files[i].before_80) run_file(i, 75, level, false);
        }
}

static void safe_kernels_check_each_load(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) run_file(i, 90, 2, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(words_are_multiplied_right),
                                       cmocka_unit_test(safe_kernels_check_each_load)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
