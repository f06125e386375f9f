/* What the runtime does by itself between streams and when memory is short, on a fake device: the null device,
   but each stream does nothing until it is waited for, as a busy GPU might. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/runtime.h"

enum { MAX_QUEUES = 8, MAX_PENDING = 256 };

typedef struct lazy_queue {
    qn__queue *queue; /* the null device's */
    qn__command *commands[MAX_PENDING];
    uint64_t submitted, done;
} lazy_queue;

typedef struct fixture {
    qn_backend backend;
    qn_context *context;
    qn_device *device;
    lazy_queue queues[MAX_QUEUES];
    uint64_t most_host; /* that host_create gives; 0: 1 MiB */
    unsigned host_made, host_gone, completed_asked, creates_to_fail, submits_to_fail, trims;
} fixture;

static fixture *f; /* the fake's functions have no other way to it */

static const qn__allocator plain;

static lazy_queue *find(qn__queue *queue) {
    for (int i = 0; i < MAX_QUEUES; i++)
        if (f->queues[i].queue == queue) return &f->queues[i];
    return NULL;
}

static void run_until(lazy_queue *q, uint64_t number);

/* Runs the stream that records the mark as far as that. */
static void settle(const qn__command *wait) {
    for (int i = 0; i < MAX_QUEUES; i++) {
        lazy_queue *q = &f->queues[i];
        for (uint64_t n = q->done; n < q->submitted; n++) {
            const qn__command *c = q->commands[n % MAX_PENDING];
            if (c->kind == QN__COMMAND_RECORD && c->mark == wait->mark &&
                c->mark_version == wait->mark_version)
                run_until(q, n + 1);
        }
    }
}

static void run_until(lazy_queue *q, uint64_t number) {
    while (q->done < number && q->done < q->submitted) {
        qn__command *command = q->commands[q->done++ % MAX_PENDING];
        char why[QN__WHY];
        uint64_t ignored;
        if (command->kind == QN__COMMAND_WAIT) settle(command);
        qn__backend_null.submit(q->queue, command, &ignored, why);
        qn__release(&plain, command);
    }
}

static qn_status lazy_queue_create(qn__gpu *gpu, qn__queue **queue, char *why) {
    qn_status status = qn__backend_null.queue_create(gpu, queue, why);
    lazy_queue *q = find(NULL);
    assert_non_null(q);
    *q = (lazy_queue){.queue = *queue};
    return status;
}

static void lazy_queue_destroy(qn__queue *queue) {
    assert_int_equal(find(queue)->done, find(queue)->submitted);
    *find(queue) = (lazy_queue){0};
    qn__backend_null.queue_destroy(queue);
}

static qn_status lazy_submit(qn__queue *queue, const qn__command *command, uint64_t *number, char *why) {
    (void)why;
    lazy_queue *q = find(queue);
    assert_true(q->submitted - q->done < MAX_PENDING);
    q->commands[q->submitted % MAX_PENDING] = qn__command_copy(&plain, command);
    *number = ++q->submitted;
    return f->submits_to_fail && f->submits_to_fail-- ? QN_ERROR_DRIVER : QN_OK;
}

static uint64_t lazy_completed(qn__queue *queue) {
    f->completed_asked++;
    return find(queue)->done;
}

static qn_status lazy_wait(qn__queue *queue, uint64_t number, uint64_t timeout_ns, char *why) {
    (void)timeout_ns, (void)why;
    run_until(find(queue), number);
    return QN_OK;
}

static qn_status lazy_memory_create(qn__gpu *gpu, uint64_t size, qn__memory **memory, uint64_t *address,
                                    void **host, char *why) {
    if (f->creates_to_fail) {
        f->creates_to_fail--;
        strcpy(why, "full");
        return QN_ERROR_DEVICE_MEMORY;
    }
    return qn__backend_null.memory_create(gpu, size, memory, address, host, why);
}

static void lazy_trim(qn__gpu *gpu, uint64_t *pooled) {
    (void)gpu;
    f->trims++;
    *pooled = 0;
}

static qn_status lazy_host_create(qn__gpu *gpu, uint64_t size, void **host, char *why) {
    (void)gpu, (void)why;
    if (size > (f->most_host ? f->most_host : 1 << 20)) return QN_ERROR_OUT_OF_MEMORY;
    *host = calloc(1, size);
    f->host_made++;
    return QN_OK;
}

static void lazy_host_destroy(qn__gpu *gpu, void *host) {
    (void)gpu;
    f->host_gone++;
    free(host);
}

static int setup(void **state) {
    f = calloc(1, sizeof *f);
    if (!f) return -1;
    f->backend = qn__backend_null;
    f->backend.queue_create = lazy_queue_create;
    f->backend.queue_destroy = lazy_queue_destroy;
    f->backend.submit = lazy_submit;
    f->backend.completed = lazy_completed;
    f->backend.wait = lazy_wait;
    f->backend.memory_create = lazy_memory_create;
    f->backend.trim = lazy_trim;
    f->backend.host_create = lazy_host_create;
    f->backend.host_destroy = lazy_host_destroy;
    qn_device *device;
    if (qn_context_create(NULL, &f->context)) return -1;
    /* found, and not opened yet: the fake takes the null device's place */
    qn_backend_count(f->context);
    if (qn_device_get(f->context, "no such device", &device) != QN_ERROR_NO_DEVICE) return -1;
    for (uint32_t i = 0; i < f->context->num_devices; i++)
        if (f->context->devices[i]->backend == &qn__backend_null)
            f->context->devices[i]->backend = &f->backend;
    *state = f;
    return qn_device_get(f->context, "null", &f->device);
}

static int teardown(void **state) {
    (void)state;
    qn_context_destroy(f->context);
    int leaked = f->host_made != f->host_gone;
    free(f);
    return leaked;
}

static qn_buffer *make_buffer(uint64_t size) {
    qn_buffer *buffer;
    assert_int_equal(qn_buffer_create(f->device, &(qn_buffer_desc){.size = size}, &buffer), QN_OK);
    return buffer;
}

static void write_map(qn_buffer *buffer, int value) {
    int *view;
    assert_int_equal(qn_buffer_map(buffer, QN_MAP_WRITE, (void **)&view), QN_OK);
    *view = value;
    assert_int_equal(qn_buffer_unmap(buffer), QN_OK);
}

/* The implicit copy after a map goes to the stream that first needs it; a second stream must not overtake it. */
static void hidden_copies_are_waited_for(void **state) {
    (void)state;
    qn_stream *first, *second, *third;
    int got[3] = {0};
    qn_buffer *buffer = make_buffer(sizeof got[0]);
    assert_int_equal(qn_stream_create(f->device, &first), QN_OK);
    assert_int_equal(qn_stream_create(f->device, &second), QN_OK);
    assert_int_equal(qn_stream_create(f->device, &third), QN_OK);
    for (int value = 7; value < 10; value++) {
        write_map(buffer, value);
        assert_int_equal(qn_stream_read(first, buffer, 0, &got[0], sizeof got[0]), QN_OK);
        assert_int_equal(qn_stream_read(second, buffer, 0, &got[1], sizeof got[1]), QN_OK);
        assert_int_equal(qn_stream_read(second, buffer, 0, &got[1], sizeof got[1]), QN_OK);
        assert_int_equal(qn_stream_read(third, buffer, 0, &got[2], sizeof got[2]), QN_OK);
        assert_int_equal(qn_stream_wait(third, QN_FOREVER), QN_OK);
        assert_int_equal(got[2], value);
        assert_int_equal(qn_stream_wait(second, QN_FOREVER), QN_OK);
        assert_int_equal(got[1], value);
    }
    /* a stream that ends while others still wait for its copy */
    write_map(buffer, 20);
    assert_int_equal(qn_stream_read(first, buffer, 0, &got[0], sizeof got[0]), QN_OK);
    assert_int_equal(qn_stream_read(second, buffer, 0, &got[1], sizeof got[1]), QN_OK);
    qn_stream_destroy(first);
    assert_int_equal(qn_stream_read(third, buffer, 0, &got[2], sizeof got[2]), QN_OK);
    assert_int_equal(qn_device_wait(f->device, QN_FOREVER), QN_OK);
    assert_int_equal(got[1], 20);
    assert_int_equal(got[2], 20);
    qn_buffer_destroy(buffer);
}

/* The copy reads the view itself: it must not change before the copy is done. */
static void a_second_map_waits_for_the_hidden_copy(void **state) {
    (void)state;
    int got = 0;
    qn_buffer *buffer = make_buffer(sizeof got);
    write_map(buffer, 1);
    assert_int_equal(qn_stream_read(NULL, buffer, 0, &got, sizeof got), QN_OK);
    write_map(buffer, 2);
    assert_int_equal(qn_device_wait(f->device, QN_FOREVER), QN_OK);
    assert_int_equal(got, 1);
    qn_buffer_destroy(buffer);
}

static const qn__command *newest(const lazy_queue *q, uint64_t back) {
    return q->commands[(q->submitted - 1 - back) % MAX_PENDING];
}

static void unmap(qn_buffer *buffer) { assert_int_equal(qn_buffer_unmap(buffer), QN_OK); }

/* From and to the host go the intervals that are mapped, each once. */
static void only_what_is_mapped_is_copied(void **state) {
    (void)state;
    char *host, byte;
    qn_buffer *buffer = make_buffer(1000);
    lazy_queue *q = &f->queues[0];
    qn_device_wait(f->device, QN_FOREVER);
    uint64_t before = q->submitted;
    assert_int_equal(qn_buffer_map_range(buffer, QN_MAP_READ, 100, 50, (void **)&host), QN_OK);
    assert_int_equal(qn_buffer_map_range(buffer, QN_MAP_READ, 120, 100, (void **)&host), QN_OK);
    assert_int_equal(q->submitted, before + 2);
    assert_int_equal(qn_buffer_map_range(buffer, QN_MAP_READ_WRITE, 110, 90, (void **)&host), QN_OK);
    assert_int_equal(qn_buffer_map_range(buffer, QN_MAP_WRITE, 500, 10, (void **)&host), QN_OK);
    assert_int_equal(qn_buffer_map_range(buffer, QN_MAP_READ, 505, 2, (void **)&host), QN_OK);
    assert_int_equal(q->submitted, before + 2); /* it is there, or being written */
    for (int i = 0; i < 5; i++) unmap(buffer);
    assert_int_equal(qn_stream_read(NULL, buffer, 0, &byte, 1), QN_OK);
    assert_int_equal(q->submitted, before + 5);
    const qn__command *one = newest(q, 2), *two = newest(q, 1);
    assert_int_equal(one->kind, QN__COMMAND_WRITE);
    assert_int_equal(two->kind, QN__COMMAND_WRITE);
    assert_int_equal(one->to_offset, 500);
    assert_int_equal(one->size, 10);
    assert_int_equal(two->to_offset, 110);
    assert_int_equal(two->size, 90);
    assert_int_equal(qn_device_wait(f->device, QN_FOREVER), QN_OK);
    /* what is left of a larger range */
    before = q->submitted;
    assert_int_equal(qn_buffer_map_range(buffer, QN_MAP_READ, 50, 500, (void **)&host), QN_OK);
    assert_int_equal(q->submitted, before + 3); /* 50 to 100, 220 to 500, 510 to 550 */
    unmap(buffer);
    assert_int_equal(qn_buffer_map_range(buffer, QN_MAP_READ, 50, 500, (void **)&host), QN_OK);
    assert_int_equal(q->submitted, before + 3);
    unmap(buffer);
    qn_buffer_destroy(buffer);
}

/* The copy is made when the stream gets there, and other streams that write the buffer come behind it. */
static void maps_on_streams_do_not_wait(void **state) {
    (void)state;
    int *host, *again, value = 7;
    qn_stream *stream, *other;
    qn_buffer *buffer = make_buffer(64);
    assert_int_equal(qn_stream_create(f->device, &stream), QN_OK);
    assert_int_equal(qn_stream_create(f->device, &other), QN_OK);
    assert_int_equal(qn_device_wait(f->device, QN_FOREVER), QN_OK);
    lazy_queue *q = find(stream->queue), *o = find(other->queue);
    assert_int_equal(qn_stream_fill(stream, buffer, 0, 64, &value, 4), QN_OK);
    assert_int_equal(qn_stream_map(stream, buffer, QN_MAP_READ, 4, 8, (void **)&host), QN_OK);
    assert_int_equal(q->done, 0);
    assert_int_equal(q->submitted, 2);
    assert_int_equal(newest(q, 0)->kind, QN__COMMAND_READ);
    assert_true(newest(q, 0)->host_pinned);
    assert_int_equal(newest(q, 0)->from_offset, 4);
    assert_int_equal(newest(q, 0)->size, 8);
    assert_int_equal(host[0], 0); /* not yet */
    /* on another stream it is no second copy, but waits for the first */
    assert_int_equal(qn_stream_map(other, buffer, QN_MAP_READ, 8, 4, (void **)&again), QN_OK);
    assert_ptr_equal(again, host + 1);
    assert_int_equal(qn_stream_wait(other, QN_FOREVER), QN_OK);
    assert_int_equal(again[0], 7);
    unmap(buffer);
    unmap(buffer);
    /* ended without a wait: what comes on another stream must not overtake the copy */
    assert_int_equal(qn_stream_wait(stream, QN_FOREVER), QN_OK);
    assert_int_equal(qn_stream_fill(stream, buffer, 0, 64, &value, 4), QN_OK);
    assert_int_equal(qn_stream_map(stream, buffer, QN_MAP_READ, 32, 4, (void **)&host), QN_OK);
    unmap(buffer);
    value = 8;
    assert_int_equal(qn_stream_fill(other, buffer, 32, 4, &value, 4), QN_OK);
    assert_int_equal(newest(o, 1)->kind, QN__COMMAND_WAIT);
    assert_int_equal(qn_device_wait(f->device, QN_FOREVER), QN_OK);
    assert_int_equal(host[0], 7);
    /* a map that waits takes over what one on a stream has under way */
    assert_int_equal(qn_stream_map(stream, buffer, QN_MAP_READ, 0, 64, (void **)&host), QN_OK);
    assert_int_equal(qn_buffer_map(buffer, QN_MAP_READ, (void **)&again), QN_OK);
    assert_int_equal(again[8], 8);
    unmap(buffer);
    unmap(buffer);
    qn_buffer_destroy(buffer);
}

/* Of a large buffer of which ranges are mapped, the host's side is ordinary memory until all is mapped. */
static void large_views_are_pinned_late(void **state) {
    (void)state;
    char *host;
    f->most_host = 64 << 20;
    qn_buffer *buffer = make_buffer(32 << 20);
    assert_int_equal(qn_buffer_map_range(buffer, QN_MAP_WRITE, 1 << 20, 1, (void **)&host), QN_OK);
    *host = 5;
    unmap(buffer);
    assert_int_equal(f->host_made, 0);
    assert_int_equal(qn_buffer_map(buffer, QN_MAP_READ, (void **)&host), QN_OK); /* the byte is only here */
    assert_int_equal(f->host_made, 0);
    assert_int_equal(host[1 << 20], 5);
    unmap(buffer);
    assert_int_equal(qn_stream_fill(NULL, buffer, 0, 1, "\3", 1), QN_OK);
    assert_int_equal(qn_buffer_map(buffer, QN_MAP_READ, (void **)&host), QN_OK);
    assert_int_equal(f->host_made, 1);
    assert_int_equal(host[1 << 20], 5);
    assert_int_equal(host[0], 3);
    unmap(buffer);
    qn_memory_stats stats;
    assert_int_equal(qn_device_memory(f->device, &stats), QN_OK);
    assert_int_equal(stats.host, 32 << 20);
    qn_buffer_destroy(buffer);
}

static void views_are_pinned_where_that_works(void **state) {
    (void)state;
    qn_buffer *small = make_buffer(4), *large = make_buffer(2 << 20);
    write_map(small, 1);
    write_map(large, 1);
    assert_int_equal(f->host_made, 1);
    qn_memory_stats stats;
    assert_int_equal(qn_device_memory(f->device, &stats), QN_OK);
    assert_int_equal(stats.host, 4 + (2 << 20));
    qn_buffer_destroy(small);
    qn_buffer_destroy(large);
    assert_int_equal(f->host_gone, 1);
}

/* What is written then: the device gets what is there when the command runs if nothing was copied. */
static int written_late(void *memory, int *at) {
    int got = 0;
    qn_buffer *buffer = make_buffer(sizeof *at);
    assert_non_null(memory);
    *at = 1;
    assert_int_equal(qn_stream_write(NULL, buffer, 0, at, sizeof *at), QN_OK);
    *at = 2;
    assert_int_equal(qn_buffer_read(buffer, 0, &got, sizeof got), QN_OK);
    qn_buffer_destroy(buffer);
    return got;
}

static void pinned_memory_is_not_copied(void **state) {
    (void)state;
    enum { PIECES = 40, INTS = 8 };
    int *pieces[PIECES], ordinary[2];
    for (int i = 0; i < PIECES; i++)
        assert_int_equal(qn_host_alloc(f->device, INTS * sizeof(int), (void **)&pieces[i]), QN_OK);
    for (int i = 0; i < PIECES; i += 2) qn_host_free(f->device, pieces[i]);
    for (int i = 1; i < PIECES; i += 2) {
        assert_int_equal(written_late(pieces[i], pieces[i]), 2);
        assert_int_equal(written_late(pieces[i], pieces[i] + INTS - 1), 2);
    }
    assert_int_equal(written_late(ordinary, ordinary), 1);
    /* memory of which a part only is pinned is not */
    qn_buffer *buffer = make_buffer(2 * INTS * sizeof(int));
    int *view;
    assert_int_equal(qn_stream_write(NULL, buffer, 0, pieces[1], INTS * sizeof(int)), QN_OK);
    assert_true(f->queues[0].commands[(f->queues[0].submitted - 1) % MAX_PENDING]->host_pinned);
    int *both = calloc(2, INTS * sizeof *both);
    assert_int_equal(qn_stream_write(NULL, buffer, 0, both, 2 * INTS * sizeof *both), QN_OK);
    assert_false(f->queues[0].commands[(f->queues[0].submitted - 1) % MAX_PENDING]->host_pinned);
    assert_int_equal(qn_stream_read(NULL, buffer, 0, pieces[1] + 1, (INTS - 1) * sizeof *both), QN_OK);
    assert_true(f->queues[0].commands[(f->queues[0].submitted - 1) % MAX_PENDING]->host_pinned);
    assert_int_equal(qn_buffer_map(buffer, QN_MAP_READ, (void **)&view), QN_OK);
    assert_int_equal(qn_buffer_unmap(buffer), QN_OK);
    free(both);
    qn_buffer_destroy(buffer);
}

/* Freed while a transfer is under way it stays until that is done; what is recorded is copied. */
static void pinned_memory_stays_while_it_is_used(void **state) {
    (void)state;
    int *pinned, got = 0;
    qn_graph *graph;
    qn_buffer *buffer = make_buffer(sizeof got);
    qn_memory_stats stats;
    assert_int_equal(qn_host_alloc(f->device, 64, (void **)&pinned), QN_OK);
    assert_int_equal(qn_device_memory(f->device, &stats), QN_OK);
    assert_int_equal(stats.host, 64);
    *pinned = 5;
    assert_int_equal(qn_graph_begin(f->device->stream), QN_OK);
    assert_int_equal(qn_stream_write(NULL, buffer, 0, pinned, sizeof got), QN_OK);
    assert_int_equal(qn_graph_end(f->device->stream, &graph), QN_OK);
    *pinned = 6;
    assert_int_equal(qn_stream_write(NULL, buffer, 0, pinned, sizeof got), QN_OK);
    qn_host_free(f->device, pinned);
    assert_int_equal(f->host_gone, 0);
    assert_int_equal(qn_device_wait(f->device, QN_FOREVER), QN_OK);
    assert_int_equal(f->host_gone, 1);
    assert_int_equal(qn_buffer_read(buffer, 0, &got, sizeof got), QN_OK);
    assert_int_equal(got, 6);
    assert_int_equal(qn_graph_launch(NULL, graph), QN_OK);
    assert_int_equal(qn_buffer_read(buffer, 0, &got, sizeof got), QN_OK);
    assert_int_equal(got, 5);
    assert_int_equal(qn_device_memory(f->device, &stats), QN_OK);
    assert_int_equal(stats.host, 0);
    void *none;
    assert_int_equal(qn_host_alloc(f->device, 2 << 20, &none), QN_ERROR_OUT_OF_MEMORY);
    assert_null(none);
    assert_string_equal(
        qn_error_message(f->context),
        "qn_host_alloc: 2097152 bytes on null: the system has no more memory that can be pinned");
    assert_int_equal(qn_host_alloc(f->device, 16, &none), QN_OK); /* released with the context */
}

/* A driver is asked for what is done now and then, not at each command. */
static void the_driver_is_asked_seldom(void **state) {
    (void)state;
    qn_buffer *buffer = make_buffer(64);
    f->completed_asked = 0;
    for (int i = 0; i < 200; i++) assert_int_equal(qn_stream_fill(NULL, buffer, 0, 64, "\1", 1), QN_OK);
    assert_in_range(f->completed_asked, 1, 6);
    assert_int_equal(qn_device_wait(f->device, QN_FOREVER), QN_OK);
    assert_int_equal(f->device->stream->count, 0);
    qn_buffer_destroy(buffer);
}

/* A part of what failed may be with the device: what it uses stays until that is done. */
static void what_failed_keeps_its_memory(void **state) {
    (void)state;
    qn_memory_stats stats;
    qn_buffer *buffer = make_buffer(64);
    f->submits_to_fail = 1;
    assert_int_equal(qn_stream_fill(NULL, buffer, 0, 64, "\1", 1), QN_ERROR_DRIVER);
    qn_buffer_destroy(buffer);
    assert_int_equal(qn_device_memory(f->device, &stats), QN_OK);
    assert_int_equal(stats.buffers, 1);
    assert_int_equal(qn_device_wait(f->device, QN_FOREVER), QN_OK);
    assert_int_equal(qn_device_memory(f->device, &stats), QN_OK);
    assert_int_equal(stats.buffers, 0);
}

/* Memory of destroyed buffers that work in flight still holds is got back before an allocation fails. */
static void a_failed_allocation_gets_memory_back_first(void **state) {
    (void)state;
    qn_memory_stats stats;
    qn_buffer *old = make_buffer(64), *buffer;
    assert_int_equal(qn_stream_fill(NULL, old, 0, 64, "\1", 1), QN_OK);
    qn_buffer_destroy(old);
    f->creates_to_fail = 2;
    buffer = make_buffer(128);
    assert_int_equal(f->trims, 2);
    assert_int_equal(qn_device_memory(f->device, &stats), QN_OK);
    assert_int_equal(stats.used, 128);
    f->creates_to_fail = 10;
    qn_buffer *none;
    assert_int_equal(qn_buffer_create(f->device, &(qn_buffer_desc){.size = 256}, &none),
                     QN_ERROR_DEVICE_MEMORY);
    assert_string_equal(qn_error_message(f->context), "a buffer of 256 bytes on null: full");
    qn_buffer_destroy(buffer);
    f->creates_to_fail = 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(hidden_copies_are_waited_for, setup, teardown),
        cmocka_unit_test_setup_teardown(a_second_map_waits_for_the_hidden_copy, setup, teardown),
        cmocka_unit_test_setup_teardown(only_what_is_mapped_is_copied, setup, teardown),
        cmocka_unit_test_setup_teardown(maps_on_streams_do_not_wait, setup, teardown),
        cmocka_unit_test_setup_teardown(large_views_are_pinned_late, setup, teardown),
        cmocka_unit_test_setup_teardown(views_are_pinned_where_that_works, setup, teardown),
        cmocka_unit_test_setup_teardown(pinned_memory_is_not_copied, setup, teardown),
        cmocka_unit_test_setup_teardown(pinned_memory_stays_while_it_is_used, setup, teardown),
        cmocka_unit_test_setup_teardown(the_driver_is_asked_seldom, setup, teardown),
        cmocka_unit_test_setup_teardown(what_failed_keeps_its_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(a_failed_allocation_gets_memory_back_first, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
