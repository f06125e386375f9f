/* The Vulkan backend where something fails: memory that is short, calls that the driver refuses, a device that is
   lost. */
#include <time.h>

#include "vulkan_support.h"

static void out_of_memory(void **state) {
    (void)state;
    qn_device_info info;
    backend->gpu_info(gpu, &info);
    qn__memory *memory;
    uint64_t address;
    void *host;
    qn_status status = backend->memory_create(gpu, info.max_buffer + 4096, &memory, &address, &host, why);
    assert_int_equal(status, QN_ERROR_DEVICE_MEMORY);
    assert_non_null(strstr(why, "bytes are wanted"));
    array small = array_new(1000); /* the device goes on */
    array_free(small);
}

static VkResult failing_memory(VkDevice device, const VkMemoryAllocateInfo *info, VkNoHooks hooks,
                               VkDeviceMemory *memory) {
    (void)device;
    (void)info;
    (void)hooks;
    (void)memory;
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

static VkResult failing_buffer(VkDevice device, const VkBufferCreateInfo *info, VkNoHooks hooks,
                               VkBuffer *buffer) {
    (void)device, (void)info, (void)hooks, (void)buffer;
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

static VkResult failing_bind(VkDevice device, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset) {
    (void)device, (void)buffer, (void)memory, (void)offset;
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

static VkResult refusing_memory(VkDevice device, const VkMemoryAllocateInfo *info, VkNoHooks hooks,
                                VkDeviceMemory *memory) {
    (void)device, (void)info, (void)hooks, (void)memory;
    return VK_ERROR_INVALID_EXTERNAL_HANDLE;
}

static VkResult no_types(VkDevice device, uint32_t type, const void *host,
                         VkMemoryHostPointerPropertiesEXT *properties) {
    (void)device, (void)type, (void)host;
    properties->memoryTypeBits = 0;
    return VK_SUCCESS;
}

static void try_import(qn_status wanted, const char *part) {
    static _Alignas(16) char host[100];
    qn__memory *memory = NULL;
    uint64_t address;
    const long before = atomic_load(&live);
    assert_int_equal(backend->host_import(gpu, host, sizeof host, false, &memory, &address, why), wanted);
    if (wanted) {
        if (!strstr(why, part)) fail_msg("it said %s", why);
        assert_null(memory);
    } else
        backend->host_import_end(gpu, memory, host, sizeof host);
    assert_int_equal(atomic_load(&live), before);
}

/* Whatever the driver refuses, the memory is the caller's, and the next time it works. */
static void imports_fail(void **state) {
    (void)state;
    if (!gpu->get_host_pointer_properties) skip();
    const qn__vk_device_functions kept = gpu->vk;
    VkGetMemoryHostPointerPropertiesEXT *const asked = gpu->get_host_pointer_properties;
    gpu->vk.CreateBuffer = failing_buffer;
    try_import(QN_ERROR_OUT_OF_MEMORY, "vkCreateBuffer");
    gpu->vk = kept;
    gpu->vk.AllocateMemory = failing_memory;
    try_import(QN_ERROR_UNSUPPORTED, "the driver does not take this host memory"); /* as NVIDIA's refuses */
    gpu->vk.AllocateMemory = refusing_memory;
    try_import(QN_ERROR_UNSUPPORTED, "the driver does not take this host memory");
    gpu->vk = kept;
    gpu->vk.BindBufferMemory = failing_bind;
    try_import(QN_ERROR_DEVICE_MEMORY, "vkBindBufferMemory");
    gpu->vk = kept;
    gpu->get_host_pointer_properties = no_types;
    try_import(QN_ERROR_UNSUPPORTED, "no coherent memory type");
    gpu->get_host_pointer_properties = asked;
    for (int n = 0; n < 2; n++) {
        atomic_store(&fail_after, n);
        try_import(QN_ERROR_OUT_OF_MEMORY, "");
        atomic_store(&fail_after, -1);
    }
    try_import(QN_OK, "");
}

static VkResult lost_wait(VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t timeout) {
    (void)device;
    (void)info;
    (void)timeout;
    return VK_ERROR_DEVICE_LOST;
}

static VkResult lost_value(VkDevice device, VkSemaphore semaphore, uint64_t *value) {
    (void)device;
    (void)semaphore;
    (void)value;
    return VK_ERROR_DEVICE_LOST;
}

static VkResult failing_submit(VkQueue queue, uint32_t count, const VkSubmitInfo *submits, VkFence fence) {
    (void)queue;
    (void)count;
    (void)submits;
    (void)fence;
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

static VkResult failing_pipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                  const VkComputePipelineCreateInfo *infos, VkNoHooks hooks,
                                  VkPipeline *pipelines) {
    (void)device;
    (void)cache;
    (void)count;
    (void)infos;
    (void)hooks;
    (void)pipelines;
    return VK_ERROR_INITIALIZATION_FAILED;
}

/* A batch that the driver does not take is reported by the next wait, once; the stream goes on. */
static void submit_fails(void **state) {
    (void)state;
    qn__queue *queue = queue_new();
    qn__code *code = load_step();
    array x = array_new(1024), y = array_new(1024);
    qn__vk_device_functions kept = gpu->vk;
    gpu->vk.QueueSubmit = failing_submit;
    uint64_t number = launch(queue, code, x, y, 1, 0, 256, 64);
    assert_int_equal(backend->wait(queue, number, QN_FOREVER, why), QN_ERROR_OUT_OF_MEMORY);
    assert_non_null(strstr(why, "vkQueueSubmit"));
    gpu->vk = kept;
    finish(queue, number);
    finish(queue, launch(queue, code, x, y, 1, 0, 256, 64));
    array_free(x);
    array_free(y);
    backend->code_unload(gpu, code);
    backend->queue_destroy(queue);
}

static unsigned num_signals;

static VkResult count_signal(VkDevice device, const VkSemaphoreSignalInfo *info) {
    (void)device, (void)info;
    num_signals++;
    return VK_SUCCESS;
}

/* The batch behind one that failed reaches its value: the host signals nothing that could come after that. */
static void a_batch_behind_one_that_failed(void **state) {
    (void)state;
    qn__queue *queue = queue_new();
    qn__code *code = load_step();
    array x = array_new(1 << 20), y = array_new(1 << 20);
    qn__vk_device_functions kept = gpu->vk;
    gpu->vk.QueueSubmit = failing_submit;
    launch(queue, code, x, y, 1, 0, 256, 64);
    gpu->vk = kept;
    gpu->vk.SignalSemaphore = count_signal;
    num_signals = 0;
    uint64_t number = launch(queue, code, x, y, 1, 200, 1 << 18, 64);
    assert_int_equal(backend->wait(queue, number, QN_FOREVER, why), QN_ERROR_OUT_OF_MEMORY);
    gpu->vk = kept;
    assert_int_equal(num_signals, 0);
    array_free(x);
    array_free(y);
    backend->code_unload(gpu, code);
    backend->queue_destroy(queue);
}

static void driver_refuses(void **state) {
    (void)state;
    qn__queue *queue = queue_new();
    qn__code *code = load_step();
    array x = array_new(1024), y = array_new(1024), z = {0};
    qn__vk_device_functions kept = gpu->vk;
    gpu->vk.CreateComputePipelines = failing_pipelines;
    gpu->vk.AllocateMemory = failing_memory;
    step_launch l;
    uint64_t number = 0;
    set_step(&l, code, x, y, 1, 0, 256, 64);
    assert_int_equal(backend->submit(queue, &l.command, &number, why), QN_ERROR_DRIVER);
    assert_non_null(strstr(why, "kernel step"));
    assert_int_equal(backend->memory_create(gpu, 200 << 20, &z.memory, &z.address, &z.host, why),
                     QN_ERROR_DEVICE_MEMORY);
    assert_non_null(strstr(why, "209715200 bytes are wanted"));
    gpu->vk = kept;
    finish(queue, launch(queue, code, x, y, 1, 0, 256, 64));
    array_free(x);
    array_free(y);
    backend->code_unload(gpu, code);
    backend->queue_destroy(queue);
}

/* Where memory is shared, a read behind a kernel is done late, or by the device when something comes behind it. With
   no memory for that it is waited for. */
static void a_late_read_finds_no_memory(void **state) {
    (void)state;
    enum { COUNT = 1 << 18 };
    static uint32_t expected[COUNT], got[COUNT];
    qn__queue *queue = queue_new();
    qn__code *code = load_step();
    array x = array_new(sizeof got), y = array_new(sizeof got);
    uint64_t pooled;
    finish(queue, launch(queue, code, x, y, 1, 100, COUNT, 64));
    finish(queue, read_back(queue, y, 0, expected, sizeof expected));
    const qn__command clear = {
        .kind = QN__COMMAND_FILL, .to = y.memory, .size = sizeof got, .pattern_size = 4};
    finish(queue, submit(queue, &clear));
    launch(queue, code, x, y, 1, 100, COUNT, 64);
    read_back(queue, y, 0, got, sizeof got);
    backend->trim(gpu, &pooled);
    qn__vk_device_functions kept = gpu->vk;
    gpu->vk.AllocateMemory = failing_memory;
    uint64_t number = submit(queue, &clear);
    gpu->vk = kept;
    finish(queue, number);
    assert_memory_equal(got, expected, sizeof got);
    array_free(x);
    array_free(y);
    backend->code_unload(gpu, code);
    backend->queue_destroy(queue);
}

/* One of everything. The first status that is not QN_OK, with everything given back. */
static qn_status one_of_all(void) {
    qn__queue *queue = NULL;
    qn__code *code = NULL;
    qn__mark *mark = NULL;
    qn__replay *replay = NULL;
    array x = {0};
    uint32_t values[64] = {0};
    uint64_t number = 0, last = 0;
    step_launch l;
    qn__code_source source = {
        .text = (const char *)step_words, .text_size = sizeof step_words, .info = &step_info};
    qn_status status = backend->queue_create(gpu, &queue, why);
    if (!status) status = backend->code_load(gpu, &source, &code, why);
    if (!status) status = backend->mark_create(gpu, &mark, why);
    if (!status) status = backend->memory_create(gpu, 3000000, &x.memory, &x.address, &x.host, why);
    qn__command commands[] = {
        {.kind = QN__COMMAND_WRITE, .to = x.memory, .size = sizeof values, .host = values},
        {0},
        {.kind = QN__COMMAND_RECORD, .mark = mark, .mark_version = 1},
        {.kind = QN__COMMAND_FILL, .to = x.memory, .to_offset = 1, .size = 16, .pattern_size = 1},
        {.kind = QN__COMMAND_FILL, .to = x.memory, .size = 32, .pattern_size = 16},
        {.kind = QN__COMMAND_READ, .from = x.memory, .size = sizeof values, .host = values},
    };
    if (!status) {
        set_step(&l, code, x, x, 1, 0, 63, 8);
        commands[1] = l.command;
        status = backend->replay_create(gpu, &commands[1], 1, &replay, why);
    }
    for (size_t i = 0; i < QN__COUNT(commands) && !status; i++) {
        status = backend->submit(queue, &commands[i], &number, why);
        if (!status) last = number;
    }
    if (!status) status = backend->replay_submit(queue, replay, &number, why);
    if (!status) last = number;
    if (queue) {
        qn_status waited = backend->wait(queue, last, QN_FOREVER, why);
        if (!status) status = waited;
    }
    if (replay) backend->replay_destroy(gpu, replay);
    if (x.memory) array_free(x);
    if (mark) backend->mark_destroy(mark);
    if (code) backend->code_unload(gpu, code);
    if (queue) backend->queue_destroy(queue);
    return status;
}

/* Until the watcher holds no timeline any more. */
static void let_watcher_rest(void) {
    qn__vk_watcher *watcher = &gpu->watcher;
    bool rests = false;
    for (int n = 0; n < 60000 && !rests; n++) {
        pthread_mutex_lock(&watcher->lock);
        rests = !watcher->started || (watcher->asleep && !watcher->first);
        pthread_mutex_unlock(&watcher->lock);
        if (!rests) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    assert_true(rests);
}

/* Allocations that are left, but for the timelines that are kept for reuse: how many there are depends on what the
   watcher held when the next was wanted. */
static long left(void) {
    let_watcher_rest();
    long count = atomic_load(&live);
    pthread_mutex_lock(&gpu->lock);
    for (const qn__vk_timeline *timeline = gpu->free_timelines; timeline; timeline = timeline->next_free)
        count--;
    pthread_mutex_unlock(&gpu->lock);
    return count;
}

/* Every allocation of host memory fails once: a status, and nothing is left behind. */
static void host_memory_fails(void **state) {
    (void)state;
    OK(one_of_all());
    uint64_t pooled;
    backend->trim(gpu, &pooled);
    long before = left();
    for (int n = 0; n < 200; n++) {
        atomic_store(&fail_after, n);
        qn_status status = one_of_all();
        bool failed = atomic_load(&fail_after) < 0;
        atomic_store(&fail_after, -1);
        backend->trim(gpu, &pooled);
        assert_int_equal(pooled, 0);
        assert_int_equal(left(), before);
        if (!failed) {
            assert_int_equal(status, QN_OK);
            return;
        }
        if (status && status != QN_ERROR_OUT_OF_MEMORY && status != QN_ERROR_DEVICE_MEMORY) fail();
    }
    fail();
}

/* The last test of a group: the device stays lost. */
static void device_lost(void **state) {
    (void)state;
    qn__queue *queue = queue_new(), *other = queue_new();
    qn__code *code = load_step();
    array x = array_new(1 << 20), y = array_new(1 << 20), z = {0};
    qn__mark *mark;
    OK(backend->mark_create(gpu, &mark, why));
    uint64_t number = launch(queue, code, x, y, 1, 100, 1 << 18, 64);
    qn__vk_device_functions kept = gpu->vk;
    gpu->vk.WaitSemaphores = lost_wait;
    gpu->vk.GetSemaphoreCounterValue = lost_value;
    assert_int_equal(backend->wait(queue, number, QN_FOREVER, why), QN_ERROR_DEVICE_LOST);
    assert_non_null(strstr(why, "lost while it ran kernel step"));
    kept.DeviceWaitIdle(gpu->device);
    qn__command record = {.kind = QN__COMMAND_RECORD, .mark = mark, .mark_version = 1};
    assert_int_equal(backend->submit(other, &record, &number, why), QN_ERROR_DEVICE_LOST);
    assert_non_null(strstr(why, "step"));
    assert_int_equal(backend->wait(queue, 1, 0, why), QN_ERROR_DEVICE_LOST);
    assert_int_equal(backend->completed(queue), 1);
    assert_int_equal(backend->queue_create(gpu, &(qn__queue *){NULL}, why), QN_ERROR_DEVICE_LOST);
    backend->memory_create(gpu, 100, &z.memory, &z.address, &z.host, why);
    if (z.memory) array_free(z);
    backend->mark_destroy(mark);
    backend->code_unload(gpu, code);
    array_free(x);
    array_free(y);
    backend->queue_destroy(queue);
    backend->queue_destroy(other);
    gpu->vk = kept;
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(out_of_memory),     cmocka_unit_test(imports_fail),
        cmocka_unit_test(submit_fails),      cmocka_unit_test(a_batch_behind_one_that_failed),
        cmocka_unit_test(driver_refuses),    cmocka_unit_test(a_late_read_finds_no_memory),
        cmocka_unit_test(host_memory_fails), cmocka_unit_test(device_lost),
    };
    return run_in_both_ways(tests, QN__COUNT(tests));
}
