/* The CUDA backend where something fails, on the fake driver (tests/fake): memory that is short, each call once, a
   kernel that takes the device with it. */
#include "cuda_support.h"

/* Transfers of ordinary memory do without blocks of their own. */
static void nothing_can_be_pinned(void **state) {
    (void)state;
    enum { SIZE = 5 << 20 };
    static unsigned char data[SIZE], back[SIZE];
    for (size_t i = 0; i < SIZE; i++) data[i] = (unsigned char)(i * 3 + i / 255);
    for (int nth = 1; nth <= 3; nth++) {
        device d = open_device();
        qn__memory *memory = make(&d, SIZE);
        memset(back, 0, SIZE);
        fake.fault("cuMemHostAlloc", nth, QN__CU_ERROR_OUT_OF_MEMORY);
        transfer(&d, (qn__command){.kind = QN__COMMAND_WRITE, .to = memory, .size = SIZE, .host = data},
                 QN_OK);
        fake.fault("cuMemHostAlloc", 1, QN__CU_ERROR_OUT_OF_MEMORY);
        transfer(&d, (qn__command){.kind = QN__COMMAND_READ, .from = memory, .size = SIZE, .host = back},
                 QN_OK);
        finish(&d, 2);
        assert_memory_equal(data, back, SIZE);
        cuda->memory_destroy(d.gpu, memory);
        close_device(&d);
    }
}

/* What is wanted twice is found the second time: pooled memory is given back in between. */
static void launches_code_and_graphs_make_room(void **state) {
    (void)state;
    device d = open_device();
    uint64_t number;
    qn__command command = launch_of(&d, FILL, 1, 1);
    fake.fault("cuLaunchKernel", 1, QN__CU_ERROR_OUT_OF_MEMORY);
    assert_int_equal(submit(&d, &command, &number), QN_OK);
    assert_int_equal(fake.count("cuMemPoolTrimTo"), 1);
    cuda->code_unload(d.gpu, d.code);
    fake.fault("cuModuleLoadData", 1, QN__CU_ERROR_OUT_OF_MEMORY);
    assert_int_equal(load(&d, text, NULL), QN_OK);
    assert_int_equal(fake.count("cuMemPoolTrimTo"), 2);
    qn__replay *replay;
    command = launch_of(&d, FILL, 1, 1);
    fake.fault("cuGraphInstantiateWithFlags", 1, QN__CU_ERROR_OUT_OF_MEMORY);
    assert_int_equal(cuda->replay_create(d.gpu, &command, 1, &replay, d.why), QN_OK);
    assert_int_equal(fake.count("cuMemPoolTrimTo"), 3);
    cuda->replay_destroy(d.gpu, replay);
    close_device(&d);
}

/* A launch of two parts whose second fails: a number stands for the first, so that its memory stays. Nothing waits. */
static void a_launch_that_fails_half_way(void **state) {
    (void)state;
    device d = open_device();
    uint64_t args = 128, number = 0;
    qn__command command = launch_of(&d, TILE, 100, 32);
    command.args = (const unsigned char *)&args;
    command.args_size = sizeof args;
    long before = fake.count("cuStreamSynchronize");
    fake.fault("cuLaunchKernel", 2, QN__CU_ERROR_LAUNCH_OUT_OF_RESOURCES);
    assert_int_equal(submit(&d, &command, &number), QN_ERROR_LAUNCH_SIZE);
    assert_why(&d, "launching kernel tile with groups of 32 x 1 x 1");
    assert_int_equal(number, 1);
    /* one that prints says nothing, also not what an earlier launch left in its buffer */
    command = launch_of(&d, PRINT, 1, 1);
    assert_int_equal(submit(&d, &command, &number), QN_OK);
    finish(&d, number);
    printed[0] = 0;
    fake.fault("cuLaunchKernel", 1, QN__CU_ERROR_LAUNCH_OUT_OF_RESOURCES);
    before = fake.count("cuStreamSynchronize");
    assert_int_equal(submit(&d, &command, &number), QN_ERROR_LAUNCH_SIZE);
    assert_int_equal(number, 3);
    assert_int_equal(fake.count("cuStreamSynchronize"), before);
    finish(&d, number);
    assert_string_equal(printed, "");
    close_device(&d);
}

static void a_bad_kernel_loses_the_device(void **state) {
    (void)state;
    fake.set(FAKE_DEVICES, 2);
    device d = open_device();
    qn__gpu *other;
    qn__queue *other_queue;
    qn__mark *mark;
    uint64_t number, address, time;
    assert_int_equal(cuda->gpu_open(d.driver, 1, &other, d.why), QN_OK);
    assert_int_equal(cuda->queue_create(other, &other_queue, d.why), QN_OK);
    assert_int_equal(cuda->mark_create(d.gpu, &mark, d.why), QN_OK);
    qn__memory *memory = make(&d, 100), *more;
    launch(&d, FILL, &number);
    finish(&d, number);
    launch(&d, BAD, &number);
    /* whichever call it shows in */
    assert_int_equal(cuda->memory_create(d.gpu, 8, &more, &address, &(void *){0}, d.why),
                     QN_ERROR_DEVICE_LOST);
    assert_why(&d, "kernel bad failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    assert_int_equal(cuda->wait(d.queue, number, QN_FOREVER, d.why), QN_ERROR_DEVICE_LOST);
    char message[QN__WHY];
    strcpy(message, d.why);
    void *host;
    qn__command fill = {.kind = QN__COMMAND_FILL, .to = memory, .size = 100, .pattern_size = 1};
    d.why[0] = 0;
    assert_int_equal(submit(&d, &fill, &number), QN_ERROR_DEVICE_LOST);
    assert_string_equal(d.why, message);
    assert_int_equal(cuda->wait(d.queue, number, 1000, d.why), QN_ERROR_DEVICE_LOST);
    assert_int_equal(cuda->memory_create(d.gpu, 8, &more, &address, &host, d.why), QN_ERROR_DEVICE_LOST);
    assert_int_equal(cuda->mark_wait(mark, 1, QN_FOREVER, d.why), QN_ERROR_DEVICE_LOST);
    assert_true(cuda->mark_done(mark, 1, &time));
    assert_true(cuda->completed(d.queue) >= number);
    /* the other device goes on */
    qn__command record = {.kind = QN__COMMAND_WRITE, .host = "x"};
    assert_int_equal(cuda->submit(other_queue, &record, &number, d.why), QN_OK);
    assert_int_equal(cuda->wait(other_queue, number, QN_FOREVER, d.why), QN_OK);
    cuda->queue_destroy(other_queue);
    cuda->gpu_close(other);
    cuda->mark_destroy(mark);
    cuda->memory_destroy(d.gpu, memory);
    cuda->code_unload(d.gpu, d.code);
    cuda->queue_destroy(d.queue);
    cuda->gpu_close(d.gpu);
    cuda->close(d.driver);
    assert_int_equal(fake.live(FAKE_CONTEXTS), 0);
    fake.set(FAKE_DEVICES, 1);
}

/* Each call of the driver fails once in turn: a status and a message, and nothing is left over. */
static void every_call_may_fail(void **state) {
    (void)state;
    static const char *const names[] = {
#define ROW(field, symbol, params) symbol,
        QN__CU_FUNCTIONS(ROW)
#undef ROW
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strstr(names[i], "Destroy") || strstr(names[i], "Free") || strstr(names[i], "Ctx")) continue;
        if (strstr(names[i], "Unload") || strstr(names[i], "GetError")) continue;
        for (int nth = 1; nth <= 2; nth++) {
            device d = {0};
            uint32_t count;
            qn__memory *memory = NULL;
            uint64_t address, number = 0;
            void *host;
            fake.reset();
            fake.fault(names[i], nth, QN__CU_ERROR_OUT_OF_MEMORY);
            if (cuda->open(&services, &d.driver, &count, d.why)) continue;
            if (!cuda->gpu_open(d.driver, 0, &d.gpu, d.why)) {
                qn_status status = load(&d, text, NULL);
                if (!status) status = cuda->queue_create(d.gpu, &d.queue, d.why);
                if (!status) status = cuda->memory_create(d.gpu, 1 << 20, &memory, &address, &host, d.why);
                qn__command fill = {
                    .kind = QN__COMMAND_FILL, .to = memory, .size = 1 << 20, .pattern_size = 8};
                fill.pattern[0] = 1;
                if (!status) status = submit(&d, &fill, &number);
                static unsigned char data[1 << 20];
                qn__command write = {
                    .kind = QN__COMMAND_WRITE, .to = memory, .size = sizeof data, .host = data};
                if (!status) status = submit(&d, &write, &number);
                qn__command read = {
                    .kind = QN__COMMAND_READ, .from = memory, .size = sizeof data, .host = data};
                if (!status) status = submit(&d, &read, &number);
                qn__command print = status ? fill : launch_of(&d, PRINT, 1, 1);
                if (!status) status = submit(&d, &print, &number);
                qn__replay *replay = NULL;
                qn__command list[] = {fill, print, write};
                if (!status) status = cuda->replay_create(d.gpu, list, 3, &replay, d.why);
                if (!status) status = cuda->replay_submit(d.queue, replay, &number, d.why);
                if (!status) status = cuda->wait(d.queue, number, 60000000000u, d.why);
                if (status && !d.why[0]) fail_msg("%s failed and nothing was said", names[i]);
                if (replay) cuda->replay_destroy(d.gpu, replay);
                if (memory) cuda->memory_destroy(d.gpu, memory);
                if (d.code) cuda->code_unload(d.gpu, d.code);
                if (d.queue) cuda->queue_destroy(d.queue);
                cuda->gpu_close(d.gpu);
            }
            cuda->close(d.driver);
            for (int kind = 0; kind < FAKE_LIVE_COUNT; kind++)
                if (fake.live((fake_live_kind)kind))
                    fail_msg("%s, call %d: %ld objects of kind %d", names[i], nth, fake.live(kind), kind);
            assert_int_equal(fake.depth(), 0);
        }
    }
}

static void memory_that_is_short(void **state) {
    (void)state;
    device d = open_device();
    qn__memory *memory;
    uint64_t address, pooled;
    void *host;
    fake.fault("cuMemAllocFromPoolAsync", 1, QN__CU_ERROR_OUT_OF_MEMORY);
    memory = make(&d, 1000); /* after a trim */
    assert_int_equal(fake.count("cuMemPoolTrimTo"), 1);
    assert_int_equal(cuda->memory_create(d.gpu, 2000u << 20, &(qn__memory *){0}, &address, &host, d.why),
                     QN_ERROR_DEVICE_MEMORY);
    assert_why(&d, "2097152000 bytes were wanted; 1073740824 of the device's 1073741824 are free");
    cuda->memory_destroy(d.gpu, memory);
    cuda->trim(d.gpu, &pooled);
    assert_int_equal(pooled, 0);
    close_device(&d);
}

static void without_pools(void **state) {
    (void)state;
    fake.set(FAKE_POOLS, 0);
    device d = open_device();
    cuda->memory_destroy(d.gpu, make(&d, 1000));
    assert_int_equal(fake.count("cuMemAlloc_v2"), 1);
    close_device(&d);
    fake.set(FAKE_POOLS, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_can_be_pinned),
        cmocka_unit_test(launches_code_and_graphs_make_room),
        cmocka_unit_test(a_launch_that_fails_half_way),
        cmocka_unit_test(a_bad_kernel_loses_the_device),
        cmocka_unit_test(every_call_may_fail),
        cmocka_unit_test(memory_that_is_short),
        cmocka_unit_test(without_pools),
    };
    return cmocka_run_group_tests(tests, find_fake, NULL);
}
