/* Folders that only this user can change, and files in them. The environment names such a folder, and code from it is
   run: somebody else's folder would be somebody else's code. Each use therefore opens the folder anew and looks at
   what it has opened, never at the path: a link in the folder's or a file's place is not followed, the owner must be
   the effective user, and neither group nor others may write. Links further up the path are followed. */
#ifndef QN__FOLDER_H
#define QN__FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/arena.h"

/* Opens the folder. Returns 0 and a descriptor, or an errno value: EPERM for a folder that others can change.
   `make`: what is missing of the path is made with mode 0700, but nothing in a folder of another user than root. */
int qn__folder_open(const char *path, bool make, int *folder);
void qn__folder_close(int folder);
/* A message on why the folder gave that error. */
void qn__folder_explain(const char *path, int error, char *text, size_t size);
/* Opens the folder that the file `path` is in; *name is the file's name there. */
int qn__folder_of(const char *path, int *folder, const char **name);

/* One thing in a folder: when it was written, as seconds, and its bytes. */
typedef struct qn__folder_entry {
    const char *name;
    int64_t time;
    uint64_t size;
} qn__folder_entry;
/* Calls `visit` for each thing in a folder; stops when it returns false. Returns 0 or an errno value. */
int qn__folder_each(int folder, bool (*visit)(void *user, int folder, const qn__folder_entry *entry),
                    void *user);
/* Removes a file. Returns 0 or an errno value. */
int qn__folder_unlink(int folder, const char *name);
/* A path by which the system's loader gets the file `name` of this very folder, whatever has become of the folder's own
   path since. `shared`: other processes (a debugger) can use it too, as long as the folder is open. */
void qn__folder_loadable(int folder, const char *name, bool shared, char *path, size_t size);

/* Opens a file for reading. Returns 0 or an errno value: ELOOP for a link, EPERM for what is no file, or one that
   others can change. */
int qn__folder_file(int folder, const char *name, int *file);
/* Writes a file beside `name`, with mode 0600, and renames it: readers see the old file or the whole new one. */
int qn__folder_write(int folder, const char *name, const void *data, size_t size);

/* The same for a path, whose folder is opened for this one use; and qn__file_read of such a file. */
int qn__private_open(const char *path, int *file);
int qn__private_read(const qn__allocator *allocator, const char *path, size_t limit, char **data,
                     size_t *size);
int qn__private_write(const char *path, const void *data, size_t size);
/* The file is as new as if it were written now. */
int qn__private_touch(const char *path);

/* A folder for the files of one task, that is gone with it. The path leads through folders that only this user and root
   can change, so that programs can be told paths in it. A lock shows that its process lives. */
typedef struct qn__work_folder {
    char path[PATH_MAX];
    int folder;
} qn__work_folder;

/* Under $TMPDIR if that is safe, else /tmp; *ignored tells of the first (it may be NULL). Returns 0 or an errno value:
   EPERM where /tmp is not safe either. */
int qn__work_folder_make(qn__work_folder *work, bool *ignored);
/* Removes it and its files. */
void qn__work_folder_remove(qn__work_folder *work);
/* Removes what processes that are no more have left beside it. */
void qn__work_folder_sweep(const qn__work_folder *work);

#endif
