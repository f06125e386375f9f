/* What the backends share: how a launch becomes grids and implicit arguments (emit/gpu_abi.h), what kernels print,
   and drivers opened at run time. */
#ifndef QN__COMMON_H
#define QN__COMMON_H

#include "emit/gpu_abi.h"
#include "runtime/backend.h"

/* ---- launch.c ---- */

/* A part of a launch that one grid of equal groups covers. */
typedef struct qn__part {
    uint32_t groups[3], local[3];
    uint32_t group_base[3]; /* id of its first group */
    uint32_t overhang;      /* bit d: the last groups of dimension d overhang */
} qn__part;

/* The parts of a launch, one after another: usually one. max_groups is the device's largest grid. */
typedef struct qn__parts {
    const qn__command *launch;
    uint64_t num_groups[3]; /* of the whole launch, overhanging and smaller ones too */
    uint64_t at[3];         /* first group of the next part */
    uint32_t max_groups[3];
    bool guarded, done;
} qn__parts;

void qn__parts_begin(qn__parts *parts, const qn__command *launch, const qn__kernel_info *kernel,
                     const uint32_t max_groups[3]);
bool qn__parts_next(qn__parts *parts, qn__part *part);

/* Addresses that implicit arguments hold. */
typedef struct qn__implicit_addresses {
    uint64_t print, constants;
} qn__implicit_addresses;

/* The value of a implicit argument for a part; for QN__IMPLICIT_BUFFER_OFFSET from the launch's bindings. */
uint64_t qn__implicit_value(const qn__implicit *implicit, const qn__command *launch, const qn__part *part,
                            const qn__implicit_addresses *addresses);
/* The whole parameter block, kernel->params_size bytes: the launch's arguments and the implicit arguments. */
void qn__params_fill(unsigned char *block, const qn__command *launch, const qn__kernel_info *kernel,
                     const qn__part *part, const qn__implicit_addresses *addresses);
/* A good local size: at most `most` work-items, in x a multiple of `wide` where the global size is that large,
   dividing the global size where that costs little (for a kernel that is not guarded: also where the size that
   divides is a quarter of the best). */
void qn__choose_local(const uint64_t global[3], uint32_t work_dim, bool guarded, uint32_t most, uint32_t wide,
                      const uint32_t max_local[3], uint32_t local[3]);

/* ---- print.c ---- */

/* Gives the text of a %s argument from its 64-bit word; NULL: it has none. */
typedef const char *qn__print_string(void *user, uint64_t word);

/* Formats one printf, values packed as in emit/cpu_abi.h, and prints it at once. Returns 0, or -1. */
int32_t qn__print_call(const qn__services *services, const char *format, const unsigned char *values,
                       uint64_t size, qn__print_string *string, void *user);
/* Prints all records of a print buffer (emit/gpu_abi.h) of `size` bytes that the device has filled. Before each
   launch the backend zeroes what an earlier one may have written: a place that was asked for in vain must not
   hold an old record. */
void qn__print_records(const qn__services *services, const qn__code_info *code, const unsigned char *buffer,
                       uint64_t size);

/* ---- code_file.c ---- */

/* A section of the disk cache's file of a program; what each holds is the backend's. */
typedef struct qn__section {
    const void *data;
    size_t size;
} qn__section;
enum { QN__MAX_SECTIONS = 3 }; /* as many in each file, empty ones too */

/* Writes the file; false: it was not written, and a warning says why. */
bool qn__code_file_write(const qn__services *services, const char *path, const qn__section *sections);
/* What the sections are in, to be released; NULL with a message: the file (NULL: there is none) is missing or damaged. */
char *qn__code_file_read(const qn__services *services, const char *path, qn__section *sections, char *why);
/* The file's contents, to be released; NULL: out of memory. And the way back; false: damaged. */
unsigned char *qn__code_file_pack(const qn__allocator *allocator, const qn__section *sections, size_t *size);
bool qn__code_file_unpack(const void *data, size_t size, qn__section *sections);

/* ---- library.c ---- */

/* A function of a driver: its name, and where its address goes. */
typedef struct qn__symbol {
    const char *name;
    size_t offset; /* of the function pointer in the struct that is filled */
    bool optional; /* NULL where the driver is too old */
} qn__symbol;

/* Opens the first of `names` (up to a NULL) that is there; what it gives goes to dlclose, which
   leaves the library in the process all the same. NULL with
   a message: "libcuda.so.1 is not installed". */
void *qn__library_open(const char *const *names, char *why);
/* Fills `functions`; false with a message naming the first function that is missing. */
bool qn__library_symbols(void *library, const qn__symbol *symbols, size_t count, void *functions, char *why);

#endif
