/* What the tests of the CUDA backend on the fake driver share: a device, the few kernels that the driver knows by
   name, and commands. */
#ifndef QN__TEST_CUDA_SUPPORT_H
#define QN__TEST_CUDA_SUPPORT_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/cuda/driver.h"
#include "compile.h"
#include "find_fake.h"
#include "runtime/backend.h"

static qn__allocator memory_hooks;
static char printed[256];
static const qn_backend *const cuda = &qn__backend_cuda;

static void ignore_log(void *user, qn_log_level level, const char *message) {
    (void)user, (void)level, (void)message;
}

static void keep_print(void *user, const char *text, size_t size) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    (void)user;
    pthread_mutex_lock(&lock);
    snprintf(printed + strlen(printed), sizeof printed - strlen(printed), "%.*s", (int)size, text);
    pthread_mutex_unlock(&lock);
}

static const qn__services services = {.allocator = &memory_hooks, .log = ignore_log, .print = keep_print};

typedef struct device {
    qn__driver *driver;
    qn__gpu *gpu;
    qn__queue *queue;
    qn__code *code;
    char why[QN__WHY];
} device;

static const char text[] = ".version 6.0\n.target sm_60\n"
                           ".visible .entry fill(.param .align 16 .b8 params[16]) {}\n"
                           ".visible .entry print(.param .align 16 .b8 params[8]) {}\n"
                           ".visible .entry bad() {}\n"
                           ".visible .entry hang() {}\n"
                           ".visible .entry tile(.param .align 16 .b8 params[24]) {}\n";
enum { FILL, PRINT, BAD, HANG, TILE, NUM_KERNELS };

static const qn__implicit print_address = {.kind = QN__IMPLICIT_PRINT, .size = 8};
static const qn__implicit tile_base = {.kind = QN__IMPLICIT_GROUP_BASE, .size = 4, .offset = 8};
static const char *const strings[] = {"answer %d\n"};

static const qn__kernel_info kernels[NUM_KERNELS] = {
    {.name = "fill", .symbol = "fill", .guarded = true, .args_size = 16, .params_size = 16},
    {.name = "print",
     .symbol = "print",
     .guarded = true,
     .uses_printf = true,
     .params_size = 8,
     .implicit = &print_address,
     .num_implicit = 1},
    {.name = "bad", .symbol = "bad", .guarded = true},
    {.name = "hang", .symbol = "hang", .guarded = true},
    {.name = "tile",
     .symbol = "tile",
     .uses_sync = true,
     .static_local = 100,
     .args_size = 8,
     .params_size = 12,
     .implicit = &tile_base,
     .num_implicit = 1},
};

static const qn__code_info info = {
    .kernels = kernels, .num_kernels = NUM_KERNELS, .strings = strings, .num_strings = 1};

static qn_status load(device *d, const char *ptx, const char *path) {
    qn__code_source source = {
        .text = ptx, .text_size = ptx ? strlen(ptx) : 0, .info = &info, .binary_path = path};
    qn_status status = cuda->code_load(d->gpu, &source, &d->code, d->why);
    if (status) return status;
    for (uint32_t i = 0; !status && i < NUM_KERNELS; i++)
        status = cuda->kernel_prepare(d->gpu, d->code, i, d->why);
    if (status) cuda->code_unload(d->gpu, d->code), d->code = NULL;
    return status;
}

static device open_device(void) {
    device d = {0};
    uint32_t count;
    fake.reset();
    printed[0] = 0;
    assert_int_equal(cuda->open(&services, &d.driver, &count, d.why), QN_OK);
    assert_int_equal(cuda->gpu_open(d.driver, 0, &d.gpu, d.why), QN_OK);
    assert_int_equal(cuda->queue_create(d.gpu, &d.queue, d.why), QN_OK);
    assert_int_equal(load(&d, text, NULL), QN_OK);
    return d;
}

/* Everything that was made is gone, and no context was left current. */
static void close_device(device *d) {
    cuda->code_unload(d->gpu, d->code);
    cuda->queue_destroy(d->queue);
    cuda->gpu_close(d->gpu);
    cuda->close(d->driver);
    for (int kind = 0; kind < FAKE_LIVE_COUNT; kind++)
        if (fake.live((fake_live_kind)kind)) fail_msg("%ld objects of kind %d", fake.live(kind), kind);
    assert_int_equal(fake.depth(), 0);
}

static qn_status submit(device *d, const qn__command *command, uint64_t *number) {
    return cuda->submit(d->queue, command, number, d->why);
}

static qn__command launch_of(const device *d, uint32_t kernel, uint64_t items, uint32_t group) {
    return (qn__command){.kind = QN__COMMAND_LAUNCH,
                         .code = d->code,
                         .kernel = kernel,
                         .kernel_name = kernels[kernel].name,
                         .work_dim = 1,
                         .global = {items, 1, 1},
                         .local = {group, 1, 1}};
}

static void launch(device *d, uint32_t kernel, uint64_t *number) {
    qn__command command = launch_of(d, kernel, 1, 1);
    assert_int_equal(submit(d, &command, number), QN_OK);
}

static qn__memory *make(device *d, uint64_t size) {
    qn__memory *memory;
    uint64_t address;
    void *host;
    assert_int_equal(cuda->memory_create(d->gpu, size, &memory, &address, &host, d->why), QN_OK);
    assert_null(host);
    return memory;
}

static void transfer(device *d, qn__command command, qn_status wanted) {
    uint64_t number;
    assert_int_equal(submit(d, &command, &number), wanted);
}

static void finish(device *d, uint64_t number) {
    assert_int_equal(cuda->wait(d->queue, number, QN_FOREVER, d->why), QN_OK);
    assert_int_equal(cuda->completed(d->queue), number);
}

static inline void assert_unfinished(const device *d, const char *names) {
    char found[160];
    qn__backend_cuda.unfinished(d->queue, found, sizeof found);
    assert_string_equal(found, names);
}

static void assert_why(const device *d, const char *part) {
    if (!strstr(d->why, part)) fail_msg("it says: %s", d->why);
}

#endif
