/* What a program that runs one kernel has in its memory: examples/saxpy.c, and then a look at the process. For tests/library/alone.sh. */
#define main saxpy
#include "../../examples/saxpy.c"
#undef main
#include <string.h>

/* Prints the libraries of quern's that are mapped, once each, and the most memory that was resident. */
static int look(const char *path, const char *begin, const char *end) {
    char line[512], before[512] = "";
    FILE *file = fopen(path, "r");
    if (!file) return 1;
    while (fgets(line, sizeof line, file)) {
        char *at = strstr(line, begin);
        if (!at || !strstr(at, end)) continue;
        at[strcspn(at, "\n")] = 0;
        if (strcmp(at, before) != 0) puts(at);
        strcpy(before, at);
    }
    fclose(file);
    return 0;
}

int main(void) {
    const int failed = saxpy();
    return failed || look("/proc/self/maps", "libquern", ".so") || look("/proc/self/status", "VmHWM", "kB");
}
