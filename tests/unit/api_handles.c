/* Every function of the header that takes an object is given each object of another kind, something that is no object, and
   a destroyed one: it says so and nothing crashes. A function that the header has and the table below lacks is a
   failure. And no failed call leaves the message of an older one. */
#include "api_support.h"

#include <ctype.h>
#include <pthread.h>
#include <quern/check.h>
#include <quern/history.h>

enum kind { CONTEXT, DEVICE, BUFFER, PROGRAM, KERNEL, STREAM, EVENT, GRAPH, POOL, KINDS };
static const char *const kind_names[KINDS] = {"a context", "a device", "a buffer", "a program", "a kernel",
                                              "a stream",  "an event", "a graph",  "a pool"};

static const char source[] = "kernel void f(global int *a) { a[0] = 5; }\n";

/* One of each kind. */
typedef struct objects {
    void *all[KINDS];
} objects;

static objects make_objects(void) {
    objects o;
    qn_stream *stream;
    qn_event *event;
    qn_graph *graph;
    qn_memory_pool *pool;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    qn_program *program = make_program(device, source);
    qn_kernel *kernel = make_kernel(program, context, NULL);
    qn_buffer *buffer = make_buffer(device, 64, NULL);
    assert_ok(context, qn_stream_create(device, &stream));
    assert_ok(context, qn_event_create(device, &event));
    assert_ok(context, qn_graph_begin(stream));
    assert_ok(context, qn_launch(stream, kernel, QN_RANGE(1), QN_ARGS(buffer)));
    assert_ok(context, qn_graph_end(stream, &graph));
    assert_ok(context, qn_memory_pool_create(device, NULL, &pool));
    void *const all[KINDS] = {context, device, buffer, program, kernel, stream, event, graph, pool};
    memcpy(o.all, all, sizeof all);
    return o;
}

/* Where results go. */
static struct {
    qn_backend_info backend;
    qn_device *device;
    qn_device_info device_info;
    qn_finding finding;
    qn_check_stats check_stats;
    qn_suppression suppression;
    qn_check_profile profile;
    qn_allocator allocator;
    qn_memory_stats memory;
    qn_moves moves;
    qn_memory_pool *pool;
    qn_memory_pool_stats pool_stats;
    uint32_t count;
    qn_buffer *buffer;
    qn_program *program;
    qn_program_times times;
    qn_kernel *kernel;
    qn_kernel_info kernel_info;
    qn_kernel_resources resources;
    qn_param_info param;
    qn_field_info field;
    qn_matrix_shape shape;
    qn_stream *stream;
    qn_event *event;
    qn_graph *graph;
    qn_cache_stats stats;
    char *text, data[64];
    size_t size;
    void *pointer;
    bool done;
    int64_t elapsed;
    uint64_t handle;
    qn_export exported;
    qn_tensor_map tensor_map;
    int fd;
} out;

static void on_done(void *user, qn_status status, const char *message) {
    (void)user, (void)status, (void)message;
}

/* What a function without a status gives for a wrong object: nothing. */
static qn_status nothing(bool is_nothing) { return is_nothing ? QN_ERROR_ARGUMENT : QN_OK; }

static const qn_import_desc import_desc = {.kind = QN_HANDLE_OPAQUE_FD, .size = 64};
static const qn_buffer_desc buffer_desc = {.size = 64};
static const qn_tensor_desc tensor_desc = {.element_size = 4, .sizes = {16}, .tile = {16}};
static const qn_window_desc window_desc = {
    .element_size = 4, .sizes = {4, 1, 1, 1}, .positions = {1, 1}, .tile = {4, 1}};
static const qn_program_desc program_desc = {.source = source};
static const qn_program_desc packed_desc = {.source = source};
static const qn_pack_desc pack_desc = {.program = &packed_desc, .targets = "ir"};
static const qn_translate_desc translate_desc = {.program = {.source = source}, .target = "c"};

/* A NULL stream is one. */
static qn_status map_and_unmap(qn_stream *stream, qn_buffer *buffer) {
    const qn_status status = qn_stream_map(stream, buffer, QN_MAP_READ, 0, 4, &out.pointer);
    return status ? status : qn_buffer_unmap(buffer);
}

/* X(function, parameter's place in the call, kind, call with `h` for the object and o[KIND] for others) */
#define CALLS(X)                                                                                             \
    X(qn_error_message, 0, CONTEXT, nothing(strstr(qn_error_message(h), "no context") != NULL))              \
    X(qn_error_set, 0, CONTEXT, qn_error_set(h, QN_ERROR_IO, NULL))                                          \
    X(qn_context_get_allocator, 0, CONTEXT, qn_context_get_allocator(h, &out.allocator))                     \
    X(qn_context_on_end, 0, CONTEXT, qn_context_on_end(h, NULL, &out))                                       \
    X(qn_context_close, 0, CONTEXT, qn_context_close(h, 0))                                                  \
    X(qn_context_destroy, 0, CONTEXT, (qn_context_destroy(h), QN_ERROR_ARGUMENT))                            \
    X(qn_device_count, 0, CONTEXT, nothing(qn_device_count(h) == 0))                                         \
    X(qn_device_at, 0, CONTEXT, nothing(qn_device_at(h, 0) == NULL))                                         \
    X(qn_backend_count, 0, CONTEXT, nothing(qn_backend_count(h) == 0))                                       \
    X(qn_backend_get, 0, CONTEXT, qn_backend_get(h, 0, &out.backend))                                        \
    X(qn_device_get, 0, CONTEXT, qn_device_get(h, NULL, &out.device))                                        \
    X(qn_device_context, 0, DEVICE, nothing(qn_device_context(h) == NULL))                                   \
    X(qn_device_get_info, 0, DEVICE, qn_device_get_info(h, &out.device_info))                                \
    X(qn_device_get_matrix_shape, 0, DEVICE, qn_device_get_matrix_shape(h, 0, &out.shape))                   \
    X(qn_device_memory, 0, DEVICE, qn_device_memory(h, &out.memory))                                         \
    X(qn_device_reopen, 0, DEVICE, qn_device_reopen(h))                                                      \
    X(qn_device_trim, 0, DEVICE, qn_device_trim(h))                                                          \
    X(qn_check_count, 0, DEVICE, nothing(qn_check_count(h) == 0))                                            \
    X(qn_check_get, 0, DEVICE, qn_check_get(h, 0, &out.finding))                                             \
    X(qn_check_clear, 0, DEVICE, qn_check_clear(h))                                                          \
    X(qn_check_configure, 0, DEVICE, qn_check_configure(h, NULL))                                            \
    X(qn_check_get_stats, 0, DEVICE, qn_check_get_stats(h, &out.check_stats))                                \
    X(qn_check_profile_count, 0, DEVICE, nothing(qn_check_profile_count(h) == 0))                            \
    X(qn_check_profile_get, 0, DEVICE, qn_check_profile_get(h, 0, &out.profile))                             \
    X(qn_check_suppress, 0, DEVICE, qn_check_suppress(h, "", NULL))                                          \
    X(qn_check_suppression_count, 0, DEVICE, nothing(qn_check_suppression_count(h) == 0))                    \
    X(qn_check_suppression_get, 0, DEVICE, qn_check_suppression_get(h, 0, &out.suppression))                 \
    X(qn_host_alloc, 0, DEVICE, qn_host_alloc(h, 16, &out.pointer))                                          \
    X(qn_host_free, 0, DEVICE, (qn_host_free(h, out.data), QN_ERROR_ARGUMENT))                               \
    X(qn_buffer_create, 0, DEVICE, qn_buffer_create(h, &buffer_desc, &out.buffer))                           \
    X(qn_buffer_view, 0, BUFFER, qn_buffer_view(h, 0, 16, &out.buffer))                                      \
    X(qn_buffer_tensor_map, 0, BUFFER, qn_buffer_tensor_map(h, &tensor_desc, &out.tensor_map))               \
    X(qn_buffer_window_map, 0, BUFFER, qn_buffer_window_map(h, &window_desc, &out.tensor_map))               \
    X(qn_buffer_destroy, 0, BUFFER, (qn_buffer_destroy(h), QN_ERROR_ARGUMENT))                               \
    X(qn_buffer_size, 0, BUFFER, nothing(qn_buffer_size(h) == 0))                                            \
    X(qn_buffer_device, 0, BUFFER, nothing(qn_buffer_device(h) == NULL))                                     \
    X(qn_buffer_is_read_only, 0, BUFFER, nothing(!qn_buffer_is_read_only(h)))                                \
    X(qn_stream_device, 0, STREAM, nothing(qn_stream_device(h) == NULL))                                     \
    X(qn_buffer_origin, 0, BUFFER, nothing(qn_buffer_origin(h, NULL) == NULL))                               \
    X(qn_buffer_host, 0, BUFFER, nothing(qn_buffer_host(h) == NULL))                                         \
    X(qn_buffer_write, 0, BUFFER, qn_buffer_write(h, 0, out.data, 16))                                       \
    X(qn_buffer_read, 0, BUFFER, qn_buffer_read(h, 0, out.data, 16))                                         \
    X(qn_stream_write, 0, STREAM, qn_stream_write(h, o[BUFFER], 0, out.data, 16))                            \
    X(qn_stream_write, 1, BUFFER, qn_stream_write(o[STREAM], h, 0, out.data, 16))                            \
    X(qn_stream_read, 0, STREAM, qn_stream_read(h, o[BUFFER], 0, out.data, 16))                              \
    X(qn_stream_read, 1, BUFFER, qn_stream_read(o[STREAM], h, 0, out.data, 16))                              \
    X(qn_stream_copy, 0, STREAM, qn_stream_copy(h, o[BUFFER], 0, o[BUFFER], 16, 16))                         \
    X(qn_stream_copy, 1, BUFFER, qn_stream_copy(o[STREAM], h, 0, o[BUFFER], 16, 16))                         \
    X(qn_stream_copy, 2, BUFFER, qn_stream_copy(o[STREAM], o[BUFFER], 0, h, 16, 16))                         \
    X(qn_stream_fill, 0, STREAM, qn_stream_fill(h, o[BUFFER], 0, 16, "x", 1))                                \
    X(qn_stream_fill, 1, BUFFER, qn_stream_fill(o[STREAM], h, 0, 16, "x", 1))                                \
    X(qn_buffer_map, 0, BUFFER, qn_buffer_map(h, QN_MAP_READ, &out.pointer))                                 \
    X(qn_buffer_map_range, 0, BUFFER, qn_buffer_map_range(h, QN_MAP_READ, 0, 4, &out.pointer))               \
    X(qn_stream_map, 0, STREAM, map_and_unmap(h, o[BUFFER]))                                                 \
    X(qn_stream_map, 1, BUFFER, map_and_unmap(o[STREAM], h))                                                 \
    X(qn_buffer_unmap, 0, BUFFER, qn_buffer_unmap(h))                                                        \
    X(qn_buffer_get_state, 0, BUFFER, nothing(qn_buffer_get_state(h) == QN_BUFFER_DEVICE))                   \
    X(qn_stream_prefetch, 0, STREAM, qn_stream_prefetch(h, o[BUFFER], QN_SIDE_DEVICE))                       \
    X(qn_stream_prefetch, 1, BUFFER, qn_stream_prefetch(o[STREAM], h, QN_SIDE_DEVICE))                       \
    X(qn_buffer_sync, 0, BUFFER, qn_buffer_sync(h))                                                          \
    X(qn_buffer_get_moves, 0, BUFFER, qn_buffer_get_moves(h, QN_MOVE_MAP, &out.moves))                       \
    X(qn_device_get_moves, 0, DEVICE, qn_device_get_moves(h, QN_MOVE_MAP, &out.moves))                       \
    X(qn_program_create, 0, DEVICE, qn_program_create(h, &program_desc, &out.program))                       \
    X(qn_program_destroy, 0, PROGRAM, (qn_program_destroy(h), QN_ERROR_ARGUMENT))                            \
    X(qn_program_log, 0, PROGRAM, nothing(qn_program_log(h)[0] == 0))                                        \
    X(qn_program_kernel_count, 0, PROGRAM, nothing(qn_program_kernel_count(h) == 0))                         \
    X(qn_program_kernel_name, 0, PROGRAM, nothing(qn_program_kernel_name(h, 0) == NULL))                     \
    X(qn_program_get_times, 0, PROGRAM, qn_program_get_times(h, &out.times))                                 \
    X(qn_program_wait, 0, PROGRAM, qn_program_wait(h, QN_FOREVER))                                           \
    X(qn_translate, 0, CONTEXT, qn_translate(h, &translate_desc, &out.text, NULL))                           \
    X(qn_program_pack, 0, CONTEXT, qn_program_pack(h, &pack_desc, &out.text, &out.size, NULL))               \
    X(qn_text_free, 0, CONTEXT, (qn_text_free(h, out.data), QN_ERROR_ARGUMENT))                              \
    X(qn_kernel_create, 0, PROGRAM, qn_kernel_create(h, NULL, &out.kernel))                                  \
    X(qn_kernel_destroy, 0, KERNEL, (qn_kernel_destroy(h), QN_ERROR_ARGUMENT))                               \
    X(qn_kernel_get_resources, 0, KERNEL, qn_kernel_get_resources(h, NULL, &out.resources))                  \
    X(qn_kernel_get_info, 0, KERNEL, qn_kernel_get_info(h, &out.kernel_info))                                \
    X(qn_kernel_get_param, 0, KERNEL, qn_kernel_get_param(h, 0, &out.param))                                 \
    X(qn_kernel_get_field, 0, KERNEL, qn_kernel_get_field(h, 0, 0, &out.field))                              \
    X(qn_kernel_required_size, 0, KERNEL,                                                                    \
      qn_kernel_required_size(h, 0, QN_RANGE(1), QN_ARGS((qn_buffer *)o[BUFFER]), &out.handle))              \
    X(qn_launch, 0, STREAM, qn_launch(h, o[KERNEL], QN_RANGE(1), QN_ARGS((qn_buffer *)o[BUFFER])))           \
    X(qn_launch, 1, KERNEL, qn_launch(o[STREAM], h, QN_RANGE(1), QN_ARGS((qn_buffer *)o[BUFFER])))           \
    X(qn_stream_create, 0, DEVICE, qn_stream_create(h, &out.stream))                                         \
    X(qn_stream_destroy, 0, STREAM, (qn_stream_destroy(h), QN_ERROR_ARGUMENT))                               \
    X(qn_stream_wait, 0, STREAM, qn_stream_wait(h, 0))                                                       \
    X(qn_device_wait, 0, DEVICE, qn_device_wait(h, 0))                                                       \
    X(qn_event_create, 0, DEVICE, qn_event_create(h, &out.event))                                            \
    X(qn_event_destroy, 0, EVENT, (qn_event_destroy(h), QN_ERROR_ARGUMENT))                                  \
    X(qn_stream_record, 0, STREAM, qn_stream_record(h, o[EVENT]))                                            \
    X(qn_stream_record, 1, EVENT, qn_stream_record(o[STREAM], h))                                            \
    X(qn_stream_wait_event, 0, STREAM, qn_stream_wait_event(h, o[EVENT]))                                    \
    X(qn_stream_wait_event, 1, EVENT, qn_stream_wait_event(o[STREAM], h))                                    \
    X(qn_event_wait, 0, EVENT, qn_event_wait(h, 0))                                                          \
    X(qn_stream_on_done, 0, STREAM, qn_stream_on_done(h, on_done, NULL))                                     \
    X(qn_stream_cancel, 0, STREAM, qn_stream_cancel(h))                                                      \
    X(qn_stream_close, 0, STREAM, qn_stream_close(h, 0))                                                     \
    X(qn_stream_set_persistent, 0, STREAM, qn_stream_set_persistent(h, true))                                \
    X(qn_stream_set_aside, 0, STREAM, qn_stream_set_aside(h, NULL, NULL, NULL))                              \
    X(qn_event_fd, 0, EVENT, qn_event_fd(h, &out.fd))                                                        \
    X(qn_event_done, 0, EVENT, qn_event_done(h, &out.done))                                                  \
    X(qn_event_elapsed, 0, EVENT, qn_event_elapsed(h, o[EVENT], &out.elapsed))                               \
    X(qn_event_elapsed, 1, EVENT, qn_event_elapsed(o[EVENT], h, &out.elapsed))                               \
    X(qn_graph_begin, 0, STREAM, qn_graph_begin(h))                                                          \
    X(qn_graph_end, 0, STREAM, qn_graph_end(h, &out.graph))                                                  \
    X(qn_graph_launch, 0, STREAM, qn_graph_launch(h, o[GRAPH]))                                              \
    X(qn_graph_launch, 1, GRAPH, qn_graph_launch(o[STREAM], h))                                              \
    X(qn_graph_set_launch, 0, GRAPH, qn_graph_set_launch(h, 0, NULL, QN_NO_ARGS))                            \
    X(qn_graph_set_copy, 0, GRAPH, qn_graph_set_copy(h, 0, o[BUFFER], 0))                                    \
    X(qn_graph_set_copy, 1, BUFFER, qn_graph_set_copy(o[GRAPH], 0, h, 0))                                    \
    X(qn_graph_launch_count, 0, GRAPH, nothing(qn_graph_launch_count(h) == 0))                               \
    X(qn_graph_destroy, 0, GRAPH, (qn_graph_destroy(h), QN_ERROR_ARGUMENT))                                  \
    X(qn_device_stream, 0, DEVICE, nothing(qn_device_stream(h) == NULL))                                     \
    X(qn_buffer_import, 0, DEVICE, qn_buffer_import(h, &import_desc, &out.buffer))                           \
    X(qn_buffer_export, 0, BUFFER, qn_buffer_export(h, QN_HANDLE_OPAQUE_FD, &out.exported))                  \
    X(qn_device_native, 0, DEVICE, qn_device_native(h, QN_NATIVE_CUDA_CONTEXT, &out.handle))                 \
    X(qn_stream_native, 0, STREAM, qn_stream_native(h, QN_NATIVE_CUDA_STREAM, &out.handle))                  \
    X(qn_buffer_native, 0, BUFFER, qn_buffer_native(h, QN_NATIVE_HOST_POINTER, &out.handle))                 \
    X(qn_stream_native_begin, 0, STREAM, qn_stream_native_begin(h, NULL, 0))                                 \
    X(qn_stream_native_begin, 1, BUFFER, qn_stream_native_begin(o[STREAM], (qn_buffer *[]){h}, 1))           \
    X(qn_stream_native_end, 0, STREAM, qn_stream_native_end(h))                                              \
    X(qn_memory_pool_create, 0, DEVICE, qn_memory_pool_create(h, NULL, &out.pool))                           \
    X(qn_memory_pool_destroy, 0, POOL, (qn_memory_pool_destroy(h), QN_ERROR_ARGUMENT))                       \
    X(qn_memory_pool_host_alloc, 0, POOL, qn_memory_pool_host_alloc(h, 16, &out.pointer))                    \
    X(qn_memory_pool_trim, 0, POOL, qn_memory_pool_trim(h))                                                  \
    X(qn_memory_pool_clear, 0, POOL, qn_memory_pool_clear(h))                                                \
    X(qn_memory_pool_get_stats, 0, POOL, qn_memory_pool_get_stats(h, &out.pool_stats))                       \
    X(qn_history_keep, 0, CONTEXT, qn_history_keep(h, 4))                                                    \
    X(qn_history_read, 0, CONTEXT, qn_history_read(h, 0, NULL, 0, &out.count))                               \
    X(qn_trace_is_on, 0, CONTEXT, nothing(!qn_trace_is_on(h)))                                               \
    X(qn_trace_add, 0, CONTEXT, qn_trace_add(h, &(qn_trace_event){.name = "own"}))                           \
    X(qn_cache_get_stats, 0, CONTEXT, qn_cache_get_stats(h, &out.stats))                                     \
    X(qn_cache_clear, 0, CONTEXT, qn_cache_clear(h))                                                         \
    X(qn_cache_dir, 0, CONTEXT, nothing(qn_cache_dir(h)[0] == 0))

#define FUNCTION(name, place, kind, call)                                                                    \
    static qn_status call_##name##_##place(void *h, void *const o[KINDS]) {                                  \
        (void)o;                                                                                             \
        return call;                                                                                         \
    }
CALLS(FUNCTION)
#undef FUNCTION

static const struct call {
    const char *function;
    int place;
    enum kind kind;
    qn_status (*call)(void *h, void *const o[KINDS]);
} calls[] = {
#define ROW(name, place, kind, call) {#name, place, kind, call_##name##_##place},
    CALLS(ROW)
#undef ROW
};
enum { NUM_CALLS = sizeof calls / sizeof *calls };

/* These take no object. */
static const char *const others[] = {"qn_version",
                                     "qn_finding_kind_name",
                                     "qn_status_name",
                                     "qn_status_text",
                                     "qn_capability_name",
                                     "qn_context_create",
                                     "qn_context_create_for",
                                     "qn_move_name",
                                     "qn_finding_kind_is_advice"};

static bool is_known(const char *name) {
    for (size_t i = 0; i < NUM_CALLS; i++)
        if (!strcmp(calls[i].function, name)) return true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(others[i], name)) return true;
    return false;
}

static int functions_of(const char *header) {
    char line[512];
    int count = 0;
    FILE *file = fopen(header, "rb"); /* the tests run in the tree */
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        char *end = strncmp(line, "QN_API ", 7) ? NULL : strchr(line, '('), *name = end;
        if (!end) continue;
        while (isalnum((unsigned char)name[-1]) || name[-1] == '_') name--;
        *end = 0;
        if (!is_known(name)) fail_msg("%s is not tested with wrong objects", name);
        count++;
    }
    fclose(file);
    return count;
}

static void the_table_has_every_function(void **state) {
    (void)state;
    assert_true(functions_of("include/quern/quern.h") > 50);
    assert_true(functions_of("include/quern/interop.h") > 5);
    assert_true(functions_of("include/quern/memory.h") > 10);
    assert_true(functions_of("include/quern/check.h") >= 6);
    assert_int_equal(functions_of("include/quern/history.h"), 4);
}

/* Leaves a message that no wrong object has. */
static void leave_message(qn_context *context) {
    assert_fails(context, qn_device_get(context, "nowhere", &out.device), QN_ERROR_NO_DEVICE, "nowhere");
}

/* Also where no object of the call tells a context. */
static void check_message(const qn_context *context, const char *function, const char *part) {
    const char *message = qn_error_message(context);
    if (strcmp(function, "qn_error_message") == 0) return; /* its message is what it gives */
    if (strstr(message, "nowhere") || !strstr(message, part)) fail_msg("%s left: %s", function, message);
}

static void objects_of_other_kinds_are_refused(void **state) {
    (void)state;
    objects o = make_objects();
    qn_context *context = o.all[CONTEXT];
    for (size_t i = 0; i < NUM_CALLS; i++)
        for (int kind = 0; kind < KINDS; kind++) {
            if (kind == (int)calls[i].kind) continue;
            leave_message(context);
            const qn_status status = calls[i].call(o.all[kind], o.all);
            const char *message = qn_error_message(context);
            char wanted[64];
            snprintf(wanted, sizeof wanted, " is %s, not %s", kind_names[kind], kind_names[calls[i].kind]);
            if (status != QN_ERROR_ARGUMENT || !strstr(message, wanted) ||
                strncmp(message, calls[i].function, strlen(calls[i].function)) != 0)
                fail_msg("%s with %s gave %s: %s", calls[i].function, kind_names[kind],
                         qn_status_name(status), message);
        }
    qn_context_destroy(context);
}

static void what_is_no_object_is_refused(void **state) {
    (void)state;
    objects o = make_objects();
    qn_context *context = o.all[CONTEXT];
    static uint64_t zeros[64];
    for (size_t i = 0; i < NUM_CALLS; i++) {
        leave_message(context);
        const qn_status status = calls[i].call(zeros, o.all);
        if (status != QN_ERROR_ARGUMENT) fail_msg("%s gave %s", calls[i].function, qn_status_name(status));
        check_message(context, calls[i].function, "no ");
    }
    qn_context_destroy(context);
}

/* For a NULL stream there is a default where another object tells the device; destroying NULL is no failure. */
static bool takes_null(const struct call *call, qn_status status) {
    return strstr(call->function, "_destroy") || strstr(call->function, "_close") ||
           (!status && call->kind == STREAM && call->place == 0);
}

static void no_older_message_stays(void **state) {
    (void)state;
    objects o = make_objects();
    qn_context *context = o.all[CONTEXT];
    for (size_t i = 0; i < NUM_CALLS; i++) {
        leave_message(context);
        const qn_status status = calls[i].call(NULL, o.all);
        if (takes_null(&calls[i], status)) {
            assert_true(strstr(qn_error_message(context), "nowhere"));
            continue;
        }
        /* functions without a status say QN_ERROR_ARGUMENT in the table */
        if (!status && strcmp(calls[i].function, "qn_error_message") != 0)
            fail_msg("%s takes NULL", calls[i].function);
        check_message(context, calls[i].function, "NULL");
        check_message(context, calls[i].function, calls[i].function);
    }
    assert_fails(context, qn_event_elapsed(NULL, o.all[EVENT], &out.elapsed), QN_ERROR_NULL, "begin is NULL");
    assert_fails(context, qn_stream_wait(NULL, 0), QN_ERROR_NULL, "pass qn_device_stream(device)");
    assert_fails(context, qn_context_create(NULL, NULL), QN_ERROR_NULL, "context is NULL");
    qn_context_destroy(context);
}

static void *take_nothing(void *user, size_t size) {
    (void)user, (void)size;
    return NULL;
}

/* The next failure that has a context has the word again. */
static void a_message_without_a_context_is_not_for_long(void **state) {
    (void)state;
    qn_context *context = make_context(NULL), *other;
    const qn_context_desc desc = {.allocator = {.allocate = take_nothing}};
    leave_message(context);
    assert_int_equal(qn_context_create(&desc, &other), QN_ERROR_ARGUMENT);
    assert_non_null(strstr(qn_error_message(NULL), "all three or none"));
    leave_message(context);
    assert_string_equal(qn_error_message(NULL), "");
    qn_context_destroy(context);
}

static void destroyed_objects_are_refused(void **state) {
    (void)state;
    objects o = make_objects();
    qn_context *context = o.all[CONTEXT];
    qn_graph_destroy(o.all[GRAPH]);
    qn_event_destroy(o.all[EVENT]);
    qn_kernel_destroy(o.all[KERNEL]);
    qn_program_destroy(o.all[PROGRAM]);
    qn_buffer_destroy(o.all[BUFFER]);
    qn_memory_pool_destroy(o.all[POOL]);
    objects fresh = o;
    fresh.all[BUFFER] = make_buffer(o.all[DEVICE], 64, NULL);
    for (size_t i = 0; i < NUM_CALLS; i++) {
        const enum kind kind = calls[i].kind;
        if (kind == CONTEXT || kind == DEVICE || kind == STREAM) continue;
        leave_message(context);
        assert_int_not_equal(calls[i].call(o.all[kind], fresh.all), QN_OK);
        if (!strstr(qn_error_message(context), "has been destroyed"))
            fail_msg("%s said: %s", calls[i].function, qn_error_message(context));
    }
    assert_fails(context, qn_event_wait(o.all[EVENT], 0), QN_ERROR_DESTROYED,
                 "qn_event_wait: event is an event that has been destroyed");
    qn_context_destroy(context);
}

/* ---- messages ---- */

/* Whose context is asked is up to the caller: both have the sentence. */
static void check_both(const objects *a, const objects *b, qn_status status, const char *function) {
    if (status != QN_ERROR_WRONG_CONTEXT) fail_msg("%s: %s", function, qn_status_name(status));
    check_message(a->all[CONTEXT], function, "");
    check_message(b->all[CONTEXT], function, "");
    assert_string_equal(qn_error_message(a->all[CONTEXT]), qn_error_message(b->all[CONTEXT]));
    leave_message(a->all[CONTEXT]);
    leave_message(b->all[CONTEXT]);
}

static void objects_of_two_contexts_tell_both(void **state) {
    (void)state;
    objects o[2] = {make_objects(), make_objects()};
    for (int swapped = 0; swapped < 2; swapped++) {
        const objects *a = &o[swapped], *b = &o[!swapped];
        qn_buffer *mixed[] = {a->all[BUFFER], b->all[BUFFER]};
        qn_stream *stream = a->all[STREAM];
        int64_t elapsed;
        void *pointer;
        char word[4] = {0};
        check_both(a, b, qn_launch(NULL, a->all[KERNEL], QN_RANGE(1), QN_ARGS(mixed[1])), "qn_launch");
        check_both(a, b, qn_launch(stream, b->all[KERNEL], QN_RANGE(1), QN_ARGS(mixed[1])), "qn_launch");
        check_both(a, b, qn_graph_launch(stream, b->all[GRAPH]), "qn_graph_launch");
        check_both(a, b, qn_graph_set_launch(a->all[GRAPH], 0, QN_RANGE(1), QN_ARGS(mixed[1])),
                   "qn_graph_set_launch");
        check_both(a, b, qn_graph_set_copy(a->all[GRAPH], 0, mixed[1], 0), "qn_graph_set_copy");
        check_both(a, b, qn_stream_copy(stream, mixed[0], 0, mixed[1], 0, 4), "qn_stream_copy");
        check_both(a, b, qn_stream_copy(stream, mixed[1], 0, mixed[1], 8, 4), "qn_stream_copy");
        check_both(a, b, qn_stream_fill(stream, mixed[1], 0, 4, word, 4), "qn_stream_fill");
        check_both(a, b, qn_stream_write(stream, mixed[1], 0, word, 4), "qn_stream_write");
        check_both(a, b, qn_stream_read(stream, mixed[1], 0, word, 4), "qn_stream_read");
        check_both(a, b, qn_stream_map(stream, mixed[1], QN_MAP_READ, 0, 4, &pointer), "qn_stream_map");
        check_both(a, b, qn_stream_record(stream, b->all[EVENT]), "qn_stream_record");
        check_both(a, b, qn_stream_wait_event(stream, b->all[EVENT]), "qn_stream_wait_event");
        check_both(a, b, qn_event_elapsed(a->all[EVENT], b->all[EVENT], &elapsed), "qn_event_elapsed");
        check_both(a, b, qn_stream_native_begin(stream, mixed, 2), "qn_stream_native_begin");
    }
    for (int i = 0; i < 2; i++) qn_context_destroy(o[i].all[CONTEXT]);
}

static void long_names_are_cut(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_program *program;
    char *name = malloc(100001), *text = malloc(200100);
    assert_true(name && text);
    memset(name, 'n', 100000);
    name[100000] = 0;
    assert_fails(context, qn_device_get(context, name, &out.device), QN_ERROR_NO_DEVICE, "there are: ");
    program = make_program(get_device(context, test_device()), source);
    assert_fails(context, qn_kernel_create(program, name, &out.kernel), QN_ERROR_NO_KERNEL, "there are: f");
    snprintf(text, 200100, "kernel void f(global int *a) { a[0] = %s; }", name);
    qn_program_desc desc = {.source = text};
    assert_fails(context, qn_program_create(get_device(context, test_device()), &desc, &program),
                 QN_ERROR_COMPILE, "nnn...");
    assert_true(strlen(qn_error_message(context)) < 1000);
    snprintf(text, 200100, "#error %s %s\n", name, name);
    assert_fails(context, qn_program_create(get_device(context, test_device()), &desc, &program),
                 QN_ERROR_COMPILE, "nnn...");
    assert_true(strlen(qn_error_message(context)) < 1000);
    free(name);
    free(text);
    qn_context_destroy(context);
}

typedef struct speaker {
    qn_context *context;
    bool fails, was_empty;
} speaker;

static void *speak(void *user) {
    speaker *s = user;
    s->was_empty = qn_error_message(s->context)[0] == 0;
    if (s->fails) qn_device_get(s->context, "nowhere", &out.device);
    return NULL;
}

/* The system gives a new thread the id of one that has ended. */
static void a_thread_sees_no_message_of_one_that_ended(void **state) {
    (void)state;
    speaker s = {.context = make_context(NULL)};
    for (int i = 0; i < 6; i++) {
        pthread_t thread;
        s.fails = i % 2 == 0;
        assert_int_equal(pthread_create(&thread, NULL, speak, &s), 0);
        pthread_join(thread, NULL);
        assert_true(s.was_empty);
    }
    qn_context_destroy(s.context);
}

static void there_may_be_many_contexts(void **state) {
    (void)state;
    enum { MANY = 3000 };
    qn_context **contexts = calloc(MANY, sizeof(qn_context *));
    assert_non_null(contexts);
    for (int i = 0; i < MANY; i++) assert_int_equal(qn_context_create(NULL, &contexts[i]), QN_OK);
    leave_message(contexts[MANY - 1]);
    assert_string_equal(qn_error_message(contexts[MANY - 2]), "");
    for (int i = 0; i < MANY; i++) qn_context_destroy(contexts[i]);
    free(contexts);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_has_every_function),
        cmocka_unit_test(objects_of_other_kinds_are_refused),
        cmocka_unit_test(what_is_no_object_is_refused),
        cmocka_unit_test(no_older_message_stays),
        cmocka_unit_test(a_message_without_a_context_is_not_for_long),
        cmocka_unit_test(destroyed_objects_are_refused),
        cmocka_unit_test(objects_of_two_contexts_tell_both),
        cmocka_unit_test(long_names_are_cut),
        cmocka_unit_test(a_thread_sees_no_message_of_one_that_ended),
        cmocka_unit_test(there_may_be_many_contexts),
    };
    return run_device_tests(tests);
}
