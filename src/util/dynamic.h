/* Shared libraries that are loaded while the program runs. */
#ifndef QN__DYNAMIC_H
#define QN__DYNAMIC_H

#include <stdbool.h>
#include <stddef.h>

/* The name of a library on Unix, and on Windows. */
#ifdef _WIN32
#define QN__DYNAMIC_NAME(unix_name, windows_name) windows_name
#else
#define QN__DYNAMIC_NAME(unix_name, windows_name) unix_name
#endif

/* Loads a library by its path, or by its name from where the system looks for libraries. `stays`: for as long as the
   process. NULL: `why` has the system's message, *missing tells whether there is no such file; it may be NULL. */
void *qn__dynamic_open(const char *path, bool stays, bool *missing, char *why, size_t size);
/* The address of a function or object; NULL where the library has none. */
void *qn__dynamic_symbol(void *library, const char *name);
void qn__dynamic_close(void *library);

#endif
