/* Random sequences of calls on the CPU and null devices, against a model of what the buffers must hold: writes,
   copies, fills, launches, maps, views, graphs and updates of them, events, and objects that are destroyed while they are in use.
   Work goes to several streams; before a call leaves one stream for another, an event orders the two.
   `unit_api_random SEED STEPS` runs one seed for long, `unit_api_random SEEDS` so many short ones. */
#include "api_support.h"

static const char source[] = "kernel void mix(global const uchar *from, global uchar *to, uchar add) {\n"
                             "    size_t i = get_global_id(0);\n"
                             "    to[i] = from[i] + add;\n"
                             "}\n"
                             "kernel void add(global uchar *a, uchar v) { a[get_global_id(0)] += v; }\n";

enum { BUFFERS = 6, VIEWS = 6, STREAMS = 3, GRAPHS = 3, MAX_SIZE = 600, MAX_STEPS = 6 };

typedef struct step {
    int kind, from, to;
    unsigned from_offset, to_offset, size;
    unsigned char bytes[16];
    unsigned width; /* of a fill's pattern */
} step;

typedef struct slot {
    qn_buffer *buffer; /* NULL: none */
    int root;          /* of a view: whose memory */
    unsigned offset, size;
} slot;

typedef struct world {
    uint64_t random;
    qn_context *context;
    qn_device *device;
    bool computes;
    qn_program *program;
    qn_kernel *mix, *add;
    slot slots[BUFFERS + VIEWS];
    /* contents by root; a root lives on with views, so the numbers of roots only grow */
    unsigned char *model[4096];
    int num_roots;
    qn_stream *streams[STREAMS]; /* NULL: the default stream */
    int last;                    /* stream that was used last */
    qn_graph *graphs[GRAPHS];
    qn_event *event; /* in all of them */
    step steps[GRAPHS][MAX_STEPS];
    int roots[GRAPHS][MAX_STEPS][2]; /* as recorded: the slots change */
    int num_steps[GRAPHS];
    long calls;
} world;

static unsigned pick(world *w, unsigned below) {
    w->random = w->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((w->random >> 33) % below);
}

#define CALL(call) assert_ok(w->context, (w->calls++, (call)))

/* ---- objects ---- */

static void make_root(world *w, int index) {
    unsigned size = 1 + pick(w, MAX_SIZE);
    unsigned char *data = malloc(size);
    for (unsigned i = 0; i < size; i++) data[i] = (unsigned char)pick(w, 256);
    bool zero = pick(w, 3) == 0;
    if (zero) memset(data, 0, size);
    qn_buffer_desc desc = {.size = size, .data = zero ? NULL : data, .label = "random"};
    CALL(qn_buffer_create(w->device, &desc, &w->slots[index].buffer));
    w->slots[index].root = w->num_roots;
    w->slots[index].offset = 0;
    w->slots[index].size = size;
    w->model[w->num_roots++] = data;
}

static void make_view(world *w, int index) {
    const slot *of = &w->slots[pick(w, BUFFERS + VIEWS)];
    if (!of->buffer) return;
    unsigned offset = pick(w, (of->size - 1) / 16 + 1) * 16, size = 1 + pick(w, of->size - offset);
    slot *view = &w->slots[index];
    CALL(qn_buffer_view(of->buffer, offset, size, &view->buffer));
    view->root = of->root;
    view->offset = of->offset + offset;
    view->size = size;
}

static void change_objects(world *w) {
    int index = (int)pick(w, BUFFERS + VIEWS);
    if (w->num_roots + BUFFERS >= 4096) return;
    if (w->slots[index].buffer) qn_buffer_destroy(w->slots[index].buffer);
    w->slots[index].buffer = NULL;
    if (index < BUFFERS)
        make_root(w, index);
    else
        make_view(w, index);
}

/* The next work goes to another stream, which waits for what was submitted. */
static qn_stream *next_stream(world *w) {
    int next = (int)pick(w, STREAMS);
    if (next != w->last) {
        qn_event *event;
        CALL(qn_event_create(w->device, &event));
        CALL(
            qn_stream_record(w->streams[w->last] ? w->streams[w->last] : qn_device_stream(w->device), event));
        CALL(qn_stream_wait_event(w->streams[next], event));
        qn_event_destroy(event);
        if (w->last && pick(w, 4) == 0) { /* destroyed with work in it, and its buffers remember it */
            qn_stream_destroy(w->streams[w->last]);
            CALL(qn_stream_create(w->device, &w->streams[w->last]));
        }
    }
    w->last = next;
    return w->streams[next];
}

/* For calls on the default stream. */
static void settle(world *w) { CALL(qn_device_wait(w->device, QN_FOREVER)); }

/* ---- steps: what can also be in a graph ---- */

enum { WRITE, FILL, COPY, ADD, MIX, KINDS };

static bool make_step(world *w, step *s) {
    static const unsigned widths[] = {1, 2, 4, 8, 16};
    *s = (step){.kind = (int)pick(w, KINDS)};
    s->from = (int)pick(w, BUFFERS + VIEWS);
    s->to = (int)pick(w, BUFFERS + VIEWS);
    const slot *from = &w->slots[s->from], *to = &w->slots[s->to];
    if (!from->buffer || !to->buffer) return false;
    for (int i = 0; i < 16; i++) s->bytes[i] = (unsigned char)pick(w, 256);
    s->to_offset = pick(w, to->size);
    s->size = 1 + pick(w, to->size - s->to_offset);
    switch (s->kind) {
    case WRITE: s->size = s->size > 16 ? 16 : s->size; return true;
    case FILL:
        s->width = widths[pick(w, 5)];
        s->to_offset -= s->to_offset % s->width;
        s->size -= s->size % s->width;
        return s->size > 0;
    case ADD: s->to_offset = 0, s->size = to->size; return true;
    default:
        if (s->kind == MIX) s->to_offset = 0;
        s->from_offset = s->kind == MIX ? 0 : pick(w, from->size);
        if (s->size > from->size - s->from_offset) s->size = from->size - s->from_offset;
        return from->root != to->root;
    }
}

static void submit(world *w, qn_stream *stream, const step *s) {
    qn_buffer *from = w->slots[s->from].buffer, *to = w->slots[s->to].buffer;
    switch (s->kind) {
    case WRITE: CALL(qn_stream_write(stream, to, s->to_offset, s->bytes, s->size)); break;
    case FILL: CALL(qn_stream_fill(stream, to, s->to_offset, s->size, s->bytes, s->width)); break;
    case COPY: CALL(qn_stream_copy(stream, from, s->from_offset, to, s->to_offset, s->size)); break;
    case ADD: CALL(qn_launch(stream, w->add, QN_RANGE(s->size), QN_ARGS(to, s->bytes[0]))); break;
    case MIX: CALL(qn_launch(stream, w->mix, QN_RANGE(s->size), QN_ARGS(from, to, s->bytes[0]))); break;
    }
}

static void apply(world *w, const step *s, unsigned char *from, unsigned char *to) {
    for (unsigned i = 0; i < s->size; i++) switch (s->kind) {
        case WRITE: to[s->to_offset + i] = s->bytes[i]; break;
        case FILL: to[s->to_offset + i] = s->bytes[i % s->width]; break;
        case COPY: to[s->to_offset + i] = from[s->from_offset + i]; break;
        case ADD:
            if (w->computes) to[i] = (unsigned char)(to[i] + s->bytes[0]);
            break;
        case MIX:
            if (w->computes) to[i] = (unsigned char)(from[i] + s->bytes[0]);
            break;
        }
}

static unsigned char *contents(world *w, const slot *s) { return w->model[s->root] + s->offset; }

static void do_step(world *w) {
    step s;
    if (!make_step(w, &s)) return;
    submit(w, next_stream(w), &s);
    apply(w, &s, contents(w, &w->slots[s.from]), contents(w, &w->slots[s.to]));
}

/* ---- graphs: they keep the buffers that they were recorded with ---- */

static void record_graph(world *w) {
    int g = (int)pick(w, GRAPHS);
    if (w->graphs[g]) qn_graph_destroy(w->graphs[g]);
    w->graphs[g] = NULL;
    w->num_steps[g] = 0;
    qn_stream *stream = next_stream(w);
    if (!stream) stream = qn_device_stream(w->device);
    CALL(qn_graph_begin(stream));
    for (int i = (int)pick(w, MAX_STEPS + 1); i > 0; i--) {
        step s;
        if (pick(w, 4) == 0) CALL(qn_stream_record(stream, w->event));
        if (!make_step(w, &s)) continue;
        submit(w, stream, &s);
        int n = w->num_steps[g]++;
        /* offsets in the roots, as the slots will hold others */
        w->roots[g][n][0] = w->slots[s.from].root;
        w->roots[g][n][1] = w->slots[s.to].root;
        s.from = (int)w->slots[s.from].offset;
        s.to = (int)w->slots[s.to].offset;
        w->steps[g][n] = s;
    }
    if (pick(w, 3) == 0) change_objects(w); /* destroys and makes buffers beside the recording */
    CALL(qn_graph_end(stream, &w->graphs[g]));
}

/* A launch of the graph gets other buffers, another value and another range. */
static void update_graph(world *w) {
    const int g = (int)pick(w, GRAPHS), n = w->num_steps[g] ? (int)pick(w, (unsigned)w->num_steps[g]) : 0;
    step *old = &w->steps[g][n], s;
    unsigned index = 0;
    if (!w->graphs[g] || !w->num_steps[g] || old->kind < ADD) return;
    for (int i = 0; i < n; i++) index += w->steps[g][i].kind >= ADD;
    for (int tries = 0; tries < 50; tries++) {
        if (!make_step(w, &s) || s.kind != old->kind) continue;
        if (pick(w, 6) == 0) s.size = 0; /* left out */
        const slot *from = &w->slots[s.from], *to = &w->slots[s.to];
        const qn_arg add[] = {qn_arg_buffer(to->buffer), qn_arg_unsigned(s.bytes[0])};
        const qn_arg mix[] = {qn_arg_buffer(from->buffer), add[0], add[1]};
        CALL(qn_graph_set_launch(w->graphs[g], index, QN_RANGE(s.size), s.kind == ADD ? add : mix,
                                 s.kind == ADD ? 2 : 3));
        w->roots[g][n][0] = from->root;
        w->roots[g][n][1] = to->root;
        s.from = (int)from->offset;
        s.to = (int)to->offset;
        *old = s;
        return;
    }
}

static void launch_graph(world *w) {
    int g = (int)pick(w, GRAPHS);
    if (!w->graphs[g]) return;
    CALL(qn_graph_launch(next_stream(w), w->graphs[g]));
    for (int i = 0; i < w->num_steps[g]; i++) {
        const step *s = &w->steps[g][i];
        apply(w, s, w->model[w->roots[g][i][0]] + s->from, w->model[w->roots[g][i][1]] + s->to);
    }
}

/* ---- looking ---- */

static void read_back(world *w) {
    const slot *s = &w->slots[pick(w, BUFFERS + VIEWS)];
    unsigned char out[MAX_SIZE];
    if (!s->buffer) return;
    unsigned offset = pick(w, s->size), size = 1 + pick(w, s->size - offset);
    if (pick(w, 2)) {
        qn_stream *stream = next_stream(w);
        CALL(qn_stream_read(stream, s->buffer, offset, out, size));
        CALL(qn_stream_wait(stream ? stream : qn_device_stream(w->device), QN_FOREVER));
    } else {
        settle(w);
        CALL(qn_buffer_read(s->buffer, offset, out, size));
    }
    assert_memory_equal(out, contents(w, s) + offset, size);
}

static void check_mapped(world *w, const slot *s, unsigned char *host, unsigned offset, unsigned size) {
    for (unsigned i = 0; i < size; i++)
        if (host[i] != contents(w, s)[offset + i])
            fail_msg("byte %u of a map at %u is %u, not %u", i, offset, host[i], contents(w, s)[offset + i]);
}

/* A part, by a call that waits for the buffer's users or on the stream that was last used. */
static void map_part(world *w, const slot *s, qn_map_access access) {
    const unsigned offset = pick(w, s->size), size = 1 + pick(w, s->size - offset);
    unsigned char *host;
    if (pick(w, 3) == 0) {
        qn_stream *stream = w->streams[w->last];
        CALL(qn_stream_map(stream, s->buffer, access, offset, size, (void **)&host));
        CALL(qn_stream_wait(stream ? stream : qn_device_stream(w->device), QN_FOREVER));
    } else
        CALL(qn_buffer_map_range(s->buffer, access, offset, size, (void **)&host));
    if (access & QN_MAP_READ) check_mapped(w, s, host, offset, size);
    for (unsigned i = 0; i < size && access & QN_MAP_WRITE; i++)
        host[i] = contents(w, s)[offset + i] = (unsigned char)pick(w, 256);
}

/* Maps wait for the buffer's users by themselves, nest, and overlap. */
static void map(world *w) {
    const slot *s = &w->slots[pick(w, BUFFERS + VIEWS)];
    if (!s->buffer) return;
    const unsigned maps = 1 + pick(w, 3);
    bool writes = false;
    for (unsigned i = 0; i < maps; i++) {
        const qn_map_access access = (qn_map_access)(1 + pick(w, 3));
        writes = writes || access & QN_MAP_WRITE;
        map_part(w, s, access);
    }
    if (writes) {
        w->calls++;
        assert_int_equal(qn_stream_fill(NULL, s->buffer, 0, 1, "x", 1), QN_ERROR_STATE);
    }
    if (pick(w, 2)) {
        unsigned char *host;
        CALL(qn_buffer_map(s->buffer, QN_MAP_READ, (void **)&host));
        check_mapped(w, s, host, 0, s->size);
        CALL(qn_buffer_unmap(s->buffer));
    }
    for (unsigned i = 0; i < maps; i++) CALL(qn_buffer_unmap(s->buffer));
}

static void rebuild_kernels(world *w) {
    qn_kernel_destroy(w->mix);
    qn_kernel_destroy(w->add);
    w->mix = make_kernel(w->program, w->context, "mix");
    w->add = make_kernel(w->program, w->context, "add");
}

static void one_call(world *w) {
    switch (pick(w, 18)) {
    case 0:
    case 1: change_objects(w); break;
    case 2: record_graph(w); break;
    case 3:
    case 4: launch_graph(w); break;
    case 5:
    case 6: read_back(w); break;
    case 7: map(w); break;
    case 8: rebuild_kernels(w); break;
    case 9:
    case 10: update_graph(w); break;
    default: do_step(w);
    }
}

static void run(const char *device, uint64_t seed, long steps) {
    world *w = calloc(1, sizeof *w);
    w->random = seed;
    w->context = make_context(&(qn_context_desc){.cpu_threads = 3});
    w->device = get_device(w->context, device);
    w->computes = strcmp(device, "null") != 0;
    w->program = make_program(w->device, source);
    rebuild_kernels(w);
    for (int i = 0; i < BUFFERS; i++) make_root(w, i);
    CALL(qn_event_create(w->device, &w->event));
    for (int i = 1; i < STREAMS; i++) CALL(qn_stream_create(w->device, &w->streams[i]));
    for (long i = 0; i < steps; i++) one_call(w);
    settle(w);
    for (int i = 0; i < BUFFERS; i++) {
        unsigned char out[MAX_SIZE];
        CALL(qn_buffer_read(w->slots[i].buffer, 0, out, w->slots[i].size));
        assert_memory_equal(out, contents(w, &w->slots[i]), w->slots[i].size);
    }
    qn_context_destroy(w->context); /* with all that is left, and what is still running */
    for (int i = 0; i < w->num_roots; i++) free(w->model[i]);
    free(w);
}

static uint64_t only_seed, seeds = 20;
static long only_steps;

static void calls_agree_with_the_model(void **state) {
    (void)state;
    const char *devices[] = {test_device(), "null"};
    uint64_t first = only_steps ? only_seed : 1, last = only_steps ? only_seed : seeds;
    for (uint64_t seed = first; seed <= last; seed++)
        for (int d = 0; d < 2; d++) run(devices[d], seed, only_steps ? only_steps : 1500);
}

int main(int argc, char **argv) {
    if (argc == 2) seeds = strtoull(argv[1], NULL, 10);
    if (argc == 3) only_seed = strtoull(argv[1], NULL, 10), only_steps = strtol(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(calls_agree_with_the_model)};
    return run_device_tests(tests);
}
