/* quern rings: the rings of running programs, as a table that is drawn anew. Programs say of themselves in files how their rings
   are (qn_ring_report, $QUERN_RINGS). */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if !defined(_WIN32)
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <unistd.h>
#endif

#include "tool.h"

#if !defined(_WIN32)

enum { ROOM = 16384 };

/* The value of a member that occurs once, up to its end; NULL: there is none. */
static const char *member(const char *json, const char *name) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\": ", name);
    const char *at = strstr(json, key);
    return at ? at + strlen(key) : NULL;
}

static double number(const char *json, const char *name) {
    const char *at = member(json, name);
    return at ? strtod(at, NULL) : 0;
}

static void copy_string(const char *json, const char *name, char *to, size_t size) {
    const char *at = member(json, name);
    size_t used = 0;
    for (at = at && *at == '"' ? at + 1 : ""; *at && *at != '"' && used + 1 < size; at++)
        if ((unsigned char)*at >= 32) to[used++] = *at;
    to[used] = 0;
}

static void print_time(double ns) {
    if (ns < 1e3)
        printf(" %6.0f ns", ns);
    else if (ns < 1e6)
        printf(" %6.2f us", ns / 1e3);
    else
        printf(" %6.2f ms", ns / 1e6);
}

static void print_ring(long process, const char *json) {
    char label[32], device[16], state[16];
    copy_string(json, "ring", label, sizeof label);
    copy_string(json, "device", device, sizeof device);
    copy_string(json, "state", state, sizeof state);
    const char *latency = strstr(json, "\"latency\": ");
    if (!latency) latency = "";
    printf("%8ld  %-16.16s %-9s %-8s %12.0f %10.0f %6.0f", process, label, device, state,
           number(json, "handled"), number(json, "per_second"), number(json, "depth"));
    print_time(number(latency, "p50_ns"));
    print_time(number(latency, "p99_ns"));
    print_time(number(latency, "max_ns"));
    printf(" %6.0f %6.0f\n", number(json, "dropped") + number(json, "lost"), number(json, "errors"));
}

/* The process that a file is of; 0: it is no such file, or the process is gone. */
static long process_of(const char *name) {
    char *end;
    const long process = strtol(name, &end, 10);
    const size_t length = strlen(name);
    if (process <= 0 || *end != '-' || length < 5 || strcmp(name + length - 5, ".json") != 0) return 0;
    return kill((pid_t)process, 0) == 0 || errno == EPERM ? process : 0;
}

static bool read_file(const char *folder, const char *name, char text[ROOM]) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    text[fread(text, 1, ROOM - 1, file)] = 0;
    fclose(file);
    return true;
}

/* How many rings there are; -1: the folder cannot be read. */
static int show(const char *folder) {
    static char text[ROOM];
    int count = 0;
    DIR *list = opendir(folder);
    if (!list) return -1;
    printf("%8s  %-16s %-9s %-8s %12s %10s %6s %9s %9s %9s %6s %6s\n", "process", "ring", "device", "state",
           "handled", "a second", "wait", "p50", "p99", "longest", "lost", "errors");
    for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
        const long process = process_of(entry->d_name);
        if (!process || !read_file(folder, entry->d_name, text)) continue;
        print_ring(process, text);
        count++;
    }
    closedir(list);
    return count;
}

static int watch(const char *folder, bool once) {
    const bool redraws = !once && isatty(STDOUT_FILENO);
    for (;;) {
        if (redraws) printf("\033[H\033[J");
        if (show(folder) < 0)
            return tool_fail(TOOL_RUN_FAILED, "the folder %s cannot be read: %s", folder, strerror(errno));
        fflush(stdout);
        if (once) return TOOL_OK;
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    }
}

static int run(int argc, char **argv) {
    const char *folder = getenv("QUERN_RINGS");
    bool once = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--once") == 0)
            once = true;
        else if (argv[i][0] == '-')
            return tool_fail(TOOL_USAGE, "unknown option '%s'", argv[i]);
        else
            folder = argv[i];
    }
    if (!folder || !*folder)
        return tool_fail(TOOL_USAGE, "give the folder that programs report to, or set $QUERN_RINGS for both");
    return watch(folder, once);
}

#else

static int run(int argc, char **argv) {
    (void)argc, (void)argv;
    return tool_fail(TOOL_RUN_FAILED, "rings of other processes cannot be seen on this system");
}

#endif

const tool_command tool_rings = {
    "rings", "show the rings of running programs",
    "usage: quern rings [--once] [FOLDER]\n\n"
    "Shows each second the rings of the programs that report to a folder, as all do that run "
    "with\n$QUERN_RINGS set to it: messages handled, how many wait, how long they took, what was "
    "lost.\n--once: one table, and the end. Without FOLDER that of $QUERN_RINGS.\n\n"
    "example: QUERN_RINGS=/tmp/rings ./server & quern rings /tmp/rings\n",
    run};
