/* system.h as Windows has it. */
#ifdef _WIN32
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <windows.h>

#include "tensor/files/system.h"

void qn__system_text(int error, char *text, size_t size) { snprintf(text, size, "%s", strerror(error)); }

static int last_error(void) {
    switch (GetLastError()) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND: return ENOENT;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION: return EACCES;
    case ERROR_NOT_ENOUGH_MEMORY: return ENOMEM;
    default: return EIO;
    }
}

int qn__map_file(const char *path, qn__mapping *mapping) {
    *mapping = (qn__mapping){0};
    HANDLE file = CreateFileA(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                              FILE_ATTRIBUTE_NORMAL, NULL);
    if (file == INVALID_HANDLE_VALUE) return last_error();
    LARGE_INTEGER size;
    int error = GetFileSizeEx(file, &size) ? 0 : last_error();
    if (!error && size.QuadPart > 0) {
        HANDLE section = CreateFileMappingA(file, NULL, PAGE_READONLY, 0, 0, NULL);
        mapping->bytes = section ? MapViewOfFile(section, FILE_MAP_READ, 0, 0, 0) : NULL;
        if (!mapping->bytes) error = last_error();
        if (section) CloseHandle(section);
        mapping->size = error ? 0 : (uint64_t)size.QuadPart;
    }
    CloseHandle(file);
    return error;
}

void qn__unmap_file(qn__mapping *mapping) {
    if (mapping->bytes) UnmapViewOfFile(mapping->bytes);
    *mapping = (qn__mapping){0};
}

int qn__read_file(const char *path, void *to, uint64_t *size) {
    const int fd = _open(path, _O_RDONLY | _O_BINARY | _O_NOINHERIT);
    if (fd < 0) return errno;
    uint64_t done = 0;
    int n = 1;
    while (done < *size && n > 0) {
        const uint64_t left = *size - done;
        n = _read(fd, (char *)to + done, left < 1u << 30 ? (unsigned)left : 1u << 30);
        if (n > 0) done += (uint64_t)n;
    }
    const int error = n < 0 ? errno : 0;
    _close(fd);
    *size = done;
    return error;
}

int qn__output_open(qn__output *output, const char *path) {
    output->fd =
        _open(path, _O_WRONLY | _O_CREAT | _O_TRUNC | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
    return output->fd < 0 ? errno : 0;
}

int qn__output_write(qn__output *output, const void *data, uint64_t size) {
    const char *at = data;
    while (size) {
        const int n = _write(output->fd, at, size < 1u << 30 ? (unsigned)size : 1u << 30);
        if (n <= 0) return n < 0 ? errno : ENOSPC;
        at += n;
        size -= (uint64_t)n;
    }
    return 0;
}

int qn__output_patch(qn__output *output, const void *data, uint32_t size, uint64_t at) {
    if (_lseeki64(output->fd, (int64_t)at, SEEK_SET) < 0) return errno;
    const int error = qn__output_write(output, data, size);
    return _lseeki64(output->fd, 0, SEEK_END) < 0 ? errno : error;
}

int qn__output_finish(qn__output *output) {
    const int error = _commit(output->fd) ? errno : 0;
    const int closed = _close(output->fd) ? errno : 0;
    output->fd = -1;
    return error ? error : closed;
}

int qn__output_rename(const char *from, const char *to) {
    return MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING) ? 0 : last_error();
}

void qn__output_drop(qn__output *output, const char *path) {
    if (output->fd >= 0) _close(output->fd);
    output->fd = -1;
    remove(path);
}

bool qn__decimals_begin(qn__decimals *numbers) {
    numbers->locale = _create_locale(LC_ALL, "C");
    return numbers->locale != NULL;
}

double qn__decimal_of(const qn__decimals *numbers, const char *text) {
    return _strtod_l(text, NULL, (_locale_t)numbers->locale);
}

void qn__decimals_end(qn__decimals *numbers) { _free_locale((_locale_t)numbers->locale); }
#else
typedef int qn__system_is_posix;
#endif
