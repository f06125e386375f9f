/* CUDA through the public API, on the fake driver (tests/fake): kernels are compiled to PTX by quern, and run by the
   driver if it knows their name. */
#include <elf.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "backend/cuda/driver.h"
#include "cuda_rig.h"
#include "util/hash.h"

static qn_status fill(rig *r, uint32_t value) {
    return qn_launch(NULL, r->fill, QN_RANGE(1024), QN_ARGS(r->buffer, value, 1024));
}

static void is_the_first_choice(void **state) {
    (void)state;
    fake.reset();
    qn_context *context = make_context(&no_cache);
    qn_device_info info;
    assert_ok(context, qn_device_get_info(get_device(context, NULL), &info));
    assert_string_equal(info.name, "cuda:0");
    qn_context_destroy(context);
}

static void runs_a_kernel(void **state) {
    (void)state;
    rig r = make_rig(&no_cache);
    uint32_t back[1024];
    assert_ok(r.context, fill(&r, 99));
    assert_ok(r.context, qn_buffer_read(r.buffer, 0, back, sizeof back));
    for (int i = 0; i < 1024; i++) assert_int_equal(back[i], 99);
    uint32_t *mapped;
    assert_ok(r.context, fill(&r, 7));
    assert_ok(r.context, qn_buffer_map(r.buffer, QN_MAP_READ_WRITE, (void **)&mapped));
    assert_int_equal(mapped[1000], 7);
    mapped[1] = 8;
    assert_ok(r.context, qn_buffer_unmap(r.buffer));
    assert_ok(r.context, qn_buffer_read(r.buffer, 0, back, 8));
    assert_int_equal(back[1], 8);
    drop_rig(&r);
    nothing_left();
}

static void second_start_compiles_nothing(void **state) {
    (void)state;
    char dir[] = "/tmp/quern-cuda-XXXXXX", command[128];
    assert_non_null(mkdtemp(dir));
    rig r = make_rig(&(qn_context_desc){.cache_dir = dir});
    assert_int_equal(fake.count("cuLinkCreate_v2"), 1);
    drop_rig(&r);
    r = make_rig(&(qn_context_desc){.cache_dir = dir});
    qn_program_times times;
    assert_ok(r.context, qn_program_get_times(r.program, &times));
    assert_true(times.from_cache);
    assert_int_equal(fake.count("cuLinkCreate_v2"), 0);
    assert_int_equal(fake.count("cuModuleLoadData"), 1);
    assert_ok(r.context, fill(&r, 1));
    drop_rig(&r);
    snprintf(command, sizeof command, "for f in $(find %s -name '*.cubin'); do echo x > $f; done", dir);
    assert_int_equal(system(command), 0);
    r = make_rig(&(qn_context_desc){.cache_dir = dir}); /* damaged: rebuilt */
    assert_int_equal(fake.count("cuLinkCreate_v2"), 1);
    drop_rig(&r);
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

/* The linker would ignore what the text says of registers. */
static void text_that_sets_registers_is_not_linked(void **state) {
    (void)state;
    static const char text[] =
        "kernel __attribute__((reqd_work_group_size(128, 1, 1))) void f(global int *p) {\n"
        "    qn_registers_take(240);\n"
        "    p[get_local_id(0)] = 1;\n"
        "}\n";
    rig r = make_rig(&no_cache);
    qn_program *program;
    const long links = fake.count("cuLinkCreate_v2"), loads = fake.count("cuModuleLoadData");
    assert_ok(r.context, qn_program_create(r.device, &(qn_program_desc){.source = text}, &program));
    qn_kernel *kernel = make_kernel(program, r.context, "f");
    assert_int_equal(fake.count("cuLinkCreate_v2") - links, 0);
    assert_int_equal(fake.count("cuModuleLoadData") - loads, 1);
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
    drop_rig(&r);
    nothing_left();
}

/* A launch within a safe kernel's limits runs one form of it, another launch the one that checks each access. */
static void both_forms_of_a_safe_kernel_are_found(void **state) {
    (void)state;
    static const char text[] = "kernel void f(global int *p, int i) { p[i + get_global_id(0)] = 1; }\n";
    rig r = make_rig(&no_cache);
    qn_program *program;
    assert_ok(r.context,
              qn_program_create(r.device, &(qn_program_desc){.source = text, .safe = true}, &program));
    qn_kernel *kernel = make_kernel(program, r.context, "f");
    qn_buffer *buffer = make_buffer(r.device, 256, NULL);
    assert_ok(r.context, qn_launch(NULL, kernel, QN_RANGE(32), QN_ARGS(buffer, 0)));
    assert_ok(r.context, qn_launch(NULL, kernel, QN_RANGE(32), QN_ARGS(buffer, 60)));
    assert_ok(r.context, qn_device_wait(r.device, QN_FOREVER));
    qn_buffer_destroy(buffer);
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
    drop_rig(&r);
    nothing_left();
}

/* The driver's copies between devices are of their memory: what lies with the host goes there directly. */
static void host_memory_goes_to_other_devices(void **state) {
    (void)state;
    fake.set(FAKE_DEVICES, 2);
    rig r = make_rig(&no_cache);
    qn_device *second = get_device(r.context, "cuda:1");
    static _Alignas(16) uint32_t own[64];
    qn_buffer *shared, *imported, *there = make_buffer(second, 256, NULL);
    uint32_t back[64];
    assert_ok(r.context, qn_buffer_create(
                             r.device, &(qn_buffer_desc){.size = 256, .memory = QN_MEMORY_SHARED}, &shared));
    assert_ok(r.context, qn_buffer_create(r.device, &(qn_buffer_desc){.size = 256, .host = own}, &imported));
    uint32_t *host = qn_buffer_host(shared);
    for (uint32_t i = 0; i < 64; i++) host[i] = own[i] = i;
    assert_ok(r.context, qn_stream_copy(NULL, shared, 0, there, 128, 128));
    assert_ok(r.context, qn_stream_copy(NULL, imported, 128, there, 0, 128));
    assert_ok(r.context, qn_device_wait(r.device, QN_FOREVER));
    assert_ok(r.context, qn_buffer_read(there, 0, back, sizeof back));
    for (uint32_t i = 0; i < 64; i++) assert_int_equal(back[i], (i + 32) % 64);
    assert_ok(r.context, qn_stream_copy(qn_device_stream(second), there, 0, imported, 0, 256));
    assert_ok(r.context, qn_device_wait(second, QN_FOREVER));
    for (uint32_t i = 0; i < 64; i++) assert_int_equal(own[i], (i + 32) % 64);
    assert_int_equal(fake.count("cuMemcpyPeerAsync"), 0);
    drop_rig(&r);
    nothing_left();
    fake.set(FAKE_DEVICES, 1);
}

/* A cubin of a program to ship is loaded, and PTX only compiled by the driver, also for an older architecture. */
static void packed_code_is_only_loaded(void **state) {
    (void)state;
    rig r = make_rig(&no_cache);
    static const struct {
        const char *targets, *archs, *devices;
        long links;
    } packs[] = {{NULL, NULL, "cuda:0", 0}, {"ptx", "sm_70,sm_90", NULL, 1}, {"ptx", NULL, NULL, 1}};
    for (size_t i = 0; i < sizeof packs / sizeof *packs; i++) {
        const qn_program_desc program = {.source = source};
        const qn_pack_desc pack = {.program = &program,
                                   .targets = packs[i].targets,
                                   .archs = packs[i].archs,
                                   .devices = packs[i].devices};
        qn_program_desc packed = {0};
        char *data;
        assert_ok(r.context, qn_program_pack(r.context, &pack, &data, &packed.binary_size, NULL));
        packed.binary = data;
        const long links = fake.count("cuLinkCreate_v2"), loads = fake.count("cuModuleLoadData");
        qn_program *loaded;
        qn_program_times times;
        assert_ok(r.context, qn_program_create(r.device, &packed, &loaded));
        assert_int_equal(fake.count("cuLinkCreate_v2") - links, packs[i].links);
        assert_int_equal(fake.count("cuModuleLoadData") - loads, 1);
        assert_ok(r.context, qn_program_get_times(loaded, &times));
        assert_int_equal(times.from_cache, packs[i].links == 0);
        qn_text_free(r.context, data);
        qn_program_destroy(loaded);
    }
    drop_rig(&r);
    nothing_left();
}

static qn_program_desc pack_machine_code(const rig *r, char **data) {
    const qn_program_desc program = {.source = source};
    const qn_pack_desc pack = {.program = &program, .devices = "cuda:0"};
    qn_program_desc packed = {0};
    assert_ok(r->context, qn_program_pack(r->context, &pack, data, &packed.binary_size, NULL));
    packed.binary = *data;
    return packed;
}

/* The driver is asked about a kernel once, when it is first wanted: loading a program costs no more than its code. */
static void kernels_are_found_when_they_are_made(void **state) {
    (void)state;
    rig r = make_rig(&no_cache);
    char *data;
    const qn_program_desc packed = pack_machine_code(&r, &data);
    const long found = fake.count("cuModuleGetFunction"), asked = fake.count("cuFuncGetAttribute");
    qn_program *loaded;
    assert_ok(r.context, qn_program_create(r.device, &packed, &loaded));
    assert_int_equal(fake.count("cuModuleGetFunction"), found);
    assert_int_equal(fake.count("cuFuncGetAttribute"), asked);
    qn_kernel *kernel = NULL;
    fake.fault("cuModuleGetFunction", 1, 500);
    assert_fails(r.context, qn_kernel_create(loaded, "fill", &kernel), QN_ERROR_DRIVER,
                 "qn_kernel_create: cuda:0: kernel fill: ");
    assert_null(kernel);
    for (int i = 0; i < 3; i++) make_kernel(loaded, r.context, "fill");
    assert_int_equal(fake.count("cuModuleGetFunction"), found + 2);
    qn_kernel_destroy(r.fill);
    r.fill = make_kernel(loaded, r.context, "fill");
    assert_ok(r.context, fill(&r, 6));
    uint32_t back[1];
    assert_ok(r.context, qn_buffer_read(r.buffer, 0, back, sizeof back));
    assert_int_equal(back[0], 6);
    qn_text_free(r.context, data);
    drop_rig(&r);
    nothing_left();
}

/* Machine code that lacks a kernel of the description. */
static void absent_kernels_are_told(void **state) {
    (void)state;
    rig r = make_rig(&no_cache);
    char *data;
    const qn_program_desc packed = pack_machine_code(&r, &data);
    char *image = data;
    while (memcmp(image, "\177ELF", 4) != 0) image++;
    char *name = strstr(image + sizeof(Elf64_Ehdr), ".entry bad(");
    assert_non_null(name);
    name[strlen(".entry ")] = 'm';
    const uint64_t sum = qn__hash(data, packed.binary_size - 8, 0);
    memcpy(data + packed.binary_size - 8, &sum, sizeof sum);
    qn_program *loaded;
    qn_kernel *kernel;
    assert_ok(r.context, qn_program_create(r.device, &packed, &loaded));
    assert_fails(r.context, qn_kernel_create(loaded, "bad", &kernel), QN_ERROR_DRIVER, "kernel bad: ");
    make_kernel(loaded, r.context, "hang");
    qn_text_free(r.context, data);
    drop_rig(&r);
    nothing_left();
}

/* By the driver's own copies and events, without a thread of ours; whether or not the devices see each other's memory. */
static void devices_copy_by_themselves(void **state) {
    (void)state;
    for (long peers = 0; peers < 2; peers++) {
        fake.set(FAKE_DEVICES, 2);
        fake.set(FAKE_PEERS, peers);
        rig r = make_rig(&no_cache);
        qn_device *second = get_device(r.context, "cuda:1");
        qn_buffer *there = make_buffer(second, 4096, NULL);
        qn_event *event;
        uint32_t back[1024], *mapped;
        assert_ok(r.context, qn_event_create(r.device, &event));
        for (uint32_t round = 1; round < 4; round++) {
            assert_ok(r.context, fill(&r, round));
            assert_ok(r.context, qn_stream_record(NULL, event));
            assert_ok(r.context, qn_stream_wait_event(qn_device_stream(second), event));
            assert_ok(r.context, qn_stream_copy(qn_device_stream(second), r.buffer, 16, there, 32, 1024));
            assert_ok(r.context, qn_stream_copy(NULL, r.buffer, 0, there, 2048, 2048));
            assert_ok(r.context, qn_buffer_map(there, QN_MAP_READ, (void **)&mapped));
            for (int i = 0; i < 1024; i++)
                assert_int_equal(mapped[i], (i >= 8 && i < 264) || i >= 512 ? round : 0);
            assert_ok(r.context, qn_buffer_unmap(there));
        }
        assert_int_equal(fake.count("cuMemcpyPeerAsync"), 6);
        assert_int_equal(fake.count("cuMemPoolSetAccess"), peers ? 2 : 0);
        assert_int_equal(fake.count("cuCtxEnablePeerAccess"), peers ? 2 : 0);
        /* newer host contents on the other side go over first */
        assert_ok(r.context, qn_buffer_map(there, QN_MAP_WRITE, (void **)&mapped));
        for (int i = 0; i < 1024; i++) mapped[i] = 77;
        assert_ok(r.context, qn_buffer_unmap(there));
        assert_ok(r.context, qn_stream_copy(qn_device_stream(r.device), there, 0, r.buffer, 0, 4096));
        assert_ok(r.context, qn_buffer_read(r.buffer, 0, back, sizeof back));
        for (int i = 0; i < 1024; i++) assert_int_equal(back[i], 77);
        /* held by its device, and still there when it is done */
        assert_ok(r.context, qn_launch(NULL, r.hang, QN_RANGE(1), NULL, 0));
        assert_ok(r.context, qn_stream_copy(qn_device_stream(r.device), r.buffer, 0, there, 0, 4096));
        qn_buffer_destroy(there);
        assert_fails(r.context, qn_device_wait(r.device, 1000000), QN_ERROR_TIMEOUT, "kernel hang");
        fake.release();
        assert_ok(r.context, qn_device_wait(r.device, QN_FOREVER));
        drop_rig(&r);
        nothing_left();
    }
    fake.set(FAKE_PEERS, 1);
    fake.set(FAKE_DEVICES, 1);
}

/* A stream that waits for a device which is lost meanwhile goes on, and its next wait says why. */
static void a_loss_ends_the_waits_of_others(void **state) {
    (void)state;
    fake.set(FAKE_DEVICES, 2);
    rig r = make_rig(&no_cache);
    qn_device *cpu = get_device(r.context, "cpu"), *second = get_device(r.context, "cuda:1");
    qn_buffer *on_cpu = make_buffer(cpu, 4096, NULL);
    qn_stream *waits, *copies;
    qn_event *event, *behind;
    const uint32_t five = 5;
    uint32_t back[1024];
    assert_ok(r.context, qn_stream_create(cpu, &waits));
    assert_ok(r.context, qn_stream_create(cpu, &copies));
    assert_ok(r.context, qn_event_create(r.device, &event));
    assert_ok(r.context, qn_event_create(r.device, &behind));
    assert_ok(r.context, qn_launch(NULL, r.hang, QN_RANGE(1), NULL, 0));
    assert_ok(r.context, qn_stream_record(NULL, event));
    assert_ok(r.context, qn_stream_wait_event(waits, event));
    assert_ok(r.context, qn_stream_copy(waits, r.buffer, 0, on_cpu, 0, 4096));
    assert_ok(r.context, qn_stream_fill(waits, on_cpu, 0, 16, &five, 4));
    assert_fails(r.context, qn_stream_wait(waits, 5000000), QN_ERROR_TIMEOUT, "it waits for cuda:0");
    assert_ok(r.context, qn_launch(NULL, r.bad, QN_RANGE(1), NULL, 0));
    fake.release();
    assert_fails(r.context, qn_stream_wait(waits, 60000000000u), QN_ERROR_DEVICE_LOST, "cuda:0");
    assert_ok(r.context, qn_stream_wait(waits, QN_FOREVER)); /* it is told once */
    assert_ok(r.context, qn_buffer_read(on_cpu, 0, back, 16));
    assert_int_equal(back[3], 5);
    assert_fails(r.context, qn_stream_wait_event(qn_device_stream(second), event), QN_ERROR_DEVICE_LOST,
                 "bad failed");
    assert_ok(r.context, qn_stream_copy(copies, r.buffer, 0, on_cpu, 0, 4096));
    assert_fails(r.context, qn_stream_wait(copies, 60000000000u), QN_ERROR_DEVICE_LOST,
                 "qn_stream_copy: copying from cuda:0: ");
    qn_buffer *there = make_buffer(second, 4096, NULL); /* that device is well */
    assert_fails(r.context, qn_stream_copy(qn_device_stream(second), r.buffer, 0, there, 0, 4096),
                 QN_ERROR_DEVICE_LOST, "bad failed");
    assert_ok(r.context, qn_buffer_read(there, 0, back, sizeof back));
    drop_rig(&r);
    fake.set(FAKE_DEVICES, 1);
}

/* A recording that was held and then refused is reached by nobody, and nobody waits for it for ever. */
static void a_loss_ends_what_was_held(void **state) {
    (void)state;
    rig r = make_rig(&no_cache);
    qn_device *cpu = get_device(r.context, "cpu");
    qn_stream *first, *held, *last;
    qn_event *event, *behind;
    assert_ok(r.context, qn_stream_create(r.device, &first));
    assert_ok(r.context, qn_stream_create(cpu, &held));
    assert_ok(r.context, qn_stream_create(cpu, &last));
    qn_stream *second;
    assert_ok(r.context, qn_stream_create(r.device, &second));
    assert_ok(r.context, qn_event_create(cpu, &event));
    assert_ok(r.context, qn_event_create(r.device, &behind));
    qn_event *hangs;
    assert_ok(r.context, qn_event_create(r.device, &hangs));
    assert_ok(r.context, qn_launch(first, r.hang, QN_RANGE(1), NULL, 0));
    assert_ok(r.context, qn_stream_record(first, hangs));
    assert_ok(r.context, qn_stream_wait_event(held, hangs));   /* cpu for cuda */
    assert_ok(r.context, qn_stream_record(held, event));       /* held */
    assert_ok(r.context, qn_stream_wait_event(second, event)); /* cuda for cpu */
    assert_ok(r.context, qn_stream_record(second, behind));    /* held */
    assert_ok(r.context, qn_stream_wait_event(last, behind));  /* cpu for cuda */
    assert_ok(r.context, qn_launch(first, r.bad, QN_RANGE(1), NULL, 0));
    fake.release();
    assert_fails(r.context, qn_stream_wait(held, 60000000000u), QN_ERROR_DEVICE_LOST, "cuda:0");
    assert_fails(r.context, qn_stream_wait(second, 60000000000u), QN_ERROR_DEVICE_LOST, "bad failed");
    assert_fails(r.context, qn_stream_wait(last, 60000000000u), QN_ERROR_DEVICE_LOST,
                 "waiting for an event of cuda:0");
    assert_fails(r.context, qn_event_wait(behind, 60000000000u), QN_ERROR_DEVICE_LOST, "qn_event_wait: ");
    qn_event *const never[] = {behind, hangs}; /* refused when its turn came, and lost on its way */
    for (int i = 0; i < 2; i++) {
        bool done = false;
        assert_fails(r.context, qn_event_done(never[i], &done), QN_ERROR_DEVICE_LOST, "qn_event_done: ");
        assert_true(done);
    }
    drop_rig(&r);
}

/* Of a stream that still waits for another device, the driver has nothing: all goes at once. */
static void what_is_held_goes_with_its_stream(void **state) {
    (void)state;
    rig r = make_rig(&no_cache);
    qn_device *cpu = get_device(r.context, "cpu");
    qn_stream *first, *held, *second;
    qn_event *hangs, *event;
    qn_memory_stats before, after;
    assert_ok(r.context, qn_stream_create(r.device, &first));
    assert_ok(r.context, qn_stream_create(r.device, &second));
    assert_ok(r.context, qn_stream_create(cpu, &held));
    assert_ok(r.context, qn_event_create(r.device, &hangs));
    assert_ok(r.context, qn_event_create(cpu, &event));
    assert_ok(r.context, qn_launch(first, r.hang, QN_RANGE(1), NULL, 0));
    assert_ok(r.context, qn_stream_record(first, hangs));
    assert_ok(r.context, qn_stream_wait_event(held, hangs)); /* cpu for cuda */
    assert_ok(r.context, qn_stream_record(held, event));
    assert_ok(r.context, qn_device_memory(r.device, &before));
    qn_buffer *buffer = make_buffer(r.device, 4096, NULL);
    assert_ok(r.context, qn_launch(second, r.fill, QN_RANGE(1024), QN_ARGS(buffer, 1, 1024)));
    assert_ok(r.context, qn_stream_wait(second, 60000000000u));
    assert_ok(r.context, qn_stream_wait_event(second, event)); /* cuda for cpu */
    assert_ok(r.context, qn_launch(second, r.fill, QN_RANGE(1024), QN_ARGS(buffer, 2, 1024)));
    qn_buffer_destroy(buffer);
    assert_fails(
        r.context, qn_stream_close(second, 5000000), QN_ERROR_TIMEOUT,
        "qn_stream_close: not done in 5 ms; unfinished: kernel fill, hang; it waits for cpu; the rest was "
        "dropped");
    for (int i = 0; i < 60000; i++) { /* the thread that held it has the last reference */
        assert_ok(r.context, qn_device_memory(r.device, &after));
        if (after.used == before.used) break;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    assert_int_equal(after.used, before.used);
    assert_int_equal(qn_stream_wait(first, 0), QN_ERROR_TIMEOUT); /* the other goes on */
    fake.release();
    assert_ok(r.context, qn_stream_wait(held, 60000000000u));
    drop_rig(&r);
}

static void other_devices_survive_a_loss(void **state) {
    (void)state;
    fake.set(FAKE_DEVICES, 2);
    rig r = make_rig(&no_cache);
    uint32_t *mapped, back[4];
    assert_ok(r.context, fill(&r, 5));
    assert_ok(r.context, qn_buffer_map(r.buffer, QN_MAP_READ, (void **)&mapped));
    assert_ok(r.context, qn_buffer_unmap(r.buffer));
    assert_ok(r.context, qn_launch(NULL, r.bad, QN_RANGE(1), NULL, 0));
    assert_fails(r.context, qn_stream_wait(qn_device_stream(r.device), QN_FOREVER), QN_ERROR_DEVICE_LOST,
                 "kernel bad failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    assert_fails(r.context, fill(&r, 6), QN_ERROR_DEVICE_LOST, "kernel bad failed");
    assert_fails(r.context, qn_buffer_create(r.device, &(qn_buffer_desc){.size = 64}, &(qn_buffer *){0}),
                 QN_ERROR_DEVICE_LOST, "kernel bad failed");
    assert_fails(r.context,
                 qn_program_create(r.device, &(qn_program_desc){.source = source}, &(qn_program *){0}),
                 QN_ERROR_DEVICE_LOST, "kernel bad failed");
    assert_fails(r.context, qn_stream_create(r.device, &(qn_stream *){0}), QN_ERROR_DEVICE_LOST,
                 "bad failed");
    /* the other GPU, and the processor with the host's copy */
    static const char *const others[] = {"cuda:1", "cpu"};
    assert_ok(r.context, qn_buffer_map(r.buffer, QN_MAP_READ, (void **)&mapped));
    assert_int_equal(mapped[3], 5);
    for (int i = 0; i < 2; i++) {
        qn_device *other = get_device(r.context, others[i]);
        qn_buffer *copy = make_buffer(other, 4096, mapped);
        qn_kernel *kernel = make_kernel(make_program(other, source), r.context, "fill");
        assert_ok(r.context, qn_launch(NULL, kernel, QN_RANGE(2), QN_ARGS(copy, 9, 2)));
        assert_ok(r.context, qn_buffer_read(copy, 0, back, sizeof back));
        assert_int_equal(back[1], 9);
        assert_int_equal(back[2], 5);
    }
    assert_ok(r.context, qn_buffer_unmap(r.buffer));
    qn_buffer_destroy(r.buffer);
    drop_rig(&r);
    fake.set(FAKE_DEVICES, 1);
    r = make_rig(&no_cache); /* a new context has a new device */
    assert_ok(r.context, fill(&r, 5));
    drop_rig(&r);
}

typedef struct told {
    atomic_int calls;
    qn_status status;
    char message[200];
} told;

static void tell(void *user, qn_status status, const char *message) {
    told *t = user;
    t->status = status;
    snprintf(t->message, sizeof t->message, "%s", message);
    atomic_fetch_add(&t->calls, 1);
}

static bool comes(told *t) {
    for (int i = 0; i < 60000 && !atomic_load(&t->calls); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return atomic_load(&t->calls) == 1;
}

/* Nobody waits: the loss is found by looking. */
static void who_wants_to_be_told_hears_of_a_loss(void **state) {
    (void)state;
    rig r = make_rig(&no_cache);
    told first = {.calls = 0}, second = {.calls = 0};
    qn_stream *stream;
    qn_event *event;
    struct pollfd polled = {.events = POLLIN};
    assert_ok(r.context, qn_stream_create(r.device, &stream));
    assert_ok(r.context, qn_event_create(r.device, &event));
    assert_ok(r.context, qn_event_fd(event, &polled.fd));
    assert_ok(r.context, qn_launch(stream, r.hang, QN_RANGE(1), NULL, 0));
    assert_ok(r.context, qn_stream_on_done(stream, tell, &first));
    assert_ok(r.context, qn_stream_record(stream, event));
    assert_int_equal(poll(&polled, 1, 5), 0);
    assert_int_equal(atomic_load(&first.calls), 0);
    assert_ok(r.context, qn_launch(stream, r.bad, QN_RANGE(1), NULL, 0));
    assert_ok(r.context, qn_stream_on_done(stream, tell, &second));
    fake.release();
    assert_true(comes(&second));
    assert_int_equal(second.status, QN_ERROR_DEVICE_LOST);
    assert_non_null(strstr(second.message, "CUDA_ERROR_ILLEGAL_ADDRESS"));
    assert_int_equal(poll(&polled, 1, 60000), 1);
    assert_true(comes(&first));
    assert_fails(r.context, qn_stream_wait(stream, QN_FOREVER), QN_ERROR_DEVICE_LOST, "ILLEGAL_ADDRESS");
    drop_rig(&r);
}

/* What was made before a loss says so for good, alone and with what is new; new things work, also after another loss. */
static void a_lost_device_is_opened_again(void **state) {
    (void)state;
    rig r = make_rig(&no_cache);
    uint32_t back[1024], *mapped;
    bool done;
    qn_stream *stream, *fresh_stream;
    qn_event *event;
    qn_graph *graph;
    qn_stream *standard = qn_device_stream(r.device);
    assert_fails(r.context, qn_device_reopen(r.device), QN_ERROR_STATE, "cuda:0 is not lost");
    assert_ok(r.context, qn_stream_create(r.device, &stream));
    assert_ok(r.context, qn_event_create(r.device, &event));
    assert_ok(r.context, qn_stream_record(stream, event));
    assert_ok(r.context, qn_graph_begin(stream));
    assert_ok(r.context, qn_launch(stream, r.fill, QN_RANGE(4), QN_ARGS(r.buffer, 1, 4)));
    assert_ok(r.context, qn_graph_end(stream, &graph));
    for (int round = 0; round < 3; round++) {
        assert_ok(r.context, fill(&r, 5));
        assert_ok(r.context, qn_buffer_map(r.buffer, QN_MAP_READ, (void **)&mapped));
        assert_ok(r.context, qn_launch(NULL, r.bad, QN_RANGE(1), NULL, 0));
        assert_fails(r.context, qn_device_wait(r.device, QN_FOREVER), QN_ERROR_DEVICE_LOST,
                     "kernel bad failed");
        assert_fails(r.context, qn_device_reopen(r.device), QN_ERROR_STATE, "a buffer of cuda:0 is mapped");
        assert_ok(r.context, qn_buffer_unmap(r.buffer));
        assert_ok(r.context, qn_device_reopen(r.device));
        rig fresh = {.context = r.context, .device = r.device, .program = make_program(r.device, source)};
        fresh.fill = make_kernel(fresh.program, r.context, "fill");
        fresh.bad = make_kernel(fresh.program, r.context, "bad");
        fresh.hang = make_kernel(fresh.program, r.context, "hang");
        fresh.buffer = make_buffer(r.device, 4096, NULL);
        assert_ok(r.context, fill(&fresh, 7));
        assert_ok(r.context, qn_buffer_read(fresh.buffer, 0, back, sizeof back));
        assert_int_equal(back[1023], 7);
        assert_ok(r.context, qn_device_wait(r.device, QN_FOREVER));
        assert_ok(r.context, qn_stream_create(r.device, &fresh_stream));
        /* the old, alone */
        assert_fails(r.context, fill(&r, 6), QN_ERROR_DEVICE_LOST, "kernel bad failed");
        assert_fails(r.context, qn_buffer_read(r.buffer, 0, back, 4), QN_ERROR_DEVICE_LOST,
                     "kernel bad failed");
        assert_fails(r.context, qn_buffer_map(r.buffer, QN_MAP_READ, (void **)&mapped), QN_ERROR_DEVICE_LOST,
                     "kernel bad failed");
        assert_fails(r.context, qn_stream_wait(stream, 0), QN_ERROR_DEVICE_LOST, "kernel bad failed");
        assert_fails(r.context, qn_event_wait(event, 0), QN_ERROR_DEVICE_LOST, "kernel bad failed");
        assert_fails(r.context, qn_graph_launch(NULL, graph), QN_ERROR_DEVICE_LOST, "kernel bad failed");
        assert_fails(r.context, qn_stream_wait(standard, 0), QN_ERROR_DEVICE_LOST, "kernel bad failed");
        assert_fails(r.context, qn_event_done(event, &done), QN_ERROR_DEVICE_LOST, "kernel bad failed");
        assert_true(done);
        /* with the new */
        static const char both[] = "lost and opened again";
        assert_fails(r.context, qn_launch(fresh_stream, r.fill, QN_RANGE(1), QN_ARGS(fresh.buffer, 1, 1)),
                     QN_ERROR_DEVICE_LOST, both);
        assert_fails(r.context, qn_launch(NULL, fresh.fill, QN_RANGE(1), QN_ARGS(r.buffer, 1, 1)),
                     QN_ERROR_DEVICE_LOST, both);
        assert_fails(r.context, qn_stream_write(fresh_stream, r.buffer, 0, back, 4), QN_ERROR_DEVICE_LOST,
                     both);
        assert_fails(r.context, qn_stream_copy(fresh_stream, r.buffer, 0, fresh.buffer, 0, 4),
                     QN_ERROR_DEVICE_LOST, both);
        assert_fails(r.context, qn_graph_launch(fresh_stream, graph), QN_ERROR_DEVICE_LOST, both);
        assert_fails(r.context, qn_stream_record(fresh_stream, event), QN_ERROR_DEVICE_LOST, both);
        qn_buffer_destroy(r.buffer);
        r = fresh;
        if (round == 0) continue; /* some stay until the context goes */
        qn_stream_destroy(fresh_stream);
    }
    assert_ok(r.context, fill(&r, 9));
    drop_rig(&r);
    nothing_left();
}

static void deadlines(void **state) {
    (void)state;
    rig r = make_rig(&no_cache);
    qn_stream *stream;
    assert_ok(r.context, qn_stream_create(r.device, &stream));
    assert_ok(r.context, qn_launch(stream, r.hang, QN_RANGE(1), NULL, 0));
    assert_fails(r.context, qn_stream_wait(stream, 2000000), QN_ERROR_TIMEOUT,
                 "in 2 ms; unfinished: kernel hang");
    assert_fails(r.context, qn_device_wait(r.device, 2000000), QN_ERROR_TIMEOUT, "unfinished: kernel hang");
    qn_event *event;
    assert_ok(r.context, qn_event_create(r.device, &event));
    assert_ok(r.context, qn_stream_record(stream, event));
    assert_fails(r.context, qn_event_wait(event, 2000000), QN_ERROR_TIMEOUT,
                 "in 2 ms; unfinished: kernel hang");
    assert_ok(r.context, fill(&r, 5)); /* on another stream */
    assert_ok(r.context, qn_stream_wait(qn_device_stream(r.device), QN_FOREVER));
    fake.release();
    assert_ok(r.context, qn_stream_wait(stream, QN_FOREVER));
    drop_rig(&r);
}

typedef struct event_waiter {
    qn_event *event;
    uint64_t timeout_ns;
    atomic_bool returned;
    qn_status status;
} event_waiter;

static void *wait_for_event(void *argument) {
    event_waiter *w = argument;
    w->status = qn_event_wait(w->event, w->timeout_ns);
    atomic_store(&w->returned, true);
    return NULL;
}

/* Whether a recording on an idle stream leaves alone the wait for the one behind a kernel that runs. The thread has so many
   milliseconds to get into its wait: if it comes later, it finds the other recording, and returns. */
static bool wait_goes_on(rig *r, qn_stream *busy, uint64_t timeout_ns, long milliseconds) {
    const struct timespec pause = {.tv_nsec = milliseconds * 1000000};
    event_waiter waiter = {.timeout_ns = timeout_ns};
    pthread_t thread;
    bool done;
    assert_ok(r->context, qn_event_create(r->device, &waiter.event));
    assert_ok(r->context, qn_launch(busy, r->hang, QN_RANGE(1), NULL, 0));
    assert_ok(r->context, qn_stream_record(busy, waiter.event));
    assert_int_equal(pthread_create(&thread, NULL, wait_for_event, &waiter), 0);
    nanosleep(&pause, NULL);
    assert_ok(r->context, qn_stream_record(qn_device_stream(r->device), waiter.event));
    assert_ok(r->context, qn_event_done(waiter.event, &done));
    assert_true(done);
    nanosleep(&pause, NULL);
    const bool returned = atomic_load(&waiter.returned);
    fake.release();
    pthread_join(thread, NULL);
    assert_int_equal(waiter.status, QN_OK);
    qn_event_destroy(waiter.event);
    return !returned;
}

static void a_thread_waits_for_the_recording_that_it_found(void **state) {
    (void)state;
    static const uint64_t timeouts[] = {QN_FOREVER, 60000000000u};
    rig r = make_rig(&no_cache);
    qn_stream *busy;
    assert_ok(r.context, qn_stream_create(r.device, &busy));
    for (int i = 0; i < 2; i++) {
        long milliseconds = 20;
        while (!wait_goes_on(&r, busy, timeouts[i], milliseconds))
            if ((milliseconds *= 3) > 900) fail_msg("the wait ended with another recording");
    }
    drop_rig(&r);
}

static void out_of_memory(void **state) {
    (void)state;
    rig r = make_rig(&no_cache);
    qn_buffer *large, *second;
    assert_ok(r.context, qn_buffer_create(
                             r.device, &(qn_buffer_desc){.size = 700 << 20, .uninitialised = true}, &large));
    assert_fails(r.context, qn_buffer_create(r.device, &(qn_buffer_desc){.size = 700 << 20}, &second),
                 QN_ERROR_DEVICE_MEMORY, "734003200 bytes were wanted; 339734528 of the device's 1073741824");
    /* one that is destroyed while it may still be in use is waited for */
    assert_ok(r.context, qn_stream_fill(NULL, large, 0, 16, "0123456789abcdef", 16));
    qn_buffer_destroy(large);
    assert_ok(r.context, qn_buffer_create(
                             r.device, &(qn_buffer_desc){.size = 700 << 20, .uninitialised = true}, &second));
    drop_rig(&r);
    nothing_left();
}

/* A view that could not be pinned is ordinary memory to the end. */
static void nothing_can_be_pinned(void **state) {
    (void)state;
    rig r = make_rig(&no_cache);
    uint32_t *mapped, back[2];
    fake.fault("cuMemHostAlloc", 1, QN__CU_ERROR_OUT_OF_MEMORY);
    assert_ok(r.context, fill(&r, 3));
    assert_ok(r.context, qn_buffer_map(r.buffer, QN_MAP_READ_WRITE, (void **)&mapped));
    assert_int_equal(mapped[1023], 3);
    mapped[1] = 4;
    assert_ok(r.context, qn_buffer_unmap(r.buffer));
    assert_ok(r.context, qn_buffer_read(r.buffer, 0, back, sizeof back));
    assert_int_equal(back[1], 4);
    const long freed = fake.count("cuMemFreeHost");
    qn_buffer_destroy(r.buffer);
    assert_int_equal(fake.count("cuMemFreeHost"), freed);
    drop_rig(&r);
    nothing_left();
}

static void the_driver_refuses_code(void **state) {
    (void)state;
    rig r = make_rig(&no_cache);
    static const char refused[] = "kernel void refused(global int *p) { p[0] = 1; }\n";
    assert_fails(
        r.context, qn_program_create(r.device, &(qn_program_desc){.source = refused}, &(qn_program *){0}),
        QN_ERROR_DRIVER,
        "the driver does not compile kernel refused: ptxas application ptx input, line 3; error   : wrong");
    assert_ok(r.context, fill(&r, 3)); /* all else goes on */
    assert_ok(r.context, qn_stream_wait(qn_device_stream(r.device), QN_FOREVER));
    drop_rig(&r);
    nothing_left();
}

/* Every call that needs the device says what became of it; what only the device had is gone. */
static void all_calls_tell_of_a_loss(void **state) {
    (void)state;
    static const char what[] = "kernel bad failed: CUDA_ERROR_ILLEGAL_ADDRESS (700)";
    rig r = make_rig(&no_cache);
    qn_stream *stream;
    qn_event *event;
    qn_graph *graph;
    void *mapped;
    uint32_t word = 1;
    assert_ok(r.context, qn_stream_create(r.device, &stream));
    assert_ok(r.context, qn_event_create(r.device, &event));
    assert_ok(r.context, qn_graph_begin(stream));
    assert_ok(r.context, qn_launch(stream, r.bad, QN_RANGE(1), QN_NO_ARGS));
    assert_ok(r.context, qn_graph_end(stream, &graph));
    assert_ok(r.context, fill(&r, 5));
    assert_ok(r.context, qn_stream_wait(qn_device_stream(r.device), QN_FOREVER));
    assert_ok(r.context, qn_stream_record(stream, event));
    assert_ok(r.context, qn_graph_launch(stream, graph));
    assert_fails(r.context, qn_stream_wait(stream, QN_FOREVER), QN_ERROR_DEVICE_LOST, what);
    assert_fails(r.context, qn_device_wait(r.device, QN_FOREVER), QN_ERROR_DEVICE_LOST, what);
    assert_fails(r.context, qn_graph_launch(stream, graph), QN_ERROR_DEVICE_LOST, what);
    assert_fails(r.context, qn_event_wait(event, QN_FOREVER), QN_ERROR_DEVICE_LOST, what);
    assert_fails(r.context, qn_stream_record(stream, event), QN_ERROR_DEVICE_LOST, what);
    assert_fails(r.context, qn_event_create(r.device, &(qn_event *){0}), QN_ERROR_DEVICE_LOST, what);
    assert_fails(r.context, qn_stream_write(stream, r.buffer, 0, &word, 4), QN_ERROR_DEVICE_LOST, what);
    assert_fails(r.context, qn_buffer_read(r.buffer, 0, &word, 4), QN_ERROR_DEVICE_LOST, what);
    assert_fails(r.context, qn_buffer_map(r.buffer, QN_MAP_READ, &mapped), QN_ERROR_DEVICE_LOST, what);
    assert_null(mapped);
    qn_graph_destroy(graph);
    qn_event_destroy(event);
    qn_stream_destroy(stream);
    drop_rig(&r);
}

static void graphs(void **state) {
    (void)state;
    rig r = make_rig(&no_cache);
    qn_stream *stream = qn_device_stream(r.device);
    qn_graph *graph;
    uint32_t data = 3, back[2];
    assert_ok(r.context, qn_graph_begin(stream));
    assert_ok(r.context, fill(&r, 11));
    assert_ok(r.context, qn_stream_write(stream, r.buffer, 0, &data, 4));
    assert_ok(r.context, qn_graph_end(stream, &graph));
    data = 4;
    long launches = fake.count("cuLaunchKernel");
    for (int i = 0; i < 5; i++) {
        assert_ok(r.context, fill(&r, 1));
        assert_ok(r.context, qn_graph_launch(stream, graph));
        assert_ok(r.context, qn_buffer_read(r.buffer, 0, back, 8));
        assert_int_equal(back[0], 3);
        assert_int_equal(back[1], 11);
    }
    assert_int_equal(fake.count("cuLaunchKernel"), launches + 5);
    assert_int_equal(fake.count("cuGraphLaunch"), 5);
    qn_graph_destroy(graph);
    drop_rig(&r);
    nothing_left();
}

static void a_kernels_resources(void **state) {
    (void)state;
    rig r = make_rig(&no_cache);
    qn_kernel_resources got;
    qn_device_info info;
    assert_ok(r.context, qn_device_get_info(r.device, &info));
    assert_ok(r.context,
              qn_kernel_get_resources(r.fill, QN_RANGE_LOCAL(QN_GROUP(4096), QN_GROUP(256)), &got));
    assert_int_equal(got.max_group_size, 1024);
    assert_int_equal(got.preferred_multiple, 32);
    assert_int_equal(got.registers, 40);
    assert_int_equal(got.private_memory, 48);
    assert_int_equal(got.code_size, 128); /* the first of the fake's */
    assert_int_equal(got.resident_groups, 8);
    assert_int_equal(got.resident_on_device, 8 * info.compute_units);
    fake.fault("cuOccupancyMaxActiveBlocksPerMultiprocessor", 1, QN__CU_ERROR_INVALID_VALUE);
    assert_fails(r.context, qn_kernel_get_resources(r.fill, NULL, &got), QN_ERROR_DRIVER,
                 "qn_kernel_get_resources: what a kernel takes");
    drop_rig(&r);
    nothing_left();
}

/* ---- large structs by value ---- */

#define LAST_WORD_KERNEL "kernel void last_word(global int *p, uint n, block b) { p[0] = b.words[n - 1]; }\n"
#define LAST_WORD(count) "typedef struct { int words[" count "]; } block;\n" LAST_WORD_KERNEL

static void large_structs_go_by_value(void **state) {
    (void)state;
    static int words[5000];
    rig r = make_rig(&no_cache);
    qn_kernel *kernel = make_kernel(make_program(r.device, LAST_WORD("5000")), r.context, "last_word");
    qn_stream *stream = qn_device_stream(r.device);
    qn_graph *graph;
    int back[1];
    words[4999] = 77;
    assert_ok(r.context, qn_launch(NULL, kernel, QN_RANGE(1), QN_ARGS(r.buffer, 5000, QN_BYTES(words))));
    assert_ok(r.context, qn_buffer_read(r.buffer, 0, back, sizeof back));
    assert_int_equal(back[0], 77);
    /* a graph keeps the values of when it was recorded */
    assert_ok(r.context, qn_graph_begin(stream));
    assert_ok(r.context, qn_launch(stream, kernel, QN_RANGE(1), QN_ARGS(r.buffer, 5000, QN_BYTES(words))));
    assert_ok(r.context, qn_graph_end(stream, &graph));
    words[4999] = 78;
    assert_ok(r.context, fill(&r, 0));
    assert_ok(r.context, qn_graph_launch(stream, graph));
    assert_ok(r.context, qn_buffer_read(r.buffer, 0, back, sizeof back));
    assert_int_equal(back[0], 77);
    qn_graph_destroy(graph);
    drop_rig(&r);
    nothing_left();
}

/* As large as the device says; the fake refuses what would be translated wrongly. */
static void structs_as_large_as_the_device_takes(void **state) {
    (void)state;
    static int words[8192];
    rig r = make_rig(&no_cache);
    qn_device_info info;
    assert_ok(r.context, qn_device_get_info(r.device, &info));
    const uint32_t count = (info.max_args_size - 16) / 4;
    char options[32];
    assert_in_range(count, 7000, 8191);
    snprintf(options, sizeof options, "-D COUNT=%u", (unsigned)count);
    const qn_program_desc desc = {.source = "typedef struct { int words[COUNT]; } block;\n" LAST_WORD_KERNEL,
                                  .options = options};
    qn_program *program;
    assert_ok(r.context, qn_program_create(r.device, &desc, &program));
    qn_kernel *kernel = make_kernel(program, r.context, "last_word");
    int back[1];
    words[count - 1] = 77;
    assert_ok(r.context,
              qn_launch(NULL, kernel, QN_RANGE(1), QN_ARGS(r.buffer, count, qn_arg_bytes(words, count * 4))));
    assert_ok(r.context, qn_buffer_read(r.buffer, 0, back, sizeof back));
    assert_int_equal(back[0], 77);
    drop_rig(&r);
    nothing_left();
}

static void structs_larger_than_the_driver_takes(void **state) {
    (void)state;
    static const struct {
        fake_setting setting;
        long value, usual;
        const char *source, *part;
    } rows[] = {
        {FAKE_VERSION, 12000, 12040, LAST_WORD("5000"), "this device or its driver takes 4096"},
        {FAKE_CAPABILITY, 60, 90, LAST_WORD("5000"), "this device or its driver takes 4096"},
        {FAKE_CAPABILITY, 90, 90, LAST_WORD("8200"), "kernel 'last_word' has 32"},
        {FAKE_CAPABILITY, 90, 90, LAST_WORD("8200"), "CUDA takes 30720"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qn_device_info info;
        fake.set(rows[i].setting, rows[i].value);
        rig r = make_rig(&no_cache);
        assert_fails(
            r.context,
            qn_program_create(r.device, &(qn_program_desc){.source = rows[i].source}, &(qn_program *){0}),
            QN_ERROR_UNSUPPORTED, rows[i].part);
        assert_ok(r.context, qn_device_get_info(r.device, &info));
        assert_true(info.max_args_size < (i < 2 ? 4096 : 30720));
        assert_ok(r.context, fill(&r, 1)); /* all else goes on */
        drop_rig(&r);
        fake.set(rows[i].setting, rows[i].usual);
    }
    nothing_left();
}

/* Where there are clusters, and never else. */
static void clusters_are_balanced(void **state) {
    (void)state;
    for (long capability = 80; capability <= 90; capability += 10) {
        fake.set(FAKE_CAPABILITY, capability);
        rig r = make_rig(&no_cache);
        assert_ok(r.context, fill(&r, 1));
        assert_ok(r.context, qn_stream_wait(qn_device_stream(r.device), QN_FOREVER));
        assert_int_equal(fake.last_launch().cluster_policy,
                         capability == 90 ? QN__CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING : 0);
        drop_rig(&r);
    }
    nothing_left();
}

/* Rounds of everything that can be made, with memory on both sides counted. */
static void nothing_piles_up(void **state) {
    (void)state;
    rig r = make_rig(&no_cache);
    long first[FAKE_LIVE_COUNT] = {0};
    for (int i = 0; i < 10000; i++) {
        qn_stream *stream;
        qn_buffer *buffer;
        assert_ok(r.context, qn_stream_create(r.device, &stream));
        assert_ok(r.context, qn_buffer_create(r.device, &(qn_buffer_desc){.size = 512}, &buffer));
        assert_ok(r.context, qn_launch(stream, r.fill, QN_RANGE(128), QN_ARGS(buffer, i, 128)));
        qn_buffer_destroy(buffer);
        qn_stream_destroy(stream);
        if (i % 50 == 0) {
            qn_program *program = make_program(r.device, source);
            qn_kernel *kernel = make_kernel(program, r.context, "fill");
            assert_ok(r.context, qn_launch(NULL, kernel, QN_RANGE(8), QN_ARGS(r.buffer, i, 8)));
            qn_kernel_destroy(kernel);
            qn_program_destroy(program);
        }
        if (i == 5000)
            for (int kind = 0; kind < FAKE_LIVE_COUNT; kind++) first[kind] = fake.live((fake_live_kind)kind);
    }
    for (int kind = 0; kind < FAKE_LIVE_COUNT; kind++)
        if (fake.live((fake_live_kind)kind) > first[kind] + 2)
            fail_msg("%ld more of kind %d", fake.live(kind) - first[kind], kind);
    drop_rig(&r);
    nothing_left();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_the_first_choice),
        cmocka_unit_test(runs_a_kernel),
        cmocka_unit_test(second_start_compiles_nothing),
        cmocka_unit_test(text_that_sets_registers_is_not_linked),
        cmocka_unit_test(both_forms_of_a_safe_kernel_are_found),
        cmocka_unit_test(host_memory_goes_to_other_devices),
        cmocka_unit_test(packed_code_is_only_loaded),
        cmocka_unit_test(kernels_are_found_when_they_are_made),
        cmocka_unit_test(absent_kernels_are_told),
        cmocka_unit_test(devices_copy_by_themselves),
        cmocka_unit_test(a_loss_ends_the_waits_of_others),
        cmocka_unit_test(a_loss_ends_what_was_held),
        cmocka_unit_test(what_is_held_goes_with_its_stream),
        cmocka_unit_test(other_devices_survive_a_loss),
        cmocka_unit_test(who_wants_to_be_told_hears_of_a_loss),
        cmocka_unit_test(a_lost_device_is_opened_again),
        cmocka_unit_test(deadlines),
        cmocka_unit_test(a_thread_waits_for_the_recording_that_it_found),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(nothing_can_be_pinned),
        cmocka_unit_test(the_driver_refuses_code),
        cmocka_unit_test(all_calls_tell_of_a_loss),
        cmocka_unit_test(graphs),
        cmocka_unit_test(a_kernels_resources),
        cmocka_unit_test(large_structs_go_by_value),
        cmocka_unit_test(structs_as_large_as_the_device_takes),
        cmocka_unit_test(structs_larger_than_the_driver_takes),
        cmocka_unit_test(clusters_are_balanced),
        cmocka_unit_test(nothing_piles_up),
    };
    return cmocka_run_group_tests(tests, find_fake, NULL);
}
