/* PyTorch, as the peer of quern bench tensor: a program in Python (texts/torch_rows.py) does the same rows in a process of its own, and prints a
   line for each way that it has: the row, the way, nanoseconds, the most bytes. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_tensor.h"
#include "bench_text.h"

enum { LINE = 256 };

#if defined(_WIN32)

static void *open_peer(const bench_device *d, char *why) {
    (void)d;
    snprintf(why, BENCH_WHY, "it is not looked for on Windows");
    return NULL;
}
int bench_torch_run(const bench_tensors *b, const bench_tensor_taken *taken, uint32_t count) {
    (void)b, (void)taken, (void)count;
    return TOOL_OK;
}

#else

static const char *python(void) {
    const char *name = getenv("QUERN_PYTHON");
    return name && *name ? name : "python3";
}

static void *open_peer(const bench_device *d, char *why) {
    static char there;
    char command[LINE], line[LINE] = "";
    const bool is_cuda = d->info.kind == QN_DEVICE_CUDA;
    snprintf(command, sizeof command, "%.120s -c 'import torch; print(torch.%s)' 2>&1", python(),
             is_cuda ? "cuda.is_available()" : "__version__");
    FILE *pipe = popen(command, "r");
    while (pipe && fgets(line, sizeof line, pipe)) {
    }
    line[strcspn(line, "\n")] = 0;
    const bool works = pipe && pclose(pipe) == 0 && strcmp(line, "False") != 0;
    if (works) return &there;
    snprintf(why, BENCH_WHY, "%.80s has no torch for this device: %.120s", python(), line);
    return NULL;
}

static void print_line(const bench_tensors *b, const bench_tensor_taken *t, const char *way, double ns,
                       double bytes) {
    const bench_time time = {.median = ns, .low = ns, .high = ns, .samples = 1};
    char note[LINE], memory[32];
    bench_with_unit(memory, bytes, "B");
    snprintf(note, sizeof note, "quern is %.2f times as fast; %s", ns / t->ns, bytes > 0 ? memory : "");
    bench_print_figure(b->d, "tensor", t->label, way, t->work, t->unit, &time, note);
}

/* "row TAB way TAB ns TAB bytes"; other lines are for people. */
static void take_line(const bench_tensors *b, const bench_tensor_taken *taken, uint32_t count, char *line) {
    char *fields[4], *at = line;
    line[strcspn(line, "\n")] = 0;
    for (int f = 0; f < 4; f++) {
        fields[f] = at;
        at = at ? strchr(at, '\t') : NULL;
        if (at) *at++ = 0;
        if (!fields[f]) {
            printf("  torch: %s\n", line);
            return;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(taken[i].what, fields[0]) == 0)
            print_line(b, &taken[i], fields[1], strtod(fields[2], NULL), strtod(fields[3], NULL));
}

static bool write_program(const char *path) {
    size_t size;
    const char *text = bench_text("torch_rows.py", &size);
    FILE *file = fopen(path, "wb");
    const bool written = file && fwrite(text, 1, size, file) == size;
    return (!file || fclose(file) == 0) && written;
}

static int run_program(const bench_tensors *b, const bench_tensor_taken *taken, uint32_t count,
                       const char *path) {
    char line[LINE];
    size_t room = 2048;
    char *command = tool_alloc(room);
    int at = snprintf(command, room, "%.120s '%s' %s %llu %d %g", python(), path,
                      b->d->info.kind == QN_DEVICE_CUDA ? "cuda" : "cpu", (unsigned long long)b->elements,
                      (int)b->is_small, b->d->options->seconds);
    for (uint32_t i = 0; i < count && (size_t)at < room; i++)
        at += snprintf(command + at, room - (size_t)at, " '%s'", taken[i].what);
    FILE *pipe = popen(command, "r");
    free(command);
    if (!pipe) return tool_fail(TOOL_RUN_FAILED, "%s cannot be run", python());
    while (fgets(line, sizeof line, pipe)) take_line(b, taken, count, line);
    return pclose(pipe) == 0 ? TOOL_OK : tool_fail(TOOL_RUN_FAILED, "torch: the program failed");
}

int bench_torch_run(const bench_tensors *b, const bench_tensor_taken *taken, uint32_t count) {
    char folder[BENCH_FOLDER], path[BENCH_FOLDER + 32];
    if (!bench_folder_make(folder)) return tool_fail(TOOL_RUN_FAILED, "no folder for a program can be made");
    snprintf(path, sizeof path, "%s/torch_rows.py", folder);
    bench_progress(b->d, "torch");
    const int result = write_program(path) ? run_program(b, taken, count, path)
                                           : tool_fail(TOOL_RUN_FAILED, "%s cannot be written", path);
    unlink(path);
    bench_folder_remove(folder);
    return result;
}

#endif

static void close_peer(void *peer) { (void)peer; }

const bench_peer_type bench_torch = {
    .name = "torch", .kind = QN_DEVICE_CUDA, .open = open_peer, .close = close_peer, .has_tensors = true};
const bench_peer_type bench_torch_cpu = {
    .name = "torch", .kind = QN_DEVICE_CPU, .open = open_peer, .close = close_peer, .has_tensors = true};
