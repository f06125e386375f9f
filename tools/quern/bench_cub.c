/* CUB is templates, no library: where nvcc is, libraries with one of its calls each are made of texts/cub.cu, which this
   program has as a text, in a folder that is there until they are open. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_nvidia.h"
#include "bench_text.h"

/* Rows of `quern bench kernels`, and what stands for CALL there. */
static const struct {
    const char *what, *call;
} rows[] = {{"sum f32", "SUM"},
            {"scan f32", "SCAN"},
            {"sort f32", "SORT"},
            {"histogram f32, 256 bins", "HISTOGRAM"},
            {"compact f32 by a mask", "COMPACT"},
            {"unique f32", "UNIQUE"}};
enum { NUM_ROWS = sizeof rows / sizeof *rows };

typedef int (*cub_call)(void *storage, size_t *bytes, const void *from, const void *other, void *to,
                        long long count, void *queue);

typedef struct cub {
    cub_call calls[NUM_ROWS];
    const bench_device *d;
    void *stream;
    bench_storage storage;
} cub;

#if defined(_WIN32)

static bool make_libraries(cub *c, char *why) {
    (void)c;
    snprintf(why, BENCH_WHY, "it is not made on Windows");
    return false;
}

#else

static const char *find_nvcc(void) {
    static const char *const usual[] = {"nvcc", "/usr/local/cuda/bin/nvcc"};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        char command[128];
        snprintf(command, sizeof command, "%s --version >/dev/null 2>&1", usual[i]);
        if (system(command) == 0) return usual[i];
    }
    return NULL;
}

/* All at once, which is how they take half a minute at most. */
static bool compile(const char *nvcc, const char *folder, char *why) {
    char command[4096];
    size_t used = 0;
    for (int i = 0; i < NUM_ROWS; i++)
        used += (size_t)snprintf(command + used, sizeof command - used,
                                 "%s -O3 -arch=native -shared -Xcompiler -fPIC -DCALL=%s -o %s/%s.so "
                                 "%s/cub.cu >%s/%s.log 2>&1 & ",
                                 nvcc, rows[i].call, folder, rows[i].call, folder, folder, rows[i].call);
    snprintf(command + used, sizeof command - used, "wait");
    if (system(command) == 0) return true;
    snprintf(why, BENCH_WHY, "nvcc cannot be run");
    return false;
}

/* The first line that a compile said. */
static void read_log(const char *folder, const char *call, char *why) {
    char path[128], line[BENCH_WHY] = "";
    snprintf(path, sizeof path, "%s/%s.log", folder, call);
    FILE *file = fopen(path, "r");
    if (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        snprintf(why, BENCH_WHY, "nvcc: %.200s", line);
    }
    if (file) fclose(file);
}

static bool open_libraries(cub *c, const char *folder, char *why) {
    bool any = false;
    for (int i = 0; i < NUM_ROWS; i++) {
        char path[128];
        const char *const names[] = {path, NULL};
        snprintf(path, sizeof path, "%s/%s.so", folder, rows[i].call);
        void *library = bench_library_open(names, why);
        if (library && bench_library_find(library, "cub_call", &c->calls[i], why))
            any = true;
        else
            read_log(folder, rows[i].call, why);
    }
    return any;
}

static bool make_libraries(cub *c, char *why) {
    char folder[] = "/tmp/quern-cub-XXXXXX", command[128];
    const char *nvcc = find_nvcc(), *error;
    size_t size;
    const char *text = bench_text("cub.cu", &size);
    if (!nvcc || !mkdtemp(folder)) {
        snprintf(why, BENCH_WHY, nvcc ? "/tmp cannot be written to" : "there is no nvcc to make it");
        return false;
    }
    snprintf(command, sizeof command, "%s/cub.cu", folder);
    error = tool_file_write(command, (const unsigned char *)text, size);
    if (error) snprintf(why, BENCH_WHY, "%s", error);
    const bool made = !error && compile(nvcc, folder, why) && open_libraries(c, folder, why);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command)) fprintf(stderr, "quern: bench: %s is left over\n", folder);
    return made;
}

#endif

static void *open_cub(const bench_device *d, char *why) {
    cub *c = tool_alloc(sizeof *c);
    uint64_t stream = 0;
    c->d = d;
    const qn_status status = qn_stream_native(d->stream, QN_NATIVE_CUDA_STREAM, &stream);
    if (status) snprintf(why, BENCH_WHY, "%s", qn_error_message(d->context));
    c->stream = (void *)(uintptr_t)stream;
    if (!status && make_libraries(c, why)) return c;
    free(c);
    return NULL;
}

static int row_of(const char *what) {
    int i = 0;
    while (i < NUM_ROWS && strcmp(rows[i].what, what) != 0) i++;
    return i;
}

static bool has(void *peer, const char *what) {
    const cub *c = peer;
    const int row = row_of(what);
    return row < NUM_ROWS && c->calls[row];
}

static bool run(void *peer, const bench_work *w) {
    cub *c = peer;
    const cub_call call = c->calls[row_of(w->what)];
    const void *from = bench_pointer(w->from), *other = bench_pointer(w->other);
    void *to = bench_pointer(w->to), *storage;
    const long long count = (long long)w->count;
    size_t bytes = 0;
    if (call(NULL, &bytes, from, other, to, count, c->stream)) return false;
    storage = bench_storage_take(c->d, &c->storage, bytes);
    return storage && call(storage, &bytes, from, other, to, count, c->stream) == 0;
}

static void close_cub(void *peer) {
    cub *c = peer;
    qn_buffer_destroy(c->storage.buffer);
    free(c);
}

const bench_peer_type bench_cub = {
    .name = "cub", .kind = QN_DEVICE_CUDA, .open = open_cub, .close = close_cub, .has = has, .run = run};
