/* What a backend provides: one const table of functions over its own opaque state. The runtime in front
   validates everything, counts references and orders calls; a backend may assert. backends.def lists them. A failing function returns a status and writes a message to `why` (QN__WHY bytes),
   if it takes one. */
#ifndef QN__BACKEND_H
#define QN__BACKEND_H

#include <stdatomic.h>

#include "emit/code_info.h"
#include "quern/check.h"
#include "quern/quern.h"
#include "target/target.h"
#include "util/arena.h"

enum { QN__WHY = 512 };

typedef struct qn__services qn__services; /* what a backend may use of the context */
typedef struct qn__driver qn__driver;     /* an opened driver (a backend's own type) */
typedef struct qn__gpu qn__gpu;           /* an opened device */
typedef struct qn__memory qn__memory;     /* device memory */
typedef struct qn__queue qn__queue;       /* a stream */
typedef struct qn__mark qn__mark;         /* an event */
typedef struct qn__code qn__code;         /* a loaded program */
typedef struct qn__replay qn__replay;     /* a graph */

struct qn__services {
    const qn__allocator *allocator;
    void (*log)(void *user, qn_log_level level, const char *message); /* never NULL */
    void *log_user;
    /* Something that the calling thread did until now, for the trace. NULL: there is none. */
    void (*did)(void *user, const char *name, const char *detail, uint64_t begin_ns);
    void *did_user;
    void (*print)(void *user, const char *text, size_t size); /* what kernels print; never NULL */
    void *print_user;
    const char *cpu_compiler; /* or NULL */
    unsigned cpu_threads;
    bool cpu_leave_signals;
};

typedef enum qn__command_kind {
    QN__COMMAND_WRITE, /* host to memory */
    QN__COMMAND_READ,  /* memory to host */
    QN__COMMAND_COPY,
    QN__COMMAND_FILL,
    QN__COMMAND_LAUNCH,
    QN__COMMAND_RECORD, /* an event */
    QN__COMMAND_WAIT    /* for an event */
} qn__command_kind;

/* A buffer argument of a launch, for drivers that bind memory objects instead of taking addresses. */
typedef struct qn__binding {
    uint32_t param; /* index of the parameter */
    qn__memory *memory;
    uint64_t offset, size; /* of what was passed: a buffer or a view */
} qn__binding;

/* One piece of work in a stream; also what a graph is a list of. The backend copies what it keeps. */
typedef struct qn__command {
    qn__command_kind kind;
    qn__memory *to, *from;
    qn__gpu *to_gpu, *from_gpu; /* COPY between two devices, of a backend with `peers`; else NULL */
    uint64_t to_offset, from_offset, size;
    void *host; /* WRITE: copied by the backend unless host_stays; READ: written before the queue is done */
    bool host_stays;  /* `host` stays as it is until the command is done */
    bool host_pinned; /* `host` lies in memory from host_create */
    unsigned char pattern[16];
    uint32_t pattern_size;
    const qn__code *code;    /* LAUNCH */
    uint32_t kernel;         /* index in the code */
    const char *kernel_name; /* lives as long as the code */
    uint32_t work_dim;
    uint64_t global[3], offset[3];
    uint32_t local[3];
    const unsigned char *args; /* the argument block: buffers as address + offset, local memory as offsets */
    uint32_t args_size;
    const qn__binding *bindings; /* the buffer arguments that are not null */
    uint32_t num_bindings;
    const uint64_t
        *extents; /* LAUNCH, by parameter: bytes that its pointer leads to; 0: null, or it is no pointer */
    uint32_t num_extents;
    uint64_t local_memory; /* bytes per work-group, static and dynamic */
    qn__mark *mark;        /* RECORD, WAIT */
    uint64_t
        mark_version; /* how often the event was recorded up to this command. A wait is for that recording:
                              a later one may be reached first, on another queue */
} qn__command;

/* A compiled program to load: target text, or a binary that save gave earlier. */
typedef struct qn__code_source {
    const char *text; /* target text; NULL when loading a binary */
    size_t text_size;
    const struct ir_module *module; /* where the target is the IR; else NULL */
    /* The program as such a module, compiled when it is asked for: where the text turns out to be too much for the
       driver's compiler. It lives as long as the code, and *info describes it from then on. NULL with a message:
       there is none. */
    const struct ir_module *(*get_module)(void *user, char *why);
    void *get_module_user;
    const qn__code_info *info; /* stays as long as the code */
    const char *binary_path;   /* file of the cache: loaded when `text` is NULL; else written if not NULL */
    /* The code may be interpreted for now and compiled meanwhile; once the file of the cache is written, `stored` is
       called, by any thread. All that the source points to, but binary_path, stays as long as the code. */
    bool background;
    void (*stored)(void *user);
    void *stored_user;
    /* Instead of a file of the cache: such a file's bytes, which the file around it has a checksum of, or for a processor an
       object (code_object), for the machine that runs_binary has agreed to. NULL: none. For code_object `machine` is the one
       to compile for. */
    const char *binary;
    size_t binary_size;
    const char *machine;
    bool debug;
    bool quick; /* the program asks for no optimisation: the driver's compiler may do without too */
} qn__code_source;

/* When something began and ended, by qn__now_ns; the end comes last, and is 0 before. */
typedef struct qn__times {
    atomic_uint_fast64_t begin_ns, end_ns;
    atomic_int status; /* a qn_status: the first failure, set before the end */
} qn__times;

/* What is known of a device before it is opened. */
typedef struct qn__identity {
    bool emulated;          /* software on the processor: by name only */
    uint8_t uuid[16];       /* the same for the same hardware in all kinds; zeros: not known */
    uint32_t vendor, model; /* PCI's numbers, or Khronos's for what is no PCI device; zeros: not known */
} qn__identity;

/* qn_stream_set_aside. */
typedef struct qn__aside {
    void (*leave)(void *user);
    void (*back)(void *user);
    void *user;
} qn__aside;

typedef struct qn_backend {
    qn_device_kind kind;
    const char *name;           /* "cuda": devices are name, or name:0, name:1 ... */
    bool single;                /* one device, called just `name` */
    bool by_name_only;          /* never the default */
    bool is_hidden;             /* not listed either: it is no hardware, and not for use */
    const char *code_extension; /* of the files that code_load writes to the disk cache: ".so" */
    bool rewrites_code;         /* such a file changes later; code_load sees itself whether it is whole */
    bool peers;                 /* its devices wait for each other's marks, and copy between their memories */

    /* Whether there may be anything but software behind the driver, as far as can be told without opening it. If not, the
       kind is not opened for the default device. NULL: it may. */
    bool (*has_hardware)(void);
    /* Looks for the driver and its devices. QN_ERROR_NO_DEVICE with `why`: not here. */
    qn_status (*open)(const qn__services *services, qn__driver **driver, uint32_t *num_devices, char *why);
    void (*close)(qn__driver *driver);
    void (*identify)(const qn__driver *driver, uint32_t index, qn__identity *identity); /* NULL: nothing */
    qn_status (*gpu_open)(qn__driver *driver, uint32_t index, qn__gpu **gpu, char *why);
    void (*gpu_close)(qn__gpu *gpu);
    /* Whether it is lost, with the message of its calls; NULL: never. */
    bool (*is_lost)(qn__gpu *gpu, char *why);
    /* It is lost, and is going to be opened again beside what was made on it: calls say that it is lost from now on, and only
       what gives things back may come. NULL: nothing to do. */
    void (*gpu_abandon)(qn__gpu *gpu);
    /* Everything but name, kind, UUID and what `target` says, capabilities among it. Strings live as long as the
       gpu. */
    void (*gpu_info)(const qn__gpu *gpu, qn_device_info *info);
    /* What the compiler has to know of it; zeroed before. */
    void (*target)(const qn__gpu *gpu, qn__target *target);
    /* A text that names device, driver and version: part of the cache's key. */
    const char *(*cache_key)(const qn__gpu *gpu);

    /* Uninitialised memory; *address is what kernels see, *host a pointer to it where memory is shared, else
       NULL. */
    qn_status (*memory_create)(qn__gpu *gpu, uint64_t size, qn__memory **memory, uint64_t *address,
                               void **host, char *why);
    /* The same for memory that the host and running kernels see alike; *host is never NULL. For devices with
       QN_CAN_SHARE_COHERENTLY; NULL: none has it. */
    qn_status (*memory_share)(qn__gpu *gpu, uint64_t size, qn__memory **memory, uint64_t *address,
                              void **host, char *why);
    void (*memory_destroy)(qn__gpu *gpu, qn__memory *memory); /* of whichever function above */
    /* Memory of the caller's, at a multiple of 16, as device memory, without a copy; read_only: nothing writes it, and the
       host may not be able to. For devices with QN_CAN_IMPORT_HOST; NULL: none has it. host_import_end gives it back, with
       the same host and size. */
    qn_status (*host_import)(qn__gpu *gpu, void *host, uint64_t size, bool read_only, qn__memory **memory,
                             uint64_t *address, char *why);
    void (*host_import_end)(qn__gpu *gpu, qn__memory *memory, void *host, uint64_t size);
    /* Memory of its own that can be exported as `kinds` (qn_handle_kind), memory of others, and a handle of memory that was
       made to be exported. A descriptor to import is the caller's. For the device's export_handles and import_handles;
       NULL: there are none. external_destroy: of the first two; `import`: the kind that was imported, or 0. */
    qn_status (*external_create)(qn__gpu *gpu, uint64_t size, uint32_t kinds, qn__memory **memory,
                                 uint64_t *address, void **host, char *why);
    qn_status (*external_import)(qn__gpu *gpu, const qn_import_desc *desc, qn__memory **memory,
                                 uint64_t *address, void **host, char *why);
    qn_status (*external_export)(qn__gpu *gpu, const qn__memory *memory, qn_handle_kind kind, qn_export *out,
                                 char *why);
    void (*external_destroy)(qn__gpu *gpu, qn__memory *memory, uint32_t import);
    /* Zeroed host memory that the device copies from and to fast. Both functions NULL, or *host: ordinary memory
       does. */
    qn_status (*host_create)(qn__gpu *gpu, uint64_t size, void **host, char *why);
    void (*host_destroy)(qn__gpu *gpu, void *host);
    void (*trim)(qn__gpu *gpu, uint64_t *pooled); /* frees pooled memory; gives what is still pooled */
    uint64_t (*pooled)(const qn__gpu *gpu);       /* bytes kept for reuse; NULL: none */

    qn_status (*queue_create)(qn__gpu *gpu, qn__queue **queue, char *why);
    void (*queue_destroy)(qn__queue *queue); /* after it is done */
    /* Queues a command and gives its number, counting from 1 upwards in the queue. One that fails may give a number
       too: then a part of it may be with the device, and what it uses has to stay until that number is done. So
       with replay_submit. */
    qn_status (*submit)(qn__queue *queue, const qn__command *command, uint64_t *number, char *why);
    /* What is submitted to the queue next, a command or a replay, writes there when it ran. One that is not accepted leaves
       it to the next; NULL takes it back. Where there is no such function, marks around it tell. A device that has it sets
       its marks by qn__now_ns. */
    void (*clock_next)(qn__queue *queue, qn__times *times);
    /* Number of the last command that is done. Any thread. */
    uint64_t (*completed)(qn__queue *queue);
    /* Until command `number` is done. A failure of an earlier command is reported once. QN_ERROR_TIMEOUT comes
       without a message. Any thread. */
    qn_status (*wait)(qn__queue *queue, uint64_t number, uint64_t timeout_ns, char *why);
    /* The first failure of the queue that no wait has reported yet, which stays for the next wait, or a later one than the
       first *since. *since is then how many were reported. NULL: it has none. Any thread. */
    qn_status (*failure)(qn__queue *queue, uint32_t *since, char *why);
    /* Work that is not done is dropped, and what runs ends soon. Its commands count as done then, its events as reached, and
       the next wait reports QN_ERROR_CANCELLED. NULL: that cannot be. Any thread. */
    void (*cancel)(qn__queue *queue);
    /* The queue has no work yet. From now on its kernels may never end, and must not keep other queues from going on; or no
       longer. NULL: not possible. */
    qn_status (*set_persistent)(qn__queue *queue, bool persistent, char *why);
    /* The persistent queue's kernels can be asked to end for a while; without functions: no longer, and nothing is being called then.
       NULL: nobody asks. */
    void (*set_aside)(qn__queue *queue, const qn__aside *aside);
    void (*leave)(
        qn__queue *queue); /* what it runs may never end, and nobody waits for it; NULL: all the same */
    /* The kernels that run or, where none does, run next, as "a or b"; empty: none. Any thread. */
    void (*unfinished)(qn__queue *queue, char *names, size_t size);

    qn_status (*mark_create)(qn__gpu *gpu, qn__mark **mark, char *why);
    void (*mark_destroy)(qn__mark *mark);
    bool (*mark_done)(qn__mark *mark, uint64_t version, uint64_t *time_ns);
    /* QN_ERROR_TIMEOUT comes without a message. */
    qn_status (*mark_wait)(qn__mark *mark, uint64_t version, uint64_t timeout_ns, char *why);

    qn_status (*code_load)(qn__gpu *gpu, const qn__code_source *source, qn__code **code, char *why);
    bool (*code_compiled)(const qn__code *code); /* by the driver, though it is from a binary; NULL: never */
    /* Until the code is final; NULL: it always is. QN_ERROR_TIMEOUT comes without a message; another failure means
       that it stays as it is. Any thread. */
    qn_status (*code_wait)(qn__code *code, uint64_t timeout_ns, char *why);
    void (*code_unload)(qn__gpu *gpu, qn__code *code);
    /* For programs to ship. The name of the machine that binaries are for: `name` NULL: the least one; "native": this
       one; else that of the name. NULL with a message: there is none of that name. Function NULL: the device's cache_key
       is the only name. */
    const char *(*find_machine)(const qn__gpu *gpu, const char *name, char *why);
    /* Whether the device runs binaries for a machine: the more they make of it, the larger; 0: it does not. NULL: those
       for its cache_key. */
    uint32_t (*runs_binary)(const qn__gpu *gpu, const char *machine);
    /* Compiles text for source->machine; *object is the caller's to release. NULL: it compiles for itself only. */
    qn_status (*code_object)(qn__gpu *gpu, const qn__code_source *source, char **object, size_t *size,
                             char *why);
    /* A tensor at an address, whose description has been checked, as tile copies want it. NULL: there are none. Any thread. */
    qn_status (*tensor_map)(qn__gpu *gpu, uint64_t address, const qn_tensor_desc *desc, qn_tensor_map *map,
                            char *why);
    /* The same for images. NULL: the driver cannot. */
    qn_status (*window_map)(qn__gpu *gpu, uint64_t address, const qn_window_desc *desc, qn_tensor_map *map,
                            char *why);
    /* A kernel of the code is going to be used by functions that take its number, launches and all below; comes for each
       qn_kernel. Any thread. NULL: code_load has seen to all of them. */
    qn_status (*kernel_prepare)(qn__gpu *gpu, qn__code *code, uint32_t kernel, char *why);
    /* A good local size for a launch that names none; every component at least 1. */
    void (*choose_local)(const qn__gpu *gpu, const qn__code *code, uint32_t kernel, const uint64_t global[3],
                         uint32_t local[3]);

    /* What is known of the kernel in groups of `local` work-items, in place of what the device allows. NULL: no more. */
    qn_status (*kernel_resources)(qn__gpu *gpu, const qn__code *code, uint32_t kernel,
                                  const uint32_t local[3], qn_kernel_resources *resources, char *why);

    qn_status (*replay_create)(qn__gpu *gpu, const qn__command *commands, size_t count, qn__replay **replay,
                               char *why);
    /* Command `index` of the replay, a launch or a copy, becomes this launch of the same kernel, or this copy of as much from elsewhere, for submissions from now on.
       QN_ERROR_UNSUPPORTED, without a message: a new replay has to be made. NULL: always so. */
    qn_status (*replay_update)(qn__gpu *gpu, qn__replay *replay, size_t index, const qn__command *command,
                               char *why);
    void (*replay_destroy)(qn__gpu *gpu, qn__replay *replay);
    qn_status (*replay_submit)(qn__queue *queue, qn__replay *replay, uint64_t *number, char *why);

    /* The driver's own handle of that kind (qn_native_kind, but for host pointers), of the device, the queue or the memory:
       what it is not of is NULL. NULL: the kind of device has none. */
    uint64_t (*native)(const qn__gpu *gpu, const qn__queue *queue, const qn__memory *memory,
                       qn_native_kind kind);
    /* From lend to take_back somebody else submits to the driver's queue, behind all that was submitted before; the thread
       that lends takes back. take_back gives the number of a command behind that work. NULL: there is no such queue. */
    qn_status (*lend)(qn__queue *queue, char *why);
    qn_status (*take_back)(qn__queue *queue, uint64_t *number, char *why);

    /* What a checker has found: how much, one of it (false: there is none of that index), and forgetting all. NULL, all of
       them: it is none. Any thread. */
    uint32_t (*finding_count)(qn__gpu *gpu);
    bool (*finding_get)(qn__gpu *gpu, uint32_t index, qn_finding *finding);
    void (*finding_clear)(qn__gpu *gpu);
    qn_status (*check_configure)(qn__gpu *gpu, const qn_check_desc *desc, char *why);
    void (*check_stats)(qn__gpu *gpu, qn_check_stats *stats);
    uint32_t (*profile_count)(qn__gpu *gpu);
    bool (*profile_get)(qn__gpu *gpu, uint32_t index, qn_check_profile *profile);
    /* QN_ERROR_ARGUMENT: a line is wrong. */
    qn_status (*check_suppress)(qn__gpu *gpu, const char *text, const char *path, char *why);
    uint32_t (*suppression_count)(qn__gpu *gpu);
    bool (*suppression_get)(qn__gpu *gpu, uint32_t index, qn_suppression *suppression);
    /* NULL: labels of buffers are of no use to it. */
    void (*memory_label)(qn__gpu *gpu, qn__memory *memory, const char *label);
} qn_backend;

/* Copy of a command with its argument block and, for WRITE, its data behind it; freed with qn__release. */
qn__command *qn__command_copy(const qn__allocator *allocator, const qn__command *command);

#define BACKEND(name, doc) extern const qn_backend qn__backend_##name;
#include "runtime/backends.def"

#endif
