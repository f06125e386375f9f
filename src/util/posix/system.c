/* The machine and the user as POSIX has them; see system.h. */
#define _DEFAULT_SOURCE /* syscall */
#include "util/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif
#include <unistd.h>

#include "util/file.h"

unsigned qn__processors(void) {
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

uint64_t qn__machine_memory(void) {
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : (uint64_t)1 << 30;
}

bool qn__default_cache_folder(char *out, size_t size) {
    const char *xdg = qn__environment("XDG_CACHE_HOME"), *home = qn__environment("HOME");
    int length;
    if (xdg && xdg[0] == '/')
        length = snprintf(out, size, "%s/quern", xdg);
    else if (home && home[0] == '/')
        length = snprintf(out, size, "%s/.cache/quern", home);
    else
        length = snprintf(out, size, "/tmp/quern-%ld", (long)geteuid());
    return length > 0 && (size_t)length < size;
}

bool qn__program_identify(const char *path, qn__program *program) {
    struct stat info;
    if (!realpath(path, program->path) || stat(program->path, &info)) return false;
    program->size = info.st_size;
    program->time = info.st_mtime;
    return true;
}

bool qn__compiles_for_itself(void) { return true; }

bool qn__is_program(const char *path) { return access(path, X_OK) == 0; }

bool qn__allow_tile_registers(void) {
#if defined(__linux__) && defined(__x86_64__) && defined(SYS_arch_prctl)
    enum {
        REQUEST_PERMISSION = 0x1023,
        TILE_DATA = 18
    }; /* ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA; asm/prctl.h */
    return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
#else
    return false;
#endif
}
