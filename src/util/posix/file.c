/* POSIX files and clocks; see file.h. */
#include "util/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

static int read_all(int fd, char *data, size_t size, size_t *got) {
    for (*got = 0; *got < size;) {
        ssize_t n = read(fd, data + *got, size - *got);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        if (n == 0) break;
        *got += (size_t)n;
    }
    return 0;
}

int qn__file_read_open(const qn__allocator *allocator, int fd, size_t limit, char **data, size_t *size) {
    struct stat info;
    if (fstat(fd, &info)) return errno;
    if (S_ISDIR(info.st_mode)) return EISDIR;
    if (info.st_size < 0 || (limit && (uint64_t)info.st_size > limit)) return EFBIG;
    char *memory = qn__allocate(allocator, (size_t)info.st_size + 1);
    if (!memory) return ENOMEM;
    int error = read_all(fd, memory, (size_t)info.st_size, size);
    if (error) {
        qn__release(allocator, memory);
        return error;
    }
    memory[*size] = 0;
    *data = memory;
    return 0;
}

int qn__file_read(const qn__allocator *allocator, const char *path, size_t limit, char **data, size_t *size) {
    *data = NULL;
    *size = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return errno;
    int error = qn__file_read_open(allocator, fd, limit, data, size);
    close(fd);
    return error;
}

int qn__file_write_open(int fd, const void *data, size_t size) {
    for (const char *at = data; size;) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        at += n;
        size -= (size_t)n;
    }
    return 0;
}

int qn__file_write_at(int fd, const void *data, size_t size, uint64_t at) {
    for (const char *text = data; size;) {
        const ssize_t n = pwrite(fd, text, size, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        text += n;
        size -= (size_t)n;
        at += (uint64_t)n;
    }
    return 0;
}

int qn__file_seize(const char *path, int *fd) {
    *fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (*fd < 0) return errno;
    const int error = flock(*fd, LOCK_EX | LOCK_NB) || ftruncate(*fd, 0) ? errno : 0;
    if (!error) return 0;
    close(*fd);
    *fd = -1;
    return error;
}

void qn__file_close(int fd) { close(fd); }

int qn__file_duplicate(int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, 0); }

bool qn__file_may_be_memory(int fd) {
    enum { MEMORY_DEVICES = 1 }; /* Linux, Documentation/admin-guide/devices.txt */
    struct stat info;
    if (fstat(fd, &info)) return false;
    const mode_t mode = info.st_mode;
    return !S_ISDIR(mode) && !S_ISFIFO(mode) && !S_ISSOCK(mode) && !S_ISBLK(mode) &&
           !(S_ISCHR(mode) && major(info.st_rdev) == MEMORY_DEVICES);
}

void qn__file_keep(int fd) { (void)fcntl(fd, F_SETFD, FD_CLOEXEC); }

bool qn__is_privileged(void) {
    return getauxval(AT_SECURE) != 0 || geteuid() != getuid() || getegid() != getgid();
}

const char *qn__environment(const char *name) { return qn__is_privileged() ? NULL : getenv(name); }

bool qn__find_program(const char *name, char *out, size_t out_size) {
    const char *path = qn__environment("PATH");
    for (const char *at = path ? path : "/usr/bin:/bin"; *at;) {
        size_t length = strcspn(at, ":");
        int written = snprintf(out, out_size, "%.*s/%s", (int)length, at, name);
        struct stat info;
        if (length && written > 0 && (size_t)written < out_size && access(out, X_OK) == 0 &&
            stat(out, &info) == 0 && S_ISREG(info.st_mode))
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

uint64_t qn__now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t qn__time_left(uint64_t start_ns, uint64_t timeout_ns) {
    if (timeout_ns == UINT64_MAX) return timeout_ns;
    const uint64_t passed = qn__now_ns() - start_ns;
    return passed < timeout_ns ? timeout_ns - passed : 0;
}
