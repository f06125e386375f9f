/* PageRank by actors: each part of a graph is one. It recomputes the ranks of its nodes from the newest ones that there are, and sends
   itself on until they are calm; when all are, they are asked again, and told by how much the sum of all ranks is off. Beside it the
   usual way, sweep by sweep from the ranks of the sweep before. The kernels are in pagerank.cl: on a processor they go by rows, on a
   GPU, or with --pieces, by pieces.
   Usage: quern_ring_pagerank [PICTURE.svg | --pieces] */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pagerank_text.h" /* pagerank.cl */
#include "shared.h"

enum {
    NODES = 1 << 16,
    EDGES = 1 << 20,
    SITE = 256, /* nodes */
    MOST_PARTS = 128,
    MOST_RINGS = 32,
    FEW_RINGS = 8,
    SWEEPS = 8,       /* by pieces: of a part for a message, and ... */
    MOST_SWEEPS = 64, /* until it answers */
    CHECK_EVERY = 4,
    ROUNDS = 5
};

#define DAMPING   0.85
#define TOLERANCE 1e-6 /* of all ranks, whose sum is 1 */

/* In one buffer, since a ring has one state. `share`: a node's rank by how many edges leave it. */
typedef struct graph {
    float changes[NODES / SITE]; /* of the ranks of each work-group in a sweep */
    float rank[NODES], share[NODES], weight[NODES];
    /* By the node they lead to, which is in the upper half; in the lower one that which they leave, or for pieces where its share is. */
    uint32_t edges[EDGES];
    uint32_t begin[NODES + 1], far_begin[MOST_PARTS + 1], far[EDGES];
} graph;

/* A message; `first`, `sum`: of the part, since it was asked. */
typedef struct visit {
    uint32_t part, sweeps;
    float scale, first, sum;
} visit;

typedef struct run {
    qn_context *context;
    qn_device *device;
    qn_device_info info;
    graph *graph; /* as it begins */
    int rounds;
    bool by_pieces; /* else by rows */
    uint32_t parts; /* of `size` nodes each */
    uint32_t size;
    char options[160];
    qn_buffer *state;
    double seconds, sweeps;
    float *ranks; /* as they come out */
    double *exact;
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
    for (uint32_t i = 0; i < EDGES && made; i++)
        g->edges[out[edges[i][1]]++] = edges[i][0] | edges[i][1] << 16;
    free(edges);
    free(out);
    return made;
}

/* The ranks in double precision, until they stand still. */
static void make_exact(const graph *g, double *rank) {
    static double share[NODES];
    for (uint32_t i = 0; i < NODES; i++) rank[i] = 1.0 / NODES;
    for (double change = 1; change > 1e-12;) {
        for (uint32_t i = 0; i < NODES; i++) share[i] = rank[i] * (double)g->weight[i];
        change = 0;
        for (uint32_t i = 0; i < NODES; i++) {
            double sum = 0;
            for (uint32_t e = g->begin[i]; e < g->begin[i + 1]; e++) sum += share[g->edges[e] & 0xffff];
            sum = (1 - DAMPING) / NODES + DAMPING * sum;
            change += fabs(sum - rank[i]);
            rank[i] = sum;
        }
    }
}

/* The sum of all differences from them. */
static double error_of(const run *r) {
    double error = 0;
    for (uint32_t i = 0; i < NODES; i++) error += fabs(r->exact[i] - (double)r->ranks[i]);
    return error;
}

static qn_status read_ranks(run *r) {
    return qn_buffer_read(r->state, offsetof(graph, rank), r->ranks, NODES * sizeof *r->ranks);
}

/* ---- sweep by sweep ---- */

static qn_status sweep_until(run *r, qn_kernel *kernel, qn_buffer *shares[2], uint32_t *sweeps) {
    float changes[NODES / SITE];
    const uint32_t groups = r->by_pieces ? r->parts : NODES / SITE;
    for (double all = 1; all >= TOLERANCE;) {
        for (uint32_t i = 0; i < CHECK_EVERY; i++, ++*sweeps) {
            const qn_status status =
                qn_launch(NULL, kernel, &(qn_range){.global = {NODES}, .local = {NODES / groups}},
                          QN_ARGS(r->state, shares[*sweeps % 2], shares[(*sweeps + 1) % 2]));
            if (status) return status;
        }
        const qn_status status =
            qn_buffer_read(r->state, offsetof(graph, changes), changes, groups * sizeof *changes);
        if (status) return status;
        all = 0;
        for (uint32_t i = 0; i < groups; i++) all += (double)changes[i];
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

static uint32_t units_of(const run *r) { return r->info.compute_units ? r->info.compute_units : 1; }

/* One for each core. Of a GPU, on which a kernel that stays has one of the driver's connections for itself: as many as there are. */
static uint32_t count_rings(const run *r) {
    const char *connections = getenv("CUDA_DEVICE_MAX_CONNECTIONS");
    const int given = r->by_pieces && connections ? atoi(connections) : FEW_RINGS;
    const uint32_t most = given < 1 ? 1 : given < MOST_RINGS ? (uint32_t)given : MOST_RINGS;
    return units_of(r) < most ? units_of(r) : most;
}

/* On a GPU as many work-groups as it has compute units, dealt out to the rings, which would each be a narrow door for all of them. */
static qn_status make_actors(run *r, actors *a) {
    const uint32_t units = units_of(r);
    a->count = count_rings(r);
    const uint32_t each = r->parts / a->count;
    const qn_ring_desc desc = {.program = {.source = pagerank_text,
                                           .options = r->options,
                                           .defines = &(qn_define){"ACTORS", "1"},
                                           .num_defines = 1},
                               .handler = "sweep",
                               .message_type = "visit",
                               .message_size = sizeof(visit),
                               .reply_size = sizeof(visit),
                               .state = r->state,
                               .state_type = "graph",
                               .groups = !r->by_pieces             ? 1
                                         : units / a->count < each ? units / a->count
                                                                   : each,
                               .group_size = r->by_pieces ? r->size : 1,
                               .idle = r->by_pieces ? QN_RING_CONTINUOUS : QN_RING_ADAPTIVE,
                               .links = 1,
                               .mail_capacity = 2 * r->parts};
    qn_status status = QN_OK;
    for (uint32_t i = 0; i < a->count && !status; i++) {
        status = qn_ring_create(r->device, &desc, &a->rings[i]);
        if (!status) status = qn_ring_connect(&(qn_ring_link){a->rings[i], 0, a->rings[i]}, 1);
    }
    for (uint32_t i = 0; i < a->count && !status; i++) status = qn_ring_launch(a->rings[i], 60 * SECOND);
    for (uint32_t i = 0; i < a->count && !status; i++) status = qn_ring_activate(a->rings[i], 60 * SECOND);
    return status;
}

/* Parts of a ring: each a->count-th. */
static qn_status send_to_ring(const run *r, const actors *a, uint32_t ring, double scale) {
    visit asked[MOST_PARTS];
    qn_ring_batch batch = {.payloads = asked, .size = sizeof *asked, .stride = sizeof *asked};
    for (uint32_t part = ring; part < r->parts; part += a->count)
        asked[batch.count++] = (visit){.part = part, .scale = (float)scale};
    return qn_ring_send_batch(a->rings[ring], &batch, NULL, 10 * SECOND);
}

static qn_status receive_of_ring(const run *r, const actors *a, uint32_t ring, visit *sum, double *changes,
                                 double *ranks) {
    visit answers[MOST_PARTS];
    uint32_t missing = (r->parts - ring + a->count - 1) / a->count;
    while (missing) {
        uint32_t count;
        const qn_status status = qn_ring_receive_batch(a->rings[ring], NULL, answers, sizeof *answers,
                                                       missing, &count, 60 * SECOND);
        if (status) return status;
        for (uint32_t i = 0; i < count; i++) {
            *changes += (double)answers[i].first;
            *ranks += (double)answers[i].sum;
            sum->sweeps += answers[i].sweeps;
        }
        missing -= count;
    }
    return QN_OK;
}

/* Asks all parts once; what they answer goes to `sum`. */
static qn_status ask_parts(const run *r, const actors *a, double scale, visit *sum, double *changes,
                           double *ranks) {
    qn_status status = QN_OK;
    *changes = *ranks = 0;
    for (uint32_t i = 0; i < a->count && !status; i++) status = send_to_ring(r, a, i, scale);
    for (uint32_t i = 0; i < a->count && !status; i++) status = receive_of_ring(r, a, i, sum, changes, ranks);
    return status;
}

static qn_status run_actors(run *r, const actors *a) {
    visit sum = {0};
    qn_status status = qn_buffer_write(r->state, 0, r->graph, sizeof *r->graph);
    const double begin = now();
    for (double changes = 1, ranks = 1; changes >= TOLERANCE && !status;)
        status = ask_parts(r, a, 1 / ranks, &sum, &changes, &ranks);
    r->seconds = now() - begin;
    r->sweeps = (double)sum.sweeps / r->parts;
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
    for (int i = 0; i < r->rounds && !status; i++) {
        status = run_batch(r, kernel);
        keep_best(r, &batch, i);
    }
    batch.error = error_of(r);
    if (!status) status = make_actors(r, &a);
    for (int i = 0; i < r->rounds && !status; i++) {
        status = run_actors(r, &a);
        keep_best(r, &actor, i);
    }
    if (!status) {
        actor.error = error_of(r);
        printf("%d nodes, %d edges, %u rings on %s\n", NODES, EDGES, (unsigned)a.count, r->info.name);
        printf("%-16s %8s %10s %12s %14s\n", "", "sweeps", "ms", "M edges/s", "error in all");
        print_row("sweep by sweep", &batch);
        print_row("actors", &actor);
        printf("actors take %.2f of the time\n", actor.seconds / batch.seconds);
        report_ring(a.rings[0], "PageRank: how long the parts of the first ring took", picture);
        *good = actor.error < 1e-5 && batch.error < 1e-5 && (r->by_pieces || actor.sweeps < batch.sweeps);
    }
    for (uint32_t i = 0; i < a.count; i++) qn_ring_destroy(a.rings[i]);
    return status;
}

/* Gives the nodes outside of a part whose edges lead into it places behind its own, and its edges these. How many there are. */
static uint32_t place_far(graph *g, uint32_t size, uint32_t part, uint32_t *place) {
    uint32_t *end = &g->far_begin[part + 1];
    *end = g->far_begin[part];
    for (uint32_t i = g->begin[part * size]; i < g->begin[(part + 1) * size]; i++) {
        const uint32_t from = g->edges[i] & 0xffff, first = part * size;
        const bool is_own = from / size == part;
        if (!is_own &&
            (place[from] < g->far_begin[part] || place[from] >= *end || g->far[place[from]] != from)) {
            place[from] = *end;
            g->far[(*end)++] = from;
        }
        g->edges[i] += (is_own ? from - first : size + place[from] - g->far_begin[part]) - from;
    }
    return *end - g->far_begin[part];
}

/* How the nodes are dealt out, which needs the graph: no part has more pieces than it has nodes. */
static bool plan(run *r) {
    uint32_t most = 0, most_far = 0, *place = calloc(NODES, sizeof *place);
    r->parts = r->by_pieces ? MOST_PARTS : 64;
    r->size = NODES / r->parts;
    for (uint32_t i = 0; i < r->parts && place; i++) {
        const uint32_t edges = r->graph->begin[(i + 1) * r->size] - r->graph->begin[i * r->size];
        const uint32_t far = r->by_pieces ? place_far(r->graph, r->size, i, place) : 0;
        if (edges > most) most = edges;
        if (far > most_far) most_far = far;
    }
    free(place);
    const uint32_t each = (most / (r->size - 2) + 4) / 4 * 4;
    snprintf(r->options, sizeof r->options,
             "%s -D SIZE=%u -D EACH=%u -D FAR=%u -D SWEEPS=%d -D MOST_SWEEPS=%d -D CALM=%gf",
             r->by_pieces ? "-D PIECES" : "", (unsigned)r->size, (unsigned)each,
             (unsigned)((most_far + r->size - 1) / r->size), SWEEPS, MOST_SWEEPS, 0.4 * TOLERANCE / r->parts);
    return place != NULL;
}

int main(int argc, char **argv) {
    run r = {.graph = calloc(1, sizeof *r.graph),
             .ranks = malloc(NODES * sizeof *r.ranks),
             .exact = malloc(NODES * sizeof *r.exact)};
    const bool asked = argc > 1 && !strcmp(argv[1], "--pieces");
    qn_program *program = NULL;
    qn_kernel *kernel = NULL;
    bool good = false;
    if (!r.graph || !r.ranks || !r.exact || !make_graph(r.graph)) return fputs("out of memory\n", stderr), 1;
    make_exact(r.graph, r.exact);
#if !defined(_WIN32)
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0); /* the most that there are; before the driver reads it */
#endif
    qn_status status = qn_context_create(NULL, &r.context);
    if (!status) status = qn_device_get(r.context, NULL, &r.device);
    if (!status) status = qn_device_get_info(r.device, &r.info);
    r.rounds = asked ? 1 : ROUNDS;
    r.by_pieces = asked || r.info.kind == QN_DEVICE_CUDA;
    if (!status && !plan(&r)) status = QN_ERROR_OUT_OF_MEMORY;
    if (!status) status = qn_buffer_create(r.device, &(qn_buffer_desc){.size = sizeof *r.graph}, &r.state);
    if (!status)
        status = qn_program_create(
            r.device, &(qn_program_desc){.source = pagerank_text, .options = r.options}, &program);
    if (!status) status = qn_kernel_create(program, "batch", &kernel);
    if (!status) status = compare(&r, kernel, argc > 1 && !asked ? argv[1] : NULL, &good);
    if (status) fprintf(stderr, "%s: %s\n", qn_status_text(status), qn_error_message(r.context));
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
    qn_buffer_destroy(r.state);
    qn_context_destroy(r.context);
    free(r.graph);
    free(r.ranks);
    free(r.exact);
    return status || !good;
}
