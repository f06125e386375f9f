/* What the header allows to several threads at once; meant for the tsan preset, and a check of results
   everywhere. */
#include "api_support.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>

static const char source[] = "kernel void add(global int *a, int v) { a[get_global_id(0)] += v; }\n"
                             "kernel void count(global int *a) { atomic_inc(&a[0]); }\n";

enum { THREADS = 4, ROUNDS = 50, ITEMS = 256 };

typedef struct job {
    fixture *f;
    qn_buffer *shared;
    int index;
    bool failed;
} job;

/* A stream and a buffer of its own; kernel, program, device and context are shared. */
static void *own_stream(void *user) {
    job *j = user;
    qn_context *context = j->f->context;
    qn_stream *stream = NULL;
    qn_buffer *buffer = NULL;
    int out[ITEMS];
    j->failed = qn_stream_create(j->f->device, &stream) ||
                qn_buffer_create(j->f->device, &(qn_buffer_desc){.size = sizeof out}, &buffer);
    for (int i = 0; i < ROUNDS && !j->failed; i++)
        j->failed = qn_launch(stream, j->f->kernel, QN_RANGE(ITEMS), QN_ARGS(buffer, j->index)) != QN_OK;
    if (!j->failed)
        j->failed = qn_stream_read(stream, buffer, 0, out, sizeof out) || qn_stream_wait(stream, QN_FOREVER);
    for (int i = 0; i < ITEMS && !j->failed; i++) j->failed = out[i] != ROUNDS * j->index;
    /* the message is this thread's own */
    qn_kernel *none;
    if (qn_kernel_create(j->f->program, "none", &none) != QN_ERROR_NO_KERNEL ||
        !strstr(qn_error_message(context), "none"))
        j->failed = true;
    qn_buffer_destroy(buffer);
    qn_stream_destroy(stream);
    return NULL;
}

/* All on the default stream and one buffer, with atomics. */
static void *default_stream(void *user) {
    job *j = user;
    qn_kernel *count = NULL;
    j->failed = qn_kernel_create(j->f->program, "count", &count) != QN_OK;
    for (int i = 0; i < ROUNDS && !j->failed; i++)
        j->failed = qn_launch(NULL, count, QN_RANGE(ITEMS), QN_ARGS(j->shared)) != QN_OK;
    if (!j->failed) j->failed = qn_device_wait(j->f->device, QN_FOREVER) != QN_OK;
    qn_kernel_destroy(count);
    return NULL;
}

static void run_jobs(fixture *f, qn_buffer *shared, void *(*work)(void *)) {
    pthread_t threads[THREADS];
    job jobs[THREADS];
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (job){f, shared, i + 1, false};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_false(jobs[i].failed);
    }
}

static void threads_with_a_stream_each(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "add");
    run_jobs(&f, NULL, own_stream);
    qn_context_destroy(f.context);
}

static void threads_on_the_default_stream(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "add");
    int count = 0;
    qn_buffer *shared = make_buffer(f.device, sizeof count, NULL);
    /* launches of one buffer by several threads: each launch is ordered on the stream */
    run_jobs(&f, shared, default_stream);
    assert_ok(f.context, qn_buffer_read(shared, 0, &count, sizeof count));
    assert_int_equal(count, THREADS * ROUNDS * ITEMS);
    qn_context_destroy(f.context);
}

/* Streams come and go while others wait for all of them. */
static void *come_and_go(void *user) {
    job *j = user;
    for (int i = 0; i < ROUNDS && !j->failed; i++) {
        qn_stream *stream = NULL;
        qn_buffer *buffer = NULL;
        if (j->index % 2) {
            j->failed = qn_device_wait(j->f->device, QN_FOREVER) != QN_OK;
            continue;
        }
        j->failed = qn_stream_create(j->f->device, &stream) ||
                    qn_buffer_create(j->f->device, &(qn_buffer_desc){.size = ITEMS * sizeof(int)}, &buffer) ||
                    qn_launch(stream, j->f->kernel, QN_RANGE(ITEMS), QN_ARGS(buffer, 1));
        qn_buffer_destroy(buffer);
        qn_stream_destroy(stream);
    }
    return NULL;
}

static void threads_that_wait_for_the_device(void **state) {
    const char *names[] = {test_device(), "null"};
    (void)state;
    for (int d = 0; d < 2; d++) {
        fixture f = make_fixture(names[d], source, "add");
        run_jobs(&f, NULL, come_and_go);
        qn_context_destroy(f.context);
    }
}

/* One event, recorded on a stream of each thread and looked at by all. */
static void *record_and_look(void *user) {
    job *j = user;
    qn_event *event = (qn_event *)(void *)j->shared;
    qn_stream *stream = NULL;
    j->failed = qn_stream_create(j->f->device, &stream) != QN_OK;
    for (int i = 0; i < ROUNDS && !j->failed; i++) {
        bool done;
        int64_t elapsed;
        j->failed = qn_stream_record(stream, event) || qn_stream_wait_event(stream, event) ||
                    qn_event_done(event, &done) || qn_event_wait(event, QN_FOREVER);
        (void)qn_event_elapsed(event, event, &elapsed); /* recorded again meanwhile, perhaps */
    }
    qn_stream_destroy(stream);
    return NULL;
}

static void threads_that_share_an_event(void **state) {
    const char *names[] = {test_device(), "null"};
    (void)state;
    for (int d = 0; d < 2; d++) {
        fixture f = make_fixture(names[d], source, "add");
        qn_event *event;
        assert_ok(f.context, qn_event_create(f.device, &event));
        run_jobs(&f, (qn_buffer *)(void *)event, record_and_look);
        qn_context_destroy(f.context);
    }
}

/* One graph, launched on a stream of each thread. */
typedef struct graph_job {
    fixture *f;
    qn_graph *graph;
    bool failed;
} graph_job;

static void *launch_graph(void *user) {
    graph_job *j = user;
    qn_stream *stream = NULL;
    j->failed = qn_stream_create(j->f->device, &stream) != QN_OK;
    for (int i = 0; i < ROUNDS && !j->failed; i++) j->failed = qn_graph_launch(stream, j->graph) != QN_OK;
    if (!j->failed) j->failed = qn_stream_wait(stream, QN_FOREVER) != QN_OK;
    qn_stream_destroy(stream);
    return NULL;
}

static void threads_that_share_a_graph(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "count");
    int count = 0;
    qn_buffer *shared = make_buffer(f.device, sizeof count, &count);
    qn_stream *stream = qn_device_stream(f.device);
    qn_graph *graph;
    pthread_t threads[THREADS];
    graph_job jobs[THREADS];
    assert_ok(f.context, qn_graph_begin(stream));
    assert_ok(f.context, qn_launch(stream, f.kernel, QN_RANGE(ITEMS), QN_ARGS(shared)));
    assert_ok(f.context, qn_launch(stream, f.kernel, QN_RANGE(ITEMS), QN_ARGS(shared)));
    assert_ok(f.context, qn_graph_end(stream, &graph));
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (graph_job){&f, graph, false};
        assert_int_equal(pthread_create(&threads[i], NULL, launch_graph, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_false(jobs[i].failed);
    }
    assert_ok(f.context, qn_buffer_read(shared, 0, &count, sizeof count));
    assert_int_equal(count, THREADS * ROUNDS * 2 * ITEMS);
    qn_context_destroy(f.context);
}

static void *compile_program(void *user) {
    job *j = user;
    char text[120];
    qn_program *program = NULL;
    snprintf(text, sizeof text, "kernel void f(global int *a) { a[0] = %d; }", j->index);
    for (int i = 0; i < 3 && !j->failed; i++) {
        j->failed = qn_program_create(j->f->device, &(qn_program_desc){.source = text}, &program) != QN_OK;
        qn_program_destroy(program);
        program = NULL;
    }
    return NULL;
}

static void threads_that_compile(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "add");
    run_jobs(&f, NULL, compile_program);
    qn_context_destroy(f.context);
}

static void *look_at_devices(void *user) {
    job *j = user;
    qn_device *device;
    qn_device_info info;
    j->failed = qn_device_get(j->f->context, test_device(), &device) || qn_device_get_info(device, &info) ||
                !qn_device_stream(device);
    return NULL;
}

static void threads_that_open_the_device(void **state) {
    (void)state;
    fixture f = {.context = make_context(NULL)};
    run_jobs(&f, NULL, look_at_devices);
    qn_context_destroy(f.context);
}

/* Signals that a thread of this process blocks, from its file in /proc. */
static unsigned long long blocked_by(const char *task) {
    char path[64], line[256];
    unsigned long long blocked = 0;
    snprintf(path, sizeof path, "/proc/self/task/%.16s/status", task);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "SigBlk:", 7) == 0) blocked = strtoull(line + 7, NULL, 16);
    if (file) fclose(file);
    return blocked;
}

/* Drivers of other devices have threads of their own. */
static void threads_block_the_signals_of_the_host(void **state) {
    (void)state;
    static const int signals[] = {SIGTERM, SIGALRM, SIGUSR1, SIGPROF};
    DIR *tasks = testing("cpu") ? opendir("/proc/self/task") : NULL;
    if (!tasks) return;
    qn_context *context = make_context(&(qn_context_desc){.cpu_threads = THREADS});
    get_device(context, "cpu");
    int threads = 0, own = (int)getpid(); /* this thread's number, too */
    rewinddir(tasks);
    for (struct dirent *entry; (entry = readdir(tasks));) {
        if (entry->d_name[0] == '.' || atoi(entry->d_name) == own) continue;
        threads++;
        for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
            assert_true(blocked_by(entry->d_name) >> (signals[i] - 1) & 1);
    }
    closedir(tasks);
    assert_true(threads >= THREADS); /* the pool's, and the default stream's */
    qn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_open_the_device),
        cmocka_unit_test(threads_with_a_stream_each),
        cmocka_unit_test(threads_on_the_default_stream),
        cmocka_unit_test(threads_that_wait_for_the_device),
        cmocka_unit_test(threads_that_share_an_event),
        cmocka_unit_test(threads_that_share_a_graph),
        cmocka_unit_test(threads_that_compile),
        cmocka_unit_test(threads_block_the_signals_of_the_host),
    };
    return run_device_tests(tests);
}
