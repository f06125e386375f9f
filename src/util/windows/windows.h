/* What the files of this folder share: Windows' header, and its errors as errno values. Paths are in the process's code
   page, as those of the C library and of the environment are. */
#ifndef QN__WINDOWS_H
#define QN__WINDOWS_H

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* GetLastError as an errno value. */
int qn__windows_error(void);
/* The path of what a handle has opened, without the prefix that turns normalisation off. */
bool qn__windows_path(HANDLE handle, char *out, size_t size);

#endif
