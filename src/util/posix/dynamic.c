/* Shared libraries by POSIX's dlopen; see dynamic.h. */
#include "util/dynamic.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void *qn__dynamic_open(const char *path, bool stays, bool *missing, char *why, size_t size) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | (stays ? RTLD_NODELETE : 0));
    if (library) return library;
    const char *error = dlerror();
    if (missing) *missing = error && strstr(error, "No such file");
    snprintf(why, size, "%s", error ? error : "");
    return NULL;
}

void *qn__dynamic_symbol(void *library, const char *name) { return dlsym(library, name); }

void qn__dynamic_close(void *library) { dlclose(library); }
