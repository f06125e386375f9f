/* Unified buffers (QN_MEMORY_UNIFIED): one buffer for the host and all devices of a context. What is newest follows whoever needs
   it, and moves once. The devices are arguments, as far as they are there; without any they are the processor and the null
   device, whose kernels do nothing but whose memory is its own. */
#include "api_support.h"

static const char source[] = "kernel void add(global uint *a, uint v) { a[get_global_id(0)] += v; }\n"
                             "kernel void sum(global const uint *a, global uint *out) {\n"
                             "    uint s = 0;\n"
                             "    for (int i = 0; i < 16; i++) s += a[i];\n"
                             "    out[get_global_id(0)] = s;\n"
                             "}\n";

enum { MOST = 6, WORDS = 1000, BYTES = 4 * WORDS };

typedef struct member {
    qn_device *device;
    qn_device_info info;
    bool computes;
    qn_kernel *add, *sum;
} member;

typedef struct world {
    qn_context *context;
    member members[MOST];
    int count, computing; /* those that compute come first */
} world;

static char *usual[] = {(char[]){"cpu"}, (char[]){"null"}, NULL}, **names = usual;

static void add_member(world *w, const char *name) {
    member m = {NULL};
    if (qn_device_get(w->context, name, &m.device) || qn_device_get_info(m.device, &m.info)) return;
    m.computes = m.info.kind != QN_DEVICE_NULL && strncmp(m.info.description, "Fake", 4) != 0;
    if (m.computes || m.info.kind == QN_DEVICE_NULL) {
        qn_program *program = make_program(m.device, source);
        m.add = make_kernel(program, w->context, "add");
        m.sum = make_kernel(program, w->context, "sum");
    }
    w->members[w->count] = m;
    if (m.computes) {
        w->members[w->count] = w->members[w->computing];
        w->members[w->computing++] = m;
    }
    w->count++;
}

static world make_world(void) {
    world w = {.context = make_context(NULL)};
    for (int i = 0; names[i] && w.count < MOST; i++) add_member(&w, names[i]);
    assert_true(w.count > 1);
    return w;
}

static qn_buffer *make_unified(qn_device *device, uint64_t size, const void *data) {
    qn_buffer *buffer;
    assert_ok(qn_device_context(device),
              qn_buffer_create(
                  device,
                  &(qn_buffer_desc){.size = size, .data = data, .memory = QN_MEMORY_UNIFIED, .label = "u"},
                  &buffer));
    return buffer;
}

static uint64_t moved(qn_buffer *buffer, qn_move move) {
    qn_moves moves;
    assert_int_equal(qn_buffer_get_moves(buffer, move, &moves), QN_OK);
    return moves.bytes;
}

static uint64_t all_moved(qn_buffer *buffer) {
    uint64_t bytes = 0;
    for (int move = 0; move < QN_MOVE_COUNT; move++) bytes += moved(buffer, (qn_move)move);
    return bytes;
}

static uint64_t used(qn_device *device) {
    qn_memory_stats stats;
    assert_int_equal(qn_device_memory(device, &stats), QN_OK);
    return stats.used;
}

static void fill_map(const world *w, qn_buffer *buffer, uint32_t value) {
    uint32_t *words;
    assert_ok(w->context, qn_buffer_map(buffer, QN_MAP_WRITE, (void **)&words));
    for (int i = 0; i < WORDS; i++) words[i] = value;
    assert_ok(w->context, qn_buffer_unmap(buffer));
}

static void expect(const world *w, qn_buffer *buffer, uint32_t value) {
    const uint32_t *words;
    assert_ok(w->context, qn_buffer_map(buffer, QN_MAP_READ, (void **)&words));
    for (int i = 0; i < WORDS; i++)
        if (words[i] != value) fail_msg("word %d is %u, not %u", i, (unsigned)words[i], (unsigned)value);
    assert_ok(w->context, qn_buffer_unmap(buffer));
}

/* ---- states and memory, on a device with memory of its own ---- */

static void memory_is_taken_at_the_first_use(void **state) {
    (void)state;
    world w = make_world();
    qn_device *null = get_device(w.context, "null");
    qn_program *program = make_program(null, source);
    qn_kernel *add = make_kernel(program, w.context, "add"), *sum = make_kernel(program, w.context, "sum");
    const uint32_t first = 7;
    uint32_t word = 0;
    qn_buffer *u = make_unified(null, BYTES, NULL), *out = make_buffer(null, BYTES, NULL);
    const uint64_t before = used(null);
    assert_int_equal(qn_buffer_get_state(u), QN_BUFFER_HOST_ONLY);
    assert_ok(w.context, qn_buffer_write(u, 40, &first, 4));
    assert_ok(w.context, qn_buffer_read(u, 40, &word, 4));
    assert_int_equal(word, 7);
    assert_int_equal(qn_buffer_get_state(u), QN_BUFFER_HOST_ONLY); /* no device was needed */
    assert_int_equal(all_moved(u), 0);
    assert_int_equal(used(null), before);
    assert_ok(w.context, qn_launch(NULL, sum, QN_RANGE(WORDS), QN_ARGS(u, out)));
    assert_int_equal(qn_buffer_get_state(u), QN_BUFFER_BOTH);
    assert_int_equal(used(null), before + BYTES);
    assert_ok(w.context, qn_launch(NULL, sum, QN_RANGE(WORDS), QN_ARGS(u, out)));
    assert_int_equal(moved(u, QN_MOVE_LAUNCH), BYTES);
    assert_ok(w.context, qn_launch(NULL, add, QN_RANGE(WORDS), QN_ARGS(u, 1)));
    assert_int_equal(qn_buffer_get_state(u), QN_BUFFER_DEVICE_NEWER);
    assert_ok(w.context, qn_buffer_read(u, 40, &word, 4)); /* these bytes alone */
    assert_int_equal(word, 7);
    assert_int_equal(moved(u, QN_MOVE_MAP), 4);
    assert_ok(w.context, qn_buffer_write(u, 80, &first, 4));
    assert_int_equal(qn_buffer_get_state(u), QN_BUFFER_HOST);
    assert_ok(w.context, qn_stream_prefetch(NULL, u, QN_SIDE_DEVICE));
    assert_int_equal(moved(u, QN_MOVE_TO_DEVICE), 4);
    assert_ok(w.context, qn_buffer_sync(u));
    assert_int_equal(moved(u, QN_MOVE_TO_HOST), BYTES - 8);
    assert_int_equal(qn_buffer_get_state(u), QN_BUFFER_BOTH);
    assert_int_equal(all_moved(u), 2 * BYTES);
    qn_buffer_destroy(u);
    assert_int_equal(used(null), before);
    qn_context_destroy(w.context);
}

/* ---- on several devices ---- */

/* Round and round: each device adds, the host too; each hand-over moves the buffer once, and the processor and the host are one. */
static void the_newest_goes_round(void **state) {
    (void)state;
    enum { ROUNDS = 5 };
    world w = make_world();
    qn_buffer *u = make_unified(w.members[0].device, BYTES, NULL);
    uint32_t value = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < w.computing; i++) {
            const member *m = &w.members[i];
            qn_stream *stream = qn_device_stream(m->device);
            assert_ok(w.context, qn_launch(stream, m->add, QN_RANGE(WORDS), QN_ARGS(u, 10u + (unsigned)i)));
            assert_ok(w.context, qn_launch(stream, m->add, QN_RANGE(WORDS), QN_ARGS(u, 1u)));
            value += 11 + (uint32_t)i;
        }
        if (round % 2) continue;
        uint32_t *words;
        assert_ok(w.context, qn_buffer_map(u, QN_MAP_READ_WRITE, (void **)&words));
        for (int i = 0; i < WORDS; i++) words[i] += 100;
        assert_ok(w.context, qn_buffer_unmap(u));
        value += 100;
    }
    expect(&w, u, value);
    const uint64_t before = all_moved(u);
    for (int i = 0; i < w.count; i++) /* to each once */
        assert_ok(w.context, qn_stream_prefetch(qn_device_stream(w.members[i].device), u, QN_SIDE_DEVICE));
    expect(&w, u, value);
    const uint64_t after = all_moved(u);
    assert_true(after - before <= (uint64_t)w.count * BYTES);
    for (int i = 0; i < w.count; i++)
        assert_ok(w.context, qn_stream_prefetch(qn_device_stream(w.members[i].device), u, QN_SIDE_DEVICE));
    expect(&w, u, value);
    assert_int_equal(all_moved(u), after);
    qn_context_destroy(w.context);
}

/* Each pair: what one writes the other has, of what was written and no more, and nothing moves twice. */
static void only_what_is_newer_moves(void **state) {
    (void)state;
    world w = make_world();
    for (int a = 0; a < w.count; a++)
        for (int b = 0; b < w.count; b++) {
            const member *from = &w.members[a], *to = &w.members[b];
            if (a == b) continue;
            const bool of_host = from->info.kind == QN_DEVICE_CPU, to_host = to->info.kind == QN_DEVICE_CPU;
            qn_stream *x = qn_device_stream(from->device), *y = qn_device_stream(to->device);
            qn_buffer *u = make_unified(from->device, BYTES, NULL),
                      *out = make_buffer(to->device, BYTES, NULL);
            uint32_t word = 5, got[WORDS];
            fill_map(&w, u, 3);
            assert_ok(w.context, qn_stream_fill(x, u, 8, 16, &word, 4)); /* all of it goes there first */
            assert_int_equal(all_moved(u), of_host ? 0 : BYTES);
            assert_int_equal(qn_buffer_get_state(u), of_host ? QN_BUFFER_BOTH : QN_BUFFER_DEVICE_NEWER);
            assert_ok(w.context, qn_stream_copy(y, u, 0, out, 0, BYTES));
            assert_int_equal(moved(u, of_host ? QN_MOVE_TRANSFER : QN_MOVE_BETWEEN), BYTES);
            const uint64_t before = all_moved(u);
            assert_ok(w.context, qn_stream_copy(y, u, 0, out, 0, BYTES));
            assert_int_equal(all_moved(u), before);
            assert_ok(w.context, qn_buffer_read(out, 0, got, BYTES));
            for (int i = 0; i < WORDS; i++) assert_int_equal(got[i], i >= 2 && i < 6 ? 5 : 3);
            const uint32_t *words;
            assert_ok(w.context, qn_buffer_map(u, QN_MAP_READ, (void **)&words));
            assert_memory_equal(words, got, BYTES);
            assert_ok(w.context, qn_buffer_unmap(u));
            assert_int_equal(moved(u, QN_MOVE_MAP), of_host || to_host ? 0 : BYTES);
            qn_buffer_destroy(out);
            qn_buffer_destroy(u);
        }
    qn_context_destroy(w.context);
}

/* What one stream brought, from the host or from another device, another stream of the device finds whole. */
static void streams_of_a_device_share_its_copy(void **state) {
    (void)state;
    enum { LARGE = 1 << 20, ROUNDS = 4 };
    world w = make_world();
    uint32_t *words = malloc(4 * LARGE);
    for (int a = 0; a < w.count; a++)
        for (int b = 0; b < w.count; b++) {
            const member *from = &w.members[a], *to = &w.members[b];
            qn_buffer *u = make_unified(from->device, 4 * LARGE, NULL),
                      *out = make_buffer(to->device, 4 * LARGE, NULL);
            qn_stream *streams[2];
            for (int i = 0; i < 2; i++) assert_ok(w.context, qn_stream_create(to->device, &streams[i]));
            for (uint32_t round = 1; round <= ROUNDS; round++) {
                assert_ok(w.context,
                          qn_stream_fill(qn_device_stream(from->device), u, 0, 4 * LARGE, &round, 4));
                assert_ok(w.context, qn_stream_wait(qn_device_stream(from->device), QN_FOREVER));
                assert_ok(w.context, qn_stream_prefetch(streams[0], u, QN_SIDE_DEVICE));
                assert_ok(w.context, qn_stream_copy(streams[1], u, 0, out, 0, 4 * LARGE));
                assert_ok(w.context, qn_stream_read(streams[1], out, 0, words, 4 * LARGE));
                assert_ok(w.context, qn_stream_wait(streams[1], QN_FOREVER));
                for (int i = 0; i < LARGE; i++)
                    if (words[i] != round)
                        fail_msg("word %d is %u in round %u", i, (unsigned)words[i], round);
                assert_ok(w.context, qn_stream_wait(streams[0], QN_FOREVER));
            }
            qn_buffer_destroy(u);
            qn_buffer_destroy(out);
        }
    free(words);
    qn_context_destroy(w.context);
}

/* A part that the host writes goes to each device that has the rest, and no more than that. */
static void ranges_go_by_themselves(void **state) {
    (void)state;
    world w = make_world();
    qn_buffer *u = make_unified(w.members[0].device, BYTES, NULL), *view;
    uint32_t *words, got[WORDS];
    for (int i = 0; i < w.count; i++)
        assert_ok(w.context, qn_stream_prefetch(qn_device_stream(w.members[i].device), u, QN_SIDE_DEVICE));
    assert_ok(w.context, qn_buffer_map_range(u, QN_MAP_WRITE, 400, 40, (void **)&words));
    for (int i = 0; i < 10; i++) words[i] = 9;
    assert_ok(w.context, qn_buffer_unmap(u));
    const uint64_t before = all_moved(u);
    assert_ok(w.context, qn_buffer_view(u, 320, 800, &view));
    for (int i = 0; i < w.count; i++) {
        const member *m = &w.members[i];
        qn_buffer *out = make_buffer(m->device, BYTES, NULL);
        const uint64_t now = all_moved(u);
        assert_ok(w.context, qn_stream_copy(qn_device_stream(m->device), view, 80, out, 0, 80));
        assert_int_equal(all_moved(u) - now, m->info.kind == QN_DEVICE_CPU ? 0 : 40);
        assert_ok(w.context, qn_buffer_read(out, 0, got, 80));
        for (int k = 0; k < 20; k++) assert_int_equal(got[k], k < 10 ? 9 : 0);
        qn_buffer_destroy(out);
    }
    assert_true(all_moved(u) - before <= (uint64_t)w.count * 40);
    if (w.computing) { /* a view in a launch */
        const member *m = &w.members[w.computing - 1];
        assert_ok(w.context,
                  qn_launch(qn_device_stream(m->device), m->add, QN_RANGE(200), QN_ARGS(view, 1u)));
        assert_ok(w.context, qn_buffer_read(u, 0, got, BYTES));
        for (int k = 0; k < WORDS; k++)
            assert_int_equal(got[k], (k >= 80 && k < 280) + (k >= 100 && k < 110 ? 9 : 0));
    }
    qn_buffer_destroy(u); /* the view keeps it */
    assert_ok(w.context, qn_buffer_read(view, 80, got, 4));
    assert_int_equal(got[0], 9 + (w.computing > 0));
    qn_context_destroy(w.context);
}

/* A graph's launches take the newest at each launch of it, also when no handle is left. */
static void graphs_take_the_newest(void **state) {
    (void)state;
    world w = make_world();
    if (!w.computing) skip();
    const member *m = &w.members[w.computing - 1];
    qn_stream *stream = qn_device_stream(m->device);
    qn_buffer *u = make_unified(m->device, BYTES, NULL), *out = make_buffer(m->device, BYTES, NULL);
    qn_graph *graph;
    uint32_t got[WORDS];
    assert_ok(w.context, qn_graph_begin(stream));
    assert_ok(w.context, qn_launch(stream, m->add, QN_RANGE(WORDS), QN_ARGS(u, 2u)));
    assert_ok(w.context, qn_launch(stream, m->sum, QN_RANGE(WORDS), QN_ARGS(u, out)));
    assert_ok(w.context, qn_graph_end(stream, &graph));
    for (uint32_t round = 1; round < 4; round++) {
        fill_map(&w, u, round * 100);
        assert_ok(w.context, qn_graph_launch(stream, graph));
        assert_ok(w.context, qn_buffer_read(out, 0, got, 4));
        assert_int_equal(got[0], 16 * (round * 100 + 2));
        expect(&w, u, round * 100 + 2);
    }
    qn_buffer_destroy(u);
    assert_ok(w.context, qn_graph_launch(stream, graph));
    assert_ok(w.context, qn_buffer_read(out, 0, got, 4));
    assert_int_equal(got[0], 16 * 304);
    qn_context_destroy(w.context);
}

/* Destroyed while work is under way, on each device. */
static void it_may_be_destroyed_early(void **state) {
    (void)state;
    world w = make_world();
    for (int i = 0; i < w.count; i++) {
        const member *m = &w.members[i];
        qn_stream *stream = qn_device_stream(m->device);
        qn_buffer *out = make_buffer(m->device, BYTES, NULL);
        uint32_t got[WORDS];
        for (uint32_t round = 1; round <= 20; round++) {
            qn_buffer *u = make_unified(w.members[0].device, BYTES, NULL);
            fill_map(&w, u, round);
            assert_ok(w.context, qn_stream_copy(stream, u, 0, out, 0, BYTES));
            qn_buffer_destroy(u);
        }
        assert_ok(w.context, qn_buffer_read(out, 0, got, BYTES));
        for (int k = 0; k < WORDS; k++) assert_int_equal(got[k], 20);
    }
    make_unified(w.members[0].device, 64, NULL); /* left to the context */
    qn_context_destroy(w.context);
}

static void wrong_uses_are_told(void **state) {
    (void)state;
    world w = make_world();
    qn_device *null = get_device(w.context, "null");
    qn_program *program = make_program(null, source);
    qn_kernel *add = make_kernel(program, w.context, "add");
    qn_buffer *u = make_unified(null, BYTES, NULL), *none;
    qn_stream *apart;
    uint64_t handle;
    uint32_t *words, word = 1;
    qn_device_info info;
    assert_ok(w.context, qn_device_get_info(null, &info));
    assert_ok(w.context, qn_buffer_map(u, QN_MAP_READ, (void **)&words));
    assert_fails(w.context, qn_launch(NULL, add, QN_RANGE(1), QN_ARGS(u, 1u)), QN_ERROR_STATE,
                 "'u' is mapped");
    assert_fails(w.context, qn_buffer_write(u, 0, &word, 4), QN_ERROR_STATE,
                 "qn_buffer_write: the buffer 'u'");
    assert_ok(w.context, qn_buffer_read(u, 0, &word, 4));
    assert_ok(w.context, qn_buffer_unmap(u));
    assert_ok(w.context, qn_stream_create(null, &apart));
    assert_ok(w.context, qn_stream_set_persistent(apart, true));
    assert_fails(w.context, qn_launch(apart, add, QN_RANGE(1), QN_ARGS(u, 1u)), QN_ERROR_STATE,
                 "unified buffers cannot be used on a persistent stream");
    assert_fails(w.context, qn_buffer_native(u, QN_NATIVE_HOST_POINTER, &handle), QN_ERROR_UNSUPPORTED,
                 "QN_MEMORY_UNIFIED");
    assert_fails(w.context, qn_stream_native_begin(NULL, &u, 1), QN_ERROR_UNSUPPORTED,
                 "has no memory of its own");
    assert_null(qn_buffer_host(u));
    assert_fails(w.context, qn_buffer_read(u, BYTES, &word, 4), QN_ERROR_RANGE, "4 bytes at 4000");
    assert_fails(w.context, qn_stream_read(NULL, u, BYTES, &word, 4), QN_ERROR_RANGE, "qn_stream_read");
    const qn_buffer_desc large = {.size = info.memory + 1, .memory = QN_MEMORY_UNIFIED};
    assert_fails(w.context, qn_buffer_create(null, &large, &none), QN_ERROR_RANGE,
                 "it has 1073741824 in all");
    const qn_buffer_desc fixed = {.size = 64, .memory = QN_MEMORY_UNIFIED, .read_only = true};
    assert_ok(w.context, qn_buffer_create(null, &fixed, &none));
    assert_fails(w.context, qn_launch(NULL, add, QN_RANGE(1), QN_ARGS(none, 1u)), QN_ERROR_ARGUMENT,
                 "read-only");
    qn_context *stranger = make_context(NULL);
    qn_device *other = get_device(stranger, "null");
    qn_program *theirs = make_program(other, source);
    qn_kernel *strange = make_kernel(theirs, stranger, "add");
    assert_fails(stranger, qn_launch(NULL, strange, QN_RANGE(1), QN_ARGS(u, 1u)), QN_ERROR_WRONG_CONTEXT,
                 "'uint* a'");
    qn_context_destroy(stranger);
    qn_context_destroy(w.context);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_taken_at_the_first_use),   cmocka_unit_test(the_newest_goes_round),
        cmocka_unit_test(only_what_is_newer_moves),           cmocka_unit_test(ranges_go_by_themselves),
        cmocka_unit_test(streams_of_a_device_share_its_copy), cmocka_unit_test(graphs_take_the_newest),
        cmocka_unit_test(it_may_be_destroyed_early),          cmocka_unit_test(wrong_uses_are_told),
    };
    if (argc > 1) names = argv + 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
