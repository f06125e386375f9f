/* Files, paths and clocks: the little of POSIX that the library needs, with errors as errno values. */
#ifndef QN__FILE_H
#define QN__FILE_H

#include <stdbool.h>

#include "util/arena.h"

/* Reads a whole file (at most `limit` bytes; 0: any) into memory from the allocator, with a zero byte behind
   it. Returns 0 or an errno value; *data is the caller's to release. */
int qn__file_read(const qn__allocator *allocator, const char *path, size_t limit, char **data, size_t *size);
/* Writes to a temporary file beside `path` and renames it: readers see the old file or the whole new one. */
int qn__file_write_atomic(const char *path, const void *data, size_t size);
/* mkdir -p with mode 0700. */
int qn__dir_make(const char *path);
bool qn__file_exists(const char *path);
/* First executable called `name` on PATH, written to `out`. */
bool qn__find_program(const char *name, char *out, size_t out_size);
/* Monotonic clock. */
uint64_t qn__now_ns(void);
/* What is left of a time-out that began at `start_ns`; UINT64_MAX (QN_FOREVER) stays as it is. */
uint64_t qn__time_left(uint64_t start_ns, uint64_t timeout_ns);

#endif
