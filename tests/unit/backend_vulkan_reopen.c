/* A Vulkan device that is lost and opened again, through the public API: the driver's calls are made to say that the device
   is lost, each kind of call in its turn, until the device is closed. */
#include <stdatomic.h>

#include "api_support.h"
#include "backend/vulkan/vulkan.h"
#include "runtime/runtime.h"

static const char source[] = "kernel void put(global int *a, int v) { a[get_global_id(0)] = v; }\n";

enum { COUNT = 1024, NEVER_MS = 20000 };

/* ---- losing it ---- */

static VkResult lost_submit(VkQueue queue, uint32_t count, const VkSubmitInfo *submits, VkFence fence) {
    (void)queue, (void)count, (void)submits, (void)fence;
    return VK_ERROR_DEVICE_LOST;
}

static VkResult lost_wait(VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t timeout) {
    (void)device, (void)info, (void)timeout;
    return VK_ERROR_DEVICE_LOST;
}

static VkResult lost_value(VkDevice device, VkSemaphore semaphore, uint64_t *value) {
    (void)device, (void)semaphore, (void)value;
    return VK_ERROR_DEVICE_LOST;
}

static VkResult lost_pipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                               const VkComputePipelineCreateInfo *infos, VkNoHooks hooks,
                               VkPipeline *pipelines) {
    (void)device, (void)cache, (void)count, (void)infos, (void)hooks, (void)pipelines;
    return VK_ERROR_DEVICE_LOST;
}

static VkResult lost_memory(VkDevice device, const VkMemoryAllocateInfo *info, VkNoHooks hooks,
                            VkDeviceMemory *memory) {
    (void)device, (void)info, (void)hooks, (void)memory;
    return VK_ERROR_DEVICE_LOST;
}

static VkResult lost_pool(VkDevice device, const VkCommandPoolCreateInfo *info, VkNoHooks hooks,
                          VkCommandPool *pool) {
    (void)device, (void)info, (void)hooks, (void)pool;
    return VK_ERROR_DEVICE_LOST;
}

/* ---- what is used ---- */

typedef struct things {
    qn_device *device;
    qn_program *program;
    qn_kernel *put;
    qn_buffer *buffer;
    qn_stream *stream;
    qn_event *event;
    qn_graph *graph;
} things;

static atomic_long live;

static void *counted_allocate(void *user, size_t size) {
    (void)user;
    void *memory = malloc(size);
    if (memory) atomic_fetch_add(&live, 1);
    return memory;
}

static void *counted_reallocate(void *user, void *memory, size_t size) {
    (void)user;
    void *grown = realloc(memory, size);
    if (grown && !memory) atomic_fetch_add(&live, 1);
    return grown;
}

static void counted_release(void *user, void *memory) {
    (void)user;
    if (memory) atomic_fetch_sub(&live, 1);
    free(memory);
}

static qn_context *open_context(void) {
    const qn_context_desc desc = {.disable_cache = true,
                                  .allocator = {counted_allocate, counted_reallocate, counted_release, NULL}};
    return make_context(&desc);
}

static void close_context(qn_context *context) {
    qn_context_destroy(context);
    assert_int_equal(atomic_load(&live), 0);
}

static const char *device_name(void) { return testing("vulkan") ? test_device() : "vulkan"; }

static things make_things(qn_context *context, qn_device *device) {
    things t = {.device = device, .program = make_program(device, source)};
    t.put = make_kernel(t.program, context, "put");
    t.buffer = make_buffer(device, COUNT * sizeof(int), NULL);
    assert_ok(context, qn_stream_create(device, &t.stream));
    assert_ok(context, qn_event_create(device, &t.event));
    assert_ok(context, qn_stream_record(t.stream, t.event));
    assert_ok(context, qn_graph_begin(t.stream));
    assert_ok(context, qn_launch(t.stream, t.put, QN_RANGE(4), QN_ARGS(t.buffer, 1)));
    assert_ok(context, qn_graph_end(t.stream, &t.graph));
    return t;
}

static qn_status put(const things *t, qn_stream *stream, int value) {
    return qn_launch(stream, t->put, QN_RANGE(COUNT), QN_ARGS(t->buffer, value));
}

static void they_work(qn_context *context, const things *t, int value) {
    static int got[COUNT];
    qn_kernel_resources resources;
    assert_ok(context, qn_graph_launch(t->stream, t->graph));
    assert_ok(context, put(t, t->stream, value));
    assert_ok(context, qn_stream_record(t->stream, t->event));
    assert_ok(context, qn_stream_wait_event(NULL, t->event));
    assert_ok(context, qn_buffer_read(t->buffer, 0, got, sizeof got));
    for (int i = 0; i < COUNT; i++) assert_int_equal(got[i], value);
    assert_ok(context, qn_event_wait(t->event, QN_FOREVER));
    assert_ok(context, qn_kernel_get_resources(t->put, NULL, &resources));
    assert_ok(context, qn_device_wait(t->device, QN_FOREVER));
}

/* Each says why the device was lost; with what is new, that it was opened again. */
static void they_say_so(qn_context *context, const things *old, const things *fresh, const char *why) {
    static const char both[] = "lost and opened again";
    static int got[COUNT];
    qn_kernel_resources resources;
    bool done = false;
    assert_fails(context, put(old, old->stream, 6), QN_ERROR_DEVICE_LOST, why);
    assert_fails(context, qn_buffer_read(old->buffer, 0, got, 4), QN_ERROR_DEVICE_LOST, why);
    assert_fails(context, qn_buffer_write(old->buffer, 0, got, 4), QN_ERROR_DEVICE_LOST, why);
    assert_fails(context, qn_stream_wait(old->stream, 0), QN_ERROR_DEVICE_LOST, why);
    assert_fails(context, qn_event_wait(old->event, 0), QN_ERROR_DEVICE_LOST, why);
    assert_fails(context, qn_event_done(old->event, &done), QN_ERROR_DEVICE_LOST, why);
    assert_true(done);
    assert_fails(context, qn_graph_launch(old->stream, old->graph), QN_ERROR_DEVICE_LOST, why);
    assert_fails(context, qn_kernel_get_resources(old->put, NULL, &resources), QN_ERROR_DEVICE_LOST, why);
    assert_fails(context, qn_launch(fresh->stream, old->put, QN_RANGE(1), QN_ARGS(fresh->buffer, 1)),
                 QN_ERROR_DEVICE_LOST, both);
    assert_fails(context, qn_launch(fresh->stream, fresh->put, QN_RANGE(1), QN_ARGS(old->buffer, 1)),
                 QN_ERROR_DEVICE_LOST, both);
    assert_fails(context, qn_stream_copy(fresh->stream, old->buffer, 0, fresh->buffer, 0, 4),
                 QN_ERROR_DEVICE_LOST, both);
    assert_fails(context, qn_graph_launch(fresh->stream, old->graph), QN_ERROR_DEVICE_LOST, both);
    assert_fails(context, qn_stream_record(fresh->stream, old->event), QN_ERROR_DEVICE_LOST, both);
}

/* ---- tests ---- */

static qn__vk_device_functions kept_functions(qn_device *device) { return device->gpu->vk; }

/* What the driver really has under way ends before the device is closed, as it would have on one that is lost. */
static void stop(qn_device *device, const qn__vk_device_functions *kept) {
    kept->DeviceWaitIdle(device->gpu->device);
}

static void opened_again(qn_context *context, things *t, int round, const char *why) {
    qn_device *device = t->device;
    assert_ok(context, qn_device_reopen(device));
    things fresh = make_things(context, device);
    they_work(context, &fresh, 100 + round);
    they_say_so(context, t, &fresh, why);
    they_work(context, &fresh, 200 + round);
    if (round % 2) { /* the others stay until the context goes */
        qn_graph_destroy(t->graph);
        qn_event_destroy(t->event);
        qn_stream_destroy(t->stream);
        qn_buffer_destroy(t->buffer);
        qn_kernel_destroy(t->put);
        qn_program_destroy(t->program);
    }
    *t = fresh;
}

static void lost_when_work_is_submitted(void **state) {
    (void)state;
    qn_context *context = open_context();
    qn_device *device = get_device(context, device_name());
    things t = make_things(context, device);
    for (int round = 0; round < 3; round++) {
        const qn__vk_device_functions kept = kept_functions(device);
        they_work(context, &t, round);
        device->gpu->vk.QueueSubmit = lost_submit;
        put(&t, t.stream, 5); /* handed to the driver now, or by the wait */
        assert_fails(context, qn_stream_wait(t.stream, QN_FOREVER), QN_ERROR_DEVICE_LOST,
                     "the device was lost while it ran kernel put");
        assert_fails(context, put(&t, NULL, 5), QN_ERROR_DEVICE_LOST, "the device was lost");
        stop(device, &kept);
        opened_again(context, &t, round, "the device was lost while it ran kernel put");
    }
    close_context(context);
}

static void lost_when_it_is_waited_for(void **state) {
    (void)state;
    qn_context *context = open_context();
    qn_device *device = get_device(context, device_name());
    things t = make_things(context, device);
    for (int round = 0; round < 3; round++) {
        const qn__vk_device_functions kept = kept_functions(device);
        they_work(context, &t, round);
        device->gpu->vk.WaitSemaphores = lost_wait;
        device->gpu->vk.GetSemaphoreCounterValue = lost_value;
        const qn_status status = put(&t, t.stream, 5);
        assert_true(status == QN_OK || status == QN_ERROR_DEVICE_LOST);
        assert_fails(context, qn_device_wait(device, QN_FOREVER), QN_ERROR_DEVICE_LOST,
                     "the device was lost while it ran kernel put");
        stop(device, &kept);
        opened_again(context, &t, round, "the device was lost while it ran kernel put");
    }
    close_context(context);
}

/* Whichever call tells first, the device counts as lost, and can be opened again. */
static void lost_when_something_is_made(void **state) {
    (void)state;
    qn_context *context = open_context();
    qn_device *device = get_device(context, device_name());
    things t = make_things(context, device);
    for (int round = 0; round < 3; round++) {
        const qn__vk_device_functions kept = kept_functions(device);
        they_work(context, &t, round);
        if (round == 2) {
            qn_stream *first;
            device->gpu->vk.CreateCommandPool = lost_pool;
            assert_ok(context, qn_stream_create(device, &first));
            assert_fails(context, put(&t, first, 1), QN_ERROR_DEVICE_LOST, "the device was lost");
        } else if (round == 0) {
            device->gpu->vk.CreateComputePipelines = lost_pipelines;
            assert_fails(
                context,
                qn_launch(NULL, t.put, QN_RANGE_LOCAL(QN_GROUP(3), QN_GROUP(3)), QN_ARGS(t.buffer, 1)),
                QN_ERROR_DEVICE_LOST, "the device was lost");
        } else {
            device->gpu->vk.AllocateMemory = lost_memory;
            qn_buffer *large;
            assert_fails(context, qn_buffer_create(device, &(qn_buffer_desc){.size = 200 << 20}, &large),
                         QN_ERROR_DEVICE_LOST, "the device was lost");
        }
        stop(device, &kept);
        opened_again(context, &t, round, "the device was lost");
    }
    close_context(context);
}

static void what_the_host_holds_goes_first(void **state) {
    (void)state;
    qn_context *context = open_context();
    qn_device *device = get_device(context, device_name());
    things t = make_things(context, device);
    const qn__vk_device_functions kept = kept_functions(device);
    void *mapped, *pinned;
    assert_fails(context, qn_device_reopen(device), QN_ERROR_STATE, "is not lost");
    assert_ok(context, qn_buffer_map(t.buffer, QN_MAP_READ, &mapped));
    assert_ok(context, qn_host_alloc(device, 4096, &pinned));
    qn_buffer *other =
        make_buffer(device, 64, NULL); /* before the watcher may hand something to the driver */
    device->gpu->vk.QueueSubmit = lost_submit;
    qn_launch(NULL, t.put, QN_RANGE(1), QN_ARGS(other, 5));
    assert_fails(context, qn_device_wait(device, QN_FOREVER), QN_ERROR_DEVICE_LOST, "the device was lost");
    assert_fails(context, qn_device_reopen(device), QN_ERROR_STATE, "pinned memory");
    qn_host_free(device, pinned);
    assert_fails(context, qn_device_reopen(device), QN_ERROR_STATE, "is mapped");
    assert_ok(context, qn_buffer_unmap(t.buffer));
    stop(device, &kept);
    opened_again(context, &t, 0, "the device was lost");
    close_context(context);
}

/* The processor's stream that waits for the device does not wait for ever, and the processor goes on. */
static void others_do_not_wait_for_it(void **state) {
    (void)state;
    qn_context *context = open_context();
    qn_device *device = get_device(context, device_name()), *cpu = get_device(context, "cpu");
    things t = make_things(context, device), here = make_things(context, cpu);
    for (int round = 0; round < 2; round++) {
        const qn__vk_device_functions kept = kept_functions(device);
        device->gpu->vk.WaitSemaphores = lost_wait;
        device->gpu->vk.GetSemaphoreCounterValue = lost_value;
        put(&t, t.stream, 5);
        qn_stream_record(t.stream, t.event);
        qn_stream *waits;
        assert_ok(context, qn_stream_create(cpu, &waits));
        qn_status status = qn_stream_wait_event(waits, t.event);
        if (!status) status = qn_stream_copy(waits, t.buffer, 0, here.buffer, 0, 64);
        if (!status) status = qn_stream_wait(waits, (uint64_t)NEVER_MS * 1000000);
        assert_int_equal(status, QN_ERROR_DEVICE_LOST);
        assert_non_null(strstr(qn_error_message(context), "the device was lost"));
        qn_device_wait(device, QN_FOREVER);
        qn_stream_destroy(waits);
        they_work(context, &here, 3 + round);
        stop(device, &kept);
        opened_again(context, &t, round, "the device was lost");
        assert_ok(context, qn_stream_copy(here.stream, t.buffer, 0, here.buffer, 0, COUNT * sizeof(int)));
        int last;
        assert_ok(context, qn_stream_wait(here.stream, QN_FOREVER));
        assert_ok(context, qn_buffer_read(here.buffer, (COUNT - 1) * sizeof last, &last, sizeof last));
        assert_int_equal(last, 200 + round);
    }
    close_context(context);
}

static bool device_is_there(void) {
    qn_context *context = make_context(NULL);
    qn_device *device;
    const bool is_there = !qn_device_get(context, device_name(), &device);
    if (!is_there) printf("skipped: %s\n", qn_error_message(context));
    qn_context_destroy(context);
    return is_there;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost_when_work_is_submitted), cmocka_unit_test(lost_when_it_is_waited_for),
        cmocka_unit_test(lost_when_something_is_made), cmocka_unit_test(what_the_host_holds_goes_first),
        cmocka_unit_test(others_do_not_wait_for_it),
    };
    if (!device_is_there()) return TEST_SKIPPED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
