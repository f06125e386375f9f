/* Folders of this user alone; see folder.h. */
#include "util/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"
#include "util/posix/owner.h"

enum { OPEN_FOLDER = O_RDONLY | O_DIRECTORY | O_CLOEXEC };

static bool is_own(const struct stat *info) {
    return info->st_uid == geteuid() && (info->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Whoever owns the root folder can do anything anyway. In a container that may be no user of its own. */
bool qn__folder_owner_is_trusted(uid_t owner) {
    struct stat root;
    return owner == geteuid() || owner == 0 || (stat("/", &root) == 0 && owner == root.st_uid);
}

/* ---- folders ---- */

/* Copies a path without the slashes at its end, behind which a link would be followed. */
static int copy_path(const char *path, char copy[PATH_MAX]) {
    size_t length = strlen(path);
    if (length == 0) return ENOENT;
    if (length >= PATH_MAX) return ENAMETOOLONG;
    while (length > 1 && path[length - 1] == '/') length--;
    memcpy(copy, path, length);
    copy[length] = 0;
    return 0;
}

/* Length of the path's part in front of its last name; 0: the name alone is left. */
static size_t parent_length(const char *path, size_t length) {
    while (length && path[length - 1] != '/') length--;
    while (length > 1 && path[length - 1] == '/') length--;
    return length;
}

/* Opens the longest part of the path that is there; *length is where that ends. */
static int open_ancestor(const char *path, size_t *length) {
    char part[PATH_MAX];
    size_t end = strlen(path);
    int folder = -1;
    do {
        end = parent_length(path, end);
        memcpy(part, path, end);
        part[end] = 0;
        folder = open(end ? part : ".", OPEN_FOLDER);
    } while (folder < 0 && errno == ENOENT && end > 1);
    *length = end;
    return folder;
}

/* Makes `name` in a folder, which it closes, and opens it. Returns a descriptor, or -1 with errno. */
static int make_in(int folder, const char *name) {
    struct stat info;
    int made = -1, error = EPERM;
    if (fstat(folder, &info))
        error = errno;
    else if (qn__folder_owner_is_trusted(info.st_uid)) {
        if (mkdirat(folder, name, S_IRWXU) == 0 || errno == EEXIST)
            made = openat(folder, name, OPEN_FOLDER | O_NOFOLLOW);
        error = errno;
    }
    close(folder);
    errno = error;
    return made;
}

/* Makes what is missing of the path. Returns a descriptor, or -1 with errno. */
static int make_path(char *path) {
    size_t at;
    int folder = open_ancestor(path, &at);
    while (folder >= 0 && path[at]) {
        at += strspn(path + at, "/");
        const size_t length = strcspn(path + at, "/");
        const char end = path[at + length];
        path[at + length] = 0;
        folder = make_in(folder, path + at);
        at += length;
        path[at] = end;
    }
    return folder;
}

int qn__folder_open(const char *path, bool make, int *folder) {
    char copy[PATH_MAX];
    struct stat info;
    int error = copy_path(path, copy);
    if (error) return error;
    *folder = open(copy, OPEN_FOLDER | O_NOFOLLOW);
    if (*folder < 0 && errno == ENOENT && make) *folder = make_path(copy);
    if (*folder < 0) return errno;
    error = fstat(*folder, &info) ? errno : is_own(&info) ? 0 : EPERM;
    if (error) close(*folder);
    return error;
}

void qn__folder_explain(const char *path, int error, char *text, size_t size) {
    struct stat info;
    char copy[PATH_MAX];
    const bool seen = copy_path(path, copy) == 0 && lstat(copy, &info) == 0;
    if (seen && S_ISLNK(info.st_mode))
        snprintf(text, size, "%.300s is a symbolic link", path);
    else if (seen && S_ISDIR(info.st_mode) && info.st_uid != geteuid())
        snprintf(text, size, "%.300s belongs to user %ld, not to user %ld", path, (long)info.st_uid,
                 (long)geteuid());
    else if (seen && S_ISDIR(info.st_mode) && !is_own(&info))
        snprintf(text, size, "%.300s can be changed by other users: chmod go-w makes it private", path);
    else if (error == EPERM)
        snprintf(text, size, "%.300s would lie in another user's folder", path);
    else
        snprintf(text, size, "%.300s: %s", path, strerror(error));
}

int qn__folder_of(const char *path, int *folder, const char **name) {
    char parent[PATH_MAX];
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    const size_t length = slash ? (size_t)(slash - path) : 0;
    if (length >= sizeof parent) return ENAMETOOLONG;
    memcpy(parent, path, length);
    parent[length] = 0;
    return qn__folder_open(length ? parent : slash ? "/" : ".", false, folder);
}

void qn__folder_close(int folder) { close(folder); }

/* ---- files in them ---- */

int qn__folder_each(int folder, bool (*visit)(void *user, int folder, const qn__folder_entry *entry),
                    void *user) {
    const int copy = openat(folder, ".", OPEN_FOLDER);
    DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
    if (!dir) {
        const int error = errno;
        if (copy >= 0) close(copy);
        return error;
    }
    bool go_on = true;
    for (struct dirent *entry; go_on && (entry = readdir(dir));) {
        struct stat info;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (fstatat(folder, entry->d_name, &info, AT_SYMLINK_NOFOLLOW)) continue;
        go_on =
            visit(user, folder, &(qn__folder_entry){entry->d_name, info.st_mtime, (uint64_t)info.st_size});
    }
    closedir(dir);
    return 0;
}

int qn__folder_unlink(int folder, const char *name) { return unlinkat(folder, name, 0) ? errno : 0; }

/* It ends in the file's name, as the loader takes equal paths for equal libraries. */
void qn__folder_loadable(int folder, const char *name, bool shared, char *path, size_t size) {
    char self[24] = "self";
    if (shared) snprintf(self, sizeof self, "%ld", (long)getpid());
    snprintf(path, size, "/proc/%s/fd/%d/%s", self, folder, name);
}

int qn__folder_file(int folder, const char *name, int *file) {
    struct stat info;
    *file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (*file < 0) return errno;
    const int error = fstat(*file, &info) ? errno : S_ISREG(info.st_mode) && is_own(&info) ? 0 : EPERM;
    if (error) close(*file);
    return error;
}

int qn__folder_write(int folder, const char *name, const void *data, size_t size) {
    enum { TRIES = 100 };
    char temporary[NAME_MAX + 1];
    int file = -1;
    for (int i = 0; i < TRIES && file < 0; i++) {
        const unsigned unique = (unsigned)(qn__now_ns() ^ (uint64_t)getpid() << 8) & 0xffffff;
        const int length = snprintf(temporary, sizeof temporary, "%s.%06x", name, unique);
        if (length < 0 || (size_t)length >= sizeof temporary) return ENAMETOOLONG;
        file = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                      S_IRUSR | S_IWUSR);
        if (file < 0 && errno != EEXIST) return errno;
    }
    if (file < 0) return EEXIST;
    int error = qn__file_write_open(file, data, size);
    if (close(file) && !error) error = errno;
    if (!error && renameat(folder, temporary, folder, name)) error = errno;
    if (error) unlinkat(folder, temporary, 0);
    return error;
}

int qn__private_open(const char *path, int *file) {
    int folder;
    const char *name;
    int error = qn__folder_of(path, &folder, &name);
    if (error) return error;
    error = qn__folder_file(folder, name, file);
    close(folder);
    return error;
}

int qn__private_touch(const char *path) {
    int file;
    const int error = qn__private_open(path, &file);
    if (error) return error;
    (void)futimens(file, NULL);
    close(file);
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
    close(file);
    return error;
}

int qn__private_write(const char *path, const void *data, size_t size) {
    int folder;
    const char *name;
    int error = qn__folder_of(path, &folder, &name);
    if (error) return error;
    error = qn__folder_write(folder, name, data, size);
    close(folder);
    return error;
}
