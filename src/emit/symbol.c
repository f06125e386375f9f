/* Names of kernels that drivers do not take. OpenCL drivers name files and folders of their caches by them (PoCL aborts where they
   are long), Vulkan's validation layer takes strings of 256 bytes at most, and PTX and OpenCL C have ASCII alone, where WGSL has
   letters of all scripts. */
#include "emit/symbol.h"

#include <stdbool.h>
#include <string.h>

#include "util/hash.h"

static bool is_ascii(const char *name) {
    for (; *name; name++)
        if ((unsigned char)*name >= 0x80) return false;
    return true;
}

/* The beginning is kept, and a hash of the whole tells it apart. */
const char *qn__symbol_of(qn__arena *arena, const char *kernel) {
    enum { LONGEST = 100, KEPT = 64 };
    const size_t length = strlen(kernel);
    if (length <= LONGEST && is_ascii(kernel)) return kernel;
    char *symbol = qn__arena_printf(arena, "%.*s_%016llx", KEPT, kernel,
                                    (unsigned long long)qn__hash(kernel, length, 0));
    for (char *c = symbol; *c; c++)
        if ((unsigned char)*c >= 0x80) *c = '_';
    return symbol;
}
