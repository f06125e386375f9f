/* quern_tour: what quern does, shown in under a minute. `make run` calls it. */
#include "tour.h"

#include <errno.h>
#include <quern/kernels.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

bool tour_good(const tour *t, qn_status status, const char *what) {
    if (status) fprintf(stderr, "%s: %s\n%s\n", what, qn_status_text(status), qn_error_message(t->context));
    return status == QN_OK;
}

bool tour_kernel(tour *t, const char *file, const char *name, qn_kernel **kernel) {
    qn_program *program = NULL;
    qn_program_desc desc = {0};
    bool good = qn_kernels_source(file, &desc) &&
                tour_good(t, qn_program_create(t->device, &desc, &program), file) &&
                tour_good(t, qn_kernel_create(program, name, kernel), name);
    /* What is measured is the compiled kernel, which the processor's device has a moment later; without a compiler it is
       interpreted. */
    if (good) (void)qn_program_wait(program, QN_FOREVER);
    qn_program_destroy(program);
    return good;
}

bool tour_buffer(tour *t, uint64_t size, const void *data, qn_buffer **buffer) {
    qn_buffer_desc desc = {.size = size, .data = data};
    return tour_good(t, qn_buffer_create(t->device, &desc, buffer), "a buffer");
}

bool tour_wait(tour *t) {
    return tour_good(t, qn_stream_wait(qn_device_stream(t->device), QN_FOREVER), "waiting");
}

double tour_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Makes the folder and those above it. */
static bool make_folder(const char *path) {
    char part[512];
    size_t length = strlen(path);
    if (length >= sizeof part) return false;
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != 0) continue;
        memcpy(part, path, i);
        part[i] = 0;
        if (mkdir(part, 0777) && errno != EEXIST) return false;
    }
    return true;
}

static const char help[] =
    "quern_tour: the devices of this machine, pictures, and matmul as a ladder of kernels\n"
    "usage: quern_tour [--quick] [--device NAME] [--out FOLDER]\n"
    "  --quick        small sizes\n"
    "  --device NAME  as qn_device_get takes it; else the best\n"
    "  --out FOLDER   where the pictures go; else build/tour\n"
    "example: quern_tour --quick --out /tmp/tour\n";

static int parse(tour *t, const char **device, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--quick") == 0)
            t->quick = true;
        else if (strcmp(argv[i], "--device") == 0 && more)
            *device = argv[++i];
        else if (strcmp(argv[i], "--out") == 0 && more)
            t->out = argv[++i];
        else if (strcmp(argv[i], "--help") == 0) {
            fputs(help, stdout);
            return 0;
        } else {
            fprintf(stderr, "quern_tour: unknown or incomplete option '%s'\n%s", argv[i], help);
            return 2;
        }
    }
    return -1;
}

int main(int argc, char **argv) {
    tour t = {.out = "build/tour"};
    const char *device = NULL;
    int status = parse(&t, &device, argc, argv);
    if (status >= 0) return status;
    if (!make_folder(t.out)) {
        fprintf(stderr, "quern_tour: cannot make the folder %s: %s\n", t.out, strerror(errno));
        return 1;
    }
    bool good = tour_good(&t, qn_context_create(NULL, &t.context), "quern") &&
                tour_good(&t, qn_device_get(t.context, device, &t.device), "the device") &&
                tour_devices(&t) && tour_pictures(&t) && tour_matmul(&t);
    qn_context_destroy(t.context);
    return !good;
}
