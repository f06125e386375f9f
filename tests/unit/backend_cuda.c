/* The CUDA backend on the fake driver (tests/fake), through the backend's table and through the API. */
#include <time.h>
#include <unistd.h>

#include "cuda_support.h"
#include "util/file.h"

/* ---- looking for devices ---- */

static void without_a_device(void **state) {
    (void)state;
    static const struct {
        fake_setting setting;
        long value, usual;
        const char *part;
    } rows[] = {{FAKE_DEVICES, 0, 1, "no"},
                {FAKE_VERSION, 10020, 12040, "supports CUDA 10.2; 11.4 or newer"},
                {FAKE_CAPABILITY, 52, 90, "compute capability 5; 6.0 or newer"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        device d = {0};
        uint32_t count = 7;
        fake.reset();
        fake.set(rows[i].setting, rows[i].value);
        assert_int_equal(cuda->open(&services, &d.driver, &count, d.why), QN_ERROR_NO_DEVICE);
        fake.set(rows[i].setting, rows[i].usual);
        assert_int_equal(count, 0);
        assert_why(&d, i ? rows[i].part : "NO_DEVICE");
    }
}

static void shows_its_limits(void **state) {
    (void)state;
    device d = open_device();
    qn_device_info info;
    qn__target target;
    qn__identity identity;
    cuda->gpu_info(d.gpu, &info);
    cuda->target(d.gpu, &target);
    cuda->identify(d.driver, 0, &identity);
    assert_string_equal(info.description, "Fake GPU 0");
    assert_non_null(strstr(info.driver, "CUDA 12.4"));
    assert_int_equal(info.compute_units, 132);
    assert_int_equal(info.local_memory, 232448);
    assert_int_equal(info.memory, 1 << 30);
    assert_int_equal(target.kind, QN__TARGET_PTX);
    assert_int_equal(target.arch, 90);
    assert_int_equal(identity.uuid[15], 0xa0);
    assert_false(identity.emulated);
    close_device(&d);
}

/* ---- transfers ---- */

static void moves_data_of_any_size(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 100, 65536, 300000, (4 << 20) + 1, 20 << 20};
    device d = open_device();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t size = sizes[i];
        qn__memory *a = make(&d, size), *b = make(&d, size);
        unsigned char *data = malloc(size), *back = calloc(1, size);
        for (size_t n = 0; n < size; n++) data[n] = (unsigned char)(n * 7 + n / 251);
        uint64_t number;
        qn__command write = {.kind = QN__COMMAND_WRITE, .to = a, .size = size, .host = data};
        qn__command copy = {.kind = QN__COMMAND_COPY, .to = b, .from = a, .size = size};
        qn__command read = {.kind = QN__COMMAND_READ, .from = b, .size = size, .host = back};
        assert_int_equal(submit(&d, &write, &number), QN_OK);
        assert_int_equal(submit(&d, &copy, &number), QN_OK);
        assert_int_equal(submit(&d, &read, &number), QN_OK);
        finish(&d, number);
        assert_memory_equal(data, back, size);
        free(data);
        free(back);
        cuda->memory_destroy(d.gpu, a);
        cuda->memory_destroy(d.gpu, b);
    }
    close_device(&d);
}

static void fills_with_patterns_of_all_sizes(void **state) {
    (void)state;
    enum { SIZE = 1 << 20, OFFSET = 4096 };
    device d = open_device();
    qn__memory *memory = make(&d, SIZE + 2 * OFFSET);
    static unsigned char back[SIZE + 2 * OFFSET];
    uint64_t number;
    for (uint32_t width = 1; width <= 16; width *= 2)
        for (int same = 0; same < 2; same++) { /* also one that is really narrower */
            qn__command zero = {
                .kind = QN__COMMAND_FILL, .to = memory, .size = sizeof back, .pattern_size = 1};
            qn__command fill = {.kind = QN__COMMAND_FILL,
                                .to = memory,
                                .to_offset = OFFSET,
                                .size = SIZE - width,
                                .pattern_size = width};
            for (uint32_t i = 0; i < width; i++) fill.pattern[i] = (unsigned char)(same ? 9 : 1 + i * 3);
            qn__command read = {.kind = QN__COMMAND_READ, .from = memory, .size = sizeof back, .host = back};
            assert_int_equal(submit(&d, &zero, &number), QN_OK);
            assert_int_equal(submit(&d, &fill, &number), QN_OK);
            assert_int_equal(submit(&d, &read, &number), QN_OK);
            finish(&d, number);
            for (size_t i = 0; i < sizeof back; i++) {
                bool inside = i >= OFFSET && i < OFFSET + SIZE - width;
                if (back[i] != (inside ? fill.pattern[(i - OFFSET) % width] : 0))
                    fail_msg("width %u, byte %zu is %u", width, i, back[i]);
            }
        }
    cuda->memory_destroy(d.gpu, memory);
    close_device(&d);
}

static void pinned_memory_goes_directly(void **state) {
    (void)state;
    enum { SIZE = 8 << 20 };
    device d = open_device();
    void *host;
    assert_int_equal(cuda->host_create(d.gpu, SIZE, &host, d.why), QN_OK);
    for (size_t i = 0; i < SIZE; i++) assert_int_equal(((unsigned char *)host)[i], 0);
    qn__memory *memory = make(&d, SIZE);
    qn__command write = {.kind = QN__COMMAND_WRITE,
                         .to = memory,
                         .size = SIZE,
                         .host = host,
                         .host_stays = true,
                         .host_pinned = true};
    qn__command read = {
        .kind = QN__COMMAND_READ, .from = memory, .size = SIZE, .host = host, .host_pinned = true};
    long before = fake.count("cuMemHostAlloc");
    transfer(&d, write, QN_OK);
    transfer(&d, read, QN_OK);
    finish(&d, 2);
    assert_int_equal(fake.count("cuMemcpyHtoDAsync_v2"), 1);
    assert_int_equal(fake.count("cuMemcpyDtoHAsync_v2"), 1);
    assert_int_equal(fake.count("cuMemHostAlloc"), before);
    cuda->memory_destroy(d.gpu, memory);
    cuda->host_destroy(d.gpu, host);
    close_device(&d);
}

static void shared_memory_is_pinned_and_given_back(void **state) {
    (void)state;
    device d = open_device();
    qn_device_info info;
    qn__memory *memory, *other;
    uint64_t address;
    unsigned char *host, data[100] = "what is written";
    void *none;
    cuda->gpu_info(d.gpu, &info);
    assert_true(info.capabilities & QN_CAN_SHARE_COHERENTLY);
    const long pinned = fake.live(FAKE_PINNED);
    fake.fault("cuMemHostAlloc", 1, QN__CU_ERROR_OUT_OF_MEMORY);
    assert_int_equal(cuda->memory_share(d.gpu, 100, &memory, &address, &none, d.why), QN_ERROR_DEVICE_MEMORY);
    assert_null(none);
    assert_why(&d, "the system pins no 100 bytes more");
    fake.fault("cuMemHostGetDevicePointer_v2", 1, QN__CU_ERROR_INVALID_VALUE);
    assert_int_equal(cuda->memory_share(d.gpu, 100, &memory, &address, &none, d.why), QN_ERROR_DRIVER);
    assert_why(&d, "showing host memory to the device");
    assert_int_equal(fake.live(FAKE_PINNED), pinned);
    assert_int_equal(cuda->memory_share(d.gpu, 100, &memory, &address, (void **)&host, d.why), QN_OK);
    assert_int_equal(cuda->memory_share(d.gpu, 100, &other, &address, &none, d.why), QN_OK);
    transfer(&d, (qn__command){.kind = QN__COMMAND_WRITE, .to = memory, .size = 100, .host = data}, QN_OK);
    finish(&d, 1);
    assert_memory_equal(host, data, sizeof data);
    cuda->memory_destroy(d.gpu, memory);
    assert_int_equal(fake.live(FAKE_PINNED), pinned + 2); /* the other, and the write's block */
    cuda->memory_destroy(d.gpu, other);
    assert_int_equal(fake.live(FAKE_ALLOCATIONS), 0);
    close_device(&d);
}

static void host_memory_is_registered_as_it_is(void **state) {
    (void)state;
    device d = open_device();
    _Alignas(16) static unsigned char host[4096], back[4096];
    qn__memory *memory, *part;
    uint64_t address;
    const long pinned = fake.live(FAKE_PINNED);
    static const struct {
        int result;
        bool read_only;
        qn_status status;
        const char *why;
    } rows[] = {
        {QN__CU_ERROR_OUT_OF_MEMORY, false, QN_ERROR_DEVICE_MEMORY, "the system pins no 4096 bytes more"},
        {QN__CU_ERROR_NOT_SUPPORTED, true, QN_ERROR_UNSUPPORTED, "such as a private mapping with PROT_WRITE"},
        {QN__CU_ERROR_INVALID_VALUE, false, QN_ERROR_UNSUPPORTED, "is it there, and can it be written?"},
        {QN__CU_ERROR_NO_DEVICE, false, QN_ERROR_DRIVER, "importing host memory"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fake.fault("cuMemHostRegister_v2", 1, rows[i].result);
        assert_int_equal(
            cuda->host_import(d.gpu, host, sizeof host, rows[i].read_only, &memory, &address, d.why),
            rows[i].status);
        assert_why(&d, rows[i].why);
    }
    fake.fault("cuMemHostGetDevicePointer_v2", 1, QN__CU_ERROR_INVALID_VALUE);
    assert_int_equal(cuda->host_import(d.gpu, host, sizeof host, false, &memory, &address, d.why),
                     QN_ERROR_DRIVER);
    assert_int_equal(fake.live(FAKE_PINNED), pinned);
    assert_int_equal(cuda->host_import(d.gpu, host, sizeof host, false, &memory, &address, d.why), QN_OK);
    assert_int_equal(cuda->host_import(d.gpu, host + 16, 16, false, &part, &address, d.why),
                     QN_ERROR_ARGUMENT);
    assert_why(&d, "is the driver's already");
    qn__command fill = {.kind = QN__COMMAND_FILL, .to = memory, .size = sizeof host, .pattern_size = 1};
    fill.pattern[0] = 9;
    transfer(&d, fill, QN_OK);
    transfer(&d, (qn__command){.kind = QN__COMMAND_READ, .from = memory, .size = sizeof back, .host = back},
             QN_OK);
    finish(&d, 2);
    assert_int_equal(host[4095], 9);
    assert_memory_equal(host, back, sizeof host);
    cuda->host_import_end(d.gpu, memory, host, sizeof host);
    assert_int_equal(fake.live(FAKE_PINNED), pinned);
    close_device(&d);
}

/* ---- launches ---- */

static void launches_with_its_arguments(void **state) {
    (void)state;
    device d = open_device();
    qn__memory *memory = make(&d, 4000);
    struct {
        uint64_t p;
        uint32_t value, n;
    } args = {(uintptr_t)memory, 77, 1000};
    qn__command command = launch_of(&d, FILL, 1000, 256);
    command.args = (const unsigned char *)&args;
    command.args_size = sizeof args;
    uint32_t back[1000];
    uint64_t number;
    assert_int_equal(submit(&d, &command, &number), QN_OK);
    transfer(&d, (qn__command){.kind = QN__COMMAND_READ, .from = memory, .size = 4000, .host = back}, QN_OK);
    finish(&d, 2);
    for (int i = 0; i < 1000; i++) assert_int_equal(back[i], 77);
    fake_launch last = fake.last_launch();
    assert_int_equal(last.grid[0], 4);
    assert_int_equal(last.block[0], 256);
    assert_int_equal(last.shared, 0);
    cuda->memory_destroy(d.gpu, memory);
    close_device(&d);
}

/* 100 bytes of its own, then 3000 at 128; and a last, smaller group in a grid of its own. */
static void local_memory_and_parts(void **state) {
    (void)state;
    device d = open_device();
    uint64_t args = 128, number;
    qn__command command = launch_of(&d, TILE, 100, 32);
    command.args = (const unsigned char *)&args;
    command.args_size = sizeof args;
    command.local_memory = 3128;
    assert_int_equal(submit(&d, &command, &number), QN_OK);
    assert_int_equal(fake.count("cuLaunchKernel"), 2);
    fake_launch last = fake.last_launch();
    uint32_t base;
    memcpy(&base, last.params + 8, sizeof base);
    assert_int_equal(last.grid[0], 1);
    assert_int_equal(last.block[0], 4);
    assert_int_equal(last.shared, 3000);
    assert_int_equal(base, 3);
    command.local_memory = 200 << 10; /* only by opting in */
    assert_int_equal(submit(&d, &command, &number), QN_OK);
    command.local_memory = 100; /* no arguments in it */
    assert_int_equal(submit(&d, &command, &number), QN_OK);
    assert_int_equal(fake.last_launch().shared, 0);
    finish(&d, number);
    close_device(&d);
}

static void groups_too_large_for_the_kernel(void **state) {
    (void)state;
    fake.set(FAKE_MAX_THREADS, 640);
    device d = open_device();
    fake.set(FAKE_MAX_THREADS, 1024);
    uint64_t number, global[3] = {1 << 20, 1, 1};
    uint32_t local[3];
    qn__command command = launch_of(&d, HANG, 1024, 1024);
    assert_int_equal(submit(&d, &command, &number), QN_ERROR_LAUNCH_SIZE);
    assert_why(&d, "1024 work-items; kernel hang, with 40 registers each, can have 640");
    fake.fault("cuLaunchKernel", 1, QN__CU_ERROR_LAUNCH_OUT_OF_RESOURCES);
    command.local[0] = 512;
    assert_int_equal(submit(&d, &command, &number), QN_ERROR_LAUNCH_SIZE);
    assert_why(&d, "launching kernel hang with groups of 512 x 1 x 1 and 0 bytes of local memory");
    cuda->choose_local(d.gpu, d.code, HANG, global, local);
    assert_int_equal(local[0], 256);
    close_device(&d);
}

static void prints_in_order(void **state) {
    (void)state;
    device d = open_device();
    uint64_t number;
    for (int i = 0; i < 3; i++) launch(&d, PRINT, &number);
    assert_string_equal(printed, "");
    finish(&d, number);
    assert_string_equal(printed, "answer 42\nanswer 42\nanswer 42\n");
    for (int i = 0; i < 200; i++) launch(&d, PRINT, &number); /* buffers do not pile up */
    assert_true(fake.live(FAKE_ALLOCATIONS) < 100);
    finish(&d, number);
    close_device(&d);
}

static void counts_what_is_done(void **state) {
    (void)state;
    device d = open_device();
    uint64_t number;
    for (int i = 0; i < 1000; i++) {
        launch(&d, FILL, &number);
        assert_int_equal(number, i + 1);
        if (i % 20 == 19) assert_true(number - cuda->completed(d.queue) <= 40);
    }
    /* an event behind every 32nd and for every question, and two changes of the context: nothing else */
    assert_true(fake.count("cuEventRecord") <= 1000 / 32 + 1000 / 20);
    assert_true(fake.count("cuEventQuery") <= 3 * (1000 / 20));
    finish(&d, number);
    assert_int_equal(cuda->wait(d.queue, 5, QN_FOREVER, d.why), QN_OK);
    close_device(&d);
}

/* ---- deadlines ---- */

static void deadline_names_the_kernel(void **state) {
    (void)state;
    device d = open_device();
    uint64_t number;
    launch(&d, FILL, &number);
    finish(&d, number);
    launch(&d, HANG, &number);
    assert_int_equal(cuda->wait(d.queue, number, 3000000, d.why), QN_ERROR_TIMEOUT);
    assert_unfinished(&d, "hang");
    assert_int_equal(cuda->wait(d.queue, number, 0, d.why), QN_ERROR_TIMEOUT);
    for (int i = 0; i < 3000; i++) launch(&d, FILL, &number); /* more than there are checkpoints */
    assert_int_equal(cuda->completed(d.queue), 1);
    assert_int_equal(cuda->wait(d.queue, number, 0, d.why), QN_ERROR_TIMEOUT);
    fake.release();
    assert_int_equal(cuda->wait(d.queue, number, QN_FOREVER, d.why), QN_OK);
    close_device(&d);
}

static void events_wait_and_tell_times(void **state) {
    (void)state;
    device d = open_device();
    qn__mark *begin, *end;
    uint64_t from, to, number;
    assert_int_equal(cuda->mark_create(d.gpu, &begin, d.why), QN_OK);
    assert_int_equal(cuda->mark_create(d.gpu, &end, d.why), QN_OK);
    assert_false(cuda->mark_done(begin, 1, &from));
    const uint64_t before = qn__now_ns();
    transfer(&d, (qn__command){.kind = QN__COMMAND_RECORD, .mark = begin, .mark_version = 1}, QN_OK);
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    launch(&d, HANG, &number);
    transfer(&d, (qn__command){.kind = QN__COMMAND_RECORD, .mark = end, .mark_version = 1}, QN_OK);
    transfer(&d, (qn__command){.kind = QN__COMMAND_WAIT, .mark = begin, .mark_version = 1}, QN_OK);
    assert_true(cuda->mark_done(begin, 1, &from));
    assert_false(cuda->mark_done(end, 1, &to));
    assert_int_equal(cuda->mark_wait(end, 1, 2000000, d.why), QN_ERROR_TIMEOUT);
    fake.release();
    assert_int_equal(cuda->mark_wait(end, 1, QN_FOREVER, d.why), QN_OK);
    assert_true(cuda->mark_done(end, 1, &to));
    assert_true(to - from >= 2000000 && to - from < qn__now_ns() - before + 1000000); /* floats of ms */
    transfer(&d, (qn__command){.kind = QN__COMMAND_RECORD, .mark = end, .mark_version = 2}, QN_OK);
    assert_int_equal(cuda->mark_wait(end, 2, QN_FOREVER, d.why), QN_OK);
    cuda->mark_destroy(begin);
    cuda->mark_destroy(end);
    close_device(&d);
}

/* Times are measured from bases that are renewed each second: differences go across. */
static void times_go_across_bases(void **state) {
    (void)state;
    device d = open_device();
    qn__mark *marks[3];
    uint64_t times[3], before[3], after[3]; /* this process may have to wait in between */
    for (int i = 0; i < 3; i++) {
        if (i) nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 100000000}, NULL);
        assert_int_equal(cuda->mark_create(d.gpu, &marks[i], d.why), QN_OK);
        before[i] = qn__now_ns();
        transfer(&d, (qn__command){.kind = QN__COMMAND_RECORD, .mark = marks[i], .mark_version = 1}, QN_OK);
        after[i] = qn__now_ns();
    }
    for (int i = 0; i < 3; i++) assert_true(cuda->mark_done(marks[i], 1, &times[i]));
    for (int i = 1; i < 3; i++) {
        double took = (double)(int64_t)(times[i] - times[0]);
        double least = (double)(before[i] - after[0]), most = (double)(after[i] - before[0]);
        if (took < least - 2e7 || took > most + 2e7) fail_msg("%g ns, not %g to %g", took, least, most);
    }
    for (int i = 0; i < 3; i++) cuda->mark_destroy(marks[i]);
    close_device(&d);
}

/* ---- code ---- */

static void keeps_and_loads_cubins(void **state) {
    (void)state;
    char folder[] = "/tmp/quern-cuda-XXXXXX", path[64];
    device d = open_device();
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/code", folder);
    cuda->code_unload(d.gpu, d.code);
    assert_int_equal(load(&d, text, path), QN_OK);
    long compiled = fake.count("cuLinkAddData_v2");
    cuda->code_unload(d.gpu, d.code);
    assert_int_equal(load(&d, NULL, path), QN_OK);
    assert_int_equal(fake.count("cuLinkAddData_v2"), compiled);
    cuda->code_unload(d.gpu, d.code);
    assert_int_equal(truncate(path, 100), 0);
    assert_int_equal(load(&d, NULL, path), QN_ERROR_IO);
    assert_int_equal(load(&d, "syntax error", NULL), QN_ERROR_DRIVER);
    assert_why(&d, "does not compile the kernels, first fill: ptxas application ptx input, line 3; error");
    assert_int_equal(load(&d, ".entry fill(.param .b8 p[8])", NULL), QN_ERROR_DRIVER);
    assert_why(&d, "kernel print");
    unlink(path);
    rmdir(folder);
    assert_int_equal(load(&d, text, NULL), QN_OK);
    close_device(&d);
}

/* ---- graphs ---- */

static void replays_a_graph(void **state) {
    (void)state;
    device d = open_device();
    qn__memory *a = make(&d, 4096), *b = make(&d, 4096);
    struct {
        uint64_t p;
        uint32_t value, n;
    } args = {(uintptr_t)a, 5, 512};
    char data[64], back[4096];
    memset(data, 7, sizeof data);
    qn__command commands[] = {
        launch_of(&d, FILL, 512, 64),
        {.kind = QN__COMMAND_WRITE, .to = a, .to_offset = 2048, .size = 64, .host = data},
        {.kind = QN__COMMAND_COPY, .to = b, .from = a, .size = 4096},
        launch_of(&d, PRINT, 1, 1)};
    commands[0].args = (const unsigned char *)&args;
    commands[0].args_size = sizeof args;
    qn__replay *replay;
    assert_int_equal(cuda->replay_create(d.gpu, commands, 4, &replay, d.why), QN_OK);
    memset(data, 0, sizeof data);
    memset(&args, 0, sizeof args);
    uint64_t number;
    for (int i = 0; i < 2; i++) assert_int_equal(cuda->replay_submit(d.queue, replay, &number, d.why), QN_OK);
    transfer(&d, (qn__command){.kind = QN__COMMAND_READ, .from = b, .size = 4096, .host = back}, QN_OK);
    finish(&d, number + 1);
    assert_int_equal(back[0], 5);
    assert_int_equal(back[2048], 7);
    assert_string_equal(printed, "answer 42\nanswer 42\n");
    assert_int_equal(fake.count("cuLaunchKernel"), 2); /* when it was recorded */
    cuda->replay_destroy(d.gpu, replay);
    assert_int_equal(cuda->replay_create(d.gpu, commands, 0, &replay, d.why), QN_OK);
    assert_int_equal(cuda->replay_submit(d.queue, replay, &number, d.why), QN_OK);
    cuda->replay_destroy(d.gpu, replay);
    cuda->memory_destroy(d.gpu, a);
    cuda->memory_destroy(d.gpu, b);
    close_device(&d);
}

/* A launch does not wait, also not the next one on another stream; each prints for itself. */
static void printing_graphs_do_not_wait(void **state) {
    (void)state;
    device d = open_device(), other = d;
    const qn__command commands[] = {launch_of(&d, PRINT, 1, 1), launch_of(&d, HANG, 1, 1),
                                    launch_of(&d, PRINT, 1, 1)};
    qn__replay *replay;
    uint64_t number, second;
    assert_int_equal(cuda->queue_create(d.gpu, &other.queue, d.why), QN_OK);
    assert_int_equal(cuda->replay_create(d.gpu, commands, 3, &replay, d.why), QN_OK);
    for (int i = 0; i < 2; i++) assert_int_equal(cuda->replay_submit(d.queue, replay, &number, d.why), QN_OK);
    assert_int_equal(cuda->replay_submit(other.queue, replay, &second, d.why), QN_OK);
    assert_int_equal(cuda->wait(d.queue, number, 1000000, d.why), QN_ERROR_TIMEOUT);
    assert_unfinished(&d, "print or hang");
    assert_string_equal(printed, "");
    fake.release();
    finish(&d, number);
    assert_string_equal(printed, "answer 42\nanswer 42\nanswer 42\nanswer 42\n");
    finish(&other, second);
    assert_string_equal(printed + 40, "answer 42\nanswer 42\n");
    cuda->replay_destroy(d.gpu, replay);
    cuda->queue_destroy(other.queue);
    close_device(&d);
}

/* Which of a graph's kernels is at fault is not known: all are named. */
static void graphs_name_their_kernels(void **state) {
    (void)state;
    device d = open_device();
    const qn__command commands[] = {launch_of(&d, TILE, 1, 1), launch_of(&d, TILE, 1, 1),
                                    launch_of(&d, HANG, 1, 1), launch_of(&d, BAD, 1, 1)};
    qn__replay *replay;
    uint64_t number;
    assert_int_equal(cuda->replay_create(d.gpu, commands, 3, &replay, d.why), QN_OK);
    assert_int_equal(cuda->replay_submit(d.queue, replay, &number, d.why), QN_OK);
    assert_int_equal(cuda->wait(d.queue, number, 1000000, d.why), QN_ERROR_TIMEOUT);
    assert_unfinished(&d, "tile or hang");
    fake.release();
    finish(&d, number);
    cuda->replay_destroy(d.gpu, replay);
    assert_int_equal(cuda->replay_create(d.gpu, commands, 4, &replay, d.why), QN_OK);
    assert_int_equal(cuda->replay_submit(d.queue, replay, &number, d.why), QN_OK);
    fake.release();
    assert_int_equal(cuda->wait(d.queue, number, QN_FOREVER, d.why), QN_ERROR_DEVICE_LOST);
    assert_why(&d, "kernel tile, hang or bad failed: CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_int_equal(cuda->replay_submit(d.queue, replay, &number, d.why), QN_ERROR_DEVICE_LOST);
    assert_int_equal(cuda->replay_create(d.gpu, commands, 1, &(qn__replay *){0}, d.why),
                     QN_ERROR_DEVICE_LOST);
    cuda->replay_destroy(d.gpu, replay);
    close_device(&d);
}

typedef struct sharing {
    device *device;
    qn__replay *replay;
} sharing;

static void *launch_often(void *argument) {
    const sharing *s = argument;
    device d = *s->device;
    uint64_t number;
    assert_int_equal(cuda->queue_create(d.gpu, &d.queue, d.why), QN_OK);
    for (int i = 0; i < 2000; i++)
        if (cuda->replay_submit(d.queue, s->replay, &number, d.why)) fail_msg("%s", d.why);
    finish(&d, number);
    cuda->queue_destroy(d.queue);
    return NULL;
}

static void two_threads_with_one_graph(void **state) {
    (void)state;
    device d = open_device();
    qn__memory *memory = make(&d, 1 << 16);
    const qn__command fill = {.kind = QN__COMMAND_FILL, .to = memory, .size = 1 << 16, .pattern_size = 1};
    sharing s = {.device = &d};
    pthread_t threads[2];
    assert_int_equal(cuda->replay_create(d.gpu, &fill, 1, &s.replay, d.why), QN_OK);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, launch_often, &s);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    cuda->replay_destroy(d.gpu, s.replay);
    cuda->memory_destroy(d.gpu, memory);
    close_device(&d);
}

/* ---- through the API ---- */

static void buffers_and_streams_leave_nothing(void **state) {
    (void)state;
    fake.reset();
    qn_context *context;
    qn_device *dev;
    assert_int_equal(qn_context_create(&(qn_context_desc){.disable_cache = true}, &context), QN_OK);
    assert_int_equal(qn_device_get(context, "cuda", &dev), QN_OK);
    long allocations = 0, streams = 0, events = 0;
    for (int i = 0; i < 10000; i++) {
        qn_buffer *buffer;
        qn_stream *stream;
        qn_event *event;
        uint32_t value = (uint32_t)i, back = 0;
        assert_int_equal(qn_buffer_create(dev, &(qn_buffer_desc){.size = 256}, &buffer), QN_OK);
        assert_int_equal(qn_stream_create(dev, &stream), QN_OK);
        assert_int_equal(qn_event_create(dev, &event), QN_OK);
        assert_int_equal(qn_stream_fill(stream, buffer, 0, 256, &value, 4), QN_OK);
        assert_int_equal(qn_stream_record(stream, event), QN_OK);
        assert_int_equal(qn_event_wait(event, QN_FOREVER), QN_OK);
        assert_int_equal(qn_buffer_read(buffer, 128, &back, 4), QN_OK);
        assert_int_equal(back, i);
        qn_buffer_destroy(buffer);
        qn_event_destroy(event);
        qn_stream_destroy(stream);
        if (i == 100) {
            allocations = fake.live(FAKE_ALLOCATIONS);
            streams = fake.live(FAKE_STREAMS);
            events = fake.live(FAKE_EVENTS);
        }
    }
    assert_int_equal(fake.live(FAKE_ALLOCATIONS), allocations);
    assert_int_equal(fake.live(FAKE_STREAMS), streams);
    assert_true(fake.live(FAKE_EVENTS) <= events + 64); /* a stream's checkpoints */
    qn_context_destroy(context);
    for (int kind = 0; kind < FAKE_LIVE_COUNT; kind++) assert_int_equal(fake.live((fake_live_kind)kind), 0);
}

/* ---- threads ---- */

static void *fill_and_read(void *argument) {
    device d = *(device *)argument;
    assert_int_equal(cuda->queue_create(d.gpu, &d.queue, d.why), QN_OK);
    qn__memory *memory = make(&d, 1 << 16);
    static _Thread_local unsigned char back[1 << 16];
    for (int i = 1; i < 200; i++) {
        qn__command fill = {.kind = QN__COMMAND_FILL, .to = memory, .size = 1 << 16, .pattern_size = 1};
        fill.pattern[0] = (unsigned char)i;
        uint64_t number;
        transfer(&d, fill, QN_OK);
        launch(&d, PRINT, &number);
        transfer(&d, (qn__command){.kind = QN__COMMAND_READ, .from = memory, .size = 1 << 16, .host = back},
                 QN_OK);
        finish(&d, number + 1);
        for (size_t n = 0; n < sizeof back; n += 997) assert_int_equal(back[n], i);
    }
    cuda->memory_destroy(d.gpu, memory);
    cuda->queue_destroy(d.queue);
    return NULL;
}

static void two_threads_with_a_stream_each(void **state) {
    (void)state;
    device d = open_device();
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, fill_and_read, &d);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    close_device(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_device),
        cmocka_unit_test(shows_its_limits),
        cmocka_unit_test(moves_data_of_any_size),
        cmocka_unit_test(fills_with_patterns_of_all_sizes),
        cmocka_unit_test(pinned_memory_goes_directly),
        cmocka_unit_test(host_memory_is_registered_as_it_is),
        cmocka_unit_test(shared_memory_is_pinned_and_given_back),
        cmocka_unit_test(launches_with_its_arguments),
        cmocka_unit_test(local_memory_and_parts),
        cmocka_unit_test(groups_too_large_for_the_kernel),
        cmocka_unit_test(prints_in_order),
        cmocka_unit_test(counts_what_is_done),
        cmocka_unit_test(deadline_names_the_kernel),
        cmocka_unit_test(events_wait_and_tell_times),
        cmocka_unit_test(times_go_across_bases),
        cmocka_unit_test(keeps_and_loads_cubins),
        cmocka_unit_test(replays_a_graph),
        cmocka_unit_test(printing_graphs_do_not_wait),
        cmocka_unit_test(graphs_name_their_kernels),
        cmocka_unit_test(two_threads_with_one_graph),
        cmocka_unit_test(buffers_and_streams_leave_nothing),
        cmocka_unit_test(two_threads_with_a_stream_each),
    };
    return cmocka_run_group_tests(tests, find_fake, NULL);
}
