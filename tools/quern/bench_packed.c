/* Programs to ship, a part of quern bench compile: from a packed program in memory to a kernel that can be launched, beside the bare
   driver with the code that is in it. */
#include <stdlib.h>
#include <string.h>

#include "bench_peer.h"
#include "bench_text.h"

typedef struct packed_task {
    bench_device *d;
    char *data; /* the .qnb */
    size_t size;
    bench_code code;
    bool compiles; /* the driver does, anew each time */
    const bench_peer *peer;
    bool failed;
} packed_task;

static qn_status load_once(packed_task *t) {
    qn_program *program = NULL;
    qn_kernel *kernel = NULL;
    qn_program_times times = {0};
    const qn_program_desc desc = {.binary = t->data, .binary_size = t->size, .disable_cache = true};
    qn_status status = qn_program_create(t->d->device, &desc, &program);
    if (!status) status = qn_program_wait(program, QN_FOREVER);
    if (!status) status = qn_kernel_create(program, t->code.kernel, &kernel);
    if (!status) status = qn_program_get_times(program, &times);
    t->compiles = !times.from_cache;
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
    return status;
}

static qn_status run(void *user, uint32_t first, uint32_t count) {
    packed_task *t = user;
    qn_status status = QN_OK;
    (void)first;
    for (uint32_t i = 0; i < count && !status && !t->failed; i++) {
        if (t->peer)
            t->failed = !t->peer->type->load(t->peer->peer, &t->code);
        else
            status = load_once(t);
    }
    return status;
}

static int measure(packed_task *t, const char *what, double *quern) {
    const bench_task task = {.run = run, .user = t, .on_host = true};
    bench_time time;
    char note[64] = "";
    bench_progress(t->d, what);
    t->failed = false;
    const int result = bench_measure(t->d, &task, &time);
    if (result) return result;
    if (t->failed) {
        bench_progress(t->d, NULL);
        printf("    by %s: none: it does not load what is in it\n", t->peer->type->name);
        return TOOL_OK;
    }
    if (t->peer)
        snprintf(note, sizeof note, "quern takes %.2f of it", *quern / time.median);
    else if (t->compiles)
        snprintf(note, sizeof note, "the driver compiles it");
    bench_print_figure(t->d, "compile", what, t->peer ? t->peer->type->name : "quern", 0, "ns", &time, note);
    if (!t->peer) *quern = time.median;
    return TOOL_OK;
}

/* What a file is of: text for any device of the kind, or what this device's driver made of it. */
static const char *const kinds[] = {"text", "machine code"};
enum { NUM_KINDS = sizeof kinds / sizeof *kinds };

static const char *targets_of(const bench_device *d) {
    return d->info.kind == QN_DEVICE_CUDA     ? "ptx"
           : d->info.kind == QN_DEVICE_VULKAN ? "spirv"
           : d->info.kind == QN_DEVICE_OPENCL ? "clc"
                                              : "ir";
}

static int measure_kind(packed_task *t, int kind, const char *file, const bench_peer *peers,
                        uint32_t num_peers) {
    const qn_program_desc program = {.source = bench_text(file, NULL), .path = file};
    const qn_pack_desc desc = {.program = &program,
                               .targets = kind ? NULL : targets_of(t->d),
                               .devices = kind ? t->d->info.name : NULL};
    char what[64];
    double quern = 0;
    snprintf(what, sizeof what, "%s, packed as %s, to a kernel", file, kinds[kind]);
    bench_progress(t->d, what);
    if (qn_program_pack(t->d->context, &desc, &t->data, &t->size, NULL)) { /* as without a C compiler */
        bench_progress(t->d, NULL);
        printf("  %s: none: %s\n", what, qn_error_message(t->d->context));
        return TOOL_OK;
    }
    t->code.data = t->data;
    t->code.size = t->size;
    t->code.is_text = kind == 0;
    t->peer = NULL;
    int result = measure(t, what, &quern);
    for (uint32_t i = 0; i < num_peers && !result; i++) {
        t->peer = &peers[i];
        result = measure(t, what, &quern);
    }
    qn_text_free(t->d->context, t->data);
    t->data = NULL;
    return result;
}

int bench_packed_run(bench_device *d) {
    static const char file[] = "lines300.cl";
    bench_peer peers[BENCH_MAX_PEERS];
    packed_task t = {.d = d, .code.kernel = "trace"};
    int result = TOOL_OK;
    const uint32_t num_peers = bench_peers_open(d, d->options->against, BENCH_OF_LOADING, peers);
    for (int kind = 0; kind < NUM_KINDS && !result; kind++) {
        result = measure_kind(&t, kind, file, peers, num_peers);
        bench_step(d);
    }
    bench_peers_close(peers, num_peers);
    return result;
}
