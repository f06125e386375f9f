/* Programs with limits; see process.h. */
#include "util/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/file.h"

extern char **environ;

enum { STOP_MS = 5 };               /* how often `stop` is looked at */
enum { MAX_ARGS = 64, REPORT = 3 }; /* the descriptor that the shell writes the status to */

/* Compilers speak English here: what they say is looked at. */
static const char script[] = "[ $1 = 0 ] || ulimit -t $1; [ $2 = 0 ] || ulimit -v $2; ulimit -c 0; shift 2; "
                             "LC_ALL=C \"$@\" 3>&-; echo $? >&3";

static const char *const plain_environment[] = {"PATH=/usr/bin:/bin", NULL};

/* A limit of `wanted`, or less where the process may not have as much itself; 0: none. */
static uint64_t within(int resource, uint64_t wanted) {
    struct rlimit own;
    if (!wanted || getrlimit(resource, &own) || own.rlim_max == RLIM_INFINITY || own.rlim_max >= wanted)
        return wanted;
    return own.rlim_max;
}

static int make_pipe(int ends[2]) {
    if (pipe(ends)) return errno;
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return 0;
}

/* A process group of its own can be killed with all that it starts. What the host's thread blocks or ignores must not
   reach it: a C compiler waits for children of its own. */
static int set_attributes(posix_spawnattr_t *attributes) {
    sigset_t set;
    int error = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                         POSIX_SPAWN_SETSIGDEF);
    if (!error) error = posix_spawnattr_setpgroup(attributes, 0);
    sigemptyset(&set);
    if (!error) error = posix_spawnattr_setsigmask(attributes, &set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGPIPE);
    sigaddset(&set, SIGXCPU);
    return error ? error : posix_spawnattr_setsigdefault(attributes, &set);
}

static int set_files(posix_spawn_file_actions_t *files, const char *errors, int report) {
    int error = posix_spawn_file_actions_adddup2(files, report, REPORT);
    if (!error) error = posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0);
    if (!error) error = posix_spawn_file_actions_addopen(files, 1, "/dev/null", O_WRONLY, 0);
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW;
    return error ? error : posix_spawn_file_actions_addopen(files, 2, errors, flags, 0600);
}

static int spawn(const qn__process *process, int report, pid_t *pid) {
    const char *args[MAX_ARGS] = {"/bin/sh", "-c", script, "sh"};
    char cpu[24], memory[24];
    size_t n = 4;
    snprintf(cpu, sizeof cpu, "%llu", (unsigned long long)within(RLIMIT_CPU, process->cpu_seconds));
    snprintf(memory, sizeof memory, "%llu", (unsigned long long)within(RLIMIT_AS, process->memory) / 1024);
    args[n++] = cpu;
    args[n++] = memory;
    for (size_t i = 0; process->args[i]; i++) {
        if (n == MAX_ARGS - 1) return E2BIG;
        args[n++] = process->args[i];
    }
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t files;
    int error = posix_spawnattr_init(&attributes);
    if (error) return error;
    error = posix_spawn_file_actions_init(&files);
    if (!error) {
        error = set_attributes(&attributes);
        if (!error) error = set_files(&files, process->errors, report);
        const char *const *variables = qn__is_privileged() ? plain_environment : (const char *const *)environ;
        if (!error)
            error =
                posix_spawn(pid, args[0], &files, &attributes, (char *const *)args, (char *const *)variables);
        posix_spawn_file_actions_destroy(&files);
    }
    posix_spawnattr_destroy(&attributes);
    return error;
}

/* Reads the status that the shell reports; false when it ends without one, the deadline passes or it is stopped. */
static bool read_report(int report, uint64_t timeout_ns, const atomic_bool *stop, char *text, size_t size) {
    const int longest = stop ? STOP_MS : 60000;
    const uint64_t start = qn__now_ns();
    size_t got = 0;
    for (text[0] = 0; got + 1 < size && !strchr(text, '\n');) {
        const uint64_t left = qn__time_left(start, timeout_ns) / 1000000;
        struct pollfd ready = {.fd = report, .events = POLLIN};
        const int found = poll(&ready, 1, left > (uint64_t)longest ? longest : (int)left);
        if (stop && atomic_load(stop)) return false;
        if (found < 0 && errno != EINTR) return false;
        if (found == 0 && left == 0) return false;
        if (found <= 0) continue;
        const ssize_t n = read(report, text + got, size - 1 - got);
        if (n == 0 || (n < 0 && errno != EINTR)) return false;
        if (n > 0) got += (size_t)n;
        text[got] = 0;
    }
    return true;
}

int qn__process_run(const qn__process *process) {
    int report[2];
    pid_t pid;
    char text[16];
    int error = make_pipe(report);
    if (!error) {
        error = spawn(process, report[1], &pid);
        close(report[1]);
        if (error) close(report[0]);
    }
    if (error) {
        errno = error;
        return QN__PROCESS_FAILED;
    }
    const uint64_t timeout = process->seconds ? (uint64_t)process->seconds * 1000000000u : UINT64_MAX;
    const bool reported = read_report(report[0], timeout, process->stop, text, sizeof text);
    close(report[0]);
    if (!reported) kill(-pid, SIGKILL);
    /* somebody else may have reaped it already */
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
    const long status = reported ? strtol(text, NULL, 10) : 128;
    return status < 128 ? (int)status : QN__PROCESS_KILLED;
}
