/* Host memory that devices work with: pinned, shared while kernels run, and the caller's own. */
#include "api_support.h"

#include <stdatomic.h>
#include <sys/mman.h>

static const char add_source[] = "kernel void add(global int *a, int n) { a[get_global_id(0)] += n; }\n";

/* ---- pinned ---- */

static void pinned_memory_goes_there_and_back(void **state) {
    (void)state;
    enum { COUNT = 3 << 20 };
    fixture f = make_fixture(test_device(), add_source, "add");
    qn_buffer *buffer = make_buffer(f.device, COUNT * sizeof(int), NULL);
    int *host, *part;
    assert_ok(f.context, qn_host_alloc(f.device, COUNT * sizeof(int), (void **)&host));
    assert_ok(f.context, qn_host_alloc(f.device, 100, (void **)&part));
    assert_int_equal((uintptr_t)host % 64, 0);
    assert_int_equal((uintptr_t)part % 64, 0);
    for (int i = 0; i < COUNT; i++) {
        if (host[i]) fail_msg("it is not zeroed");
        host[i] = i;
    }
    assert_ok(f.context, qn_stream_write(NULL, buffer, 0, host, COUNT * sizeof(int)));
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(COUNT), QN_ARGS(buffer, 5)));
    assert_ok(f.context, qn_stream_read(NULL, buffer, 40, part + 1, 80)); /* behind work, and odd */
    assert_ok(f.context, qn_stream_read(NULL, buffer, 0, host, COUNT * sizeof(int)));
    assert_ok(f.context, qn_stream_wait(qn_device_stream(f.device), QN_FOREVER));
    for (int i = 0; i < COUNT; i++)
        if (host[i] != i + 5) fail_msg("%d: %d", i, host[i]);
    for (int i = 0; i < 20; i++) assert_int_equal(part[1 + i], i + 15);
    part[24] = -1;
    assert_ok(f.context, qn_buffer_write(buffer, 8, part + 24, 4)); /* the blocking ones, too */
    assert_ok(f.context, qn_buffer_read(buffer, 4, host, 8));
    assert_int_equal(host[0], 6);
    assert_int_equal(host[1], -1);
    qn_host_free(f.device, host);
    qn_context_destroy(f.context);
}

static void wrong_uses_of_pinned_memory_are_told(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    void *host = &host;
    assert_fails(context, qn_host_alloc(device, 0, &host), QN_ERROR_RANGE, "qn_host_alloc: the size is 0");
    assert_null(host);
    assert_fails(context, qn_host_alloc(device, 16, NULL), QN_ERROR_NULL, "memory");
    assert_fails(context, qn_host_alloc(device, (uint64_t)1 << 62, &host), QN_ERROR_OUT_OF_MEMORY,
                 "qn_host_alloc: 4611686018427387904 bytes on");
    assert_ok(context, qn_host_alloc(device, 16, &host));
    qn_host_free(device, (char *)host + 8);
    assert_non_null(strstr(qn_error_message(context), "is not memory that qn_host_alloc gave"));
    qn_host_free(device, host);
    qn_host_free(device, NULL);
    qn_context_destroy(context);
}

/* ---- shared ---- */

static qn_status create_shared(qn_device *device, uint64_t size, qn_buffer **buffer) {
    return qn_buffer_create(device, &(qn_buffer_desc){.size = size, .memory = QN_MEMORY_SHARED}, buffer);
}

/* Answers message n in box[0], with what is in data[0], by 3 * data[0] + n in data[1] and n in box[1]. It ends after some
   time without a message. Reading many times an iteration makes one last, where a driver allows few iterations. */
#define READ_2  "    if (got <= done) got = READ(box);\n    if (got <= done) got = READ(box);\n"
#define READ_8  READ_2 READ_2 READ_2 READ_2
#define READ_32 READ_8 READ_8 READ_8 READ_8
static const char answer_source[] =
    "#define READ(at) atomic_load_explicit(at, memory_order_acquire, memory_scope_all_svm_devices)\n"
    "kernel void answer(global atomic_int *box, global int *data, int turns, int last) {\n"
    "    int done = READ(box + 1), got = done;\n"
    "    for (int i = 0; i < turns && done < last; i++) {\n" READ_32 "        if (got > done) {\n"
    "            data[1] = 3 * data[0] + got;\n"
    "            done = got;\n"
    "            atomic_store_explicit(box + 1, done, memory_order_release, memory_scope_all_svm_devices);\n"
    "        }\n"
    "    }\n"
    "}\n";

typedef struct talk {
    fixture f;
    qn_buffer *box, *data;
    qn_event *end;
    atomic_int *shared_box;
    volatile int *shared_data;
    int turns, last, runs;
    double deadline;
} talk;

static void run_again(talk *t) {
    assert_ok(t->f.context,
              qn_launch(NULL, t->f.kernel, QN_RANGE(1), QN_ARGS(t->box, t->data, t->turns, t->last)));
    assert_ok(t->f.context, qn_stream_record(qn_device_stream(t->f.device), t->end));
    t->runs++;
}

static void exchange(talk *t, int number) {
    t->shared_data[0] = number * 7;
    atomic_store_explicit(&t->shared_box[0], number, memory_order_release);
    for (unsigned looks = 1; atomic_load_explicit(&t->shared_box[1], memory_order_acquire) != number;
         looks++) {
        bool done = false;
        if (looks % 64) continue;
        assert_ok(t->f.context, qn_event_done(t->end, &done));
        if (done && atomic_load(&t->shared_box[1]) != number) run_again(t);
        if (test_seconds() > t->deadline) fail_msg("no answer to message %d after %d runs", number, t->runs);
    }
    assert_int_equal(t->shared_data[1], 3 * number * 7 + number);
}

/* Where more messages are answered than there were runs, a kernel has seen what the host wrote while it ran. */
static void a_kernel_and_the_host_exchange_messages(void **state) {
    (void)state;
    if (!device_can(QN_CAN_SHARE_COHERENTLY, "memory that kernels and the host see alike")) return;
    enum { LAST = 1 << 20, ENOUGH = 200 };
    talk t = {.f = make_fixture(test_device(), answer_source, "answer"), .deadline = test_seconds() + 60};
    qn_device_info info;
    assert_ok(t.f.context, qn_device_get_info(t.f.device, &info));
    t.turns = info.loop_limit ? (int)(info.loop_limit / 2) : 200000;
    t.last = LAST;
    assert_ok(t.f.context, create_shared(t.f.device, 64, &t.box));
    assert_ok(t.f.context, create_shared(t.f.device, 64, &t.data));
    assert_ok(t.f.context, qn_event_create(t.f.device, &t.end));
    t.shared_box = qn_buffer_host(t.box);
    t.shared_data = qn_buffer_host(t.data);
    int number = 0;
    run_again(&t);
    while (number < ENOUGH || number <= t.runs) exchange(&t, ++number);
    print_message("%d messages in %d runs\n", number, t.runs);
    t.shared_data[0] = 0;
    atomic_store(&t.shared_box[0], LAST); /* the last message: the kernel ends */
    assert_ok(t.f.context, qn_stream_wait(qn_device_stream(t.f.device), 60000000000));
    qn_context_destroy(t.f.context);
}

static void shared_buffers_are_buffers(void **state) {
    (void)state;
    enum { COUNT = 1000 };
    if (!device_can(QN_CAN_SHARE_COHERENTLY, "memory that kernels and the host see alike")) return;
    fixture f = make_fixture(test_device(), add_source, "add");
    qn_buffer *shared, *view, *other = make_buffer(f.device, COUNT * sizeof(int), NULL);
    int first[COUNT], got[COUNT], one = 1, *map;
    for (int i = 0; i < COUNT; i++) first[i] = i;
    assert_ok(
        f.context,
        qn_buffer_create(f.device,
                         &(qn_buffer_desc){.size = sizeof first, .data = first, .memory = QN_MEMORY_SHARED},
                         &shared));
    int *host = qn_buffer_host(shared);
    assert_memory_equal(host, first, sizeof first);
    assert_ok(f.context, qn_buffer_view(shared, 160, 80, &view));
    assert_ptr_equal(qn_buffer_host(view), host + 40);
    host[3] = 100; /* seen by what begins later */
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(COUNT), QN_ARGS(shared, 5)));
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(20), QN_ARGS(view, 1000)));
    assert_ok(f.context, qn_stream_copy(NULL, shared, 0, other, 0, sizeof first));
    assert_ok(f.context, qn_stream_fill(NULL, shared, 4, 4, &one, 4));
    assert_ok(f.context, qn_stream_write(NULL, shared, 0, &one, 4));
    assert_ok(f.context, qn_stream_read(NULL, shared, 0, got, sizeof got));
    assert_ok(f.context, qn_stream_wait(qn_device_stream(f.device), QN_FOREVER));
    assert_memory_equal(got, host, sizeof got);
    for (int i = 2; i < COUNT; i++)
        assert_int_equal(host[i], i == 3 ? 105 : i + 5 + (i >= 40 && i < 60 ? 1000 : 0));
    assert_int_equal(host[0], 1);
    assert_int_equal(host[1], 1);
    assert_ok(f.context, qn_buffer_read(other, 0, got, sizeof got));
    assert_int_equal(got[1], 6);
    assert_int_equal(got[3], 105);
    assert_ok(f.context, qn_buffer_map(shared, QN_MAP_READ, (void **)&map));
    assert_ptr_equal(map, host);
    assert_ok(f.context, qn_buffer_unmap(shared));
    qn_context_destroy(f.context);
}

static void wrong_uses_of_shared_memory_are_told(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    qn_buffer *buffer;
    qn_device_info info;
    assert_ok(context, qn_device_get_info(device, &info));
    if (info.capabilities & QN_CAN_SHARE_COHERENTLY) {
        assert_ok(context, create_shared(device, 16, &buffer));
        for (int i = 0; i < 4; i++) assert_int_equal(((int *)qn_buffer_host(buffer))[i], 0);
    } else
        assert_fails(context, create_shared(device, 16, &buffer), QN_ERROR_UNSUPPORTED,
                     "(QN_CAN_SHARE_COHERENTLY); use QN_MEMORY_DEVICE");
    assert_fails(context,
                 qn_buffer_create(device, &(qn_buffer_desc){.size = 16, .memory = (qn_memory)7}, &buffer),
                 QN_ERROR_ARGUMENT, "memory 7 is not a qn_memory");
    buffer = make_buffer(device, 16, NULL);
    assert_null(qn_buffer_host(buffer));
    assert_non_null(strstr(qn_error_message(context), "is not of QN_MEMORY_SHARED; map it"));
    assert_fails(context, create_shared(get_device(context, "null"), 16, &buffer), QN_ERROR_UNSUPPORTED,
                 "null has no memory that kernels and the host see alike");
    qn_context_destroy(context);
}

/* ---- imported ---- */

static const char sum_source[] =
    "kernel void sum(global const uint *a, uint n, global uint *out) {\n"
    "    uint s = 0;\n"
    "    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) s += a[i];\n"
    "    atomic_add(out, s);\n"
    "}\n"
    "kernel void add(global int *a, int n) { a[get_global_id(0)] += n; }\n";

enum { FILE_WORDS = 300000 };

/* A file of the numbers 0, 1, ..., mapped; it has no name any more. */
static uint32_t *map_file(int protection) {
    uint32_t block[1000];
    FILE *file = tmpfile();
    assert_non_null(file);
    for (uint32_t i = 0; i < FILE_WORDS; i += 1000) {
        for (uint32_t k = 0; k < 1000; k++) block[k] = i + k;
        assert_int_equal(fwrite(block, sizeof block, 1, file), 1);
    }
    assert_int_equal(fflush(file), 0);
    void *mapped = mmap(NULL, FILE_WORDS * sizeof *block, protection, MAP_PRIVATE, fileno(file), 0);
    fclose(file);
    assert_ptr_not_equal(mapped, MAP_FAILED);
    return mapped;
}

/* As a file that cannot be written, or, where the driver does not take that, as one that can. */
static qn_buffer *import_file(qn_device *device, uint32_t **words) {
    qn_buffer *buffer;
    qn_context *context = qn_device_context(device);
    qn_buffer_desc desc = {.size = FILE_WORDS * sizeof **words, .read_only = true, .label = "the file"};
    desc.host = *words = map_file(PROT_READ);
    qn_status status = qn_buffer_create(device, &desc, &buffer);
    if (status == QN_ERROR_UNSUPPORTED && (testing("cuda") || testing("vulkan"))) {
        print_message("with PROT_WRITE, as %s\n", qn_error_message(context));
        assert_non_null(strstr(qn_error_message(context), "the driver does not take this host memory"));
        munmap(*words, desc.size);
        desc.host = *words = map_file(PROT_READ | PROT_WRITE);
        desc.read_only = false;
        status = qn_buffer_create(device, &desc, &buffer);
    }
    qn_device_info info;
    assert_ok(context, qn_device_get_info(device, &info));
    const bool is_gpu = !(info.capabilities & QN_CAN_EMULATE);
    if (status == QN_ERROR_UNSUPPORTED && testing("vulkan") && is_gpu) { /* NVIDIA's takes no file at all */
        print_message("skipped: %s\n", qn_error_message(context));
        munmap(*words, desc.size);
        return NULL;
    }
    assert_ok(context, status);
    return buffer;
}

static void a_mapped_file_is_read_in_place(void **state) {
    (void)state;
    if (!device_can(QN_CAN_IMPORT_HOST, "buffers in the caller's memory")) return;
    fixture f = make_fixture(test_device(), sum_source, "sum");
    uint32_t *words, got, wanted = 0;
    qn_memory_stats stats;
    qn_buffer *file = import_file(f.device, &words), *out, *view;
    if (!file) {
        qn_context_destroy(f.context);
        return;
    }
    out = make_buffer(f.device, 4, NULL);
    assert_ok(f.context, qn_device_memory(f.device, &stats));
    assert_int_equal(stats.used, 4);
    assert_int_equal(stats.buffers, 2);
    for (uint32_t i = 0; i < FILE_WORDS; i++) wanted += i;
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(1024), QN_ARGS(file, FILE_WORDS, out)));
    assert_ok(f.context, qn_buffer_read(out, 0, &got, sizeof got));
    assert_int_equal(got, wanted);
    assert_ok(f.context, qn_buffer_view(file, 4096, 4000, &view));
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(1), QN_ARGS(view, 1, out)));
    assert_ok(f.context, qn_buffer_read(out, 0, &got, sizeof got));
    assert_int_equal(got, wanted + 1024);
    assert_ok(f.context, qn_buffer_read(view, 8, &got, sizeof got));
    assert_int_equal(got, 1026);
    qn_buffer_destroy(view);
    qn_buffer_destroy(file);
    assert_ok(f.context, qn_device_wait(f.device, QN_FOREVER));
    munmap(words, FILE_WORDS * sizeof *words);
    qn_context_destroy(f.context);
}

/* The array begins and ends in the midst of a page; all other bytes stay. */
static void an_array_is_changed_in_place(void **state) {
    (void)state;
    enum { COUNT = 5000, BEFORE = 1028 };
    if (!device_can(QN_CAN_IMPORT_HOST, "buffers in the caller's memory")) return;
    fixture f = make_fixture(test_device(), sum_source, "add");
    int *pages = aligned_alloc(1 << 16, 1 << 16), *array = pages + BEFORE, *map, three = 3;
    for (int i = 0; i < 1 << 14; i++) pages[i] = i;
    qn_buffer *buffer, *other = make_buffer(f.device, COUNT * sizeof(int), NULL);
    assert_ok(
        f.context,
        qn_buffer_create(f.device, &(qn_buffer_desc){.size = COUNT * sizeof(int), .host = array}, &buffer));
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(COUNT), QN_ARGS(buffer, 7)));
    assert_ok(f.context, qn_buffer_map(buffer, QN_MAP_READ_WRITE, (void **)&map));
    assert_ptr_equal(map, array);
    for (int i = 0; i < COUNT; i++)
        if (array[i] != BEFORE + i + 7) fail_msg("%d: %d", i, array[i]);
    array[5] = 500;
    assert_ok(f.context, qn_buffer_unmap(buffer));
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(10), QN_ARGS(buffer, 1)));
    assert_ok(f.context, qn_stream_fill(NULL, buffer, 80, 40, &three, 4));
    assert_ok(f.context, qn_stream_copy(NULL, buffer, 0, other, 0, COUNT * sizeof(int)));
    assert_ok(f.context, qn_buffer_write(buffer, (COUNT - 1) * sizeof(int), &three, 4));
    assert_int_equal(array[5], 501);
    assert_int_equal(array[20], 3);
    assert_int_equal(array[29], 3);
    assert_int_equal(array[COUNT - 1], 3);
    for (int i = 0; i < BEFORE; i++) assert_int_equal(pages[i], i);
    for (int i = BEFORE + COUNT; i < 1 << 14; i++) assert_int_equal(pages[i], i);
    int got[30];
    assert_ok(f.context, qn_buffer_read(other, 0, got, sizeof got));
    assert_memory_equal(got, array, sizeof got);
    qn_buffer_destroy(buffer);
    assert_ok(f.context, qn_device_wait(f.device, QN_FOREVER));
    free(pages);
    qn_context_destroy(f.context);
}

static void read_only_buffers_are_not_written(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), sum_source, "add");
    qn_kernel *sum = make_kernel(f.program, f.context, "sum");
    qn_buffer *buffer, *view, *out = make_buffer(f.device, 64, NULL);
    uint32_t data[16] = {1, 2, 3}, got;
    void *map;
    qn_graph *graph;
    assert_ok(f.context,
              qn_buffer_create(
                  f.device,
                  &(qn_buffer_desc){.size = sizeof data, .data = data, .read_only = true, .label = "table"},
                  &buffer));
    assert_ok(f.context, qn_buffer_view(buffer, 16, 16, &view));
    static const char said[] = "the buffer 'table' is read-only and would be written";
    assert_fails(f.context, qn_launch(NULL, f.kernel, QN_RANGE(1), QN_ARGS(view, 1)), QN_ERROR_ARGUMENT,
                 said);
    assert_fails(f.context, qn_buffer_write(buffer, 0, data, 4), QN_ERROR_ARGUMENT, said);
    assert_fails(f.context, qn_stream_fill(NULL, view, 0, 4, data, 4), QN_ERROR_ARGUMENT, said);
    assert_fails(f.context, qn_stream_copy(NULL, out, 0, buffer, 0, 16), QN_ERROR_ARGUMENT, said);
    assert_fails(f.context, qn_buffer_map(buffer, QN_MAP_WRITE, &map), QN_ERROR_ARGUMENT, said);
    assert_ok(f.context, qn_graph_begin(qn_device_stream(f.device)));
    assert_fails(f.context, qn_launch(NULL, f.kernel, QN_RANGE(1), QN_ARGS(buffer, 1)), QN_ERROR_ARGUMENT,
                 said);
    assert_ok(f.context, qn_launch(NULL, sum, QN_RANGE(1), QN_ARGS(buffer, 3, out)));
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(0), QN_ARGS(out, 1)));
    assert_ok(f.context, qn_graph_end(qn_device_stream(f.device), &graph));
    assert_fails(f.context, qn_graph_set_launch(graph, 1, QN_RANGE(1), QN_ARGS(view, 1)), QN_ERROR_ARGUMENT,
                 said);
    assert_ok(f.context, qn_graph_launch(NULL, graph));
    assert_ok(f.context, qn_buffer_map(buffer, QN_MAP_READ, &map));
    assert_memory_equal(map, data, sizeof data);
    assert_ok(f.context, qn_buffer_unmap(buffer));
    assert_ok(f.context, qn_stream_copy(NULL, buffer, 4, out, 4, 4));
    assert_ok(f.context, qn_buffer_read(out, 0, &got, 4));
    assert_int_equal(got, 6);
    qn_context_destroy(f.context);
}

static void wrong_imports_are_told(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, "cpu");
    _Alignas(16) char memory[64];
    qn_buffer *buffer;
#define IMPORT(...) qn_buffer_create(device, &(qn_buffer_desc){.size = 32, __VA_ARGS__}, &buffer)
    assert_fails(context, IMPORT(.host = memory + 8), QN_ERROR_ARGUMENT, "which is not a multiple of 16");
    assert_fails(context, IMPORT(.host = memory, .data = memory), QN_ERROR_ARGUMENT,
                 "data does not go with it");
    assert_fails(context, IMPORT(.host = memory, .uninitialised = true), QN_ERROR_ARGUMENT, "uninitialised");
    assert_fails(context, IMPORT(.host = memory, .memory = QN_MEMORY_SHARED), QN_ERROR_ARGUMENT,
                 "memory does");
    assert_fails(context, IMPORT(.host = (void *)(UINTPTR_MAX - 15)), QN_ERROR_RANGE, "beyond all memory");
    device = get_device(context, "null");
    assert_fails(context, IMPORT(.host = memory), QN_ERROR_UNSUPPORTED,
                 "(QN_CAN_IMPORT_HOST); pass it as data");
#undef IMPORT
    qn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pinned_memory_goes_there_and_back),
        cmocka_unit_test(wrong_uses_of_pinned_memory_are_told),
        cmocka_unit_test(a_kernel_and_the_host_exchange_messages),
        cmocka_unit_test(shared_buffers_are_buffers),
        cmocka_unit_test(wrong_uses_of_shared_memory_are_told),
        cmocka_unit_test(a_mapped_file_is_read_in_place),
        cmocka_unit_test(an_array_is_changed_in_place),
        cmocka_unit_test(read_only_buffers_are_not_written),
        cmocka_unit_test(wrong_imports_are_told),
    };
    return run_device_tests(tests);
}
