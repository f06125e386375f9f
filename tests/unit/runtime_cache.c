/* What the disk cache keeps for a GPU's code: a fake device, the null device compiling to each GPU target, is given
   the same by a cached program as by a fresh one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "backend/common/common.h"
#include "emit/emit.h"
#include "runtime/runtime.h"
#include "util/file.h"

static const char source[] =
    "constant float table[4] = {1, 2, 3, 4};\n"
    "kernel __attribute__((reqd_work_group_size(8, 1, 1)))\n"
    "void first(global const float4 *restrict x, local int *tmp, local float4 *more, uchar c, global float "
    "*out) {\n"
    "    size_t i = get_local_id(0);\n"
    "    tmp[i] = c;\n"
    "    more[i] = x[i];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    out[get_global_id(0)] = more[7 - i].x + tmp[7 - i] + table[i & 3];\n"
    "}\n"
    "kernel void second(global int *out) {\n"
    "    out[get_global_id(0)] = (int)get_num_groups(0);\n"
    "    printf(\"%s %d\\n\", \"text\", out[0]);\n"
    "}\n"
    "kernel void third(global double *out) { local double sum[20]; sum[get_local_id(0) % 20] = 1;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE); out[0] = sum[0]; }\n";

/* What code_load was given. */
typedef struct given {
    qn__code_info *info;
    unsigned char *constants;
    size_t constants_size;
    uint32_t relocations[64];
    size_t num_relocations;
    bool from_text;
} given;

typedef struct fixture {
    qn_backend backend;
    qn__code_target target;
    char dir[64];
    given last;
    bool refuses_binaries;
} fixture;

static fixture *f;
static const qn__allocator plain;

static void forget(given *g) {
    qn__release(&plain, g->info);
    free(g->constants);
    *g = (given){0};
}

static void fake_target(const qn__gpu *gpu, qn__code_target *target) {
    (void)gpu;
    *target = f->target;
}

static qn_status fake_code_load(qn__gpu *gpu, const qn__code_source *from, qn__code **code, char *why) {
    char *data = NULL;
    size_t size;
    if (!from->text && f->refuses_binaries) return QN_ERROR_COMPILE;
    if (from->text)
        assert_int_equal(qn__file_write_atomic(from->binary_path, from->text, from->text_size), 0);
    else
        assert_int_equal(qn__file_read(&plain, from->binary_path, 1 << 20, &data, &size), 0);
    qn__release(&plain, data);
    forget(&f->last);
    f->last.info = qn__code_info_copy(&plain, from);
    f->last.from_text = from->text != NULL;
    f->last.constants_size = from->constants_size;
    f->last.constants = malloc(from->constants_size + 1);
    assert_non_null(f->last.constants);
    if (from->constants_size) memcpy(f->last.constants, from->constants, from->constants_size);
    f->last.num_relocations = from->num_relocations;
    assert_true(from->num_relocations <= 64);
    for (size_t i = 0; i < from->num_relocations; i++) f->last.relocations[i] = from->relocations[i];
    return qn__backend_null.code_load(gpu, from, code, why);
}

static void compare_args(const qn__compile_arg *a, const qn__compile_arg *b) {
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->type_name, b->type_name);
    assert_int_equal(a->arg_kind, b->arg_kind);
    assert_int_equal(a->space, b->space);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->element_kind, b->element_kind);
    assert_int_equal(a->lanes, b->lanes);
    assert_int_equal(a->is_signed, b->is_signed);
    assert_int_equal(a->size, b->size);
    assert_int_equal(a->align, b->align);
    assert_int_equal(a->pointee_size, b->pointee_size);
    assert_int_equal(a->offset, b->offset);
}

static void compare_kernels(const qn__code_kernel *a, const qn__code_kernel *b) {
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->symbol, b->symbol);
    assert_int_equal(a->static_local, b->static_local);
    assert_int_equal(a->scratch_per_item, b->scratch_per_item);
    assert_int_equal(a->scratch_fixed, b->scratch_fixed);
    assert_int_equal(a->uses_sync, b->uses_sync);
    assert_int_equal(a->uses_printf, b->uses_printf);
    assert_int_equal(a->guarded, b->guarded);
    assert_int_equal(a->args_size, b->args_size);
    assert_int_equal(a->params_size, b->params_size);
    assert_int_equal(a->required_sub_group_size, b->required_sub_group_size);
    assert_memory_equal(a->reqd_local, b->reqd_local, sizeof a->reqd_local);
    assert_int_equal(a->num_hidden, b->num_hidden);
    for (uint32_t i = 0; i < a->num_hidden; i++)
        assert_memory_equal(&a->hidden[i], &b->hidden[i], sizeof a->hidden[i]);
    assert_int_equal(a->num_local_units, b->num_local_units);
    for (uint32_t i = 0; i < a->num_local_units; i++) assert_int_equal(a->local_unit[i], b->local_unit[i]);
    assert_int_equal(a->num_args, b->num_args);
    for (uint32_t i = 0; i < a->num_args; i++) compare_args(&a->args[i], &b->args[i]);
}

static void compare(const given *a, const given *b) {
    assert_int_equal(a->info->num_kernels, b->info->num_kernels);
    for (uint32_t i = 0; i < a->info->num_kernels; i++)
        compare_kernels(&a->info->kernels[i], &b->info->kernels[i]);
    assert_int_equal(a->info->num_strings, b->info->num_strings);
    for (uint32_t i = 0; i < a->info->num_strings; i++) {
        assert_int_equal(a->info->strings[i] != NULL, b->info->strings[i] != NULL);
        if (a->info->strings[i]) assert_string_equal(a->info->strings[i], b->info->strings[i]);
    }
    assert_int_equal(a->constants_size, b->constants_size);
    assert_memory_equal(a->constants, b->constants, a->constants_size);
    assert_int_equal(a->num_relocations, b->num_relocations);
    assert_memory_equal(a->relocations, b->relocations, sizeof a->relocations);
}

/* Builds the program in a new context; true when it came from the cache. */
static bool build(void) {
    qn_context *context;
    qn_device *device;
    qn_program *program;
    qn_program_times times;
    assert_int_equal(qn_context_create(&(qn_context_desc){.cache_dir = f->dir}, &context), QN_OK);
    assert_int_equal(qn_device_get(context, "no such device", &device), QN_ERROR_NO_DEVICE);
    for (uint32_t i = 0; i < context->num_devices; i++)
        if (context->devices[i]->backend == &qn__backend_null) context->devices[i]->backend = &f->backend;
    assert_int_equal(qn_device_get(context, "null", &device), QN_OK);
    qn_status status = qn_program_create(device, &(qn_program_desc){.source = source}, &program);
    if (status) fail_msg("%s", qn_error_message(context));
    assert_int_equal(qn_program_get_times(program, &times), QN_OK);
    assert_int_equal(qn_program_kernel_count(program), 3);
    assert_int_equal(times.from_cache, !f->last.from_text);
    qn_context_destroy(context);
    return times.from_cache;
}

static int setup(void **state) {
    f = calloc(1, sizeof *f);
    if (!f) return -1;
    *state = f;
    f->backend = qn__backend_null;
    f->backend.target = fake_target;
    f->backend.code_load = fake_code_load;
    f->backend.code_extension = ".bin";
    snprintf(f->dir, sizeof f->dir, "/tmp/quern-cache-XXXXXX");
    return mkdtemp(f->dir) ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", f->dir);
    int result = system(command);
    forget(&f->last);
    free(f);
    return result;
}

static void both_are_the_same(int target) {
    f->target = (qn__code_target){.target = target};
    assert_false(build());
    given fresh = f->last;
    f->last = (given){0};
    assert_non_null(fresh.info->kernels[0].symbol);
    assert_true(fresh.info->kernels[1].uses_printf);
    assert_true(fresh.info->kernels[0].params_size >= fresh.info->kernels[0].args_size);
    assert_true(build());
    compare(&fresh, &f->last);
    forget(&fresh);
}

static void ptx_is_kept_whole(void **state) {
    (void)state;
    both_are_the_same(QN__TARGET_PTX);
}

static void opencl_c_is_kept_whole(void **state) {
    (void)state;
    both_are_the_same(QN__TARGET_CLC);
}

/* The same driver may offer devices of different ability: each has its own code. */
static void the_whole_target_is_in_the_key(void **state) {
    (void)state;
    f->target = (qn__code_target){.target = QN__TARGET_PTX};
    assert_false(build());
    f->target.arch = 90;
    assert_false(build());
    assert_true(build());
    f->target.device_lacks = QN__NO_FLOAT_ATOMIC_ADD;
    assert_false(build());
    assert_true(build());
    f->target.target = QN__TARGET_CLC;
    assert_false(build());
    f->target = (qn__code_target){.target = QN__TARGET_PTX};
    assert_true(build());
}

/* Files are named by what their folder's lister knows; a driver that refuses its binary gets the text again. */
static void a_refused_binary_is_made_anew(void **state) {
    (void)state;
    f->target = (qn__code_target){.target = QN__TARGET_PTX};
    assert_false(build());
    f->refuses_binaries = true;
    assert_false(build());
    f->refuses_binaries = false;
    assert_true(build());
    char command[128];
    snprintf(command, sizeof command, "for x in %s/*.bin; do echo x >> $x; done", f->dir);
    assert_int_equal(system(command), 0);
    assert_false(build());
    assert_true(build());
}

/* A driver's own cache grows while a program runs, and is kept in its file. */
static void a_rewritten_binary_is_loaded(void **state) {
    (void)state;
    f->target = (qn__code_target){.target = QN__TARGET_PTX};
    f->backend.rewrites_code = true;
    assert_false(build());
    char command[128];
    snprintf(command, sizeof command, "for x in %s/*.bin; do echo x >> $x; done", f->dir);
    assert_int_equal(system(command), 0);
    assert_true(build());
    f->refuses_binaries = true; /* as when it is damaged */
    assert_false(build());
    f->refuses_binaries = false;
    assert_true(build());
    snprintf(command, sizeof command, "rm %s/*.bin", f->dir);
    assert_int_equal(system(command), 0);
    assert_false(build());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ptx_is_kept_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(opencl_c_is_kept_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(the_whole_target_is_in_the_key, setup, teardown),
        cmocka_unit_test_setup_teardown(a_refused_binary_is_made_anew, setup, teardown),
        cmocka_unit_test_setup_teardown(a_rewritten_binary_is_loaded, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
