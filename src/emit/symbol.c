/* Long names of kernels. OpenCL drivers name files and folders of their caches by them (PoCL aborts), and Vulkan's
   validation layer takes strings of 256 bytes at most. */
#include "emit/symbol.h"

#include <string.h>

#include "util/hash.h"

/* The beginning is kept, and a hash of the whole tells it apart. */
const char *qn__symbol_of(qn__arena *arena, const char *kernel) {
    enum { LONGEST = 100, KEPT = 64 };
    size_t length = strlen(kernel);
    if (length <= LONGEST) return kernel;
    return qn__arena_printf(arena, "%.*s_%016llx", KEPT, kernel,
                            (unsigned long long)qn__hash(kernel, length, 0));
}
