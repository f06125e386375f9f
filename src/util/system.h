/* What the machine has, and where a user's files lie. */
#ifndef QN__SYSTEM_H
#define QN__SYSTEM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Processors that are online; at least 1. */
unsigned qn__processors(void);
/* Bytes of memory; 1 GiB where the system does not say. */
uint64_t qn__machine_memory(void);
/* The folder for quern's cache where none is asked for; false when there is no place for it. */
bool qn__default_cache_folder(char *out, size_t size);
/* What tells a program, and a version of it, from others. */
typedef struct qn__program {
    char path[PATH_MAX]; /* links resolved */
    int64_t size, time;
} qn__program;
/* False when there is none. */
bool qn__program_identify(const char *path, qn__program *program);
/* Whether kernels can be compiled for this system by a C compiler on it; elsewhere they are interpreted. */
bool qn__compiles_for_itself(void);
/* Asks the system for leave to use x86's registers of tiles (AMX), which the process then has for good; false: it says no. */
bool qn__allow_tile_registers(void);
/* Whether a path leads to something that can be run. */
bool qn__is_program(const char *path);

#endif
