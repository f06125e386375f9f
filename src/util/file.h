/* Files, paths and clocks: the little of POSIX that the library needs, with errors as errno values. */
#ifndef QN__FILE_H
#define QN__FILE_H

#include <stdbool.h>

#include "util/arena.h"

/* Reads a whole file (at most `limit` bytes; 0: any) into memory from the allocator, with a zero byte behind
   it. Returns 0 or an errno value; *data is the caller's to release. */
int qn__file_read(const qn__allocator *allocator, const char *path, size_t limit, char **data, size_t *size);
/* The same for an opened file, which stays open; and all of `data` is written to one. */
int qn__file_read_open(const qn__allocator *allocator, int fd, size_t limit, char **data, size_t *size);
int qn__file_write_open(int fd, const void *data, size_t size);
void qn__file_close(int fd);
/* Another descriptor of the same, that programs started from now on do not get; -1 with errno. */
int qn__file_duplicate(int fd);
/* False for what cannot be a GPU driver's memory: folders, pipes, sockets, disks, /dev/null and its like. */
bool qn__file_may_be_memory(int fd);
/* Programs started from now on do not get it. */
void qn__file_keep(int fd);
/* The same from a place on, whatever the file is at. */
int qn__file_write_at(int fd, const void *data, size_t size, uint64_t at);
/* Makes a file, or empties the one that is there, and keeps others from it until it is closed. Returns 0 or an errno
   value: EWOULDBLOCK when somebody has seized it already, in this process or another. */
int qn__file_seize(const char *path, int *fd);
/* Whether the process has rights that whoever started it has not (set-user-ID, capabilities of its file). */
bool qn__is_privileged(void);
/* A variable of the environment; NULL also in a privileged process, whose user must not choose the code that it runs. */
const char *qn__environment(const char *name);
/* First executable called `name` on PATH (a privileged process: in /usr/bin and /bin), written to `out`. */
bool qn__find_program(const char *name, char *out, size_t out_size);
/* Monotonic clock. */
uint64_t qn__now_ns(void);
/* What is left of a time-out that began at `start_ns`; UINT64_MAX (QN_FOREVER) stays as it is. */
uint64_t qn__time_left(uint64_t start_ns, uint64_t timeout_ns);

#endif
