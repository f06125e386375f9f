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
#include "runtime/entry.h"
#include "runtime/runtime.h"
#include "util/file.h"
#include "util/folder.h"

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

/* What code_load was given: its description, as an entry has it. */
typedef struct given {
    char *info;
    size_t size;
    bool from_text;
} given;

typedef struct fixture {
    qn_backend backend;
    qn__target target;
    char dir[64];
    given last;
    bool refuses_binaries;
} fixture;

static fixture *f;
static const qn__allocator plain;

static void forget(given *g) {
    free(g->info);
    *g = (given){0};
}

static void keep(given *g, const qn__code_info *info) {
    qn__arena arena;
    jmp_buf escape;
    qn__arena_init(&arena, &plain, 0);
    arena.escape = &escape;
    if (setjmp(escape)) fail_msg("out of memory");
    qn__buf out;
    qn__buf_init(&out, &arena);
    qn__put_code_info(&out, info);
    g->info = malloc(out.len);
    assert_non_null(g->info);
    memcpy(g->info, out.data, g->size = out.len);
    qn__arena_free(&arena);
}

static void fake_target(const qn__gpu *gpu, qn__target *target) {
    (void)gpu;
    *target = f->target;
}

static qn_status fake_code_load(qn__gpu *gpu, const qn__code_source *from, qn__code **code, char *why) {
    char *data = NULL;
    size_t size;
    if (!from->text && f->refuses_binaries) return QN_ERROR_COMPILE;
    if (from->text)
        assert_int_equal(qn__private_write(from->binary_path, from->text, from->text_size), 0);
    else
        assert_int_equal(qn__file_read(&plain, from->binary_path, 1 << 20, &data, &size), 0);
    qn__release(&plain, data);
    forget(&f->last);
    keep(&f->last, from->info);
    f->last.from_text = from->text != NULL;
    return qn__backend_null.code_load(gpu, from, code, why);
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
    f->target = (qn__target){.kind = (qn__target_kind)target};
    assert_false(build());
    given fresh = f->last;
    f->last = (given){0};
    assert_true(build());
    assert_int_equal(fresh.size, f->last.size);
    assert_memory_equal(fresh.info, f->last.info, fresh.size);
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
    f->target = (qn__target){.kind = QN__TARGET_PTX};
    assert_false(build());
    f->target.arch = 90;
    assert_false(build());
    assert_true(build());
    f->target.lacks_float_atomic_add = true;
    assert_false(build());
    assert_true(build());
    f->target.kind = QN__TARGET_CLC;
    assert_false(build());
    f->target = (qn__target){.kind = QN__TARGET_PTX};
    assert_true(build());
}

/* Files are named by what their folder's lister knows; a driver that refuses its binary gets the text again. */
static void a_refused_binary_is_made_anew(void **state) {
    (void)state;
    f->target = (qn__target){.kind = QN__TARGET_PTX};
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
    f->target = (qn__target){.kind = QN__TARGET_PTX};
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
