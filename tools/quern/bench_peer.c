/* The peers of a device: which are there, and how their calls are measured: on quern's own buffers and, where they work on a
   device, on quern's own stream between the same events. */
#include "bench_peer.h"

#include <stdlib.h>
#include <string.h>
#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#endif

static const bench_peer_type *const types[] = {
    &bench_cublas,      &bench_cublaslt,      &bench_cudnn,         &bench_cub,         &bench_driver,
    &bench_nvrtc,       &bench_opencl_driver, &bench_vulkan_driver, &bench_glslang,     &bench_clblast,
    &bench_pocl,        &bench_openblas,      &bench_blis,          &bench_mkl,         &bench_onednn,
    &bench_torch,       &bench_torch_cpu,     &bench_webgpu_driver, &bench_webgpu_wgsl, &bench_wgsl,
    &bench_wgsl_checked};
enum { NUM_TYPES = sizeof types / sizeof *types };

/* ---- libraries ---- */

void *bench_library_open(const char *const *names, char *why) {
    void *library = NULL;
    for (const char *const *name = names; *name && !library; name++) {
#if defined(_WIN32)
        library = (void *)LoadLibraryA(*name);
        if (!library) snprintf(why, BENCH_WHY, "%s cannot be opened", *name);
#else
        library = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
        if (!library) snprintf(why, BENCH_WHY, "%s", dlerror());
#endif
    }
    return library;
}

bool bench_library_find(void *library, const char *symbol, void *function, char *why) {
#if defined(_WIN32)
    const FARPROC at = GetProcAddress((HMODULE)library, symbol);
#else
    void *const at = dlsym(library, symbol);
#endif
    memcpy(function, &at, sizeof at); /* C has no other way from an object's address to a function's */
    if (!at) snprintf(why, BENCH_WHY, "it has no %s", symbol);
    return at != NULL;
}

bool bench_library_load(const char *const *names, const bench_symbol *symbols, size_t count, char *why) {
    void *library = bench_library_open(names, why);
    bool found = library != NULL;
    for (size_t i = 0; i < count && found; i++)
        found = bench_library_find(library, symbols[i].name, symbols[i].function, why);
    return found;
}

/* ---- which ---- */

/* Is `name` in a list with commas, or is that "all"? */
static bool is_listed(const char *list, const char *name) {
    char word[32];
    if (strcmp(list, "all") == 0) return true;
    while (bench_list_next(&list, word, sizeof word))
        if (strcmp(word, name) == 0) return true;
    return false;
}

bool bench_peers_known(const char *against) {
    char word[32];
    if (strcmp(against, "all") == 0) return true;
    while (bench_list_next(&against, word, sizeof word)) {
        int i = 0;
        while (i < NUM_TYPES && strcmp(types[i]->name, word) != 0) i++;
        if (i == NUM_TYPES) return false;
    }
    return true;
}

static bool is_of_use(const bench_peer_type *type, bench_peer_use use) {
    switch (use) {
    case BENCH_OF_NOTHING: return false;
    case BENCH_OF_PRODUCTS: return type->multiply != NULL;
    case BENCH_OF_ROWS: return type->run != NULL;
    case BENCH_OF_CODE: return type->code != NULL;
    case BENCH_OF_TRANSFERS: return type->copy != NULL;
    case BENCH_OF_LOADING: return type->load != NULL;
    case BENCH_OF_TENSORS: return type->has_tensors;
    default: return type->launch != NULL;
    }
}

static bool is_on(const bench_peer_type *type, const bench_device *d) {
    return type->is_anywhere ? d->info.kind != QN_DEVICE_WEBGPU : d->info.kind == type->kind;
}

bool bench_peer_is_for(const bench_device *d, const char *name, bench_peer_use use) {
    for (int i = 0; i < NUM_TYPES; i++)
        if (is_on(types[i], d) && is_of_use(types[i], use) && strcmp(types[i]->name, name) == 0) return true;
    return false;
}

uint32_t bench_peers_open(const bench_device *d, const char *against, bench_peer_use use,
                          bench_peer peers[BENCH_MAX_PEERS]) {
    uint32_t count = 0;
    for (int i = 0; i < NUM_TYPES && against; i++) {
        char why[BENCH_WHY] = "";
        if (!is_on(types[i], d) || !is_of_use(types[i], use) || !is_listed(against, types[i]->name)) continue;
        bench_progress(d, types[i]->name);
        void *peer = types[i]->open(d, why);
        bench_progress(d, NULL);
        if (peer)
            peers[count++] = (bench_peer){types[i], peer, d};
        else
            printf("%s is absent: %s\n", types[i]->name, why);
    }
    return count;
}

void bench_peers_close(bench_peer *peers, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) peers[i].type->close(peers[i].peer);
}

/* ---- measuring ---- */

qn_status bench_peer_place(const bench_peer *peer, const qn_buffer *buffer, bench_place *place) {
    const qn_device_kind device = peer->d->info.kind;
    const qn_native_kind kind = device == QN_DEVICE_CUDA     ? QN_NATIVE_CUDA_POINTER
                                : device == QN_DEVICE_OPENCL ? QN_NATIVE_OPENCL_MEM
                                : device == QN_DEVICE_VULKAN ? QN_NATIVE_VULKAN_ADDRESS
                                : device == QN_DEVICE_WEBGPU ? QN_NATIVE_WEBGPU_BUFFER
                                                             : QN_NATIVE_HOST_POINTER;
    *place = (bench_place){0, 0};
    const qn_status status = qn_buffer_native(buffer, kind, &place->at);
    if (status || kind != QN_NATIVE_OPENCL_MEM) return status;
    return qn_buffer_native(buffer, QN_NATIVE_OFFSET, &place->offset);
}

typedef struct peer_task {
    const bench_peer *peer;
    const bench_product *product;
    bool failed;
} peer_task;

static qn_status places_of(const bench_peer *peer, const bench_product *p, uint32_t run,
                           bench_place places[3]) {
    qn_status status = QN_OK;
    for (int i = 0; i < 3 && !status; i++)
        status = bench_peer_place(peer, p->on_device[i].views[run % p->on_device[i].count], &places[i]);
    return status;
}

static qn_status run_peer(void *user, uint32_t first, uint32_t count) {
    peer_task *t = user;
    const bench_product *p = t->product;
    qn_stream *stream = t->peer->d->stream;
    qn_buffer *const used[] = {p->on_device[0].buffer, p->on_device[1].buffer, p->on_device[2].buffer};
    bench_place places[3];
    qn_status status = qn_stream_native_begin(stream, used, 3);
    if (status) return status;
    for (uint32_t i = first; i < first + count && !status && !t->failed; i++) {
        status = places_of(t->peer, p, i, places);
        if (!status) t->failed = !t->peer->type->multiply(t->peer->peer, p, places);
    }
    const qn_status ended = qn_stream_native_end(stream);
    return status ? status : ended;
}

int bench_peer_measure(const bench_peer *peer, bench_product *p, bench_time *time, bool *can) {
    peer_task t = {.peer = peer, .product = p};
    const bench_task task = {.run = run_peer, .user = &t, .on_host = peer->type->on_host};
    *can = !peer->type->prepare || peer->type->prepare(peer->peer, p);
    if (!*can) return TOOL_OK;
    bench_progress(peer->d, peer->type->name);
    int result = bench_measure(peer->d, &task, time);
    if (!result && t.failed)
        result = tool_fail(TOOL_RUN_FAILED, "%s: the call for the product failed", peer->type->name);
    return result ? result : bench_product_check(peer->d, p, time->runs, peer->type->name);
}
