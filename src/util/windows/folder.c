/* Folders of this user alone, as Windows has them; see folder.h. A folder's descriptor holds its handle; what is in it is
   reached by the path that the handle has now. */
#include "util/folder.h"

#ifdef _WIN32 /* tools that read all sources read nothing more elsewhere */
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "util/file.h"
#include "util/windows/private.h"

#define SLASHES "/\\"

enum { SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

bool qn__windows_path(HANDLE handle, char *out, size_t size) {
    static const char prefix[] = "\\\\?\\", network[] = "\\\\?\\UNC\\";
    const DWORD length = GetFinalPathNameByHandleA(handle, out, (DWORD)size, FILE_NAME_NORMALIZED);
    if (length == 0 || length >= size) return false;
    if (strncmp(out, network, sizeof network - 1) != 0 && strncmp(out, prefix, sizeof prefix - 1) == 0)
        memmove(out, out + sizeof prefix - 1, length - (sizeof prefix - 1) + 1);
    return true;
}

static HANDLE handle_of(int descriptor) { return (HANDLE)_get_osfhandle(descriptor); }

/* The path of `name` in a folder. Returns 0 or an errno value. */
static int path_in(int folder, const char *name, char path[PATH_MAX]) {
    if (strpbrk(name, SLASHES)) return EINVAL;
    if (!qn__windows_path(handle_of(folder), path, PATH_MAX)) return EIO;
    const size_t length = strlen(path);
    const int added = snprintf(path + length, PATH_MAX - length, "\\%s", name);
    return added > 0 && (size_t)added < PATH_MAX - length ? 0 : ENAMETOOLONG;
}

/* A descriptor of what is opened, a folder or a file as is wanted, of this user alone. Returns 0 or an errno value. */
static int take(HANDLE handle, bool folder, int *descriptor) {
    BY_HANDLE_FILE_INFORMATION info;
    int error = 0;
    if (handle == INVALID_HANDLE_VALUE) return qn__windows_error();
    if (!GetFileInformationByHandle(handle, &info))
        error = qn__windows_error();
    else if (info.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT)
        error = ELOOP;
    else if (!(info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) == folder)
        error = folder ? ENOTDIR : EPERM;
    else if (!qn__windows_is_private(handle))
        error = EPERM;
    *descriptor = error ? -1 : _open_osfhandle((intptr_t)handle, _O_RDONLY | _O_BINARY | _O_NOINHERIT);
    if (*descriptor >= 0) return 0;
    CloseHandle(handle);
    return error ? error : EMFILE;
}

/* ---- folders ---- */

/* Makes what is missing of the path; what cannot be made is seen when it is opened. */
static void make_path(const char *path) {
    char part[PATH_MAX];
    const size_t length = strlen(path);
    for (size_t i = 1; i <= length && length < sizeof part; i++) {
        if (path[i] && !strchr(SLASHES, path[i])) continue;
        memcpy(part, path, i);
        part[i] = 0;
        (void)CreateDirectoryA(part, NULL);
    }
}

static int open_folder(const char *path, int *folder) {
    return take(CreateFileA(path, FILE_LIST_DIRECTORY | FILE_READ_ATTRIBUTES | READ_CONTROL, SHARE_ALL, NULL,
                            OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL),
                true, folder);
}

int qn__folder_open(const char *path, bool make, int *folder) {
    if (!path[0]) return ENOENT;
    int error = open_folder(path, folder);
    if (error != ENOENT || !make) return error;
    make_path(path);
    return open_folder(path, folder);
}

void qn__folder_explain(const char *path, int error, char *text, size_t size) {
    const DWORD attributes = GetFileAttributesA(path);
    if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_REPARSE_POINT))
        snprintf(text, size, "%.300s is a link", path);
    else if (error == EPERM)
        snprintf(text, size, "%.300s belongs to another user, or others can change it", path);
    else
        snprintf(text, size, "%.300s: %s", path, strerror(error));
}

int qn__folder_of(const char *path, int *folder, const char **name) {
    char parent[PATH_MAX];
    size_t length = strlen(path);
    while (length && !strchr(SLASHES, path[length - 1])) length--;
    *name = path + length;
    if (length >= sizeof parent) return ENAMETOOLONG;
    memcpy(parent, path, length);
    parent[length] = 0;
    return qn__folder_open(length ? parent : ".", false, folder);
}

void qn__folder_close(int folder) { _close(folder); }

/* ---- files in them ---- */

static int64_t seconds_of(FILETIME time) {
    const uint64_t ticks =
        (uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime; /* of 100 ns, since 1601 */
    return (int64_t)(ticks / 10000000u) - 11644473600;
}

int qn__folder_each(int folder, bool (*visit)(void *user, int folder, const qn__folder_entry *entry),
                    void *user) {
    char path[PATH_MAX];
    WIN32_FIND_DATAA found;
    const int error = path_in(folder, "*", path);
    if (error) return error;
    HANDLE search = FindFirstFileA(path, &found);
    if (search == INVALID_HANDLE_VALUE) return qn__windows_error();
    bool go_on = true;
    do {
        if (strcmp(found.cFileName, ".") == 0 || strcmp(found.cFileName, "..") == 0) continue;
        go_on = visit(user, folder,
                      &(qn__folder_entry){found.cFileName, seconds_of(found.ftLastWriteTime),
                                          (uint64_t)found.nFileSizeHigh << 32 | found.nFileSizeLow});
    } while (go_on && FindNextFileA(search, &found));
    FindClose(search);
    return 0;
}

int qn__folder_unlink(int folder, const char *name) {
    char path[PATH_MAX];
    const int error = path_in(folder, name, path);
    if (error) return error;
    return DeleteFileA(path) ? 0 : qn__windows_error();
}

void qn__folder_loadable(int folder, const char *name, bool shared, char *path, size_t size) {
    char whole[PATH_MAX];
    (void)shared;
    snprintf(path, size, "%s", path_in(folder, name, whole) == 0 ? whole : name);
}

static int open_file(int folder, const char *name, DWORD access, int *file) {
    char path[PATH_MAX];
    *file = -1;
    const int error = path_in(folder, name, path);
    if (error) return error;
    return take(CreateFileA(path, access | READ_CONTROL, SHARE_ALL, NULL, OPEN_EXISTING,
                            FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL),
                false, file);
}

int qn__folder_file(int folder, const char *name, int *file) {
    return open_file(folder, name, GENERIC_READ, file);
}

/* A file under a name that is not taken yet. */
static int make_file(int folder, const char *name, char path[PATH_MAX], int *file) {
    enum { TRIES = 100 };
    char temporary[PATH_MAX];
    *file = -1;
    for (int i = 0; i < TRIES && *file < 0; i++) {
        const unsigned unique = (unsigned)(qn__now_ns() ^ (uint64_t)GetCurrentProcessId() << 8) & 0xffffff;
        const int length = snprintf(temporary, sizeof temporary, "%s.%06x", name, unique);
        if (length < 0 || (size_t)length >= sizeof temporary) return ENAMETOOLONG;
        const int error = path_in(folder, temporary, path);
        if (error) return error;
        *file = _open(path, _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
        if (*file < 0 && errno != EEXIST) return errno;
    }
    return *file < 0 ? EEXIST : 0;
}

int qn__folder_write(int folder, const char *name, const void *data, size_t size) {
    char temporary[PATH_MAX], path[PATH_MAX];
    int file;
    int error = path_in(folder, name, path);
    if (!error) error = make_file(folder, name, temporary, &file);
    if (error) return error;
    error = qn__file_write_open(file, data, size);
    if (_close(file) && !error) error = errno;
    if (!error && !MoveFileExA(temporary, path, MOVEFILE_REPLACE_EXISTING)) error = qn__windows_error();
    if (error) (void)DeleteFileA(temporary);
    return error;
}

/* ---- the same for paths ---- */

static int open_private(const char *path, DWORD access, int *file) {
    int folder;
    const char *name;
    int error = qn__folder_of(path, &folder, &name);
    if (error) return error;
    error = open_file(folder, name, access, file);
    qn__folder_close(folder);
    return error;
}

int qn__private_open(const char *path, int *file) { return open_private(path, GENERIC_READ, file); }

int qn__private_touch(const char *path) {
    int file;
    FILETIME now;
    const int error = open_private(path, FILE_WRITE_ATTRIBUTES | FILE_READ_ATTRIBUTES, &file);
    if (error) return error;
    GetSystemTimeAsFileTime(&now);
    (void)SetFileTime(handle_of(file), NULL, NULL, &now);
    _close(file);
    return 0;
}

int qn__private_read(const qn__allocator *allocator, const char *path, size_t limit, char **data,
                     size_t *size) {
    int file;
    *data = NULL;
    *size = 0;
    int error = qn__private_open(path, &file);
    if (error) return error;
    error = qn__file_read_open(allocator, file, limit, data, size);
    _close(file);
    return error;
}

int qn__private_write(const char *path, const void *data, size_t size) {
    int folder;
    const char *name;
    int error = qn__folder_of(path, &folder, &name);
    if (error) return error;
    error = qn__folder_write(folder, name, data, size);
    qn__folder_close(folder);
    return error;
}
#endif
