/* The machine and the user as Windows has them; see system.h. */
#include "util/system.h"

#ifdef _WIN32 /* tools that read all sources read nothing more elsewhere */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "util/file.h"
#include "util/windows/windows.h"

unsigned qn__processors(void) {
    const DWORD count = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    return count ? count : 1;
}

uint64_t qn__machine_memory(void) {
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    return GlobalMemoryStatusEx(&status) && status.ullTotalPhys ? status.ullTotalPhys : (uint64_t)1 << 30;
}

bool qn__default_cache_folder(char *out, size_t size) {
    const char *own = qn__environment("LOCALAPPDATA");
    const int length = own && own[0] ? snprintf(out, size, "%s\\quern\\cache", own) : -1;
    return length > 0 && (size_t)length < size;
}

bool qn__program_identify(const char *path, qn__program *program) {
    struct _stat64 info;
    if (!_fullpath(program->path, path, sizeof program->path) || _stat64(program->path, &info)) return false;
    program->size = info.st_size;
    program->time = info.st_mtime;
    return true;
}

bool qn__is_program(const char *path) {
    const DWORD attributes = GetFileAttributesA(path);
    return attributes != INVALID_FILE_ATTRIBUTES && !(attributes & FILE_ATTRIBUTE_DIRECTORY);
}

bool qn__compiles_for_itself(void) { return false; }
#endif

bool qn__allow_tile_registers(void) { return false; }
