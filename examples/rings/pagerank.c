/* PageRank by actors: each part of a graph is one. It recomputes the ranks of its nodes from the newest ones that there are, and sends
   itself on until they are calm; when all are, they are asked again, and told by how much the sum of all ranks is off. Beside it the
   usual way, sweep by sweep from the ranks of the sweep before.
   Usage: quern_ring_pagerank [PICTURE.svg] */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shared.h"

enum {
    NODES = 1 << 16,
    EDGES = 1 << 20,
    PARTS = 64,
    ITEMS = 256,
    MOST_RINGS = 8,
    CHECK_EVERY = 4,
    ROUNDS = 5,
    LAST = 1 << 30
};

#define DAMPING   0.85
#define TOLERANCE 1e-6 /* of all ranks, whose sum is 1 */

/* In one buffer, since a ring has one state. `share`: a node's rank by how many edges leave it. */
typedef struct graph {
    float changes[NODES / ITEMS]; /* of the ranks of each work-group in a sweep */
    float rank[NODES], share[NODES], weight[NODES];
    uint32_t begin[NODES + 1], from[EDGES]; /* edges by the node they lead to */
} graph;

/* For actors and sweeps alike. */
#define GRAPH_TEXT                                                                                           \
    "enum { NODES = 1 << 16, EDGES = 1 << 20, PARTS = 64, ITEMS = 256, SIZE = NODES / PARTS, LAST = 1 << "   \
    "30 };\n"                                                                                                \
    "typedef struct graph {\n"                                                                               \
    "    float changes[NODES / ITEMS];\n"                                                                    \
    "    float rank[NODES], share[NODES], weight[NODES];\n"                                                  \
    "    uint begin[NODES + 1], from[EDGES];\n"                                                              \
    "} graph;\n"                                                                                             \
    "float new_rank(global const graph *g, uint node, global const float *share) {\n"                        \
    "    float sum = 0;\n"                                                                                   \
    "    for (uint i = g->begin[node]; i < g->begin[node + 1]; i++) sum += share[g->from[i]];\n"             \
    "    return 0.15f / NODES + 0.85f * sum;\n"                                                              \
    "}\n"

/* A message; `first`, `sum`: of the part, since it was asked. */
typedef struct visit {
    uint32_t part, sweeps;
    float scale, first, sum;
} visit;

static const char source[] =
    "#include \"quern/ring.cl\"\n" GRAPH_TEXT
    "typedef struct visit { uint part, sweeps; float scale, first, sum; } visit;\n"
    "void sweep(qn_ring *ring, local const visit *in, global graph *g) {\n"
    "    visit out = *in;\n"
    "    const uint begin = out.part * SIZE;\n"
    "    float change = 0, sum = 0;\n"
    "    for (uint i = begin + get_local_id(0); i < begin + SIZE && out.scale != 1; i += get_local_size(0))\n"
    "        g->rank[i] *= out.scale, g->share[i] *= out.scale;\n"
    "    barrier(CLK_GLOBAL_MEM_FENCE);\n"
    "    const uint each = SIZE / get_local_size(0), first = begin + get_local_id(0) * each;\n"
    "    for (uint i = first; i < first + each; i++) {\n" /* the first nodes of sites have most edges */
    "        const float rank = new_rank(g, i, g->share);\n"
    "        change += fabs(rank - g->rank[i]);\n"
    "        g->rank[i] = rank;\n"
    "        g->share[i] = rank * g->weight[i];\n"
    "        sum += rank;\n"
    "    }\n"
    "    change = work_group_reduce_add(change);\n"
    "    out.sum = work_group_reduce_add(sum);\n"
    "    if (out.sweeps++ == 0) out.first = change;\n"
    "    out.scale = 1;\n"
    "    if (change <= out.first / 2) qn_ring_reply(ring, &out, sizeof out);\n"
    "    else qn_ring_forward(ring, 0, &out, sizeof out);\n"
    "}\n";

static const char batch_source[] =
    GRAPH_TEXT "kernel void batch(global graph *g, global const float *share, global float *next) {\n"
               "    const uint node = get_global_id(0);\n"
               "    const float rank = new_rank(g, node, share);\n"
               "    const float change = work_group_reduce_add(fabs(rank - g->rank[node]));\n"
               "    g->rank[node] = rank;\n"
               "    next[node] = rank * g->weight[node];\n"
               "    if (get_local_id(0) == 0) g->changes[get_group_id(0)] = change;\n"
               "}\n";

typedef struct run {
    qn_context *context;
    qn_device *device;
    qn_device_info info;
    graph *graph; /* as it begins */
    qn_buffer *state;
    double seconds, sweeps;
    float *ranks; /* as they come out */
} run;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- the graph ---- */

static uint32_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* As pages of the web have them: seven of eight edges stay within a site of 256 nodes, and the first nodes of a site, and of all, have
   most of them, by the cube of a random number. */
static uint32_t choose_target(uint32_t from, uint64_t *state) {
    enum { SITE = 256 };
    const double x = next_random(state) / 2147483648.0;
    if (next_random(state) % 8) return from / SITE * SITE + (uint32_t)(x * x * x * SITE);
    return (uint32_t)(x * x * x * NODES) * 40503u % NODES;
}

/* Each node has an edge that leaves it at least. */
static bool make_graph(graph *g) {
    uint32_t(*edges)[2] = malloc(sizeof *edges * EDGES);
    uint32_t *out = calloc(NODES, sizeof *out);
    uint64_t state = 1;
    for (uint32_t i = 0; i < EDGES && edges && out; i++) {
        edges[i][0] = i < NODES ? i : next_random(&state) % NODES;
        edges[i][1] = choose_target(edges[i][0], &state);
        out[edges[i][0]]++;
        g->begin[edges[i][1] + 1]++;
    }
    const bool made = edges && out;
    for (uint32_t i = 0; i < NODES && made; i++) {
        g->begin[i + 1] += g->begin[i];
        g->rank[i] = 1.0f / NODES;
        g->weight[i] = 1.0f / (float)out[i];
        g->share[i] = g->rank[i] * g->weight[i];
        out[i] = g->begin[i];
    }
    for (uint32_t i = 0; i < EDGES && made; i++) g->from[out[edges[i][1]]++] = edges[i][0];
    free(edges);
    free(out);
    return made;
}

/* In double precision, until it stands still. The sum of all differences from it. */
static double error_of(const graph *g, const float *ranks) {
    static double rank[NODES], share[NODES];
    double error = 0;
    for (uint32_t i = 0; i < NODES; i++) rank[i] = 1.0 / NODES;
    for (double change = 1; change > 1e-12;) {
        for (uint32_t i = 0; i < NODES; i++) share[i] = rank[i] * (double)g->weight[i];
        change = 0;
        for (uint32_t i = 0; i < NODES; i++) {
            double sum = 0;
            for (uint32_t e = g->begin[i]; e < g->begin[i + 1]; e++) sum += share[g->from[e]];
            sum = (1 - DAMPING) / NODES + DAMPING * sum;
            change += fabs(sum - rank[i]);
            rank[i] = sum;
        }
    }
    for (uint32_t i = 0; i < NODES; i++) error += fabs(rank[i] - (double)ranks[i]);
    return error;
}

static qn_status read_ranks(run *r) {
    return qn_buffer_read(r->state, offsetof(graph, rank), r->ranks, NODES * sizeof *r->ranks);
}

/* ---- sweep by sweep ---- */

static qn_status sweep_until(run *r, qn_kernel *kernel, qn_buffer *shares[2], uint32_t *sweeps) {
    float changes[NODES / ITEMS];
    for (double all = 1; all >= TOLERANCE;) {
        for (uint32_t i = 0; i < CHECK_EVERY; i++, ++*sweeps) {
            const qn_status status =
                qn_launch(NULL, kernel, &(qn_range){.global = {NODES}, .local = {ITEMS}},
                          QN_ARGS(r->state, shares[*sweeps % 2], shares[(*sweeps + 1) % 2]));
            if (status) return status;
        }
        const qn_status status = qn_buffer_read(r->state, offsetof(graph, changes), changes, sizeof changes);
        if (status) return status;
        all = 0;
        for (uint32_t i = 0; i < NODES / ITEMS; i++) all += (double)changes[i];
    }
    return QN_OK;
}

static qn_status run_batch(run *r, qn_kernel *kernel) {
    qn_buffer *shares[2] = {NULL, NULL};
    const qn_buffer_desc desc = {.size = sizeof r->graph->share};
    uint32_t sweeps = 0;
    qn_status status = QN_OK;
    for (int i = 0; i < 2 && !status; i++) status = qn_buffer_create(r->device, &desc, &shares[i]);
    for (int i = 0; i < 2 && !status; i++) status = qn_buffer_write(shares[i], 0, r->graph->share, desc.size);
    if (!status) status = qn_buffer_write(r->state, 0, r->graph, sizeof *r->graph);
    const double begin = now();
    if (!status) status = sweep_until(r, kernel, shares, &sweeps);
    r->seconds = now() - begin;
    r->sweeps = sweeps;
    for (int i = 0; i < 2; i++) qn_buffer_destroy(shares[i]);
    return status ? status : read_ranks(r);
}

/* ---- by actors ---- */

typedef struct actors {
    qn_ring *rings[MOST_RINGS];
    uint32_t count;
} actors;

/* On the processor a ring for each core; on a GPU one, whose work-groups take the parts that are next. */
static qn_status make_actors(run *r, actors *a) {
    const bool is_gpu = r->info.kind == QN_DEVICE_CUDA;
    const qn_ring_desc desc = {.program = {.source = source},
                               .handler = "sweep",
                               .message_type = "visit",
                               .message_size = sizeof(visit),
                               .reply_size = sizeof(visit),
                               .state = r->state,
                               .state_type = "graph",
                               .groups = is_gpu ? PARTS : 1,
                               .group_size = is_gpu ? ITEMS : 1,
                               .idle = is_gpu ? QN_RING_CONTINUOUS : QN_RING_ADAPTIVE,
                               .links = 1,
                               .mail_capacity = 2 * PARTS};
    qn_status status = QN_OK;
    a->count = is_gpu ? 1 : r->info.compute_units < MOST_RINGS ? r->info.compute_units : MOST_RINGS;
    for (uint32_t i = 0; i < a->count && !status; i++) {
        status = qn_ring_create(r->device, &desc, &a->rings[i]);
        if (!status) status = qn_ring_connect(&(qn_ring_link){a->rings[i], 0, a->rings[i]}, 1);
    }
    for (uint32_t i = 0; i < a->count && !status; i++) status = qn_ring_launch(a->rings[i], 60 * SECOND);
    for (uint32_t i = 0; i < a->count && !status; i++) status = qn_ring_activate(a->rings[i], 60 * SECOND);
    return status;
}

/* Asks all parts once; what they answer goes to `sum`. */
static qn_status ask_parts(actors *a, double scale, visit *sum, double *changes, double *ranks) {
    qn_status status = QN_OK;
    *changes = *ranks = 0;
    for (uint32_t part = 0; part < PARTS && !status; part++) {
        const visit asked = {.part = part, .scale = (float)scale};
        status = qn_ring_send(a->rings[part % a->count], NULL, &asked, sizeof asked, 10 * SECOND);
    }
    for (uint32_t part = 0; part < PARTS && !status; part++) {
        visit answer;
        status = qn_ring_receive(a->rings[part % a->count], NULL, &answer, sizeof answer, 60 * SECOND);
        if (status) break;
        *changes += (double)answer.first;
        *ranks += (double)answer.sum;
        sum->sweeps += answer.sweeps;
    }
    return status;
}

static qn_status run_actors(run *r, actors *a) {
    visit sum = {0};
    qn_status status = qn_buffer_write(r->state, 0, r->graph, sizeof *r->graph);
    const double begin = now();
    for (double changes = 1, ranks = 1; changes >= TOLERANCE && !status;)
        status = ask_parts(a, 1 / ranks, &sum, &changes, &ranks);
    r->seconds = now() - begin;
    r->sweeps = (double)sum.sweeps / PARTS;
    return status ? status : read_ranks(r);
}

/* ---- both ---- */

/* The best of some rounds, as a row. */
typedef struct row {
    double seconds, sweeps, error;
} row;

static void keep_best(const run *r, row *best, int round) {
    if (round && r->seconds >= best->seconds) return;
    *best = (row){r->seconds, r->sweeps, 0};
}

static void print_row(const char *name, const row *it) {
    printf("%-16s %8.1f %10.2f %12.1f %14.1e\n", name, it->sweeps, it->seconds * 1e3,
           it->sweeps * EDGES / it->seconds * 1e-6, it->error);
}

static qn_status compare(run *r, qn_kernel *kernel, const char *picture, bool *good) {
    actors a = {.count = 0};
    row batch = {0}, actor = {0};
    qn_status status = QN_OK;
    for (int i = 0; i < ROUNDS && !status; i++) {
        status = run_batch(r, kernel);
        keep_best(r, &batch, i);
    }
    batch.error = error_of(r->graph, r->ranks);
    if (!status) status = make_actors(r, &a);
    for (int i = 0; i < ROUNDS && !status; i++) {
        status = run_actors(r, &a);
        keep_best(r, &actor, i);
    }
    if (!status) {
        actor.error = error_of(r->graph, r->ranks);
        printf("%d nodes, %d edges, %u rings on %s\n", NODES, EDGES, (unsigned)a.count, r->info.name);
        printf("%-16s %8s %10s %12s %14s\n", "", "sweeps", "ms", "M edges/s", "error in all");
        print_row("sweep by sweep", &batch);
        print_row("actors", &actor);
        printf("actors take %.2f of the time\n", actor.seconds / batch.seconds);
        report_ring(a.rings[0], "PageRank: how long the parts of the first ring took", picture);
        *good = actor.error < 1e-5 && batch.error < 1e-5 && actor.sweeps < batch.sweeps;
    }
    for (uint32_t i = 0; i < a.count; i++) qn_ring_destroy(a.rings[i]);
    return status;
}

int main(int argc, char **argv) {
    run r = {.graph = calloc(1, sizeof *r.graph), .ranks = malloc(NODES * sizeof *r.ranks)};
    qn_program *program = NULL;
    qn_kernel *kernel = NULL;
    bool good = false;
    if (!r.graph || !r.ranks || !make_graph(r.graph)) return fputs("out of memory\n", stderr), 1;
    qn_status status = qn_context_create(NULL, &r.context);
    if (!status) status = qn_device_get(r.context, NULL, &r.device);
    if (!status) status = qn_device_get_info(r.device, &r.info);
    if (!status) status = qn_buffer_create(r.device, &(qn_buffer_desc){.size = sizeof *r.graph}, &r.state);
    if (!status) status = qn_program_create(r.device, &(qn_program_desc){.source = batch_source}, &program);
    if (!status) status = qn_kernel_create(program, "batch", &kernel);
    if (!status) status = compare(&r, kernel, argc > 1 ? argv[1] : NULL, &good);
    if (status) fprintf(stderr, "%s: %s\n", qn_status_text(status), qn_error_message(r.context));
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
    qn_buffer_destroy(r.state);
    qn_context_destroy(r.context);
    free(r.graph);
    free(r.ranks);
    return status || !good;
}
