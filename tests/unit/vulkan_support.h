/* What the tests of the Vulkan backend share: allocations that are counted and made to fail, one kernel given as
   SPIR-V, and a device that is opened twice where memory is shared: as it is, and as a GPU with memory of its own,
   through staging. Without a Vulkan device the tests are skipped. */
#ifndef QN__TEST_VULKAN_SUPPORT_H
#define QN__TEST_VULKAN_SUPPORT_H

#include "backend/vulkan/vulkan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compile.h"
#include "vulkan_step.h"

extern const qn_backend qn__backend_vulkan;
static const qn_backend *const backend = &qn__backend_vulkan;

/* Counts what is allocated, and fails when told to. */
static atomic_long live;
static atomic_int fail_after = -1; /* this many allocations succeed; -1: all */

static bool fails(void) { return atomic_load(&fail_after) >= 0 && atomic_fetch_sub(&fail_after, 1) <= 0; }

static void *counted_allocate(void *user, size_t size) {
    (void)user;
    void *memory = fails() ? NULL : malloc(size);
    if (memory) atomic_fetch_add(&live, 1);
    return memory;
}

static void *counted_reallocate(void *user, void *memory, size_t size) {
    (void)user;
    void *grown = fails() ? NULL : realloc(memory, size);
    if (grown && !memory) atomic_fetch_add(&live, 1);
    return grown;
}

static void counted_release(void *user, void *memory) {
    (void)user;
    if (memory) atomic_fetch_sub(&live, 1);
    free(memory);
}

static qn__allocator allocator = {counted_allocate, counted_reallocate, counted_release, NULL};
static unsigned compiled, from_cache;

static void count_log(void *user, qn_log_level level, const char *message) {
    (void)user;
    (void)level;
    compiled += strstr(message, "compiled by the driver") != NULL;
    from_cache += strstr(message, "found in the pipeline cache") != NULL;
}

static void no_print(void *user, const char *text, size_t size) {
    (void)user;
    (void)text;
    (void)size;
}

static const qn__services services = {.allocator = &allocator, .log = count_log, .print = no_print};

static qn__driver *driver;
static qn__gpu *gpu;
static char why[QN__WHY];

#define OK(call)                                                                                             \
    do {                                                                                                     \
        why[0] = 0;                                                                                          \
        qn_status status_of_call = (call);                                                                   \
        if (status_of_call) print_error("%s\n", why);                                                        \
        assert_int_equal(status_of_call, QN_OK);                                                             \
    } while (0)

/* ---- the kernel ---- */

typedef struct step_args {
    uint64_t x, y;
    uint32_t add, rounds;
} step_args;

static const qn__implicit step_implicit[] = {{QN__IMPLICIT_GLOBAL_BASE, 8, 0, 24}};

static const qn__param_info step_params[] = {
    {.name = "x", .type_name = "uint*", .kind = QN__PARAM_BUFFER, .size = 8},
    {.name = "y", .type_name = "uint*", .kind = QN__PARAM_BUFFER, .is_written = true, .size = 8, .offset = 8},
    {.name = "add", .type_name = "uint", .kind = QN__PARAM_VALUE, .size = 4, .offset = 16},
    {.name = "rounds", .type_name = "uint", .kind = QN__PARAM_VALUE, .size = 4, .offset = 20},
};

static const qn__kernel_info step_kernel = {.name = "step",
                                            .symbol = "main",
                                            .args_size = 24,
                                            .params_size = 32,
                                            .implicit = step_implicit,
                                            .num_implicit = 1,
                                            .params = step_params,
                                            .num_params = 4};
static const qn__code_info step_info = {.kernels = &step_kernel, .num_kernels = 1};

static qn__code *load(const char *text, const char *path, qn_status expected) {
    qn__code_source source = {
        .text = text, .text_size = text ? sizeof step_words : 0, .info = &step_info, .binary_path = path};
    qn__code *code = NULL;
    qn_status status = backend->code_load(gpu, &source, &code, why);
    if (status != expected) print_error("%s\n", why);
    assert_int_equal(status, expected);
    return code;
}

static qn__code *load_step(void) { return load((const char *)step_words, NULL, QN_OK); }

typedef struct array {
    qn__memory *memory;
    uint64_t address, size;
    void *host;
} array;

static array array_new(uint64_t size) {
    array a = {.size = size};
    OK(backend->memory_create(gpu, size, &a.memory, &a.address, &a.host, why));
    return a;
}

static void array_free(array a) { backend->memory_destroy(gpu, a.memory); }

static uint64_t submit(qn__queue *queue, const qn__command *command) {
    uint64_t number = 0;
    OK(backend->submit(queue, command, &number, why));
    return number;
}

static inline uint64_t write_to(qn__queue *queue, array to, uint64_t at, const void *data, uint64_t size) {
    qn__command c = {
        .kind = QN__COMMAND_WRITE, .to = to.memory, .to_offset = at, .size = size, .host = (void *)data};
    return submit(queue, &c);
}

static inline uint64_t read_back(qn__queue *queue, array from, uint64_t at, void *data, uint64_t size) {
    qn__command c = {
        .kind = QN__COMMAND_READ, .from = from.memory, .from_offset = at, .size = size, .host = data};
    return submit(queue, &c);
}

/* The command, whose arguments live as long as `args` and `bindings`. */
typedef struct step_launch {
    step_args args;
    qn__binding bindings[2];
    qn__command command;
} step_launch;

static void set_step(step_launch *l, const qn__code *code, array x, array y, uint32_t add, uint32_t rounds,
                     uint64_t items, uint32_t local) {
    l->args = (step_args){x.address, y.address, add, rounds};
    l->bindings[0] = (qn__binding){.param = 0, .memory = x.memory};
    l->bindings[1] = (qn__binding){.param = 1, .memory = y.memory};
    l->command = (qn__command){.kind = QN__COMMAND_LAUNCH,
                               .code = code,
                               .kernel_name = "step",
                               .work_dim = 1,
                               .global = {items, 1, 1},
                               .local = {local, 1, 1},
                               .args = (const unsigned char *)&l->args,
                               .args_size = 24,
                               .bindings = l->bindings,
                               .num_bindings = 2};
}

static uint64_t launch(qn__queue *queue, const qn__code *code, array x, array y, uint32_t add,
                       uint32_t rounds, uint64_t items, uint32_t local) {
    step_launch l;
    set_step(&l, code, x, y, add, rounds, items, local);
    return submit(queue, &l.command);
}

static qn__queue *queue_new(void) {
    qn__queue *queue;
    OK(backend->queue_create(gpu, &queue, why));
    return queue;
}

static void finish(qn__queue *queue, uint64_t number) { OK(backend->wait(queue, number, QN_FOREVER, why)); }

/* ---- setup ---- */

static int open_gpu(void **state) {
    (void)state;
    uint32_t count = 0;
    if (backend->open(&services, &driver, &count, why)) return -1;
    OK(backend->gpu_open(driver, 0, &gpu, why));
    return 0;
}

static int open_staged(void **state) {
    open_gpu(state);
    gpu->unified = false;
    return 0;
}

static int close_gpu(void **state) {
    (void)state;
    backend->gpu_close(gpu);
    backend->close(driver);
    return atomic_load(&live) == 0 ? 0 : -1;
}

/* In both ways; what main returns. */
static int run_in_both_ways(const struct CMUnitTest *tests, size_t count) {
    uint32_t devices = 0;
    if (backend->open(&services, &driver, &devices, why)) {
        printf("skipped: no Vulkan device: %s\n", why);
        return 77;
    }
    backend->close(driver);
    int failed = _cmocka_run_group_tests("as it is", tests, count, open_gpu, close_gpu);
    return failed + _cmocka_run_group_tests("staged", tests, count, open_staged, close_gpu);
}

#endif
