/* Native handles: work that is given to the driver directly, between quern's own. On a CUDA, Vulkan or OpenCL device it
   is a copy by the driver's own call; on the processor, by the test. */
#include <dlfcn.h>

#include "api_support.h"
#include "backend/cuda/driver.h"
#include "backend/opencl/api.h"
#include "backend/vulkan/vk.h"

/* The fake CUDA driver knows it by its name. */
static const char source[] = "kernel void fill(global uint *p, uint value, uint n) {\n"
                             "    if (get_global_id(0) < n) p[get_global_id(0)] = value;\n"
                             "}\n";

enum { WORDS = 1024, BYTES = 4 * WORDS, ROUNDS = 50 };

static qn_status fill(const fixture *f, qn_stream *stream, qn_buffer *buffer, uint32_t value) {
    return qn_launch(stream, f->kernel, QN_RANGE(WORDS), QN_ARGS(buffer, value, WORDS));
}

/* ---- a copy of BYTES bytes by the driver itself ---- */

static uint64_t of_device(const fixture *f, qn_native_kind kind) {
    uint64_t handle = 0;
    assert_ok(f->context, qn_device_native(f->device, kind, &handle));
    return handle;
}

static uint64_t of_stream(const fixture *f, qn_stream *stream, qn_native_kind kind) {
    uint64_t handle = 0;
    assert_ok(f->context, qn_stream_native(stream, kind, &handle));
    return handle;
}

static uint64_t of_buffer(const fixture *f, qn_buffer *buffer, qn_native_kind kind) {
    uint64_t handle = 0;
    assert_ok(f->context, qn_buffer_native(buffer, kind, &handle));
    return handle;
}

static void *handle_of(uint64_t number) { return (void *)(uintptr_t)number; }

static void find(const char *library, const char *name, void *function) {
    void *opened = dlopen(library, RTLD_NOW), *symbol = opened ? dlsym(opened, name) : NULL;
    if (!symbol) fail_msg("no %s in %s", name, library);
    memcpy(function, &symbol, sizeof symbol);
}

static void copy_by_cuda(const fixture *f, qn_stream *stream, qn_buffer *from, qn_buffer *to) {
    qn__cu_result (*push)(qn__cu_context), (*pop)(qn__cu_context *);
    qn__cu_result (*copy)(qn__cu_address, qn__cu_address, size_t, qn__cu_stream);
    qn__cu_context context = handle_of(of_device(f, QN_NATIVE_CUDA_CONTEXT));
    find("libcuda.so.1", "cuCtxPushCurrent_v2", &push);
    find("libcuda.so.1", "cuCtxPopCurrent_v2", &pop);
    find("libcuda.so.1", "cuMemcpyDtoDAsync_v2", &copy);
    assert_int_equal(push(context), 0);
    assert_int_equal(copy(of_buffer(f, to, QN_NATIVE_CUDA_POINTER),
                          of_buffer(f, from, QN_NATIVE_CUDA_POINTER), BYTES,
                          handle_of(of_stream(f, stream, QN_NATIVE_CUDA_STREAM))),
                     0);
    assert_int_equal(pop(&context), 0);
}

static void copy_by_opencl(const fixture *f, qn_stream *stream, qn_buffer *from, qn_buffer *to) {
    int32_t (*copy)(cl_object, cl_object, cl_object, size_t, size_t, size_t, uint32_t, const cl_object *,
                    cl_object *);
    find("libOpenCL.so.1", "clEnqueueCopyBuffer", &copy);
    assert_int_equal(copy(handle_of(of_stream(f, stream, QN_NATIVE_OPENCL_QUEUE)),
                          handle_of(of_buffer(f, from, QN_NATIVE_OPENCL_MEM)),
                          handle_of(of_buffer(f, to, QN_NATIVE_OPENCL_MEM)),
                          of_buffer(f, from, QN_NATIVE_OFFSET), of_buffer(f, to, QN_NATIVE_OFFSET), BYTES, 0,
                          NULL, NULL),
                     0);
}

typedef struct vulkan {
    VkDevice device;
    qn__vk_device_functions vk;
    VkCommandPool pool; /* of the command buffers, which are gone with it */
} vulkan;

static vulkan open_vulkan(const fixture *f) {
    vulkan v = {.device = handle_of(of_device(f, QN_NATIVE_VULKAN_DEVICE))};
    VkFunction (*get)(VkDevice, const char *);
    find("libvulkan.so.1", "vkGetDeviceProcAddr", &get);
    static const struct {
        const char *name;
        size_t offset;
    } functions[] = {
#define ROW(result, name, parameters) {"vk" #name, offsetof(qn__vk_device_functions, name)},
        VK_DEVICE_FUNCTIONS(ROW)
#undef ROW
    };
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        VkFunction function = get(v.device, functions[i].name);
        memcpy((char *)&v.vk + functions[i].offset, &function, sizeof function);
    }
    VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .queueFamilyIndex =
                                        (uint32_t)of_device(f, QN_NATIVE_VULKAN_QUEUE_FAMILY)};
    assert_int_equal(v.vk.CreateCommandPool(v.device, &info, NULL, &v.pool), VK_SUCCESS);
    return v;
}

static void barrier(const vulkan *v, VkCommandBuffer commands) {
    enum {
        STAGES = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
        WRITES = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
        READS = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT
    };
    VkMemoryBarrier memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = WRITES, .dstAccessMask = READS | WRITES};
    v->vk.CmdPipelineBarrier(commands, STAGES, STAGES, 0, 1, &memory, 0, NULL, 0, NULL);
}

static void copy_by_vulkan(const fixture *f, const vulkan *v, qn_stream *stream, qn_buffer *from,
                           qn_buffer *to) {
    VkCommandBuffer commands;
    VkCommandBufferAllocateInfo buffers = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                           .commandPool = v->pool,
                                           .commandBufferCount = 1};
    assert_int_equal(v->vk.AllocateCommandBuffers(v->device, &buffers, &commands), VK_SUCCESS);
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    assert_int_equal(v->vk.BeginCommandBuffer(commands, &begin), VK_SUCCESS);
    VkBufferCopy region = {of_buffer(f, from, QN_NATIVE_OFFSET), of_buffer(f, to, QN_NATIVE_OFFSET), BYTES};
    barrier(v, commands);
    v->vk.CmdCopyBuffer(commands, (VkBuffer)of_buffer(f, from, QN_NATIVE_VULKAN_BUFFER),
                        (VkBuffer)of_buffer(f, to, QN_NATIVE_VULKAN_BUFFER), 1, &region);
    barrier(v, commands);
    assert_int_equal(v->vk.EndCommandBuffer(commands), VK_SUCCESS);
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
    assert_int_equal(
        v->vk.QueueSubmit(handle_of(of_stream(f, stream, QN_NATIVE_VULKAN_QUEUE)), 1, &submit, 0),
        VK_SUCCESS);
}

static void copy_by_driver(const fixture *f, const vulkan *v, qn_stream *stream, qn_buffer *from,
                           qn_buffer *to) {
    if (testing("cuda"))
        copy_by_cuda(f, stream, from, to);
    else if (testing("vulkan"))
        copy_by_vulkan(f, v, stream, from, to);
    else if (testing("opencl"))
        copy_by_opencl(f, stream, from, to);
    else
        memcpy(handle_of(of_buffer(f, to, QN_NATIVE_HOST_POINTER)),
               handle_of(of_buffer(f, from, QN_NATIVE_HOST_POINTER)), BYTES);
}

/* ---- tests ---- */

static void assert_all(const uint32_t *words, uint32_t value) {
    for (int i = 0; i < WORDS; i++)
        if (words[i] != value) fail_msg("word %d is %u, not %u", i, (unsigned)words[i], (unsigned)value);
}

/* Each round's copy has what the launch before wrote and not what the one behind writes, and the last one is part of
   what a wait is for. */
static void work_of_ones_own_is_in_order(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "fill");
    vulkan v = {0};
    if (testing("vulkan")) v = open_vulkan(&f);
    qn_stream *stream;
    qn_buffer *from = make_buffer(f.device, BYTES, NULL), *whole, *to[ROUNDS];
    assert_ok(f.context, qn_stream_create(f.device, &stream));
    whole = make_buffer(f.device, 2 * BYTES, NULL);
    for (int i = 0; i < ROUNDS; i++) to[i] = make_buffer(f.device, BYTES, NULL);
    qn_buffer_destroy(to[7]);
    assert_ok(f.context, qn_buffer_view(whole, BYTES, BYTES, &to[7]));
    for (uint32_t i = 0; i < ROUNDS; i++) {
        assert_ok(f.context, fill(&f, stream, from, i + 1));
        assert_ok(f.context, qn_stream_native_begin(stream, (qn_buffer *[]){from, to[i]}, 2));
        copy_by_driver(&f, &v, stream, from, to[i]);
        assert_ok(f.context, qn_stream_native_end(stream));
    }
    assert_ok(f.context, qn_stream_wait(stream, QN_FOREVER));
    uint32_t words[2 * WORDS], *mapped;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        assert_ok(f.context, qn_buffer_read(to[i], 0, words, BYTES));
        assert_all(words, i + 1);
    }
    assert_ok(f.context, qn_buffer_map(whole, QN_MAP_READ, (void **)&mapped));
    assert_all(mapped, 0);
    assert_all(mapped + WORDS, 8);
    assert_ok(f.context, qn_buffer_unmap(whole));
    if (v.pool) v.vk.DestroyCommandPool(v.device, v.pool, NULL);
    qn_context_destroy(f.context);
}

/* What the host wrote into a map is there, and what the driver wrote is there for the next map. */
static void the_host_side_is_kept_up(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "fill");
    vulkan v = {0};
    if (testing("vulkan")) v = open_vulkan(&f);
    qn_stream *stream = qn_device_stream(f.device);
    qn_buffer *from = make_buffer(f.device, BYTES, NULL), *to = make_buffer(f.device, BYTES, NULL);
    uint32_t *words;
    for (uint32_t round = 1; round <= 5; round++) {
        assert_ok(f.context, qn_buffer_map(from, QN_MAP_WRITE, (void **)&words));
        for (int i = 0; i < WORDS; i++) words[i] = round;
        assert_ok(f.context, qn_buffer_unmap(from));
        assert_ok(f.context,
                  qn_buffer_map(to, QN_MAP_READ, (void **)&words)); /* its host side is up to date */
        assert_all(words, round - 1);
        assert_ok(f.context, qn_buffer_unmap(to));
        assert_ok(f.context, qn_stream_native_begin(stream, (qn_buffer *[]){from, to}, 2));
        copy_by_driver(&f, &v, stream, from, to);
        assert_ok(f.context, qn_stream_native_end(stream));
        assert_ok(f.context, qn_buffer_map(to, QN_MAP_READ, (void **)&words));
        assert_all(words, round);
        assert_ok(f.context, qn_buffer_unmap(to));
    }
    if (v.pool) v.vk.DestroyCommandPool(v.device, v.pool, NULL);
    qn_context_destroy(f.context);
}

static void handles_are_of_their_objects(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "fill");
    qn_stream *stream = qn_device_stream(f.device);
    qn_buffer *buffer = make_buffer(f.device, BYTES, NULL), *view;
    qn_device_info info;
    uint64_t handle = 0, whole = 0;
    assert_ok(f.context, qn_device_get_info(f.device, &info));
    assert_ok(f.context, qn_buffer_view(buffer, 64, 64, &view));
    assert_fails(f.context, qn_device_native(f.device, QN_NATIVE_CUDA_CONTEXT, NULL), QN_ERROR_NULL,
                 "handle");
    assert_fails(f.context, qn_device_native(f.device, (qn_native_kind)0, &handle), QN_ERROR_ARGUMENT,
                 "kind 0 is not a qn_native_kind");
    assert_fails(f.context, qn_device_native(f.device, (qn_native_kind)999, &handle), QN_ERROR_ARGUMENT,
                 "kind 999 is not");
    assert_fails(f.context, qn_device_native(f.device, QN_NATIVE_CUDA_STREAM, &handle), QN_ERROR_ARGUMENT,
                 "QN_NATIVE_CUDA_STREAM is a handle of a stream; qn_stream_native gives it");
    assert_fails(f.context, qn_stream_native(stream, QN_NATIVE_OFFSET, &handle), QN_ERROR_ARGUMENT,
                 "a handle of a buffer");
    if (info.kind != QN_DEVICE_CUDA)
        assert_fails(f.context, qn_buffer_native(buffer, QN_NATIVE_CUDA_POINTER, &handle),
                     QN_ERROR_UNSUPPORTED, "has no QN_NATIVE_CUDA_POINTER");
    else
        assert_fails(f.context, qn_buffer_native(buffer, QN_NATIVE_OPENCL_MEM, &handle), QN_ERROR_UNSUPPORTED,
                     "has no QN_NATIVE_OPENCL_MEM");
    if (!(info.capabilities & QN_CAN_SHARE_MEMORY))
        assert_fails(f.context, qn_buffer_native(buffer, QN_NATIVE_HOST_POINTER, &handle),
                     QN_ERROR_UNSUPPORTED, "are not host memory; qn_buffer_map");
    const qn_native_kind place = info.kind == QN_DEVICE_CUDA     ? QN_NATIVE_CUDA_POINTER
                                 : info.kind == QN_DEVICE_VULKAN ? QN_NATIVE_VULKAN_ADDRESS
                                 : info.kind == QN_DEVICE_OPENCL ? QN_NATIVE_OFFSET
                                                                 : QN_NATIVE_HOST_POINTER;
    assert_ok(f.context, qn_buffer_native(buffer, place, &whole));
    assert_ok(f.context, qn_buffer_native(view, place, &handle));
    assert_int_equal(handle, whole + 64);
    qn_context_destroy(f.context);
}

static void begin_and_end_come_in_turn(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "fill");
    qn_stream *stream, *other;
    qn_graph *graph;
    void *mapped;
    assert_ok(f.context, qn_stream_create(f.device, &stream));
    assert_ok(f.context, qn_stream_create(f.device, &other));
    qn_buffer *buffer = make_buffer(f.device, BYTES, NULL),
              *foreign = make_buffer(get_device(f.context, "null"), BYTES, NULL);
    assert_fails(f.context, qn_stream_native_end(stream), QN_ERROR_STATE,
                 "qn_stream_native_begin comes first");
    assert_fails(f.context, qn_stream_native_begin(stream, NULL, 1), QN_ERROR_NULL, "buffers");
    assert_fails(f.context, qn_stream_native_begin(stream, (qn_buffer *[]){buffer, NULL}, 2), QN_ERROR_NULL,
                 "buffer");
    assert_fails(f.context, qn_stream_native_begin(stream, (qn_buffer *[]){buffer, foreign}, 2),
                 QN_ERROR_WRONG_CONTEXT, "buffer 1 is of another device");
    assert_ok(f.context, qn_buffer_map(buffer, QN_MAP_READ, &mapped));
    assert_fails(f.context, qn_stream_native_begin(stream, &buffer, 1), QN_ERROR_STATE, "is mapped");
    assert_ok(f.context, qn_buffer_unmap(buffer));
    assert_ok(f.context, qn_stream_native_begin(stream, NULL, 0));
    assert_fails(f.context, qn_stream_native_begin(stream, NULL, 0), QN_ERROR_STATE, "has begun already");
    assert_fails(f.context, fill(&f, stream, buffer, 1), QN_ERROR_STATE, "until qn_stream_native_end");
    assert_fails(f.context, qn_graph_begin(stream), QN_ERROR_STATE, "until qn_stream_native_end");
    assert_ok(f.context, qn_stream_native_end(stream));
    assert_ok(f.context, fill(&f, stream, buffer, 1));
    assert_ok(f.context, qn_graph_begin(other));
    assert_fails(f.context, qn_stream_native_begin(other, NULL, 0), QN_ERROR_STATE, "records a graph");
    assert_ok(f.context, qn_graph_end(other, &graph));
    assert_ok(f.context, qn_stream_native_begin(other, &buffer, 1));
    qn_buffer_destroy(buffer);
    qn_stream_destroy(other); /* ends it, too */
    assert_ok(f.context, qn_device_wait(f.device, QN_FOREVER));
    qn_context_destroy(f.context);
}

/* The default stream is the first buffer's device's; calls without a buffer tell how it is named. */
static void no_stream_is_the_default_stream(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "fill");
    qn_buffer *buffer = make_buffer(f.device, BYTES, NULL);
    uint64_t handle;
    assert_ok(f.context, qn_stream_native_begin(NULL, &buffer, 1));
    assert_fails(f.context, fill(&f, NULL, buffer, 1), QN_ERROR_STATE, "until qn_stream_native_end");
    assert_fails(f.context, qn_stream_native_end(NULL), QN_ERROR_NULL, "pass qn_device_stream(device)");
    assert_ok(f.context, qn_stream_native_end(qn_device_stream(f.device)));
    assert_ok(f.context, fill(&f, NULL, buffer, 1));
    assert_fails(f.context, qn_stream_native_begin(NULL, NULL, 0), QN_ERROR_NULL,
                 "pass qn_device_stream(device)");
    assert_fails(f.context, qn_stream_native(NULL, QN_NATIVE_CUDA_STREAM, &handle), QN_ERROR_NULL,
                 "pass qn_device_stream(device)");
    qn_context_destroy(f.context);
}

int main(void) {
    if (device_is_missing()) return TEST_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_of_ones_own_is_in_order),    cmocka_unit_test(the_host_side_is_kept_up),
        cmocka_unit_test(handles_are_of_their_objects),    cmocka_unit_test(begin_and_end_come_in_turn),
        cmocka_unit_test(no_stream_is_the_default_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
