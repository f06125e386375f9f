/* Windows' files and clocks; see file.h. */
#include "util/file.h"

#ifdef _WIN32 /* tools that read all sources read nothing more elsewhere */
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/windows/windows.h"

enum { MOST_AT_ONCE = 1 << 30 }; /* bytes of one read or write */

int qn__windows_error(void) {
    switch (GetLastError()) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND: return ENOENT;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION: return EACCES;
    case ERROR_ALREADY_EXISTS:
    case ERROR_FILE_EXISTS: return EEXIST;
    case ERROR_NOT_ENOUGH_MEMORY: return ENOMEM;
    case ERROR_DISK_FULL: return ENOSPC;
    case ERROR_FILENAME_EXCED_RANGE: return ENAMETOOLONG;
    default: return EIO;
    }
}

static unsigned part(size_t size) { return size < MOST_AT_ONCE ? (unsigned)size : MOST_AT_ONCE; }

static int read_all(int fd, char *data, size_t size, size_t *got) {
    for (*got = 0; *got < size;) {
        const int n = _read(fd, data + *got, part(size - *got));
        if (n < 0) return errno;
        if (n == 0) break;
        *got += (size_t)n;
    }
    return 0;
}

int qn__file_read_open(const qn__allocator *allocator, int fd, size_t limit, char **data, size_t *size) {
    struct _stat64 info;
    if (_fstat64(fd, &info)) return errno;
    if ((info.st_mode & _S_IFMT) == _S_IFDIR) return EISDIR;
    if (info.st_size < 0 || (limit && (uint64_t)info.st_size > limit)) return EFBIG;
    char *memory = qn__allocate(allocator, (size_t)info.st_size + 1);
    if (!memory) return ENOMEM;
    const int error = read_all(fd, memory, (size_t)info.st_size, size);
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
    const int fd = _open(path, _O_RDONLY | _O_BINARY | _O_NOINHERIT);
    if (fd < 0) return errno;
    const int error = qn__file_read_open(allocator, fd, limit, data, size);
    _close(fd);
    return error;
}

int qn__file_write_open(int fd, const void *data, size_t size) {
    for (const char *at = data; size;) {
        const int n = _write(fd, at, part(size));
        if (n < 0) return errno;
        at += n;
        size -= (size_t)n;
    }
    return 0;
}

int qn__file_write_at(int fd, const void *data, size_t size, uint64_t at) {
    if (_lseeki64(fd, (int64_t)at, SEEK_SET) < 0) return errno;
    return qn__file_write_open(fd, data, size);
}

int qn__file_seize(const char *path, int *fd) {
    HANDLE handle =
        CreateFileA(path, GENERIC_WRITE, FILE_SHARE_READ, NULL, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, NULL);
    *fd = -1;
    if (handle == INVALID_HANDLE_VALUE)
        return GetLastError() == ERROR_SHARING_VIOLATION ? EWOULDBLOCK : qn__windows_error();
    *fd = _open_osfhandle((intptr_t)handle, _O_WRONLY | _O_BINARY | _O_NOINHERIT);
    if (*fd >= 0) return 0;
    CloseHandle(handle);
    return EMFILE;
}

void qn__file_close(int fd) { _close(fd); }

int qn__file_duplicate(int fd) {
    const int copy = _dup(fd);
    if (copy >= 0) qn__file_keep(copy);
    return copy;
}

bool qn__file_may_be_memory(int fd) { /* drivers share by handles here */
    (void)fd;
    return false;
}

void qn__file_keep(int fd) { (void)SetHandleInformation((HANDLE)_get_osfhandle(fd), HANDLE_FLAG_INHERIT, 0); }

/* A program has its user's rights here, whoever owns its file. */
bool qn__is_privileged(void) { return false; }

const char *qn__environment(const char *name) { return getenv(name); }

bool qn__find_program(const char *name, char *out, size_t out_size) {
    const char *path = getenv("PATH"), *end = strchr(name, '.') ? "" : ".exe";
    for (const char *at = path ? path : ""; *at;) {
        const size_t length = strcspn(at, ";");
        const int written = snprintf(out, out_size, "%.*s\\%s%s", (int)length, at, name, end);
        const DWORD found = GetFileAttributesA(out);
        if (length && written > 0 && (size_t)written < out_size && found != INVALID_FILE_ATTRIBUTES &&
            !(found & FILE_ATTRIBUTE_DIRECTORY))
            return true;
        at += length + (at[length] == ';');
    }
    return false;
}

uint64_t qn__now_ns(void) {
    LARGE_INTEGER count, frequency;
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&frequency);
    const uint64_t now = (uint64_t)count.QuadPart, rate = (uint64_t)frequency.QuadPart;
    return now / rate * 1000000000u + now % rate * 1000000000u / rate;
}

uint64_t qn__time_left(uint64_t start_ns, uint64_t timeout_ns) {
    if (timeout_ns == UINT64_MAX) return timeout_ns;
    const uint64_t passed = qn__now_ns() - start_ns;
    return passed < timeout_ns ? timeout_ns - passed : 0;
}
#endif
