/* CUDA beside kernels that may never end, on the fake driver: nothing waits for them, though the driver would. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "cuda_rig.h"

static qn_stream *make_endless(const rig *r) {
    qn_stream *stream;
    assert_ok(r->context, qn_stream_create(r->device, &stream));
    assert_ok(r->context, qn_stream_set_persistent(stream, true));
    return stream;
}

/* What the driver gives up only behind all kernels goes later. */
static void giving_up_is_put_off(void **state) {
    (void)state;
    static const char *const calls[] = {"cuMemFreeHost", "cuMemHostUnregister", "cuModuleUnload"};
    rig r = make_rig(&no_cache);
    qn_program *program = make_program(r.device, source);
    void *memory, *own = aligned_alloc(4096, 4096);
    qn_buffer *imported;
    qn_stream *stream = make_endless(&r);
    assert_ok(r.context, qn_host_alloc(r.device, 1, &memory));
    qn_host_free(r.device, memory);
    assert_ok(r.context, qn_buffer_create(r.device, &(qn_buffer_desc){.size = 4096, .host = own}, &imported));
    qn_buffer_destroy(imported);
    qn_program_destroy(program);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) assert_int_equal(fake.count(calls[i]), 0);
    qn_stream_destroy(stream);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) assert_int_not_equal(fake.count(calls[i]), 0);
    drop_rig(&r);
    nothing_left();
    free(own);
}

static void code_is_refused_while_one_runs(void **state) {
    (void)state;
    static const char what[] =
        "loads no code while a kernel that may never end is on the device, kernel hang";
    const qn_program_desc desc = {.source = source};
    rig r = make_rig(&no_cache);
    qn_program *program, *before = make_program(r.device, source);
    qn_kernel *kernel;
    qn_stream *stream = make_endless(&r);
    qn_program_destroy(make_program(r.device, source)); /* nothing runs yet */
    assert_ok(r.context, qn_launch(stream, r.hang, QN_RANGE(1), QN_NO_ARGS));
    assert_fails(r.context, qn_program_create(r.device, &desc, &program), QN_ERROR_STATE, what);
    assert_fails(r.context, qn_kernel_create(before, "fill", &kernel), QN_ERROR_STATE, what);
    assert_ok(r.context, qn_kernel_create(r.program, "fill", &kernel)); /* is there already */
    qn_kernel_destroy(kernel);
    fake.release();
    assert_ok(r.context, qn_stream_wait(stream, QN_FOREVER));
    assert_ok(r.context, qn_kernel_create(before, "fill", &kernel));
    qn_program_destroy(make_program(r.device, source));
    drop_rig(&r);
    nothing_left();
}

/* The same for a stream that was left with its kernel, and for a graph's kernels. */
static void code_is_refused_beside_a_stream_that_was_left(void **state) {
    (void)state;
    const qn_program_desc desc = {.source = source};
    rig r = make_rig(&no_cache);
    qn_program *program;
    qn_stream *stream;
    qn_graph *graph;
    assert_ok(r.context, qn_stream_create(r.device, &stream));
    assert_ok(r.context, qn_graph_begin(stream));
    assert_ok(r.context, qn_launch(stream, r.hang, QN_RANGE(1), QN_NO_ARGS));
    assert_ok(r.context, qn_graph_end(stream, &graph));
    assert_ok(r.context, qn_graph_launch(stream, graph));
    assert_int_equal(qn_stream_close(stream, 1000000), QN_ERROR_TIMEOUT);
    assert_fails(r.context, qn_program_create(r.device, &desc, &program), QN_ERROR_STATE, "may never end");
    fake.release();
    qn_program_destroy(make_program(r.device, source));
    drop_rig(&r);
    nothing_left();
}

typedef struct server {
    qn_stream *stream;
    qn_kernel *kernel;
    bool stays; /* does not leave though it is asked */
    int left, came_back;
} server;

static void leave(void *user) {
    server *s = user;
    s->left++;
    if (!s->stays) fake.release();
}

static void come_back(void *user) {
    server *s = user;
    s->came_back++;
    assert_int_equal(qn_launch(s->stream, s->kernel, QN_RANGE(1), QN_NO_ARGS), QN_OK);
}

static server serve(const rig *r) { return (server){.stream = make_endless(r), .kernel = r->hang}; }

/* Who can leave is asked to, for each of the driver's loads, and comes back behind it. */
static void code_is_loaded_beside_one_that_steps_aside(void **state) {
    (void)state;
    rig r = make_rig(&no_cache);
    qn_program *before = make_program(r.device, source);
    qn_kernel *kernel;
    server s = serve(&r);
    assert_ok(r.context, qn_stream_set_aside(s.stream, leave, come_back, &s));
    qn_program_destroy(make_program(r.device, source)); /* nothing runs yet */
    assert_int_equal(s.left, 0);
    assert_ok(r.context, qn_launch(s.stream, r.hang, QN_RANGE(1), QN_NO_ARGS));
    qn_program *program = make_program(r.device, source);
    assert_true(s.left == 1 && s.came_back == 1);
    assert_ok(r.context, qn_kernel_create(before, "fill", &kernel));
    assert_true(s.left == 2 && s.came_back == 2);
    qn_kernel_destroy(kernel);
    assert_ok(r.context, qn_kernel_create(before, "fill", &kernel)); /* is there already */
    assert_true(s.left == 2 && s.came_back == 2);
    /* What was given up goes when code is loaded. */
    qn_program_destroy(program);
    const unsigned long unloaded = (unsigned long)fake.count("cuModuleUnload");
    qn_program_destroy(make_program(r.device, source));
    assert_int_equal(fake.count("cuModuleUnload"), unloaded + 1);
    fake.release();
    drop_rig(&r);
    nothing_left();
}

static void one_that_does_not_step_aside(void **state) {
    (void)state;
    const qn_program_desc desc = {.source = source};
    rig r = make_rig(&no_cache);
    qn_program *program;
    server s = serve(&r), t = serve(&r);
    assert_fails(r.context, qn_stream_set_aside(s.stream, leave, NULL, &s), QN_ERROR_NULL, "back is NULL");
    assert_fails(r.context, qn_stream_set_aside(s.stream, NULL, come_back, &s), QN_ERROR_NULL,
                 "leave is NULL");
    assert_fails(r.context, qn_stream_set_aside(qn_device_stream(r.device), leave, come_back, &s),
                 QN_ERROR_STATE, "the stream is not persistent");
    assert_ok(r.context, qn_stream_set_aside(s.stream, leave, come_back, &s));
    assert_ok(r.context, qn_launch(s.stream, r.hang, QN_RANGE(1), QN_NO_ARGS));
    /* It is waited for, and comes back though it has not gone: a launch behind the other. */
    s.stays = true;
    assert_fails(r.context, qn_program_create(r.device, &desc, &program), QN_ERROR_STATE,
                 "kernel hang: create");
    assert_true(s.left == 1 && s.came_back == 1);
    /* Beside one that cannot leave nobody is asked. */
    assert_ok(r.context, qn_launch(t.stream, r.hang, QN_RANGE(1), QN_NO_ARGS));
    assert_fails(r.context, qn_program_create(r.device, &desc, &program), QN_ERROR_STATE,
                 "kernel hang: create");
    assert_int_equal(s.left, 1);
    assert_ok(r.context, qn_stream_set_aside(s.stream, NULL, NULL, NULL));
    assert_fails(r.context, qn_program_create(r.device, &desc, &program), QN_ERROR_STATE,
                 "kernel hang: create");
    assert_int_equal(s.left, 1);
    fake.release();
    drop_rig(&r);
    nothing_left();
}

static void *release_soon(void *unused) {
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    fake.release();
    return unused;
}

/* The host learns from the kernel that it ends before the driver says so: what ends while its context is closed is released. */
static void a_kernel_may_just_be_ending(void **state) {
    (void)state;
    for (int is_closed = 0; is_closed < 2; is_closed++) {
        rig r = make_rig(&no_cache);
        pthread_t thread;
        qn_stream *stream;
        assert_ok(r.context, qn_stream_create(r.device, &stream));
        assert_ok(r.context, qn_launch(stream, r.hang, QN_RANGE(1), QN_NO_ARGS));
        if (is_closed) assert_int_equal(qn_stream_close(stream, 1000000), QN_ERROR_TIMEOUT);
        assert_int_equal(pthread_create(&thread, NULL, release_soon, NULL), 0);
        if (is_closed)
            assert_int_equal(qn_context_close(r.context, 1000000), QN_OK);
        else
            assert_fails(NULL, qn_context_close(r.context, 1000000), QN_ERROR_TIMEOUT,
                         "qn_context_close: kernel hang ended only behind the deadline");
        assert_int_equal(pthread_join(thread, NULL), 0);
        nothing_left();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(giving_up_is_put_off),
        cmocka_unit_test(code_is_refused_while_one_runs),
        cmocka_unit_test(code_is_refused_beside_a_stream_that_was_left),
        cmocka_unit_test(code_is_loaded_beside_one_that_steps_aside),
        cmocka_unit_test(one_that_does_not_step_aside),
        cmocka_unit_test(a_kernel_may_just_be_ending),
    };
    return cmocka_run_group_tests(tests, find_fake, NULL);
}
