/* Nothing stays behind: rounds of making, using and destroying everything on the device under test, with what quern
   allocates on the host, what it counts on the device, and what the process holds measured between them.
   `unit_api_rounds N` runs N rounds; the long tests run 10,000. */
#include "api_support.h"

#include <stdatomic.h>

static const char source[] = "kernel void add(global int *a, int v) { a[get_global_id(0)] += v; }\n";

enum { ITEMS = 4096, ROUNDS_A_PROGRAM = 50, KEPT = 64 /* freed structs of a kind (object.c) */ };

static long rounds = 300;

/* ---- host memory ---- */

typedef struct counter {
    atomic_size_t live; /* blocks */
} counter;

static void *allocate(void *user, size_t size) {
    void *memory = malloc(size);
    if (memory) atomic_fetch_add(&((counter *)user)->live, 1);
    return memory;
}

static void *reallocate(void *user, void *memory, size_t size) {
    void *grown = realloc(memory, size);
    if (grown && !memory) atomic_fetch_add(&((counter *)user)->live, 1);
    return grown;
}

static void release(void *user, void *memory) {
    if (memory) atomic_fetch_sub(&((counter *)user)->live, 1);
    free(memory);
}

/* Bytes of the process in memory, drivers and all. */
static double resident(void) {
    long pages = 0, unused;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &unused, &pages) != 2) pages = 0;
    if (file) fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* ---- rounds ---- */

static void one_round(qn_context *context, qn_device *device, qn_program *program) {
    int zero[ITEMS] = {0}, out[ITEMS], *host;
    qn_stream *stream;
    qn_event *event;
    qn_graph *graph;
    qn_kernel *kernel = make_kernel(program, context, "add");
    qn_buffer *buffer = make_buffer(device, sizeof zero, zero), *view;
    assert_ok(context, qn_buffer_view(buffer, 16, 16, &view));
    assert_ok(context, qn_stream_create(device, &stream));
    assert_ok(context, qn_event_create(device, &event));
    assert_ok(context, qn_launch(stream, kernel, QN_RANGE(ITEMS), QN_ARGS(buffer, 1)));
    assert_ok(context, qn_stream_record(stream, event));
    assert_ok(context, qn_stream_wait_event(NULL, event));
    assert_ok(context, qn_launch(NULL, kernel, QN_RANGE(4), QN_ARGS(view, 2)));
    assert_ok(context, qn_buffer_map(buffer, QN_MAP_READ_WRITE, (void **)&host));
    assert_int_equal(host[5], 3);
    host[5] = 10;
    assert_ok(context, qn_buffer_unmap(buffer));
    assert_ok(context, qn_graph_begin(stream));
    assert_ok(context, qn_launch(stream, kernel, QN_RANGE(ITEMS), QN_ARGS(buffer, 1)));
    assert_ok(context, qn_launch(stream, kernel, QN_RANGE(ITEMS), QN_ARGS(buffer, 1)));
    assert_ok(context, qn_graph_end(stream, &graph));
    assert_ok(context, qn_graph_launch(stream, graph));
    assert_ok(context, qn_stream_read(stream, buffer, 0, out, sizeof out));
    assert_ok(context, qn_stream_wait(stream, QN_FOREVER));
    assert_int_equal(out[5], 12);
    assert_int_equal(out[ITEMS - 1], 3);
    qn_graph_destroy(graph);
    qn_buffer_destroy(view);
    qn_buffer_destroy(buffer);
    qn_event_destroy(event);
    qn_stream_destroy(stream);
    qn_kernel_destroy(kernel);
}

static void run(qn_context *context, qn_device *device, long count) {
    qn_program *program = NULL;
    for (long i = 0; i < count; i++) {
        if (i % ROUNDS_A_PROGRAM == 0) {
            qn_program_destroy(program);
            program = make_program(device, source);
        }
        one_round(context, device, program);
    }
    qn_program_destroy(program);
    assert_ok(context, qn_device_wait(device, QN_FOREVER));
    assert_ok(context, qn_device_trim(device));
}

static void nothing_stays_behind(void **state) {
    (void)state;
    counter c = {0};
    qn_context *context = make_context(
        &(qn_context_desc){.allocator = {allocate, reallocate, release, &c}, .cpu_compile_first = true});
    qn_device *device = get_device(context, test_device());
    qn_memory_stats stats;
    run(context, device, 2 * ROUNDS_A_PROGRAM); /* pools, freed structs that are kept, the driver's own */
    size_t live = c.live;
    double before = resident();
    run(context, device, rounds);
    double grown = (resident() - before) / (double)rounds;
    assert_ok(context, qn_device_memory(device, &stats));
    assert_int_equal(stats.used, 0);
    assert_int_equal(stats.buffers, 0);
    assert_int_equal(stats.host, 0);
    if (c.live > live + KEPT) fail_msg("%zu blocks more than %zu on the host", (size_t)c.live - live, live);
    print_message("%ld rounds on %s: %.0f bytes a round more in the process, %llu pooled on the device\n",
                  rounds, test_device(), grown, (unsigned long long)stats.pooled);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they keep what is freed */
    assert_true(grown < 2048 + 4e6 / (double)rounds);               /* of the drivers: pages come and go */
#endif
    qn_context_destroy(context);
    assert_int_equal(c.live, 0);
}

/* Contexts too: each opens the driver and closes it. */
static void contexts_come_and_go(void **state) {
    (void)state;
    for (long i = 0; i < 3 + rounds / 1000; i++) {
        qn_context *context = make_context(NULL);
        qn_device *device = get_device(context, test_device());
        run(context, device, 1);
        qn_context_destroy(context);
    }
}

int main(int argc, char **argv) {
    if (argc > 1) rounds = strtol(argv[1], NULL, 10);
    if (rounds < 1) rounds = 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_stays_behind),
        cmocka_unit_test(contexts_come_and_go),
    };
    return run_device_tests(tests);
}
