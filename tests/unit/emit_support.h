/* What the tests of the C target share: IR text to a loaded shared object, and a launch as the CPU device
   does it. */
#ifndef QN__TEST_EMIT_SUPPORT_H
#define QN__TEST_EMIT_SUPPORT_H

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "emit/cpu_abi.h"
#include "emit/emit.h"
#include "ir_support.h"
#include "util/file.h"

typedef struct emitted {
    qn__emit_result result;
    void *handle;
} emitted;

static const char *emit_read(qn__arena *arena, const char *path) {
    char *data;
    size_t size;
    const char *full = qn__arena_printf(arena, "%s/%s", QN__SOURCE_DIR, path);
    if (qn__file_read(arena->allocator, full, 0, &data, &size)) fail_msg("no %s", full);
    const char *text = qn__arena_strdup(arena, data);
    qn__release(arena->allocator, data);
    return text;
}

/* Compiles with all warnings as errors: the emitted text is clean. */
static emitted emit_compiled(qn__arena *arena, const char *ir, const qn__emit_options *options,
                             const char *flags) {
    emitted e = {0};
    ir_module *module = ir_parsed(arena, ir);
    const char *error = qn__ir_verify(arena, module);
    if (error) fail_msg("%s", error);
    qn__emitter_c.emit(arena, module, options, &e.result);
    assert_null(e.result.error);
    char base[] = "/tmp/quern-test-XXXXXX", name[64], command[512];
    assert_non_null(mkdtemp(base));
    snprintf(name, sizeof name, "%s/k.c", base);
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(e.result.text, 1, e.result.size, file), e.result.size);
    fclose(file);
    const char *cc = getenv("CC") ? getenv("CC") : "cc";
    snprintf(command, sizeof command,
             "%s -Wall -Werror -std=gnu11 -shared -fPIC -fno-math-errno -fno-trapping-math -ffp-contract=off "
             "-fno-strict-aliasing %s -o %s/k.so %s/k.c -lm",
             cc, flags, base, base);
    if (system(command) != 0) fail_msg("the compiler refused:\n%s", e.result.text);
    snprintf(name, sizeof name, "%s/k.so", base);
    e.handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!e.handle) fail_msg("%s", dlerror());
    snprintf(command, sizeof command, "rm -rf %s", base);
    assert_int_equal(system(command), 0);
    return e;
}

typedef struct launch_sizes {
    uint64_t global[3], local[3], offset[3];
} launch_sizes;

static int32_t print_nothing(void *user, const char *format, const unsigned char *values, uint64_t size) {
    (void)user, (void)format, (void)values, (void)size;
    return 0;
}

static const qn__kernel_info *emitted_kernel(const emitted *e, const char *name) {
    for (uint32_t i = 0; i < e->result.info.num_kernels; i++) {
        if (!strcmp(e->result.info.kernels[i].name, name)) return &e->result.info.kernels[i];
    }
    fail_msg("no kernel %s", name);
    return NULL;
}

/* Runs a whole NDRange; `args` is the argument block. */
static void emit_launch(const emitted *e, const char *name, launch_sizes sizes, const void *args,
                        const qn_cpu_services *services, uint64_t local_bytes) {
    static const qn_cpu_services quiet = {NULL, print_nothing};
    const qn__kernel_info *kernel = emitted_kernel(e, name);
    qn_cpu_launch launch = {.work_dim = 3, .args = args, .services = services ? services : &quiet};
    uint64_t items = 1;
    for (int d = 0; d < 3; d++) {
        launch.global_size[d] = sizes.global[d] ? sizes.global[d] : 1;
        launch.local_size[d] = sizes.local[d] ? sizes.local[d] : 1;
        launch.global_offset[d] = sizes.offset[d];
        launch.num_groups[d] = (launch.global_size[d] + launch.local_size[d] - 1) / launch.local_size[d];
        items *= launch.local_size[d];
    }
    union {
        void *object;
        qn_cpu_kernel *function;
    } symbol = {dlsym(e->handle, kernel->symbol)};
    assert_non_null(symbol.object);
    size_t local_size = (size_t)((kernel->static_local + local_bytes) / QN__CPU_ALIGN + 1) * QN__CPU_ALIGN;
    size_t scratch_size = (size_t)(kernel->scratch_fixed + kernel->scratch_per_item * items);
    scratch_size = (scratch_size / QN__CPU_ALIGN + 1) * QN__CPU_ALIGN;
    unsigned char *local = aligned_alloc(QN__CPU_ALIGN, local_size);
    unsigned char *scratch = aligned_alloc(QN__CPU_ALIGN, scratch_size);
    assert_non_null(local);
    assert_non_null(scratch);
    for (uint64_t z = 0; z < launch.num_groups[2]; z++) {
        for (uint64_t y = 0; y < launch.num_groups[1]; y++) {
            memset(local, 0xcd, local_size);
            memset(scratch, 0xcd, scratch_size);
            symbol.function(&launch, 0, launch.num_groups[0], y, z, local, scratch);
        }
    }
    free(local);
    free(scratch);
}

#endif
