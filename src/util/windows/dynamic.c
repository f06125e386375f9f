/* Shared libraries by LoadLibrary; see dynamic.h. */
#include "util/dynamic.h"

#ifdef _WIN32 /* tools that read all sources read nothing more elsewhere */
#include <stdio.h>
#include <string.h>

#include "util/windows/windows.h"

void *qn__dynamic_open(const char *path, bool stays, bool *missing, char *why, size_t size) {
    HMODULE library = LoadLibraryA(path), same;
    if (library) {
        if (stays) (void)GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_PIN, path, &same);
        return (void *)library;
    }
    const DWORD error = GetLastError();
    if (missing) *missing = error == ERROR_MOD_NOT_FOUND || error == ERROR_FILE_NOT_FOUND;
    const int length = snprintf(why, size, "%s: ", path);
    if (length > 0 && (size_t)length < size)
        FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS |
                           FORMAT_MESSAGE_MAX_WIDTH_MASK,
                       NULL, error, 0, why + length, (DWORD)(size - (size_t)length), NULL);
    return NULL;
}

void *qn__dynamic_symbol(void *library, const char *name) {
    const FARPROC function = GetProcAddress((HMODULE)library, name);
    void *address;
    memcpy(&address, &function, sizeof address);
    return address;
}

void qn__dynamic_close(void *library) { FreeLibrary((HMODULE)library); }
#endif
