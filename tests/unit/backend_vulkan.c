/* The Vulkan backend by itself, with a kernel that is given as SPIR-V: transfers, order, events, graphs, deadlines,
   memory, the file of the disk cache. */
#include <time.h>
#include <unistd.h>

#include "util/file.h"
#include "util/folder.h"
#include "vulkan_support.h"

static void transfers(void **state) {
    (void)state;
    static unsigned char from[100000], to[100000];
    qn__queue *queue = queue_new();
    array a = array_new(sizeof from), b = array_new(sizeof from);
    for (size_t i = 0; i < sizeof from; i++) from[i] = (unsigned char)(i * 7 + i / 256);
    write_to(queue, a, 0, from, sizeof from);
    qn__command copy = {.kind = QN__COMMAND_COPY,
                        .from = a.memory,
                        .to = b.memory,
                        .from_offset = 3,
                        .to_offset = 1,
                        .size = sizeof from - 3};
    submit(queue, &copy);
    write_to(queue, b, 5000, from, 3);
    uint64_t number = read_back(queue, b, 0, to, sizeof to);
    finish(queue, number);
    assert_memory_equal(to + 1, from + 3, 4999);
    assert_memory_equal(to + 5000, from, 3);
    assert_memory_equal(to + 5003, from + 5005, sizeof from - 5005);
    assert_int_equal(backend->completed(queue), number);
    array_free(a);
    array_free(b);
    backend->queue_destroy(queue);
}

/* Larger than a piece of a staged transfer, and than what a stream stages at once. */
static void large_transfers(void **state) {
    (void)state;
    const size_t size = (size_t)QN__VK_STAGING_LIMIT + QN__VK_CHUNK + 12345;
    unsigned char *from = malloc(size), *to = calloc(1, size);
    assert_non_null(from);
    assert_non_null(to);
    for (size_t i = 0; i < size; i++) from[i] = (unsigned char)(i * 31 + i / 1000);
    qn__queue *queue = queue_new();
    array a = array_new(size);
    write_to(queue, a, 0, from, size);
    finish(queue, read_back(queue, a, 0, to, size));
    assert_memory_equal(from, to, size);
    array_free(a);
    free(from);
    free(to);
    backend->queue_destroy(queue);
}

/* Reads keep their place between commands that change what they read. */
static void reads_in_order(void **state) {
    (void)state;
    qn__queue *queue = queue_new();
    qn__code *code = load_step();
    array a = array_new(4096);
    uint32_t before[1024] = {0}, between[1024], after[1024], zero[1024] = {0};
    write_to(queue, a, 0, zero, sizeof zero);
    read_back(queue, a, 0, before, sizeof before);
    launch(queue, code, a, a, 1, 0, 1024, 64);
    read_back(queue, a, 0, between, sizeof between);
    launch(queue, code, a, a, 5, 0, 1024, 64);
    write_to(queue, a, 0, zero, 8);
    finish(queue, read_back(queue, a, 0, after, sizeof after));
    for (int i = 0; i < 1024; i++) {
        assert_int_equal(before[i], 0);
        assert_int_equal(between[i], 1);
        assert_int_equal(after[i], i < 2 ? 0 : 6);
    }
    array_free(a);
    backend->code_unload(gpu, code);
    backend->queue_destroy(queue);
}

static void fills(void **state) {
    (void)state;
    static unsigned char to[70000];
    qn__queue *queue = queue_new();
    array a = array_new(sizeof to);
    for (uint32_t pattern = 1; pattern <= 16; pattern *= 2)
        for (uint64_t count = 1; count < 5000; count = count * 5 + 1) {
            uint64_t size = count * pattern > 60000 ? 60000 / pattern * pattern : count * pattern;
            uint64_t at = count % 7 * pattern;
            qn__command zero = {
                .kind = QN__COMMAND_FILL, .to = a.memory, .size = sizeof to, .pattern_size = 1};
            qn__command fill = {.kind = QN__COMMAND_FILL,
                                .to = a.memory,
                                .to_offset = at,
                                .size = size,
                                .pattern_size = pattern};
            for (uint32_t i = 0; i < pattern; i++) fill.pattern[i] = (unsigned char)(0xf0 + i);
            submit(queue, &zero);
            submit(queue, &fill);
            finish(queue, read_back(queue, a, 0, to, sizeof to));
            for (uint64_t i = 0; i < sizeof to; i++) {
                bool in = i >= at && i < at + size;
                if (to[i] != (in ? 0xf0 + (i - at) % pattern : 0)) fail();
            }
        }
    array_free(a);
    backend->queue_destroy(queue);
}

/* Also sizes that the local size does not divide, which are launched in parts. */
static void launches(void **state) {
    (void)state;
    static uint32_t values[5000];
    const uint64_t sizes[] = {1, 64, 1000, 4999, 5000};
    qn__queue *queue = queue_new();
    qn__code *code = load_step();
    array x = array_new(sizeof values), y = array_new(sizeof values);
    for (uint32_t i = 0; i < 5000; i++) values[i] = i;
    for (size_t s = 0; s < QN__COUNT(sizes); s++) {
        write_to(queue, x, 0, values, sizeof values);
        write_to(queue, y, 0, values, sizeof values);
        launch(queue, code, x, y, 100, 0, sizes[s], 64);
        uint32_t got[5000];
        finish(queue, read_back(queue, y, 0, got, sizeof got));
        for (uint32_t i = 0; i < 5000; i++) assert_int_equal(got[i], i < sizes[s] ? i + 100 : i);
    }
    array_free(x);
    array_free(y);
    backend->code_unload(gpu, code);
    backend->queue_destroy(queue);
}

/* More commands than a batch takes, each depending on the one before. */
static void many_launches(void **state) {
    (void)state;
    qn__queue *queue = queue_new();
    qn__code *code = load_step();
    array x = array_new(1024), y = array_new(1024);
    uint32_t got[256] = {0};
    uint64_t number = write_to(queue, x, 0, got, sizeof got);
    for (int i = 0; i < 500; i++) {
        launch(queue, code, x, y, 1, 0, 256, 32);
        number = launch(queue, code, y, x, 1, 0, 256, 32);
    }
    assert_int_equal(number, 1001);
    finish(queue, read_back(queue, x, 0, got, sizeof got));
    for (int i = 0; i < 256; i++) assert_int_equal(got[i], 1000);
    array_free(x);
    array_free(y);
    backend->code_unload(gpu, code);
    backend->queue_destroy(queue);
}

static void events(void **state) {
    (void)state;
    qn__queue *first = queue_new(), *second = queue_new();
    qn__code *code = load_step();
    array x = array_new(1 << 20), y = array_new(1 << 20);
    qn__mark *begin, *end;
    OK(backend->mark_create(gpu, &begin, why));
    OK(backend->mark_create(gpu, &end, why));
    uint64_t time = 0, end_time = 0;
    assert_false(backend->mark_done(begin, 1, &time));
    for (uint64_t version = 1; version <= 20; version++) {
        uint32_t one = 0, last = 0, seed = (uint32_t)version;
        qn__command zero = {.kind = QN__COMMAND_FILL, .to = x.memory, .size = x.size, .pattern_size = 4};
        memcpy(zero.pattern, &seed, sizeof seed);
        qn__command record = {.kind = QN__COMMAND_RECORD, .mark = begin, .mark_version = version};
        submit(first, &zero);
        submit(first, &record);
        launch(first, code, x, y, 3, 50, 1 << 18, 64);
        record.mark = end;
        submit(first, &record);
        qn__command wait = {.kind = QN__COMMAND_WAIT, .mark = end, .mark_version = version};
        submit(second, &wait);
        read_back(second, y, 0, &one, sizeof one);
        finish(second, read_back(second, y, y.size - 4, &last, sizeof last));
        uint32_t expected = seed;
        for (int r = 0; r < 50; r++) expected = expected * 1664525u + (seed | 3u);
        assert_int_equal(one, expected);
        assert_int_equal(last, expected);
        OK(backend->mark_wait(end, version, QN_FOREVER, why));
        assert_true(backend->mark_done(begin, version, &time));
        assert_true(backend->mark_done(end, version, &end_time));
        assert_true(end_time > time && end_time - time < 600000000000u);
    }
    backend->queue_destroy(first); /* what it reached stays reached */
    assert_true(backend->mark_done(end, 20, &end_time));
    backend->mark_destroy(begin);
    backend->mark_destroy(end);
    backend->queue_destroy(second);
    array_free(x);
    array_free(y);
    backend->code_unload(gpu, code);
}

static void graphs(void **state) {
    (void)state;
    qn__queue *queues[2] = {queue_new(), queue_new()};
    qn__code *code = load_step();
    array x = array_new(4096), y = array_new(4096), data = array_new(4096);
    uint32_t seven[1024], got[1024] = {0};
    for (int i = 0; i < 1024; i++) seven[i] = 7;
    static step_launch steps[20];
    qn__command commands[22] = {{.kind = QN__COMMAND_WRITE, .to = data.memory, .size = 4096, .host = seven}};
    for (int i = 0; i < 20; i++) {
        set_step(&steps[i], code, i % 2 ? y : x, i % 2 ? x : y, 1, 0, 1024, 64);
        commands[i + 1] = steps[i].command;
    }
    commands[21] = (qn__command){.kind = QN__COMMAND_COPY, .from = x.memory, .to = data.memory, .size = 2048};
    qn__replay *replay;
    OK(backend->replay_create(gpu, commands, 22, &replay, why));
    seven[0] = 8; /* the graph has a copy */
    uint64_t number = write_to(queues[0], x, 0, got, sizeof got);
    finish(queues[0], number);
    for (int round = 0; round < 50; round++) OK(backend->replay_submit(queues[0], replay, &number, why));
    finish(queues[0], number);
    for (int round = 0; round < 50; round++) OK(backend->replay_submit(queues[1], replay, &number, why));
    finish(queues[1], read_back(queues[1], data, 0, got, sizeof got));
    for (int i = 0; i < 1024; i++) assert_int_equal(got[i], i < 512 ? 2000 : 7);
    backend->replay_destroy(gpu, replay);
    for (int i = 0; i < 2; i++) backend->queue_destroy(queues[i]);
    array_free(x);
    array_free(y);
    array_free(data);
    backend->code_unload(gpu, code);
}

static unsigned num_submits, num_submit_waits;
static VkResult (*driver_submit)(VkQueue, uint32_t, const VkSubmitInfo *, VkFence);

static VkResult count_submit(VkQueue queue, uint32_t count, const VkSubmitInfo *submits, VkFence fence) {
    num_submits++;
    num_submit_waits += submits->waitSemaphoreCount;
    return driver_submit(queue, count, submits, fence);
}

/* While the device is busy, launches gather, those of a graph too: few calls of the driver, all of the work. */
static void busy_device_gets_few_batches(void **state) {
    (void)state;
    qn__queue *queue = queue_new();
    qn__code *code = load_step();
    array x = array_new(1 << 20), y = array_new(4096);
    uint32_t got[1024] = {0};
    step_launch step;
    qn__replay *replay;
    set_step(&step, code, y, y, 1, 0, 1024, 64);
    OK(backend->replay_create(gpu, &step.command, 1, &replay, why));
    uint64_t number = write_to(queue, y, 0, got, sizeof got);
    finish(queue, number);
    driver_submit = gpu->vk.QueueSubmit;
    gpu->vk.QueueSubmit = count_submit;
    bool was_busy = false;
    unsigned all = 0;
    for (uint32_t rounds = 1000; !was_busy && rounds < 1 << 18;
         rounds *= 4) { /* or else it was done before */
        num_submits = 0;
        launch(queue, code, x, x, 1, rounds, 1 << 18, 64);
        for (int i = 0; i < 12; i++) OK(backend->replay_submit(queue, replay, &number, why));
        for (int i = 0; i < 12; i++) number = launch(queue, code, y, y, 1, 0, 1024, 64);
        was_busy = backend->wait(queue, number, 0, why) == QN_ERROR_TIMEOUT;
        finish(queue, read_back(queue, y, 0, got, sizeof got));
        all += 24;
        assert_int_equal(got[0], all);
        assert_int_equal(got[1023], all);
    }
    gpu->vk.QueueSubmit = driver_submit;
    assert_true(was_busy);
    assert_in_range(num_submits, 1, 5);
    backend->replay_destroy(gpu, replay);
    array_free(x);
    array_free(y);
    backend->code_unload(gpu, code);
    backend->queue_destroy(queue);
}

/* On two streams of one graph each launch waits for the one before; on the same stream the order is enough. */
static void a_graph_waits_for_its_last_launch(void **state) {
    (void)state;
    qn__queue *queues[2] = {queue_new(), queue_new()};
    qn__code *code = load_step();
    array x = array_new(4096);
    uint32_t got[1024] = {0};
    step_launch step;
    qn__replay *replay;
    uint64_t numbers[2];
    set_step(&step, code, x, x, 1, 0, 1024, 64);
    OK(backend->replay_create(gpu, &step.command, 1, &replay, why));
    finish(queues[0], write_to(queues[0], x, 0, got, sizeof got));
    driver_submit = gpu->vk.QueueSubmit;
    gpu->vk.QueueSubmit = count_submit;
    num_submit_waits = 0;
    for (int i = 0; i < 8; i++) /* 0, 0, 1, 1, ... */
        OK(backend->replay_submit(queues[i / 2 % 2], replay, &numbers[i / 2 % 2], why));
    finish(queues[0], numbers[0]);
    finish(queues[1], numbers[1]);
    gpu->vk.QueueSubmit = driver_submit;
    assert_int_equal(num_submit_waits, 3);
    backend->queue_destroy(queues[1]); /* what the graph has of it stays */
    OK(backend->replay_submit(queues[0], replay, &numbers[0], why));
    finish(queues[0], read_back(queues[0], x, 0, got, sizeof got));
    assert_int_equal(got[1023], 9);
    backend->replay_destroy(gpu, replay);
    array_free(x);
    backend->code_unload(gpu, code);
    backend->queue_destroy(queues[0]);
}

static void deadlines(void **state) {
    (void)state;
    qn__queue *queue = queue_new();
    qn__code *code = load_step();
    array x = array_new(1 << 20), y = array_new(1 << 20);
    bool was_late = false;
    for (uint32_t rounds = 1000; !was_late && rounds < 1 << 24; rounds *= 64) { /* a GPU may be in time */
        char names[160];
        const uint64_t number = launch(queue, code, x, y, 1, rounds, 1 << 18, 64);
        const qn_status status = backend->wait(queue, number, 1000000, why);
        backend->unfinished(queue, names, sizeof names);
        was_late = status == QN_ERROR_TIMEOUT && strcmp(names, "step") == 0 &&
                   backend->wait(queue, number, 0, why) == QN_ERROR_TIMEOUT;
        finish(queue, number);
    }
    assert_true(was_late);
    array_free(x);
    array_free(y);
    backend->code_unload(gpu, code);
    backend->queue_destroy(queue);
}

/* What gathers behind a running kernel runs when that is done, though the stream is not used again. */
static void gathered(void **state) {
    (void)state;
    qn__queue *queue = queue_new();
    qn__code *code = load_step();
    array x = array_new(1 << 20), y = array_new(1 << 20);
    uint32_t zero = 0, last = 0;
    uint64_t number = write_to(queue, y, 0, &zero, sizeof zero);
    finish(queue, number);
    for (int i = 0; i < 4; i++) number = launch(queue, code, x, x, 1, 100, 1 << 16, 64);
    launch(queue, code, x, y, 7, 0, 1, 1);
    number = launch(queue, code, y, y, 0, 0, 1, 1);
    const volatile uint32_t *seen = (const volatile uint32_t *)(void *)qn__vk_mapped(y.memory);
    for (int i = 0; seen && i < 6000 && *seen == 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    if (seen) assert_int_not_equal(*seen, 0);
    finish(queue, read_back(queue, y, 0, &last, sizeof last));
    assert_int_not_equal(last, 0);
    array_free(x);
    array_free(y);
    backend->code_unload(gpu, code);
    backend->queue_destroy(queue);
}

/* Larger than the driver promises, where it may be had: all of it is reached. */
static void huge_buffer(void **state) {
    (void)state;
    qn_device_info info;
    backend->gpu_info(gpu, &info);
    const uint64_t size = ((uint64_t)5 << 30) + 4096;
    if (info.max_buffer < size || info.memory < 8 * size) return;
    qn__queue *queue = queue_new();
    array a = {.size = size};
    if (backend->memory_create(gpu, size, &a.memory, &a.address, &a.host, why) == QN_OK) {
        uint32_t got[2] = {0};
        qn__command fill = {.kind = QN__COMMAND_FILL,
                            .to = a.memory,
                            .size = size,
                            .pattern = {1, 2, 3, 4},
                            .pattern_size = 4};
        submit(queue, &fill);
        read_back(queue, a, 0, &got[0], 4);
        finish(queue, read_back(queue, a, size - 4, &got[1], 4));
        assert_int_equal(got[0], 0x04030201);
        assert_int_equal(got[1], 0x04030201);
        array_free(a);
    } else
        print_message("5 GiB: %s\n", why);
    backend->queue_destroy(queue);
}

/* Pieces of all sizes come and go; none overlap, and everything is joined again at the end. */
static void pieces(void **state) {
    (void)state;
    enum { COUNT = 200 };
    array a[COUNT] = {0};
    uint32_t random = 1;
    for (int round = 0; round < 4000; round++) {
        random = random * 1664525u + 1013904223u;
        array *one = &a[(random >> 8) % COUNT];
        if (one->memory) {
            array_free(*one);
            *one = (array){0};
            continue;
        }
        *one = array_new(1 + (random >> 12) % (random % 16 ? 5000 : 3000000));
        assert_int_equal(one->address % 256, 0);
    }
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < i; j++)
            assert_true(!a[i].memory || !a[j].memory || a[i].address >= a[j].address + a[j].size ||
                        a[j].address >= a[i].address + a[i].size);
    for (int i = 0; i < COUNT; i++)
        if (a[i].memory) array_free(a[i]);
    for (int i = 0; i < QN__VK_HEAP_COUNT; i++)
        for (const qn__vk_block *block = gpu->heaps[i].blocks; block; block = block->next) {
            assert_int_equal(block->used, 0);
            assert_null(block->first->behind);
            assert_ptr_equal(block->first, block->first_free);
            assert_null(block->first->free_behind);
        }
    uint64_t pooled = 1;
    backend->trim(gpu, &pooled);
    assert_int_equal(pooled, 0);
}

static void cache_file(void **state) {
    (void)state;
    char folder[] = "/tmp/quern-vulkan-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/code", folder);
    assert_int_equal(qn__private_write(path, "", 0), 0);
    load(NULL, path, QN_ERROR_IO); /* empty */
    qn__code *code = load((const char *)step_words, path, QN_OK);
    qn__queue *queue = queue_new();
    array x = array_new(1024), y = array_new(1024);
    finish(queue, launch(queue, code, x, y, 1, 0, 256, 16));
    backend->code_unload(gpu, code); /* writes what the driver has compiled */
    compiled = from_cache = 0;
    code = load(NULL, path, QN_OK);
    finish(queue, launch(queue, code, x, y, 1, 0, 256, 16));
    size_t stored = 0;
    gpu->vk.GetPipelineCacheData(gpu->device, code->cache, &stored, NULL);
    if (stored > 64) /* else the driver's cache holds no more than a head */
        assert_int_equal(compiled, 0);
    backend->code_unload(gpu, code);
    char *bytes;
    size_t size;
    assert_int_equal(qn__file_read(&allocator, path, 0, &bytes, &size), 0);
    for (size_t at = 0; at < size; at += size / 13) {
        bytes[at] ^= 16;
        assert_int_equal(qn__private_write(path, bytes, size), 0);
        load(NULL, path, QN_ERROR_IO);
        bytes[at] ^= 16;
    }
    assert_int_equal(qn__private_write(path, bytes, size - 4), 0);
    load(NULL, path, QN_ERROR_IO);
    qn__release(&allocator, bytes);
    unlink(path);
    load(NULL, path, QN_ERROR_IO);
    rmdir(folder);
    array_free(x);
    array_free(y);
    backend->queue_destroy(queue);
}

/* ---- barriers ---- */

static unsigned num_barriers;
static uint32_t barrier_stages; /* of all of them, and the accesses they wait for */

static void count_barrier(VkCommandBuffer commands, uint32_t from_stages, uint32_t to_stages, uint32_t flags,
                          uint32_t num_memory, const VkMemoryBarrier *memory, uint32_t num_buffer,
                          const void *buffer, uint32_t num_image, const void *image) {
    (void)commands, (void)flags, (void)num_memory, (void)memory;
    (void)num_buffer, (void)buffer, (void)num_image, (void)image;
    barrier_stages |= num_barriers++ ? from_stages | to_stages : to_stages;
}

/* How many barriers a graph of these commands has, and of which stages. */
static void expect_barriers(const qn__command *commands, size_t count, unsigned expected, uint32_t stages) {
    qn__replay *replay;
    void (*kept)(VkCommandBuffer, uint32_t, uint32_t, uint32_t, uint32_t, const VkMemoryBarrier *, uint32_t,
                 const void *, uint32_t, const void *) = gpu->vk.CmdPipelineBarrier;
    bool unified = gpu->unified;
    num_barriers = barrier_stages = 0;
    gpu->unified = false; /* there the end has one for the host */
    gpu->vk.CmdPipelineBarrier = count_barrier;
    qn_status status = backend->replay_create(gpu, commands, count, &replay, why);
    gpu->vk.CmdPipelineBarrier = kept;
    gpu->unified = unified;
    assert_int_equal(status, QN_OK);
    backend->replay_destroy(gpu, replay);
    assert_int_equal(num_barriers, expected);
    assert_int_equal(barrier_stages, stages);
}

/* One in front, and one between commands that share what one of them writes. */
static void barriers_stand_where_they_must(void **state) {
    (void)state;
    enum { KERNELS = 20, BOTH = QN__VK_WORK_STAGES, COMPUTE = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT };
    qn__code *code = load_step();
    array x = array_new(4096), apart[KERNELS];
    static step_launch steps[2][KERNELS];
    qn__command chain[KERNELS], loose[KERNELS + 1];
    for (int i = 0; i < KERNELS; i++) {
        apart[i] = array_new(4096);
        set_step(&steps[0][i], code, x, x, 1, 0, 1024, 64);
        set_step(&steps[1][i], code, x, apart[i], 1, 0, 1024, 64);
        chain[i] = steps[0][i].command;
        loose[i] = steps[1][i].command;
    }
    loose[KERNELS] =
        (qn__command){.kind = QN__COMMAND_COPY, .from = apart[0].memory, .to = apart[1].memory, .size = 4096};
    expect_barriers(chain, KERNELS, KERNELS, COMPUTE);
    expect_barriers(loose, KERNELS, 1, COMPUTE);
    expect_barriers(loose, KERNELS + 1, 2, BOTH);
    for (int i = 0; i < KERNELS; i++) array_free(apart[i]);
    array_free(x);
    backend->code_unload(gpu, code);
}

/* Streams, programs, events and graphs come and go without leaving anything. */
static void rounds(void **state) {
    (void)state;
    uint64_t blocks[2] = {0};
    for (int round = 0; round < 300; round++) {
        qn__queue *queue = queue_new();
        qn__code *code = load_step();
        array x = array_new(100000), y = array_new(100000);
        launch(queue, code, x, y, 1, 0, 1000, 64);
        step_launch step;
        set_step(&step, code, x, y, 1, 0, 100, 4);
        qn__replay *replay;
        uint64_t number;
        OK(backend->replay_create(gpu, &step.command, 1, &replay, why));
        OK(backend->replay_submit(queue, replay, &number, why));
        finish(queue, number);
        backend->replay_destroy(gpu, replay);
        array_free(x);
        array_free(y);
        backend->code_unload(gpu, code);
        backend->queue_destroy(queue);
        uint64_t count = 0;
        for (int i = 0; i < QN__VK_HEAP_COUNT; i++)
            for (const qn__vk_block *block = gpu->heaps[i].blocks; block; block = block->next) count++;
        blocks[round > 0] = count;
    }
    assert_int_equal(blocks[0], blocks[1]);
}

static void *one_stream(void *argument) {
    qn__code *code = argument;
    char message[QN__WHY];
    qn__queue *queue = NULL;
    if (backend->queue_create(gpu, &queue, message)) return "no queue";
    array x = {.size = 1024}, y = x;
    if (backend->memory_create(gpu, 1024, &x.memory, &x.address, &x.host, message) ||
        backend->memory_create(gpu, 1024, &y.memory, &y.address, &y.host, message))
        return "no memory";
    char *failure = NULL;
    for (uint32_t round = 0; round < 100 && !failure; round++) {
        uint32_t values[256] = {round}, got[256];
        uint64_t number;
        step_launch step;
        qn__command c = {.kind = QN__COMMAND_WRITE, .to = x.memory, .size = 1024, .host = values};
        if (backend->submit(queue, &c, &number, message)) failure = "write";
        set_step(&step, code, x, y, 1, 0, 256, round % 64 + 1);
        if (backend->submit(queue, &step.command, &number, message)) failure = "launch";
        c = (qn__command){.kind = QN__COMMAND_READ, .from = y.memory, .size = 1024, .host = got};
        if (backend->submit(queue, &c, &number, message)) failure = "read";
        if (backend->wait(queue, number, QN_FOREVER, message)) failure = "wait";
        if (!failure && (got[0] != round + 1 || got[255] != 1)) failure = "wrong values";
    }
    array_free(x);
    array_free(y);
    backend->queue_destroy(queue);
    return failure;
}

static void threads(void **state) {
    (void)state;
    qn__code *code = load_step();
    pthread_t thread[3];
    for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&thread[i], NULL, one_stream, code), 0);
    for (int i = 0; i < 3; i++) {
        void *failure = NULL;
        pthread_join(thread[i], &failure);
        if (failure) print_error("%s\n", (char *)failure);
        assert_null(failure);
    }
    backend->code_unload(gpu, code);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(transfers),
        cmocka_unit_test(large_transfers),
        cmocka_unit_test(reads_in_order),
        cmocka_unit_test(fills),
        cmocka_unit_test(launches),
        cmocka_unit_test(many_launches),
        cmocka_unit_test(events),
        cmocka_unit_test(graphs),
        cmocka_unit_test(barriers_stand_where_they_must),
        cmocka_unit_test(busy_device_gets_few_batches),
        cmocka_unit_test(a_graph_waits_for_its_last_launch),
        cmocka_unit_test(deadlines),
        cmocka_unit_test(gathered),
        cmocka_unit_test(huge_buffer),
        cmocka_unit_test(pieces),
        cmocka_unit_test(cache_file),
        cmocka_unit_test(rounds),
        cmocka_unit_test(threads),
    };
    return run_in_both_ways(tests, QN__COUNT(tests));
}
