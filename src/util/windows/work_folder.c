/* Folders for the files of one task, in the user's folder for temporary files; see folder.h. The folder's handle does not
   let others delete it: whoever can open it to do so knows that its process is no more. */
#include "util/folder.h"

#ifdef _WIN32 /* tools that read all sources read nothing more elsewhere */
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <string.h>

#include "util/file.h"
#include "util/windows/private.h"

#define NAME_START "quern-work-"

static HANDLE open_folder(const char *path, DWORD access) {
    return CreateFileA(path, FILE_LIST_DIRECTORY | FILE_READ_ATTRIBUTES | READ_CONTROL | access,
                       FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING,
                       FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
}

static int lock_folder(const char *path) {
    HANDLE handle = open_folder(path, 0);
    if (handle == INVALID_HANDLE_VALUE) return -1;
    const int folder =
        qn__windows_is_private(handle) ? _open_osfhandle((intptr_t)handle, _O_RDONLY | _O_NOINHERIT) : -1;
    if (folder < 0) CloseHandle(handle);
    return folder;
}

int qn__work_folder_make(qn__work_folder *work, bool *ignored) {
    enum { TRIES = 10 };
    char base[MAX_PATH + 1];
    const DWORD base_length = GetTempPathA(sizeof base, base);
    *work = (qn__work_folder){.folder = -1};
    if (ignored) *ignored = false;
    if (base_length == 0 || base_length >= sizeof base) return ENOENT;
    for (int i = 0; i < TRIES; i++) {
        const unsigned unique = (unsigned)(qn__now_ns() ^ (uint64_t)GetCurrentProcessId() << 8) & 0xffffff;
        const int length = snprintf(work->path, sizeof work->path, "%s" NAME_START "%06x", base, unique);
        if (length < 0 || (size_t)length >= sizeof work->path) return ENAMETOOLONG;
        if (!CreateDirectoryA(work->path, NULL)) {
            if (GetLastError() == ERROR_ALREADY_EXISTS) continue;
            return qn__windows_error();
        }
        work->folder = lock_folder(work->path);
        if (work->folder >= 0) return 0;
        (void)RemoveDirectoryA(work->path);
        return EPERM;
    }
    return EBUSY;
}

static bool remove_file(void *user, int folder, const qn__folder_entry *entry) {
    (void)user;
    (void)qn__folder_unlink(folder, entry->name);
    return true;
}

void qn__work_folder_remove(qn__work_folder *work) {
    if (work->folder < 0) return;
    (void)qn__folder_each(work->folder, remove_file, NULL);
    qn__folder_close(work->folder);
    (void)RemoveDirectoryA(work->path);
    work->folder = -1;
}

typedef struct sweep {
    const char *base;
} sweep;

static bool sweep_one(void *user, int folder, const qn__folder_entry *entry) {
    const sweep *s = user;
    qn__work_folder left;
    (void)folder;
    if (strncmp(entry->name, NAME_START, sizeof NAME_START - 1) != 0) return true;
    const int length = snprintf(left.path, sizeof left.path, "%s\\%s", s->base, entry->name);
    if (length < 0 || (size_t)length >= sizeof left.path) return true;
    HANDLE to_delete = open_folder(left.path, DELETE);
    if (to_delete == INVALID_HANDLE_VALUE) return true;
    CloseHandle(to_delete);
    left.folder = lock_folder(left.path);
    qn__work_folder_remove(&left);
    return true;
}

void qn__work_folder_sweep(const qn__work_folder *work) {
    char base[PATH_MAX];
    int folder;
    snprintf(base, sizeof base, "%s", work->path);
    char *slash = strrchr(base, '\\');
    if (!slash) return;
    *slash = 0;
    if (qn__folder_open(base, false, &folder)) return;
    (void)qn__folder_each(folder, sweep_one, &(sweep){base});
    qn__folder_close(folder);
}
#endif
