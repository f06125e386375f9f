/* Folders for the files of one task; see folder.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/file.h"
#include "util/folder.h"
#include "util/posix/owner.h"

/* A folder younger than this many seconds may be one whose process has not locked it yet. */
enum { SWEEP_AFTER = 60 };

#define NAME_START "quern-work-"
static const char usual_base[] = "/tmp";

/* Only this user, root and who may rename in a sticky folder (the owner) can change what a name in it means. */
static bool is_safe_folder(const char *path) {
    struct stat info;
    if (lstat(path, &info) || !S_ISDIR(info.st_mode)) return false;
    return qn__folder_owner_is_trusted(info.st_uid) &&
           ((info.st_mode & (S_IWGRP | S_IWOTH)) == 0 || (info.st_mode & S_ISVTX));
}

/* Resolves links; true when each folder from the root on is safe. */
static bool resolve_base(const char *path, char base[PATH_MAX]) {
    char part[PATH_MAX];
    if (path[0] != '/' || !realpath(path, base)) return false;
    for (size_t i = 0; base[i]; i++) {
        if (i && base[i] != '/') continue;
        memcpy(part, base, i);
        strcpy(part + i, i ? "" : "/");
        if (!is_safe_folder(part)) return false;
    }
    return is_safe_folder(base);
}

/* Opens a folder and locks it; -1 when another process has it. */
static int lock_folder(int parent, const char *name) {
    struct stat info;
    const int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return -1;
    if (fstat(folder, &info) == 0 && info.st_uid == geteuid() && flock(folder, LOCK_EX | LOCK_NB) == 0)
        return folder;
    close(folder);
    return -1;
}

static int make_in(qn__work_folder *work, const char *base) {
    enum { TRIES = 10 };
    for (int i = 0; i < TRIES; i++) {
        const int length = snprintf(work->path, sizeof work->path, "%s/" NAME_START "XXXXXX", base);
        if (length < 0 || (size_t)length >= sizeof work->path) return ENAMETOOLONG;
        if (!mkdtemp(work->path)) return errno;
        work->folder = lock_folder(AT_FDCWD, work->path);
        if (work->folder >= 0) return 0;
    }
    return EBUSY;
}

int qn__work_folder_make(qn__work_folder *work, bool *ignored) {
    char base[PATH_MAX];
    const char *wanted = qn__environment("TMPDIR");
    *work = (qn__work_folder){.folder = -1};
    if (ignored) *ignored = false;
    if (wanted && wanted[0]) {
        if (resolve_base(wanted, base) && make_in(work, base) == 0) return 0;
        if (ignored) *ignored = true;
    }
    return resolve_base(usual_base, base) ? make_in(work, base) : EPERM;
}

static bool remove_file(void *user, int folder, const qn__folder_entry *entry) {
    (void)user;
    (void)qn__folder_unlink(folder, entry->name);
    return true;
}

/* The files of a folder, which has no folders in it. */
static void remove_files(int folder) { (void)qn__folder_each(folder, remove_file, NULL); }

void qn__work_folder_remove(qn__work_folder *work) {
    if (work->folder < 0) return;
    remove_files(work->folder);
    rmdir(work->path);
    close(work->folder);
    work->folder = -1;
}

static bool is_left(int base, const char *name) {
    struct stat info;
    if (strncmp(name, NAME_START, sizeof NAME_START - 1) != 0) return false;
    if (fstatat(base, name, &info, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(info.st_mode)) return false;
    return info.st_uid == geteuid() && info.st_mtime + SWEEP_AFTER < time(NULL);
}

void qn__work_folder_sweep(const qn__work_folder *work) {
    const int base = openat(work->folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = base >= 0 ? fdopendir(base) : NULL;
    if (!dir && base >= 0) close(base);
    if (!dir) return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        const int folder = is_left(base, entry->d_name) ? lock_folder(base, entry->d_name) : -1;
        if (folder < 0) continue;
        remove_files(folder);
        unlinkat(base, entry->d_name, AT_REMOVEDIR);
        close(folder);
    }
    closedir(dir);
}
