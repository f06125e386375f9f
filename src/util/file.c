/* POSIX files and clocks; see file.h. */
#include "util/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

static int read_open(const qn__allocator *allocator, int fd, size_t limit, char **data, size_t *size) {
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
    int error = read_open(allocator, fd, limit, data, size);
    close(fd);
    return error;
}

static int write_all(int fd, const char *data, size_t size) {
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        data += n;
        size -= (size_t)n;
    }
    return 0;
}

int qn__file_write_atomic(const char *path, const void *data, size_t size) {
    char temporary[PATH_MAX];
    int length = snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    if (length < 0 || (size_t)length >= sizeof temporary) return ENAMETOOLONG;
    int fd = mkstemp(temporary);
    if (fd < 0) return errno;
    int error = write_all(fd, data, size);
    if (close(fd) && !error) error = errno;
    if (!error && rename(temporary, path)) error = errno;
    if (error) unlink(temporary);
    return error;
}

int qn__dir_make(const char *path) {
    char prefix[PATH_MAX];
    size_t length = strlen(path);
    if (length == 0) return ENOENT;
    if (length >= sizeof prefix) return ENAMETOOLONG;
    memcpy(prefix, path, length + 1);
    for (size_t i = 1; i <= length; i++) {
        if (prefix[i] != '/' && prefix[i] != 0) continue;
        char kept = prefix[i];
        prefix[i] = 0;
        if (mkdir(prefix, 0700) && errno != EEXIST) return errno;
        prefix[i] = kept;
    }
    struct stat info;
    if (stat(path, &info)) return errno;
    return S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
}

bool qn__file_exists(const char *path) { return access(path, F_OK) == 0; }

bool qn__find_program(const char *name, char *out, size_t out_size) {
    const char *path = getenv("PATH");
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
