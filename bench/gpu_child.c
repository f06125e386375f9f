/* Drivers crash: what runs on a device runs in a process of its own, this program again, whose report comes through a pipe.
   A process that ends badly or says nothing for long is a line under failures, and the next one goes on behind the case
   that it was at. */
#include "gpu.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIPE = 3, SILENCE_MS = 90000, LINE_SIZE = 4096 };

static const struct part {
    const char *name;
    void (*run)(const gpu_options *o, const char *device, size_t first);
} parts[] = {
    {"code", gpu_code_child},         {"bandwidth", gpu_bandwidth_child}, {"transfers", gpu_transfers_child},
    {"overhead", gpu_overhead_child}, {"start", gpu_start_child},         {"software", gpu_software_child},
    {"variants", gpu_variants_child}, {"peer", gpu_peer_child},           {"ship", gpu_ship_child}};

static volatile sig_atomic_t stopped;

static void stop(int signal_number) {
    (void)signal_number;
    stopped = 1;
}

void gpu_stop_on_signals(void) {
    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
}

bool gpu_stopped(void) { return stopped; }

/* ---- in the child ---- */

int gpu_child(const gpu_options *o, const char *part, const char *device, const char *first) {
    fcntl(PIPE, F_SETFD, FD_CLOEXEC);
    FILE *pipe = fdopen(PIPE, "w");
    if (!pipe) return 2;
    report_to_parent(pipe);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(parts[i].name, part) == 0) parts[i].run(o, device, strtoul(first, NULL, 10));
    fclose(pipe);
    return 0;
}

/* ---- in the parent ---- */

typedef struct child {
    pid_t pid;
    int pipe;
    const char *part, *device;
    size_t at; /* the case that it is at, from 1; 0: none yet */
    char name[64];
    gpu_hear *hear;
    void *user;
} child;

static void become(const gpu_options *o, const child *c, size_t first, int pipe) {
    char self[1024], number[24], sample[24];
    const char *argv[24];
    unsigned n = 0;
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) _exit(127);
    self[length] = 0;
    snprintf(number, sizeof number, "%zu", first);
    snprintf(sample, sizeof sample, "%u", o->sample_ms);
    argv[n++] = self;
    if (o->quick) argv[n++] = "--quick";
    if (o->cpu_time) argv[n++] = "--cpu-time";
    if (o->reverse) argv[n++] = "--reverse";
    if (o->only) argv[n++] = "--only", argv[n++] = o->only;
    argv[n++] = "--sample-ms", argv[n++] = sample;
    argv[n++] = "--child", argv[n++] = c->part, argv[n++] = c->device, argv[n++] = number;
    argv[n] = NULL;
    if (pipe != PIPE) dup2(pipe, PIPE);
    fcntl(PIPE, F_SETFD, 0);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execv(self, (char *const *)(void *)argv);
    _exit(127);
}

static bool start(const gpu_options *o, child *c, size_t first) {
    int ends[2];
    if (pipe(ends)) return false;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    fflush(NULL);
    c->pid = fork();
    if (c->pid == 0) become(o, c, first, ends[1]);
    close(ends[1]);
    c->pipe = ends[0];
    return c->pid > 0;
}

static void hear_line(child *c, char *line) {
    double value, limit;
    int at_least, skip = 0;
    unsigned long number;
    if (line[0] != REPORT_MARK) {
        report("%s\n", line);
        return;
    }
    const char *rest = line + 3;
    switch (line[1]) {
    case 'C':
        if (sscanf(rest, "%lu %63s", &number, c->name) == 2) c->at = number + 1;
        break;
    case 'F': report_failure("%s", rest); break;
    case 'T':
        if (sscanf(rest, "%lf %lf %d %n", &value, &limit, &at_least, &skip) == 3)
            report_target(rest + skip, value, limit, at_least);
        break;
    default:
        if (c->hear) c->hear(c->user, rest);
    }
}

/* Until the pipe is closed; false: it said nothing for too long, or this process is to end. */
static bool listen_to(child *c) {
    char text[LINE_SIZE];
    size_t length = 0;
    for (;;) {
        struct pollfd end = {.fd = c->pipe, .events = POLLIN};
        int ready = stopped ? -1 : poll(&end, 1, SILENCE_MS);
        if (ready == 0 || stopped) return false;
        if (ready < 0 && errno == EINTR) continue;
        ssize_t got = read(c->pipe, text + length, sizeof text - 1 - length);
        if (got <= 0) return true;
        length += (size_t)got;
        text[length] = 0;
        char *line = text, *newline;
        while ((newline = strchr(line, '\n'))) {
            *newline = 0;
            hear_line(c, line);
            line = newline + 1;
        }
        length -= (size_t)(line - text);
        memmove(text, line, length);
        if (length == sizeof text - 1) length = 0;
    }
}

/* False: it ended badly. */
static bool finish(child *c, bool silent) {
    int status = 0;
    if (silent) kill(c->pid, SIGKILL);
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR) {
    }
    close(c->pipe);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) stopped = 1;
    if (stopped) return false;
    const char *name = c->at ? c->name : c->part;
    if (silent)
        report_failure("%s on %s: nothing came for %d s", name, c->device, SILENCE_MS / 1000);
    else if (WIFSIGNALED(status))
        report_failure("%s on %s: the process ended by signal %d", name, c->device, WTERMSIG(status));
    else
        report_failure("%s on %s: the process ended with status %d", name, c->device, WEXITSTATUS(status));
    return false;
}

void gpu_run_child(const gpu_options *o, const char *part, const char *device, gpu_hear *hear, void *user) {
    size_t first = 0;
    bool again = true;
    while (again && !stopped) {
        child c = {.part = part, .device = device, .hear = hear, .user = user};
        if (!start(o, &c, first)) {
            report_failure("%s on %s: no process: %s", part, device, strerror(errno));
            return;
        }
        bool heard = listen_to(&c);
        again = !finish(&c, !heard) && c.at > first;
        first = c.at;
    }
}
