/* What the backends share: how a launch becomes grids and implicit arguments (emit/gpu_abi.h), what kernels print,
   what is in flight, failures that stay, copies of commands, and drivers opened at run time. */
#ifndef QN__COMMON_H
#define QN__COMMON_H

#include <pthread.h>
#include <stdatomic.h>

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

/* ---- hardware.c ---- */

/* Whether there may be a GPU: false only where its kernel driver would show in the file system and does not. `root` is put
   before the paths. */
bool qn__may_have_gpu(const char *root);
bool qn__has_hardware(void); /* qn_backend.has_hardware of kinds whose loaders load software drivers too */

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

enum { QN__PRINT_SIZE = QN__PRINT_HEADER + QN__PRINT_CAPACITY };

/* Bytes of records that a buffer holds, whose header (QN__PRINT_HEADER bytes) is given. */
uint64_t qn__print_filled(const unsigned char *header);

/* What a launch prints, to be looked at when command `number` is done; the backend's own struct begins with it. */
typedef struct qn__print {
    struct qn__print *next;
    uint64_t number;
    const qn__code_info *info; /* NULL: the launch failed, nothing is printed */
} qn__print;

/* In the order of their commands, or a pool. Zeroed: empty. The caller's lock guards it. */
typedef struct qn__prints {
    qn__print *first, *last;
    uint32_t count;
} qn__prints;

void qn__prints_add(qn__prints *prints, qn__print *print, uint64_t number);
qn__print *qn__prints_take(qn__prints *prints, uint64_t done); /* the first up to that number; NULL: none */

/* ---- flight.c ---- */

/* Names of kernels without repetition; zeroed: none. */
typedef struct qn__kernel_names {
    const char *names[4];
    unsigned count;
    bool more;
} qn__kernel_names;

void qn__kernel_names_add(qn__kernel_names *found, const char *name); /* NULL: nothing */
/* `first` and "a", "a or b", "a, b, c, d or another"; "" if there are none. */
void qn__kernel_names_print(const qn__kernel_names *found, const char *first, char *out, size_t size);

enum { QN__FLIGHT = 256 };

/* How far a queue is. Commands are numbered from 1; one thread at a time submits. Names are read by any thread, and of
   commands that are not done: they have to be there until then. Where other threads may reach a command while its name
   is read, either the names stay for good (CUDA's) or a lock of the queue's keeps them from it (OpenCL's, whose names are
   the code's or the graph's, which stay as long as the command is not reached). Zeroed: no command yet. */
typedef struct qn__flight {
    atomic_uint_fast64_t submitted, completed;
    _Atomic(const char *) names[QN__FLIGHT]; /* of command n at n % size; NULL: no kernel */
} qn__flight;

/* Counts a command; gives its number. `name`: of its kernel, or NULL. */
static inline uint64_t qn__flight_add(qn__flight *flight, const char *name) {
    const uint64_t n = atomic_load_explicit(&flight->submitted, memory_order_relaxed) + 1;
    atomic_store_explicit(&flight->names[n % QN__FLIGHT], name, memory_order_relaxed);
    atomic_store_explicit(&flight->submitted, n, memory_order_release);
    return n;
}

/* Commands up to `number` are done; one thread at a time. */
static inline void qn__flight_reach(qn__flight *flight, uint64_t number) {
    if (number > atomic_load(&flight->completed)) atomic_store(&flight->completed, number);
}

/* Adds the names of the kernels that may be running. */
void qn__flight_names(const qn__flight *flight, qn__kernel_names *found);
/* The name of the first that is not known to be done; NULL: none. */
const char *qn__flight_first(const qn__flight *flight);

/* Looks until `done` says so or the deadline passes; false then. `spins`: without a pause at first, where the device
   computes by itself and the processor is free. */
bool qn__poll(bool (*done)(void *user), void *user, uint64_t timeout_ns, bool spins);

/* ---- failure.c ---- */

/* A device that may be lost. Any thread. */
typedef struct qn__loss {
    pthread_mutex_t lock;
    atomic_bool lost;
    char why[QN__WHY]; /* written once, before `lost` */
} qn__loss;

void qn__loss_init(qn__loss *loss); /* of a zeroed one */
void qn__loss_free(qn__loss *loss);
static inline bool qn__is_lost(const qn__loss *loss) { return atomic_load(&loss->lost); }
/* QN_ERROR_DEVICE_LOST with the message. */
qn_status qn__lost(qn__loss *loss, char *why);
/* Whether it is lost; the message where it is. */
static inline bool qn__is_lost_by(qn__loss *loss, char *why) {
    return qn__is_lost(loss) && qn__lost(loss, why) == QN_ERROR_DEVICE_LOST;
}
/* It is lost from now on, with this message if it was not before. */
qn_status qn__lose(qn__loss *loss, char *why, const char *format, ...) QN__PRINTF(3, 4);

/* A queue's first failure that was not yet reported. The caller's lock guards it; zeroed: none. */
typedef struct qn__sticky {
    qn_status status, last; /* last: also when it was taken */
    uint32_t taken;         /* how many were */
    char why[QN__WHY];      /* of the last */
} qn__sticky;

void qn__sticky_set(qn__sticky *sticky, qn_status status, const char *why); /* nothing if there is one */
qn_status qn__sticky_take(qn__sticky *sticky, char *why);                   /* then there is none */
qn_status qn__sticky_look(const qn__sticky *sticky, uint32_t *since,
                          char *why); /* as the backend's `failure` */

/* ---- commands.c ---- */

typedef struct qn__commands {
    qn__command **list;
    size_t count;
} qn__commands;

/* Copies as of qn__command_copy; after a failure there are none. */
qn_status qn__commands_copy(const qn__allocator *allocator, const qn__command *commands, size_t count,
                            qn__commands *out);
void qn__commands_free(const qn__allocator *allocator, qn__commands *commands);

/* ---- code_file.c ---- */

/* A section of the disk cache's file of a program; what each holds is the backend's. */
typedef struct qn__section {
    const void *data;
    size_t size;
} qn__section;
enum { QN__MAX_SECTIONS = 3 }; /* as many in each file, empty ones too */

/* Writes the file; false: it was not written, and a warning says why. */
bool qn__code_file_write(const qn__services *services, const char *path, const qn__section *sections);
/* The sections of a source without text: of its bytes, or of its file, which *memory is then in, to be released. */
qn_status qn__code_file_open(const qn__services *services, const qn__code_source *source,
                             qn__section *sections, char **memory, char *why);
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
