/* Pools: limits, what is kept and used again, statistics, and all of a client's memory gone at once. */
#include <pthread.h>

#include "api_support.h"

static const char source[] = "kernel void add(global int *a, int n) { a[get_global_id(0)] += n; }\n";

static qn_memory_pool *make_pool(qn_device *device, const qn_memory_pool_desc *desc) {
    qn_memory_pool *pool;
    assert_ok(qn_device_context(device), qn_memory_pool_create(device, desc, &pool));
    return pool;
}

static qn_status create(qn_memory_pool *pool, qn_device *device, uint64_t size, qn_buffer **buffer) {
    return qn_buffer_create(device, &(qn_buffer_desc){.size = size, .pool = pool}, buffer);
}

static qn_buffer *buffer_in(qn_memory_pool *pool, qn_device *device, uint64_t size) {
    qn_buffer *buffer;
    assert_ok(qn_device_context(device), create(pool, device, size, &buffer));
    return buffer;
}

static qn_memory_pool_stats stats_of(qn_memory_pool *pool) {
    qn_memory_pool_stats stats;
    assert_int_equal(qn_memory_pool_get_stats(pool, &stats), QN_OK);
    return stats;
}

static qn_memory_stats memory_of(qn_device *device) {
    qn_memory_stats stats;
    assert_int_equal(qn_device_memory(device, &stats), QN_OK);
    return stats;
}

static void freed_blocks_are_used_again(void **state) {
    const char *names[] = {test_device(), "null"};
    (void)state;
    for (int d = 0; d < 2; d++) {
        fixture f = make_fixture(names[d], source, "add");
        const uint64_t before = memory_of(f.device).pooled;
        qn_memory_pool *pool = make_pool(f.device, NULL);
        qn_buffer *a = buffer_in(pool, f.device, 1000), *b = buffer_in(pool, f.device, 100000);
        int word;
        assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(250), QN_ARGS(a, 7)));
        assert_ok(f.context, qn_buffer_read(a, 996, &word, 4));
        if (d == 0) assert_int_equal(word, 7);
        qn_memory_pool_stats s = stats_of(pool);
        assert_int_equal(s.buffers, 2);
        assert_int_equal(s.used, 101000);
        assert_true(s.taken >= 101000 && s.taken < 102000);
        assert_int_equal(s.made, 2);
        assert_int_equal(s.free_blocks, 0);
        qn_buffer_destroy(a);
        qn_buffer_destroy(b);
        assert_ok(f.context,
                  qn_memory_pool_trim(make_pool(f.device, NULL))); /* another's; and lets go what is done */
        s = stats_of(pool);
        assert_int_equal(s.buffers, 0);
        assert_int_equal(s.used, 0);
        assert_int_equal(s.peak, 101000);
        assert_int_equal(s.free_blocks, 2);
        assert_int_equal(s.free_bytes, s.taken);
        assert_true(s.largest_free >= 100000 && s.fragmentation > 0.009 && s.fragmentation < 0.02);
        assert_true(memory_of(f.device).pooled >= before + s.free_bytes);
        a = buffer_in(pool, f.device, 900); /* in the smaller one, and zeroed */
        assert_ok(f.context, qn_buffer_read(a, 0, &word, 4));
        assert_int_equal(word, 0);
        s = stats_of(pool);
        assert_int_equal(s.reused, 1);
        assert_int_equal(s.free_blocks, 1);
        b = buffer_in(pool, f.device, 50000); /* half of the other would be wasted */
        s = stats_of(pool);
        assert_int_equal(s.made, 3);
        assert_int_equal(s.free_blocks, 1);
        assert_ok(f.context, qn_memory_pool_trim(pool));
        s = stats_of(pool);
        assert_int_equal(s.free_blocks, 0);
        assert_int_equal(s.free_bytes, 0);
        assert_true(s.taken >= 50900 && s.taken < 52000);
        assert_true(s.fragmentation == 0 && s.taken_peak > 150000);
        qn_context_destroy(f.context);
    }
}

/* A client at its limit is told so, and others go on. */
static void limits_are_kept(void **state) {
    const char *names[] = {test_device(), "null"};
    (void)state;
    for (int d = 0; d < 2; d++) {
        qn_context *context = make_context(NULL);
        qn_device *device = get_device(context, names[d]);
        qn_memory_pool *one = make_pool(device, &(qn_memory_pool_desc){.limit = 10240, .label = "client 1"}),
                       *two = make_pool(device, &(qn_memory_pool_desc){.limit = 10240});
        qn_buffer *a = buffer_in(one, device, 8192), *b;
        assert_fails(context, create(one, device, 4096, &b), QN_ERROR_DEVICE_MEMORY,
                     "the pool 'client 1' has a limit of 10240, of which buffers take 8192");
        assert_null(b);
        assert_int_equal(stats_of(one).refused, 1);
        assert_int_equal(stats_of(one).buffers, 1);
        b = buffer_in(two, device, 10240);
        qn_buffer_destroy(buffer_in(NULL, device, 1 << 20));
        qn_buffer_destroy(a); /* what is kept counts, and goes when something else is wanted */
        b = buffer_in(one, device, 10000);
        assert_int_equal(stats_of(one).used, 10000);
        assert_int_equal(stats_of(one).free_blocks, 0);
        assert_int_equal(stats_of(one).limit, 10240);
        qn_memory_pool_destroy(one); /* it lives on with its buffer */
        assert_ok(context, qn_buffer_write(b, 0, "abcd", 4));
        qn_buffer_destroy(b);
        qn_context_destroy(context);
    }
}

/* The host's sides of buffers, and pinned memory. */
static void host_memory_has_a_limit_too(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, "null");
    qn_memory_pool *pool = make_pool(device, &(qn_memory_pool_desc){.host_limit = 4096, .label = "p"});
    qn_buffer *a = buffer_in(pool, device, 3000), *b = buffer_in(pool, device, 2000);
    void *pointer, *host;
    assert_ok(context, qn_buffer_map(a, QN_MAP_READ, &pointer));
    assert_ok(context, qn_buffer_unmap(a));
    assert_fails(context, qn_buffer_map(b, QN_MAP_READ, &pointer), QN_ERROR_OUT_OF_MEMORY,
                 "2000 bytes of host memory: the pool 'p' has a limit of 4096, of which 3000 are taken");
    assert_fails(context, qn_memory_pool_host_alloc(pool, 1097, &host), QN_ERROR_OUT_OF_MEMORY,
                 "the pool 'p'");
    assert_ok(context, qn_memory_pool_host_alloc(pool, 1096, &host));
    assert_int_equal(stats_of(pool).host, 4096);
    assert_int_equal(memory_of(device).host, 4096);
    qn_host_free(device, host);
    assert_int_equal(stats_of(pool).host, 3000);
    qn_buffer_destroy(a);
    assert_ok(context, qn_buffer_map(b, QN_MAP_READ, &pointer));
    assert_ok(context, qn_buffer_unmap(b));
    const qn_memory_pool_stats s = stats_of(pool);
    assert_int_equal(s.host, 2000);
    assert_int_equal(s.host_peak, 4096);
    assert_int_equal(s.refused, 2);
    assert_int_equal(memory_of(device).host_peak, 4096);
    qn_context_destroy(context);
}

/* What is pinned, on devices that pin: the same numbers of the pool and of the device. */
static void pinned_memory_is_counted(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    qn_memory_pool *pool = make_pool(device, NULL);
    void *host, *other;
    assert_ok(context, qn_memory_pool_host_alloc(pool, 10000, &host));
    assert_ok(context, qn_host_alloc(device, 5000, &other));
    const uint64_t pinned = stats_of(pool).pinned;
    assert_true(pinned == 0 || pinned == 10000);
    assert_int_equal(memory_of(device).pinned, pinned / 2 * 3);
    assert_int_equal(memory_of(device).host, 15000);
    qn_host_free(device, host);
    qn_host_free(device, other);
    assert_int_equal(stats_of(pool).pinned, 0);
    assert_int_equal(stats_of(pool).pinned_peak, pinned);
    assert_int_equal(memory_of(device).pinned, 0);
    assert_int_equal(memory_of(device).pinned_peak, pinned / 2 * 3);
    qn_context_destroy(context);
}

static void all_goes_at_once(void **state) {
    const char *names[] = {test_device(), "null"};
    (void)state;
    for (int d = 0; d < 2; d++) {
        fixture f = make_fixture(names[d], source, "add");
        const uint64_t used = memory_of(f.device).used;
        qn_memory_pool *pool = make_pool(f.device, NULL);
        qn_buffer *mine[10], *view, *other = make_buffer(f.device, 64, NULL);
        void *host;
        for (int i = 0; i < 10; i++) mine[i] = buffer_in(pool, f.device, 4096);
        qn_buffer_destroy(mine[3]);
        assert_ok(f.context, qn_buffer_view(mine[0], 0, 64, &view));
        assert_ok(f.context, qn_memory_pool_host_alloc(pool, 4096, &host));
        for (int i = 0; i < 3; i++) /* its work may be under way */
            assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(1024), QN_ARGS(mine[1], 1)));
        assert_ok(f.context, qn_memory_pool_clear(pool));
        assert_fails(f.context, qn_buffer_write(mine[0], 0, "x", 1), QN_ERROR_DESTROYED,
                     "has been destroyed");
        assert_fails(f.context, qn_buffer_write(view, 0, "x", 1), QN_ERROR_DESTROYED, "has been destroyed");
        assert_ok(f.context, qn_buffer_write(other, 0, "x", 1));
        assert_ok(f.context, qn_device_wait(f.device, QN_FOREVER));
        assert_ok(f.context, qn_memory_pool_clear(pool));
        const qn_memory_pool_stats s = stats_of(pool);
        assert_int_equal(s.buffers, 0);
        assert_int_equal(s.taken, 0);
        assert_int_equal(s.host, 0);
        assert_int_equal(memory_of(f.device).used, used + 64);
        qn_buffer_destroy(buffer_in(pool, f.device, 4096)); /* it can be used again */
        qn_context_destroy(f.context);
    }
}

static void what_is_kept_is_bounded(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, "null");
    qn_memory_pool *some = make_pool(device, &(qn_memory_pool_desc){.keep = 3000}),
                   *none = make_pool(device, &(qn_memory_pool_desc){.keep_none = true});
    qn_buffer *buffers[4];
    for (int i = 0; i < 4; i++) buffers[i] = buffer_in(some, device, 1024u << (i == 3));
    for (int i = 0; i < 4; i++)
        qn_buffer_destroy(buffers[i]); /* the last is of 2,048: no room beside the others */
    qn_memory_pool_stats s = stats_of(some);
    assert_int_equal(s.free_blocks, 1);
    assert_int_equal(s.free_bytes, 2048);
    assert_int_equal(s.taken, 2048);
    qn_buffer_destroy(buffer_in(none, device, 1024));
    assert_int_equal(stats_of(none).taken, 0);
    assert_ok(context, qn_device_trim(device)); /* of all pools */
    assert_int_equal(stats_of(some).taken, 0);
    assert_int_equal(memory_of(device).pooled, 0);
    qn_context_destroy(context);
}

static void wrong_calls_are_told(void **state) {
    (void)state;
    qn_context *context = make_context(NULL), *stranger = make_context(NULL);
    qn_device *device = get_device(context, "null"), *cpu = get_device(context, "cpu");
    qn_memory_pool *pool = make_pool(device, NULL);
    qn_buffer *buffer;
    _Alignas(64) static char memory[64];
    assert_fails(context, create(pool, cpu, 64, &buffer), QN_ERROR_WRONG_CONTEXT,
                 "qn_buffer_create: the pool is of another device");
    assert_fails(context, create((qn_memory_pool *)device, device, 64, &buffer), QN_ERROR_ARGUMENT,
                 "qn_buffer_create: pool is a device, not a pool");
    qn_memory_pool *of_cpu = make_pool(cpu, NULL);
    const qn_buffer_desc desc = {.size = 64, .host = memory, .pool = of_cpu};
    assert_fails(context, qn_buffer_create(cpu, &desc, &buffer), QN_ERROR_ARGUMENT,
                 "host does not go with it");
    assert_fails(context, qn_memory_pool_create(device, NULL, NULL), QN_ERROR_NULL, "pool");
    assert_fails(context, qn_memory_pool_get_stats(pool, NULL), QN_ERROR_NULL, "stats");
    qn_memory_pool_destroy(pool);
    assert_fails(context, create(pool, device, 64, &buffer), QN_ERROR_DESTROYED,
                 "pool is a pool that has been");
    qn_context_destroy(stranger);
    qn_context_destroy(context);
}

enum { THREADS = 4, ROUNDS = 200 };

typedef struct client {
    qn_device *device;
    qn_memory_pool *pool;
} client;

/* Of 16 KiB each takes 4 at a time, so that none is ever refused. */
static void *work(void *user) {
    const client *c = user;
    for (int i = 0; i < ROUNDS; i++) {
        qn_buffer *buffer;
        char byte = 1;
        if (create(c->pool, c->device, 4096u - (unsigned)i, &buffer)) return user;
        if (qn_buffer_read(buffer, 5, &byte, 1) || byte) return user;
        if (qn_stream_fill(NULL, buffer, 0, 64, "x", 1)) return user;
        qn_buffer_destroy(buffer);
    }
    return NULL;
}

static void threads_share_a_pool(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, "null");
    client c = {device, make_pool(device, &(qn_memory_pool_desc){.limit = 1 << 20})};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, work, &c), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_ok(context, qn_memory_pool_trim(c.pool));
    const qn_memory_pool_stats s = stats_of(c.pool);
    assert_int_equal(s.buffers, 0);
    assert_int_equal(s.used, 0);
    assert_int_equal(s.taken, 0);
    assert_int_equal(s.made + s.reused, THREADS * ROUNDS);
    assert_true(s.reused > THREADS);
    qn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(freed_blocks_are_used_again),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(host_memory_has_a_limit_too),
        cmocka_unit_test(pinned_memory_is_counted),
        cmocka_unit_test(all_goes_at_once),
        cmocka_unit_test(what_is_kept_is_bounded),
        cmocka_unit_test(wrong_calls_are_told),
        cmocka_unit_test(threads_share_a_pool),
    };
    return run_device_tests(tests);
}
