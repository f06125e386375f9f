/* system.h as POSIX has it. */
#ifndef _WIN32
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tensor/files/system.h"

void qn__system_text(int error, char *text, size_t size) {
    if (strerror_r(error, text, size) != 0) snprintf(text, size, "error %d", error);
}

/* An opened file of a size. 0 or an errno value. */
static int open_file(const char *path, int *fd, uint64_t *size) {
    struct stat info;
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0) return errno;
    int error = fstat(*fd, &info) ? errno : 0;
    if (!error && S_ISDIR(info.st_mode)) error = EISDIR;
    if (!error && !S_ISREG(info.st_mode)) error = ENODEV;
    if (error)
        close(*fd);
    else
        *size = (uint64_t)info.st_size;
    return error;
}

int qn__map_file(const char *path, qn__mapping *mapping) {
    int fd;
    *mapping = (qn__mapping){0};
    const int error = open_file(path, &fd, &mapping->size);
    if (error) return error;
    if (mapping->size > SIZE_MAX) {
        close(fd);
        return EFBIG;
    }
    void *bytes = mapping->size ? mmap(NULL, (size_t)mapping->size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    const int failed = bytes == MAP_FAILED ? errno : 0;
    close(fd);
    if (!failed) mapping->bytes = bytes;
    return failed;
}

void qn__unmap_file(qn__mapping *mapping) {
    if (mapping->bytes) munmap((void *)(uintptr_t)mapping->bytes, (size_t)mapping->size);
    *mapping = (qn__mapping){0};
}

int qn__read_file(const char *path, void *to, uint64_t *size) {
    int fd;
    uint64_t there, done = 0;
    int error = open_file(path, &fd, &there);
    if (error) return error;
    while (done < *size && !error) {
        const ssize_t n = read(fd, (char *)to + done, (size_t)(*size - done));
        if (n == 0) break;
        if (n > 0)
            done += (uint64_t)n;
        else if (errno != EINTR)
            error = errno;
    }
    close(fd);
    *size = done;
    return error;
}

int qn__output_open(qn__output *output, const char *path) {
    output->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return output->fd < 0 ? errno : 0;
}

int qn__output_write(qn__output *output, const void *data, uint64_t size) {
    const char *at = data;
    while (size) {
        const ssize_t n = write(output->fd, at, size < 1u << 30 ? (size_t)size : 1u << 30);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? errno : ENOSPC;
        at += n;
        size -= (uint64_t)n;
    }
    return 0;
}

int qn__output_patch(qn__output *output, const void *data, uint32_t size, uint64_t at) {
    const ssize_t n = pwrite(output->fd, data, size, (off_t)at);
    return n == (ssize_t)size ? 0 : n < 0 ? errno : EIO;
}

int qn__output_finish(qn__output *output) {
    const int error = fsync(output->fd) && errno != EINVAL && errno != EROFS ? errno : 0;
    const int closed = close(output->fd) ? errno : 0;
    output->fd = -1;
    return error ? error : closed;
}

int qn__output_rename(const char *from, const char *to) { return rename(from, to) ? errno : 0; }

void qn__output_drop(qn__output *output, const char *path) {
    if (output->fd >= 0) close(output->fd);
    output->fd = -1;
    unlink(path);
}

bool qn__decimals_begin(qn__decimals *numbers) {
    numbers->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!numbers->locale) return false;
    numbers->before = uselocale((locale_t)numbers->locale);
    return true;
}

double qn__decimal_of(const qn__decimals *numbers, const char *text) {
    (void)numbers; /* the thread's locale */
    return strtod(text, NULL);
}

void qn__decimals_end(qn__decimals *numbers) {
    uselocale((locale_t)numbers->before);
    freelocale((locale_t)numbers->locale);
}
#else
typedef int qn__system_is_windows;
#endif
