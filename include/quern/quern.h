/* quern: GPU compute in one small C library. This header is the manual of the core.

   Write a kernel once, in OpenCL C, and run it on every device the machine has:

       qn_context *context;
       qn_context_create(NULL, &context);
       qn_device *device;
       qn_device_get(context, NULL, &device);                        // the best there is
       qn_program *program;
       qn_program_create(device, &(qn_program_desc){.source = text}, &program);
       qn_kernel *kernel;
       qn_kernel_create(program, "saxpy", &kernel);
       qn_launch(NULL, kernel, QN_RANGE(n), QN_ARGS(n, 2.0f, x, y)); // x and y are buffers
       qn_buffer_read(y, 0, result, n * sizeof(float));

   Conventions
   - Every function that can fail returns a qn_status; 0 is success. A sentence that names what was wrong, for
   the calling thread's last failed call, is qn_error_message(context). Where a call fails because its only
   object is NULL, or no object of quern's, any context gives the sentence, and so does NULL; where objects of two
   contexts were mixed, both give it. Each function that takes an object can return QN_ERROR_NULL, QN_ERROR_ARGUMENT
   (it is an object of another kind) and QN_ERROR_DESTROYED for it; what is listed with a function comes on top.
   Functions without a status give 0, NULL or "" then, and leave a sentence too.
   - Objects are opaque. Whoever creates one destroys it, once; destroying NULL does nothing. A destroyed object's
   memory is released when the device is done with it: it is safe to destroy a buffer that a launch still
   uses. An object keeps what it was made from alive (a kernel its program, a buffer its device); the context
   is destroyed last and takes what is left along.
   - Descriptor structs: zero-initialise, set what differs from the defaults listed above each struct.
   - Sizes and offsets are in bytes unless said; times in nanoseconds; work sizes in work-items.
   - Threads. "Any thread": may be called from several threads at once on the same object. "One thread at a
   time": the caller orders calls on the same object; different objects are independent. A context, its
   devices, programs, kernels, events and graphs are for any thread; a stream, also while it records, is for one
   thread at a time, but for work submitted to the default stream outside of a recording. Destroying an object
   comes after all other calls on it.
   - A context does not live through fork: the child makes one of its own, and leaves the parent's alone.
   Drivers do not either: in the child of a process that has opened one, only the processor's device is sure to
   work, and what the driver does when that child calls exit is its own affair (_exit is safe).
   - A NULL stream is the default stream of the device that the call's other object is of. Calls with no other object
   (qn_stream_wait, qn_graph_begin) take qn_device_stream(device) instead; NULL is QN_ERROR_NULL there. Work on one stream
   runs in order; streams run independently. */
#ifndef QUERN_H
#define QUERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(QUERN_SHARED) && defined(_WIN32)
#define QN_API __declspec(dllexport)
#elif defined(QUERN_SHARED) && defined(__GNUC__)
#define QN_API __attribute__((visibility("default")))
#else
#define QN_API
#endif

#define QN_VERSION_MAJOR 0
#define QN_VERSION_MINOR 2
#define QN_VERSION_PATCH 0

/* Which structs this header has: 1 was that of quern 0.1; goes up by one with each minor version. A program that is
   built with this header runs with later libraries too: they read and fill what it has of each struct. */
#define QN_HEADER_VERSION 2

/* The version of the library in use, as "0.2.0". Any thread. */
QN_API const char *qn_version(void);

/* ---- status ---- */

/* X(NAME, value, text) */
#define QN_STATUS_MAP(X)                                                                                     \
    X(QN_OK, 0, "success")                                                                                   \
    X(QN_ERROR_ARGUMENT, 1, "an argument is not valid")                                                      \
    X(QN_ERROR_NULL, 2, "a required pointer is NULL")                                                        \
    X(QN_ERROR_RANGE, 3, "an offset or size is out of range")                                                \
    X(QN_ERROR_OUT_OF_MEMORY, 4, "host memory is exhausted")                                                 \
    X(QN_ERROR_DEVICE_MEMORY, 5, "device memory is exhausted")                                               \
    X(QN_ERROR_NO_DEVICE, 6, "there is no such device")                                                      \
    X(QN_ERROR_COMPILE, 7, "the program does not compile")                                                   \
    X(QN_ERROR_NO_KERNEL, 8, "the program has no such kernel")                                               \
    X(QN_ERROR_KERNEL_ARGUMENT, 9, "a kernel argument is of the wrong kind, type or size")                   \
    X(QN_ERROR_ARGUMENT_COUNT, 10, "the number of kernel arguments is wrong")                                \
    X(QN_ERROR_LAUNCH_SIZE, 11, "the work size is not possible on the device")                               \
    X(QN_ERROR_WRONG_CONTEXT, 12, "objects of different contexts or devices are mixed")                      \
    X(QN_ERROR_DESTROYED, 13, "the object has been destroyed")                                               \
    X(QN_ERROR_STATE, 14, "the object is in a state that does not allow this")                               \
    X(QN_ERROR_TIMEOUT, 15, "the deadline passed")                                                           \
    X(QN_ERROR_DEVICE_LOST, 16, "the device stopped responding")                                             \
    X(QN_ERROR_KERNEL_FAILED, 17, "the kernel failed while running")                                         \
    X(QN_ERROR_UNSUPPORTED, 18, "the device or this version cannot do this")                                 \
    X(QN_ERROR_DRIVER, 19, "a driver or system call failed")                                                 \
    X(QN_ERROR_IO, 20, "a file could not be read or written")                                                \
    X(QN_ERROR_INTERNAL, 21, "an error in quern itself; please report it")                                   \
    X(QN_ERROR_CANCELLED, 22, "the work was cancelled")

typedef enum qn_status {
#define QN_STATUS_ENUM(name, value, text) name = value,
    QN_STATUS_MAP(QN_STATUS_ENUM)
#undef QN_STATUS_ENUM
} qn_status;

typedef struct qn_context qn_context;
typedef struct qn_device qn_device;
typedef struct qn_buffer qn_buffer;
typedef struct qn_memory_pool qn_memory_pool;
typedef struct qn_program qn_program;
typedef struct qn_kernel qn_kernel;
typedef struct qn_stream qn_stream;
typedef struct qn_event qn_event;
typedef struct qn_graph qn_graph;

/* "QN_ERROR_RANGE", and its general text. Static strings, also for unknown values. Any thread. */
QN_API const char *qn_status_name(qn_status status);
QN_API const char *qn_status_text(qn_status status);

/* A sentence about the last failed call of the calling thread on this context ("" if none); for
   QN_ERROR_COMPILE the whole build log. Of what it quotes, long names are cut. After a call that failed without any
   object to tell its context by, as qn_context_create does, or while there was no memory to keep its sentence, the first
   255 bytes of the sentence about that, whichever the context; NULL: only such a one. Valid until the thread's next
   failing call. Any thread. */
QN_API const char *qn_error_message(const qn_context *context);

/* For libraries that stand above this one and answer for calls of their own: leaves `message` (copied) as the sentence
   of qn_error_message, also in the log, and gives `status` back. Without a context, after a call that had no object to
   tell it by, any context gives the sentence. Errors: QN_ERROR_NULL (message). Any thread. */
QN_API qn_status qn_error_set(qn_context *context, qn_status status, const char *message);

#define QN_FOREVER UINT64_MAX /* a deadline that never passes */

/* ---- context ---- */

typedef enum qn_log_level { QN_LOG_ERROR, QN_LOG_WARNING, QN_LOG_INFO, QN_LOG_DEBUG } qn_log_level;

/* Called with one line without a newline, possibly from several threads at once. Must not call quern.
   Each call that fails is a line at error with the sentence of qn_error_message; but a deadline that has passed
   (QN_ERROR_TIMEOUT) is an answer rather than a failure, and a line at debug.
   The library writes to no stream of the process's by itself. But where $QUERN_LOG is error, warning, info or debug, a
   context without this callback writes its lines to the standard error, and that is the level of all contexts, with a
   callback or without. At debug there is a line for each driver and device opened, each compile with its times and
   whether the cache had it, each buffer made, and each launch with its range.
   $QUERN_TRACE names a file that gets a trace of the context's compiles, copies and launches, in the JSON that Perfetto
   and chrome://tracing open: times of the device on the host's monotonic clock, a track for each stream. It is whole at
   any time. Programs add events by qn_trace_add (history.h), rings (ring.h) each message. While one context writes to `t.json`, another one, of this process or not, writes to `t.2.json`, and so on.
   Where the file cannot be written there is no trace, and a warning in the log tells why. $QUERN_CHECK=1: see check.h. */
typedef void qn_log_callback(void *user, qn_log_level level, const char *message);

/* Gets what kernels print with printf: `size` bytes, the whole output of one call of printf (at most 16 KiB;
   what is longer is cut off). From any thread, also several at once. Must not call quern. */
typedef void qn_print_callback(void *user, const char *text, size_t size);

/* Memory hooks for all host memory that quern allocates. All three or none. Any thread. Without them large buffers of the CPU device
   come from the system, between pages that nobody may touch. */
typedef struct qn_allocator {
    void *(*allocate)(void *user, size_t size); /* NULL when out of memory */
    void *(*reallocate)(void *user, void *memory, size_t size);
    void (*release)(void *user, void *memory);
    void *user;
} qn_allocator;

/* Defaults: malloc; no log but what $QUERN_LOG asks for; kernels print to stdout; cache under $QUERN_CACHE_DIR, else
   $XDG_CACHE_HOME/quern, else ~/.cache/quern, else /tmp/quern-UID, at most 256 MiB; one CPU thread per online
   processor ($QUERN_CPU_THREADS overrides 0). The cache's folder must be the effective user's, nobody else's to
   write to, and no symbolic link; otherwise it is not used, and `log` gets a warning. A process with more rights
   than its user (set-user-ID) takes no notice of the environment. */
typedef struct qn_context_desc {
    qn_allocator allocator;
    qn_log_callback *log;
    void *log_user;
    qn_log_level log_level; /* least important level that is passed to `log`; 0: errors only; $QUERN_LOG
                               overrides it */
    qn_print_callback *print;
    void *print_user;
    const char *cache_dir; /* copied */
    uint64_t cache_limit;  /* bytes on disk; 0: 256 MiB */
    bool disable_cache;
    unsigned cpu_threads;     /* at most 4096 */
    const char *cpu_compiler; /* C compiler of the CPU device: a path or a name on PATH; "none": interpret.
                                 NULL: $QUERN_CC, else the first of cc, gcc, clang. Copied */
    /* CPU device: qn_program_create comes back with compiled code (qn_program_wait). */
    bool cpu_compile_first;
    /* CPU device: a fault in a kernel ends the process, as one of the program's own does. Otherwise what the system refuses, an
       access to what is no memory above all (large buffers lie between pages that nobody may touch), ends the launch alone, with QN_ERROR_KERNEL_FAILED, and the device goes on: from the first look at the devices up to
       the end of the context, the process's handlers of SIGSEGV, SIGBUS and SIGFPE are the library's, which hands on to those of before what is
       not of a kernel. Handlers that the program installs later stay in front, and have to hand on in turn. */
    bool cpu_leave_signals;
} qn_context_desc;

/* Makes a context for a program with the structs of that version of quern.h, which all calls with the context and what is
   made from it then mean. qn_context_create names this header's. A foreign language's binding calls this one, with the
   version whose structs it declares. (The exported symbol qn_context_create is for programs of header 1.) Errors: as
   qn_context_create, and QN_ERROR_ARGUMENT (version 0). Any thread. */
QN_API qn_status qn_context_create_for(uint32_t header_version, const qn_context_desc *desc,
                                       qn_context **context);

/* Makes a context. `desc` may be NULL. No driver is opened yet: that happens at the first look at the
   devices. Errors: QN_ERROR_NULL, QN_ERROR_ARGUMENT (an incomplete allocator), QN_ERROR_OUT_OF_MEMORY,
   QN_ERROR_UNSUPPORTED (the library is older than this header; `log` gets a sentence). Any thread. */
static inline qn_status qn_context_create(const qn_context_desc *desc, qn_context **context) {
    return qn_context_create_for(QN_HEADER_VERSION, desc, context);
}

/* Waits for all work at most `timeout_ns`, then releases everything that was made from the context and is still there
   (NULL: nothing to do). Pointers to such objects are then invalid, whatever the status is: QN_OK; the first failure
   that no wait has reported; or QN_ERROR_TIMEOUT, where work was not done in that time, or a persistent stream's was
   not at the end. With QN_CAN_CANCEL such work is cancelled, and all is released. Elsewhere it has half a second more,
   as it may just be ending, and is then left with the driver: its device, with all buffers and programs of the device,
   and what the context keeps of the driver, stay until the process ends, and so do the hooks for memory, log and
   printing have to. Nothing that the work can reach is released. The sentence is qn_error_message(NULL). One thread,
   after all other calls on the context. */
QN_API qn_status qn_context_close(qn_context *context, uint64_t timeout_ns);
/* qn_context_close(context, QN_FOREVER): waits for ever for a kernel that never ends, unless its stream is persistent. */
QN_API void qn_context_destroy(qn_context *context);

/* The functions that the context takes host memory with: those of its descriptor, or ones that call malloc, realloc and
   free; never NULL. For libraries that stand above this one. Errors: QN_ERROR_NULL. Any thread. */
QN_API qn_status qn_context_get_allocator(const qn_context *context, qn_allocator *allocator);

/* ---- devices ---- */

typedef enum qn_device_kind {
    QN_DEVICE_CPU,
    QN_DEVICE_CUDA,
    QN_DEVICE_VULKAN,
    QN_DEVICE_OPENCL,
    QN_DEVICE_WEBGPU,
    QN_DEVICE_NULL,  /* accepts everything, computes nothing; for tests, by name only */
    QN_DEVICE_CHECK, /* interprets kernels and looks for faults (check.h); by name only */
    QN_DEVICE_KIND_COUNT
} qn_device_kind;

/* Types of numbers. */
typedef enum qn_type {
    QN_TYPE_BYTES, /* struct or unknown */
    QN_TYPE_I8,
    QN_TYPE_U8,
    QN_TYPE_I16,
    QN_TYPE_U16,
    QN_TYPE_I32,
    QN_TYPE_U32,
    QN_TYPE_I64,
    QN_TYPE_U64,
    QN_TYPE_F16,
    QN_TYPE_F32,
    QN_TYPE_F64,
    QN_TYPE_BF16, /* qn_bf16: a float's upper 16 bits */
    QN_TYPE_E4M3, /* qn_e4m3 and qn_e5m2: OCP's 8-bit formats */
    QN_TYPE_E5M2
} qn_type;

/* What a device can do: bits of qn_device_info.capabilities. */
enum {
    QN_CAN_F16 = 1 << 0,
    QN_CAN_F64 = 1 << 1,
    QN_CAN_I64_ATOMICS = 1 << 2,
    QN_CAN_SUB_GROUPS = 1 << 3,
    QN_CAN_PRINTF = 1 << 4,
    QN_CAN_SHARE_MEMORY = 1 << 5, /* buffers are host memory: mapping copies nothing */
    QN_CAN_EMULATE = 1 << 6,      /* a GPU interface on the processor (software driver) */
    /* 32-bit denormal numbers are kept. Without it they may count as zero, as OpenCL C 7.5.3 allows, whether they
       come in or come out of a computation; moving them changes nothing. */
    QN_CAN_F32_DENORMALS = 1 << 7,
    /* QN_MEMORY_SHARED: host and kernels see memory alike while kernels run. */
    QN_CAN_SHARE_COHERENTLY = 1 << 8,
    QN_CAN_IMPORT_HOST = 1 << 9, /* a buffer can be memory of the caller's: host in qn_buffer_desc */
    QN_CAN_CANCEL = 1 << 10,     /* qn_stream_cancel */
    QN_CAN_PERSIST = 1 << 11,    /* qn_stream_set_persistent */
    /* Barriers that count bytes, tile copies, clusters and products by quads of sub-groups in kernels: CUDA devices of
       compute capability 9.0; qn_buffer_tensor_map, and docs/language.md, Extensions. */
    QN_CAN_COPY_TILES = 1 << 12,
    QN_CAN_MULTIPLY_MATRICES = 1 << 13, /* matrix units: qn_device_get_matrix_shape */
    QN_CAN_MULTIPLY_PANELS = 1 << 14,   /* qn_panel_product_* in kernels is the hardware's: AMX of x86 */
    /* qn_panel_product_bf16 is: by AMX, or by AVX-512's own instruction where it is quicker than products of f32. */
    QN_CAN_MULTIPLY_BF16_PANELS = 1 << 15
};

/* A capability's word: "f64" for QN_CAN_F64. NULL for what is not one of them. Any thread. */
QN_API const char *qn_capability_name(uint32_t capability);

typedef struct qn_device_info {
    const char *name;        /* "cpu", "cuda:0": what qn_device_get takes */
    const char *description; /* "AMD EPYC 9654, gcc 12.2" */
    const char *driver;      /* version text of the driver or compiler */
    qn_device_kind kind;
    uint32_t capabilities;   /* QN_CAN_* bits */
    uint32_t compute_units;  /* cores, multiprocessors; 0: not known */
    uint32_t sub_group_size; /* the usual size */
    uint32_t max_group_size; /* work-items in a work-group */
    uint32_t max_local_size[3];
    uint64_t max_global_size[3];
    uint64_t local_memory;   /* bytes per work-group */
    uint64_t private_memory; /* bytes of a work-item's private variables; 0: as many as there is memory */
    uint64_t memory;         /* bytes of device memory */
    uint64_t max_buffer;     /* bytes of one buffer */
    uint32_t max_args_size;  /* bytes of a kernel's arguments: buffers 8, structs by value their size */
    uint8_t uuid
        [16]; /* the same for the same hardware in all kinds; zeros: not known. Of a WebGPU device known if all devices
                         were counted before it was opened, and the others of its vendor and model are one */
    /* Iterations of all its loops together after which the driver ends a work-item's loops without a word, so that
       results are wrong; 0: none is known. A warning in the log when the device is opened says so too. */
    uint64_t loop_limit;
    uint32_t import_handles; /* qn_handle_kind bits: what qn_buffer_import takes */
    uint32_t export_handles; /* and what qn_buffer_export gives of buffers that are made exportable */
    uint32_t
        matrix_shapes; /* how many qn_device_get_matrix_shape tells; 0: the device has no matrix units for kernels */
    uint32_t
        vector_bytes; /* SIMD registers of a processor whose kernels are compiled; 0: none, or not known */
} qn_device_info;

/* Why a kind of device is there or not. */
typedef struct qn_backend_info {
    qn_device_kind kind;
    const char *name;   /* "cuda" */
    uint32_t devices;   /* how many were found */
    const char *reason; /* with none: why, as a sentence; else NULL */
} qn_backend_info;

/* Devices in order of preference: CUDA, Vulkan, OpenCL, the processor, and then drivers that only emulate a GPU
   (QN_CAN_EMULATE) and WebGPU's, which are never chosen unless named. The first that can be opened is what NULL selects
   (unless QUERN_DEVICE says otherwise). Listing opens every driver; choosing the default does not open those of Vulkan
   and OpenCL where no GPU shows in the system (on Linux in /dev), for they could only be software. Any thread. */
QN_API uint32_t qn_device_count(qn_context *context);
QN_API qn_device *qn_device_at(qn_context *context, uint32_t index); /* NULL when out of range */
QN_API uint32_t qn_backend_count(qn_context *context);
QN_API qn_status qn_backend_get(qn_context *context, uint32_t index, qn_backend_info *info);

/* A device by name: "cpu", "cuda:0", a kind alone ("cuda" is "cuda:0"), or NULL for $QUERN_DEVICE or else the
   best present. The device belongs to the context. Errors: QN_ERROR_NULL, QN_ERROR_NO_DEVICE (the message
   lists those that exist, or why the kind is missing). Any thread. */
QN_API qn_status qn_device_get(qn_context *context, const char *name, qn_device **device);
/* Opens a lost device (QN_ERROR_DEVICE_LOST) again, in the same context: `device`, its default stream and what is made
   on it from now on work. What was made before stays lost, and each call with it says so; it is to be destroyed as
   ever, and qn_buffer_device gives another, lost device for it. Memory that the host had of it ends: the device's
   buffers must be unmapped and memory of qn_host_alloc be freed before, and pointers of qn_buffer_host are invalid.
   - CUDA: the process's primary context of the GPU is reset, after which nothing else in the process that used it works
     either (a failed kernel has broken it already). After some failures the driver takes the GPU only in a new
     process: then the call fails, and may be tried again.
   - Vulkan and OpenCL: a new device or context of the driver's beside the old one, which goes with the context.
   - The processor and the null device are never lost.
   Errors: QN_ERROR_STATE (not lost, or memory is still mapped), QN_ERROR_DRIVER and QN_ERROR_DEVICE_LOST (the driver
   does not give it), QN_ERROR_OUT_OF_MEMORY. One thread, while no other call on the device or what is made of it is under way. */
QN_API qn_status qn_device_reopen(qn_device *device);
QN_API qn_context *qn_device_context(const qn_device *device);
/* Strings belong to the device. Errors: QN_ERROR_NULL. Any thread. */
QN_API qn_status qn_device_get_info(const qn_device *device, qn_device_info *info);

/* A product of matrix fragments (docs/language.md, Extensions) that a device's matrix units do: of a, rows x k, and b,
   k x columns, summed in `sum`. */
typedef struct qn_matrix_shape {
    qn_type a, b; /* QN_TYPE_F32: taken as tf32, 10 bits of fraction */
    qn_type sum;
    uint32_t rows, columns, k;
} qn_matrix_shape;
/* Shape `index` of the device's, 0 to matrix_shapes - 1 of its info. A kernel's fragments may also be several times as large
   in each direction. Every other product that the language has is plain arithmetic, on every device. Errors:
   QN_ERROR_NULL, QN_ERROR_RANGE. Any thread. */
QN_API qn_status qn_device_get_matrix_shape(const qn_device *device, uint32_t index, qn_matrix_shape *shape);

/* ---- buffers ---- */

/* Where a buffer's memory lies. */
typedef enum qn_memory {
    QN_MEMORY_DEVICE, /* where kernels are fastest */
    QN_MEMORY_SHARED, /* where host and kernels see it alike, also while kernels run: see qn_buffer_host */
    QN_MEMORY_UNIFIED /* on the host, and on each device of the context that uses it: see memory.h */
} qn_memory;

/* Defaults: zeroed memory of the device. With `data`, size bytes are copied from it. `uninitialised` skips the zeroing.
   With `host` the buffer is the caller's `size` bytes there, ordinary memory or a mapped file, at a multiple of 16.
   Nothing is copied or zeroed: they are the buffer's contents, and what kernels write is found there. `data`,
   `uninitialised` and `memory` do not go with it. While work that uses the buffer is under way the bytes are the
   device's; otherwise a map gives their address, and waits for that. The caller keeps them where they are until the
   buffer, its views and its graphs are destroyed and a qn_device_wait that came after has returned. GPUs take whole
   pages, reach them over the bus, and take none twice at a time: such memory should begin and end with a page. */
typedef struct qn_buffer_desc {
    uint64_t size; /* bytes, at least 1 */
    const void *data;
    bool uninitialised;
    const char *label; /* for messages; copied; may be NULL */
    qn_memory memory;
    void *host;
    /* Kernels and transfers do not write the buffer, and it is not mapped for writing: else QN_ERROR_ARGUMENT. `host`
       has to be so where the host cannot write it (PROT_READ). */
    bool read_only;
    uint32_t exportable; /* qn_handle_kind bits, of the device's export_handles: for qn_buffer_export */
    qn_memory_pool *
        pool; /* whose limits it counts against (qn_memory_pool_create); goes with neither `host` nor `exportable` */
} qn_buffer_desc;

/* Errors: QN_ERROR_NULL, QN_ERROR_RANGE (size 0 or over max_buffer), QN_ERROR_ARGUMENT (memory, host, pool),
   QN_ERROR_UNSUPPORTED (QN_MEMORY_SHARED on a device without QN_CAN_SHARE_COHERENTLY; host on one without
   QN_CAN_IMPORT_HOST, or where the driver does not take such memory: some take no files, or none that cannot be
   written), QN_ERROR_WRONG_CONTEXT (pool), QN_ERROR_DEVICE_MEMORY (also: over the pool's limit),
   QN_ERROR_OUT_OF_MEMORY. Any thread. */
QN_API qn_status qn_buffer_create(qn_device *device, const qn_buffer_desc *desc, qn_buffer **buffer);
/* A view of [offset, offset + size) of a buffer, which stays alive with it. The offset must be a multiple
   of 16. Views are passed to kernels, copied and mapped like buffers. Errors:
   QN_ERROR_RANGE, QN_ERROR_ARGUMENT (alignment). Any thread. */
QN_API qn_status qn_buffer_view(qn_buffer *buffer, uint64_t offset, uint64_t size, qn_buffer **view);
QN_API void qn_buffer_destroy(qn_buffer *buffer);

/* How a tensor lies in a buffer, for kernels that copy tiles of it (qn_tile_load, docs/language.md): up to three dimensions,
   the first contiguous. Zeros: dimensions of 1, rows and planes that follow each other. */
typedef struct qn_tensor_desc {
    uint64_t offset;       /* bytes, a multiple of 16 */
    uint32_t element_size; /* bytes: 1, 2, 4 or 8 */
    uint64_t sizes[3];     /* elements, below 2^32; the first at least 1 */
    uint64_t strides[2];   /* bytes from a row to the next, and from a plane: multiples of 16 below 2^40 */
    /* Elements of a tile, up to 256. Its rows take a multiple of 16 bytes, at most 128; rows of 128 are swizzled in local
       memory: the 16 bytes number i of row r lie at i ^ (r & 7). */
    uint32_t tile[3];
} qn_tensor_desc;
/* The struct of that name in kernels, given to them by value. */
typedef struct qn_tensor_map {
    uint64_t words[16];
} qn_tensor_map;

/* Fills *map with the tensor as the device's copies want it. It holds the buffer's address and nothing else: the buffer has
   to live as long as kernels use the map, and has to be among the kernel's other arguments too, by which quern knows what
   the kernel uses. What a tile has beyond the tensor's end is read as zero and not written. Errors: QN_ERROR_NULL,
   QN_ERROR_ARGUMENT, QN_ERROR_RANGE, QN_ERROR_UNSUPPORTED (no QN_CAN_COPY_TILES). Any thread. */
QN_API qn_status qn_buffer_tensor_map(qn_buffer *buffer, const qn_tensor_desc *desc, qn_tensor_map *map);

/* Images in a buffer, for kernels that copy what a convolution's taps meet (qn_window_load, docs/language.md): a window goes over
   columns, rows and images, in this order; a tile has some channels, which lie together, of the pixels at some positions. */
typedef struct qn_window_desc {
    uint64_t offset;       /* bytes, a multiple of 16 */
    uint32_t element_size; /* bytes: 1, 2, 4 or 8 */
    uint64_t sizes[4];     /* elements, 1 to 2^32 - 1 */
    uint64_t strides[3];   /* bytes to the next column, row, image: multiples of 16 below 2^40 */
    /* Along columns and rows: the first position, -128 to 127, below 0 where images are padded; from one to the next, up to
       8 (0: 1); how many there are, the last one at most 128 pixels beyond the image's end. */
    int32_t first[2];
    uint32_t steps[2], positions[2];
    uint32_t tile[2]; /* channels, in bytes as in qn_tensor_desc, and positions, up to 256 */
} qn_window_desc;
/* The same for images. What a tap meets beyond an image is read as zero. */
QN_API qn_status qn_buffer_window_map(qn_buffer *buffer, const qn_window_desc *desc, qn_tensor_map *map);
QN_API uint64_t qn_buffer_size(const qn_buffer *buffer);
QN_API qn_device *qn_buffer_device(const qn_buffer *buffer);
/* As its desc said; false with a message: `buffer` is none. */
QN_API bool qn_buffer_is_read_only(const qn_buffer *buffer);
/* The buffer that a view is a part of, and in *offset (may be NULL) where it begins there; of other buffers themselves and
   0. Two buffers share memory where these are one and their ranges overlap. It may have been destroyed: the pointer is
   for comparing. NULL with a message: `buffer` is none. Any thread. */
QN_API const qn_buffer *qn_buffer_origin(const qn_buffer *buffer, uint64_t *offset);
/* The host's pointer to a buffer of QN_MEMORY_SHARED, or to a view's part of it: valid for as long as the buffer, with
   no map. The library neither waits nor looks at who uses it; the buffer can be mapped and copied besides, as any.
   What host and a running kernel see of each other there:
   - Atomic loads and stores of 32 bits (of 64 with QN_CAN_I64_ATOMICS) at aligned addresses: each side sees what the
     other has stored after a finite time and never half of it, in the host with C11's atomics, in a kernel with
     atomic_load_explicit, atomic_store_explicit and memory_scope_all_svm_devices.
   - What a side has written before a store with memory_order_release, the other sees after it has loaded that with
     memory_order_acquire. Fences of the same scope do as well.
   - Other atomics (atomic_fetch_add, ...) of one word by both sides at once: only where the device is the processor
     (QN_DEVICE_CPU, QN_CAN_EMULATE). A GPU's are atomic among its own work-items.
   - All else is seen when a kernel begins, and by the host when the stream has been waited for. A parameter that is
     both const and restrict promises that nobody writes there while the kernel runs.
   A kernel begins when the device has room for it and the stream has come to it, and no later than when somebody waits
   for the stream: a host that waits for a running kernel itself should look at an event behind it now and then. Kernels
   that wait for the host must not be more than the device runs at once. Not every driver promises this in writing:
   devices on which it was not tried lack QN_CAN_SHARE_COHERENTLY.
   NULL with a message: the buffer is not of that kind. Any thread. */
QN_API void *qn_buffer_host(const qn_buffer *buffer);

/* Pinned host memory: zeroed, aligned to 64 bytes. Transfers of the device's buffers from and to any part of it take
   no detour and do not block (qn_stream_write); kernels do not see it. On the CPU device, where there is nothing to gain,
   it is ordinary memory. There is less of it than of ordinary memory, and taking it costs the driver up to a
   millisecond for each megabyte: keep it. What is left is released with the context.
   qn_host_free may be called while transfers are under way: the memory goes when they are done, but is no longer
   the caller's to touch. NULL does nothing; what qn_host_alloc did not give is left alone, with a message.
   Errors: QN_ERROR_NULL, QN_ERROR_RANGE (size 0), QN_ERROR_OUT_OF_MEMORY (also: no more can be pinned),
   QN_ERROR_DEVICE_LOST. Any thread. */
QN_API qn_status qn_host_alloc(qn_device *device, uint64_t size, void **memory);
QN_API void qn_host_free(qn_device *device, void *memory);

/* Blocking transfers on the default stream: ordered after all work submitted to the device's default stream,
   and waiting for it, so that they also report what went wrong there (QN_ERROR_KERNEL_FAILED). Errors:
   QN_ERROR_NULL, QN_ERROR_RANGE, QN_ERROR_STATE (the buffer is mapped, for writing if it is read; or the
   default stream records a graph), QN_ERROR_OUT_OF_MEMORY, QN_ERROR_DEVICE_LOST. One thread at a time per buffer. */
QN_API qn_status qn_buffer_write(qn_buffer *buffer, uint64_t offset, const void *data, uint64_t size);
QN_API qn_status qn_buffer_read(qn_buffer *buffer, uint64_t offset, void *data, uint64_t size);

/* Transfers on a stream; `data` may be NULL where size is 0. write: `data` is copied before the call returns.
   read: `data` must stay valid until the stream has been waited for. copy: the ranges must not overlap; the
   buffers are of the stream's device, or one of them is of another device of the context. fill: repeats the pattern of
   1, 2, 4, 8 or 16 bytes; offset and size are multiples of that.

   Where `data` lies in memory of qn_host_alloc, nothing is copied on the way and the call does not wait: what is
   written must stay as it is until the stream is done, and what is read is there then. (A write that is recorded
   into a graph is copied all the same, before the call returns.) With ordinary memory the call may block:
   - CUDA: a read returns when its data is there, after all work before it on the stream; a write waits where 8 MiB
     of earlier writes are still on their way.
   - Vulkan: a transfer waits where 64 MiB of earlier ones are still on their way. The data of a read gets to its
     place while somebody waits for the stream, or looks at an event.
   - OpenCL: as the driver likes; NVIDIA's blocks in a read as CUDA does, PoCL does not.
   - The CPU device never blocks.
   Errors as above, QN_ERROR_WRONG_CONTEXT, QN_ERROR_ARGUMENT. */
QN_API qn_status qn_stream_write(qn_stream *stream, qn_buffer *buffer, uint64_t offset, const void *data,
                                 uint64_t size);
QN_API qn_status qn_stream_read(qn_stream *stream, qn_buffer *buffer, uint64_t offset, void *data,
                                uint64_t size);
QN_API qn_status qn_stream_copy(qn_stream *stream, qn_buffer *from, uint64_t from_offset, qn_buffer *to,
                                uint64_t to_offset, uint64_t size);
QN_API qn_status qn_stream_fill(qn_stream *stream, qn_buffer *buffer, uint64_t offset, uint64_t size,
                                const void *pattern, size_t pattern_size);

/* ---- programs and kernels ---- */

/* A header that `#include "name"` finds before any directory. */
typedef struct qn_header {
    const char *name, *text;
} qn_header;

/* A macro: its name, or NAME(PARAMETERS), and its text, which is taken as it is; NULL: 1. */
typedef struct qn_define {
    const char *name, *value;
} qn_define;

/* A file of a program that has several. */
typedef struct qn_source {
    const char *text; /* at most 64 MiB; or NULL to read `path` */
    size_t size;      /* 0: up to the terminating zero */
    const char *path; /* file to read; with `text`: its name in messages */
} qn_source;

/* What a program is written in. A WGSL module is one file; each entry point is a kernel of its name, whose parameters are the
   storage and uniform variables that it uses, in order of group and binding, each a buffer with the variable's name. The work-group has
   the shader's size; the global size is a multiple of it. `override` constants are set by -D NAME=VALUE and by
   `defines`; headers have no use. docs/wgsl.md has the rest. */
typedef enum qn_language { QN_LANGUAGE_OPENCL_C, QN_LANGUAGE_WGSL } qn_language;

/* Defaults: optimise fully, use the disk cache. Everything is copied or used during the call only. */
typedef struct qn_program_desc {
    const char *source;  /* in `language`, at most 64 MiB, as each header; or NULL to read `path` */
    size_t source_size;  /* 0: up to the terminating zero */
    const char *path;    /* file to read; with `source`: its name in messages */
    const char *options; /* as of clBuildProgram: "-D N=4 -I dir -cl-fast-relaxed-math"; may be NULL;
                            "-qn-soft-f64": slow, exact doubles where the device has none */
    const qn_header *headers;
    size_t num_headers;
    int opt_level; /* 0: full (2); 1: quick; -1: none */
    bool debug;    /* for gdb: positions and variables kept, nothing optimised */
    bool disable_cache;
    const qn_define *defines; /* after those of `options`; a wrong name is QN_ERROR_ARGUMENT */
    size_t num_defines;
    const void
        *binary; /* instead of a source: a packed program (qn_program_pack), which `path` may name as well */
    size_t binary_size;
    /* Instead of `source` and `path`: several files. Each is a translation unit: macros, types, and what is static or
       inline belong to it; functions, kernels and variables at program scope are the program's, known where they are
       declared. Options, defines and headers are for all. What two files define is QN_ERROR_COMPILE. */
    const qn_source *sources;
    size_t num_sources;
    bool safe; /* no access leaves the memory that a kernel was given or has */
    uint32_t
        loop_budget; /* with `safe`: how often a work-item's loops go round at most; 0: as often as they do */
    qn_language language; /* a `path` that ends in .wgsl is WGSL in any case */
    size_t
        num_uncounted_headers; /* the first so many of `headers`: loops in them have no part in `loop_budget` */
} qn_program_desc;

/* Compiles for one device. On the CPU device kernels can be launched within milliseconds: they are interpreted while
   the host's C compiler works, and a launch goes on with the compiled code, from the next work-group, once that is
   there; results are the same. What is interpreted is checked: an access outside of the memory that a pointer leads to
   ends the kernel with QN_ERROR_KERNEL_FAILED and a sentence with the line. Compiled code is checked with `safe` only;
   what the system refuses it ends the launch alike, without the line (cpu_leave_signals). With `debug`,
   and `cpu_compile_first` in the context, the call waits for the compiler. Errors: QN_ERROR_NULL, QN_ERROR_COMPILE
   (qn_error_message is the log), QN_ERROR_ARGUMENT (an unknown option, a wrong name of a define, `sources` beside
   `source` or `path`, a packed program among `sources`, anything that says how to compile with a packed program), QN_ERROR_UNSUPPORTED (a packed program has nothing for the device: the message has
   what it has), QN_ERROR_IO (also: a packed program is damaged), QN_ERROR_OUT_OF_MEMORY, QN_ERROR_DRIVER (the host's
   compiler failed). On the CPU device a program that takes the host's C compiler too much time or memory (30 seconds, 2 GiB) is
   compiled without optimisation, or else interpreted; `log` gets a warning. Any thread.
   `safe` is for kernels that others wrote: an access outside of the buffers and arrays that a kernel was given or has reads zero or is
   dropped; the next call that waits for the device says QN_ERROR_KERNEL_FAILED with the first one's line, name and place (of a launch
   on a persistent stream the next wait for that stream, even where it is in vain). So is an access at an address that is no multiple
   of what its type asks for, 16 bytes at most, which takes some devices down. Results of right kernels are the same. A pointer whose origin is hidden, or a built-in that cannot be checked, is QN_ERROR_UNSUPPORTED with the line.
   With `loop_budget` no such kernel runs for ever: all loops of a work-item together go round that many times, then each is left the
   next time that it would go round, and the next wait says QN_ERROR_KERNEL_FAILED with the loop's line. Loops that, optimised, go
   round a constant number of times, at most 1,024 with those in them, are not counted; loops with barriers, and those with sub-group functions,
   have such a budget each for themselves. Where the driver ends loops (loop_limit), the budget is less than that. Without `safe` it is QN_ERROR_ARGUMENT. A library that calls what others wrote from a loop of
   its own, which goes on for as long as it likes, has that loop in a header of `num_uncounted_headers`: the budget begins anew with each
   of its iterations. A header counts as one where it is included by its name; give it `#pragma once`, so that it is included once. */
QN_API qn_status qn_program_create(qn_device *device, const qn_program_desc *desc, qn_program **program);
QN_API void qn_program_destroy(qn_program *program);
QN_API const char *qn_program_log(const qn_program *program); /* warnings; "" if none; the program's */
QN_API uint32_t qn_program_kernel_count(const qn_program *program);
QN_API const char *qn_program_kernel_name(const qn_program *program, uint32_t index); /* NULL: out of range */

/* Until the program's code is final: on the CPU device until the host's C compiler is done; elsewhere it is at once. For
   measurements, and to have the disk cache filled: a program that is destroyed earlier waits for its compiler at most
   as long again as it has run, then ends it. Errors: QN_ERROR_TIMEOUT, and QN_ERROR_DRIVER: the compiler failed, and
   the program stays interpreted (`log` gets a warning). Any thread. */
QN_API qn_status qn_program_wait(qn_program *program, uint64_t timeout_ns);

/* Where the time of qn_program_create, and of qn_program_wait, went. */
typedef struct qn_program_times {
    uint64_t compile_ns; /* source to target text */
    uint64_t driver_ns;  /* target text to loaded code, by the driver or host compiler */
    bool from_cache;     /* neither quern nor, as far as it tells, the driver has compiled */
} qn_program_times;
QN_API qn_status qn_program_get_times(const qn_program *program, qn_program_times *times);

/* Translates without a device. target: "c", "ptx", "spirv" (a binary module), "clc" (OpenCL C 1.2), "ir". Output is
   released with qn_text_free; `log` (may be NULL) gets warnings or errors. `dump_pass`: NULL, or "all" or a pass's
   name: *text is then the IR as it was after that pass. With `reflect` *text is JSON that describes the kernels. Errors
   as qn_program_create, and QN_ERROR_UNSUPPORTED for a target that is not there. Any thread. */
typedef struct qn_translate_desc {
    qn_program_desc program;
    const char *target;
    const char *dump_pass;
    bool reflect;
    /* ptx: "sm_60" ... "sm_121"; NULL: the lowest that the kernel can do with. wgsl: the device's
       extensions, "f16,subgroups", or one of them; NULL: none. Without f16 halves are integers' work. Sub-groups have to
       consist of consecutive work-items; without them they are done with local memory. */
    const char *arch;
    size_t *size; /* if not NULL: gets the bytes of *text, without the zero behind it */
} qn_translate_desc;
QN_API qn_status qn_translate(qn_context *context, const qn_translate_desc *desc, char **text, char **log);
/* Packs a program for several targets into one piece of bytes to ship (a .qnb; docs/qnb.md has the format), from which
   qn_program_create compiles nothing, where it has code that the driver loads, and nothing but the driver or the host's
   C compiler does otherwise. No device is needed to make it.
   targets, with commas: "ptx": for each CUDA architecture of `archs`, or for all if it names none; "spirv" and "clc":
   for what GPUs have in common, and where that matters again for as little as the program can do with; "c": the text,
   and compiled by the host's C compiler for any processor of the kind that it runs on and for those of `archs`; "ir":
   for the processor where nothing else fits, interpreted.
   archs, with commas: "sm_60" ... "sm_121"; processors as -march: "x86-64-v2" ... "x86-64-v4", "armv8.1-a"; "native":
   the best of those that this machine is. Each is of "ptx" or "c": QN_ERROR_ARGUMENT where that is not among the targets.
   devices, with commas: "cuda:0,vulkan": for these devices of the machine, text that fits them exactly, and what their
   drivers make of it: a CUDA device's is for all of its generation, others' for the same device and driver.
   Which part a device takes: machine code of the machine that is nearest to it; else text of the highest architecture,
   and then with the most needs, that it can run; else, on the processor, the IR. What the driver refuses is left for
   the next, and `log` gets a warning.
   *data, of *size bytes, is released with qn_text_free; `log` (may be NULL) gets warnings. Errors as qn_translate; the
   message names the target that cannot be had, and QN_ERROR_DRIVER: the C compiler fails or is not there. Any thread. */
typedef struct qn_pack_desc {
    const qn_program_desc *program; /* with a source */
    const char *targets;            /* NULL: none with `devices`, else "ptx,spirv,clc,c,ir" */
    const char *archs, *devices;    /* may be NULL */
} qn_pack_desc;
QN_API qn_status qn_program_pack(qn_context *context, const qn_pack_desc *desc, char **data, size_t *size,
                                 char **log);
QN_API void qn_text_free(qn_context *context, char *text);

/* A kernel of a program; name NULL when the program has just one. It may have any number of parameters, as long as they
   take no more than the device's max_args_size. Errors: QN_ERROR_NO_KERNEL (the message lists those there are),
   QN_ERROR_UNSUPPORTED (its parameters are too large; or it uses images or samplers, and the message has the line), and
   those of devices: on CUDA the driver puts a kernel's code on the device here, not in qn_program_create. Any thread. */
QN_API qn_status qn_kernel_create(qn_program *program, const char *name, qn_kernel **kernel);
QN_API void qn_kernel_destroy(qn_kernel *kernel);

typedef enum qn_param_kind {
    QN_PARAM_VALUE,  /* scalar, vector or struct by value */
    QN_PARAM_BUFFER, /* __global or __constant pointer */
    QN_PARAM_LOCAL   /* __local pointer: its size is given at launch */
} qn_param_kind;

typedef struct qn_param_info {
    const char *name, *type_name; /* "x", "float4*" */
    qn_param_kind kind;
    qn_type type;          /* of the value, or of what the pointer points to */
    uint32_t lanes;        /* 1, 2, 3, 4, 8, 16 */
    uint32_t size;         /* bytes of the value (buffers: 8) */
    uint32_t element_size; /* bytes of what the pointer points to; 0 for void */
    bool is_constant_space, is_const, is_restrict;
    /* Of a struct, by value or pointed to: see qn_kernel_get_field; 0: none, or over 1,024. */
    uint32_t num_fields;
} qn_param_info;

/* A number, a vector or an array of these in a struct. Those of inner structs have a path: "light.color", "steps[1].at".
   Bit-fields are left out. */
typedef struct qn_field_info {
    const char *name;
    qn_type type;    /* QN_TYPE_BYTES: a pointer */
    uint32_t lanes;  /* 1, 2, 3, 4, 8, 16 */
    uint32_t offset; /* bytes from the struct's begin */
    uint32_t count;  /* elements of an array, of all its dimensions together; else 1 */
} qn_field_info;

typedef struct qn_kernel_info {
    const char *name;
    uint32_t num_params;
    uint32_t required_local_size[3]; /* zeros: any */
    uint32_t local_size_hint[3];
    uint64_t local_memory; /* static bytes per work-group */
} qn_kernel_info;

QN_API qn_status qn_kernel_get_info(const qn_kernel *kernel, qn_kernel_info *info);
QN_API qn_status qn_kernel_get_param(const qn_kernel *kernel, uint32_t index, qn_param_info *info);
/* A field of the struct that a parameter is or points to, in the order of the source, which is also that of the offsets
   but in unions. Strings belong to the program. Errors: QN_ERROR_RANGE (either index). Any thread. */
QN_API qn_status qn_kernel_get_field(const qn_kernel *kernel, uint32_t param, uint32_t index,
                                     qn_field_info *info);

/* ---- launching ---- */

/* Work size, of at most 2^62 work-items in all. Zeros mean one work-item in dimensions 1 and 2, no offset,
   and a local size that quern chooses; global[0] of 0 is an empty launch, which is checked and does nothing.
   The local size need not divide the global size: the last group is then smaller. */
typedef struct qn_range {
    uint64_t global[3];
    uint32_t local[3];
    uint64_t offset[3];
} qn_range;

/* QN_RANGE(1024, 1024), and QN_RANGE_LOCAL(QN_GROUP(1024, 1024), QN_GROUP(16, 16)): a range for one call. */
#ifndef __cplusplus
#define QN_RANGE(...) (&(qn_range){.global = {__VA_ARGS__}})
#define QN_GROUP(...)                                                                                        \
    { __VA_ARGS__ }
#define QN_RANGE_LOCAL(global_size, local_size) (&(qn_range){.global = global_size, .local = local_size})
#endif

typedef enum qn_arg_kind {
    QN_ARG_SIGNED,
    QN_ARG_UNSIGNED,
    QN_ARG_FLOAT,
    QN_ARG_DOUBLE,
    QN_ARG_BUFFER,
    QN_ARG_LOCAL,
    QN_ARG_BYTES,
    QN_ARG_NULL
} qn_arg_kind;

/* One kernel argument. Numbers are converted to the parameter's type as C would where that loses nothing but
   a double's precision; else QN_ERROR_KERNEL_ARGUMENT. Bytes must have the parameter's size. */
typedef struct qn_arg {
    qn_arg_kind kind;
    uint64_t size; /* LOCAL: bytes; BYTES: bytes at .bytes */
    union {
        int64_t i;
        uint64_t u;
        double d;
        qn_buffer *buffer;
        const void *bytes; /* copied during the call */
    } value;
} qn_arg;

static inline qn_arg qn_arg_signed(int64_t value) {
    qn_arg arg = {QN_ARG_SIGNED, 0, {0}};
    arg.value.i = value;
    return arg;
}
static inline qn_arg qn_arg_unsigned(uint64_t value) {
    qn_arg arg = {QN_ARG_UNSIGNED, 0, {0}};
    arg.value.u = value;
    return arg;
}
static inline qn_arg qn_arg_float(float value) {
    qn_arg arg = {QN_ARG_FLOAT, 0, {0}};
    arg.value.d = (double)value;
    return arg;
}
static inline qn_arg qn_arg_double(double value) {
    qn_arg arg = {QN_ARG_DOUBLE, 0, {0}};
    arg.value.d = value;
    return arg;
}
static inline qn_arg qn_arg_buffer(qn_buffer *buffer) {
    qn_arg arg = {QN_ARG_BUFFER, 0, {0}};
    arg.value.buffer = buffer;
    return arg;
}
static inline qn_arg qn_arg_self(qn_arg arg) { return arg; }
/* `bytes` of local memory for a __local pointer. */
static inline qn_arg qn_arg_local(uint64_t bytes) {
    qn_arg arg = {QN_ARG_LOCAL, bytes, {0}};
    return arg;
}
/* A struct or vector by value: the bytes at `data`. Of a vector of three, as wide as one of four, the last component
   may be left out. */
static inline qn_arg qn_arg_bytes(const void *data, uint64_t size) {
    qn_arg arg = {QN_ARG_BYTES, size, {0}};
    arg.value.bytes = data;
    return arg;
}
/* A null pointer for a buffer. The kernel may test for it; a launch that is sure to follow it is refused, as far as
   qn_kernel_required_size can tell. */
static inline qn_arg qn_arg_null(void) {
    qn_arg arg = {QN_ARG_NULL, 0, {0}};
    return arg;
}

/* QN_ARGS(n, 2.0f, x, y): an array of qn_arg from C values by their types, and its length; up to 24 arguments
   (longer lists: fill an array). A struct or vector: QN_BYTES(value). */
#ifndef __cplusplus
#define QN_ARG(value)                                                                                        \
    _Generic((value), qn_arg                                                                                 \
             : qn_arg_self, qn_buffer *                                                                      \
             : qn_arg_buffer, float                                                                          \
             : qn_arg_float, double                                                                          \
             : qn_arg_double, bool                                                                           \
             : qn_arg_unsigned, char                                                                         \
             : qn_arg_signed, signed char                                                                    \
             : qn_arg_signed, short                                                                          \
             : qn_arg_signed, int                                                                            \
             : qn_arg_signed, long                                                                           \
             : qn_arg_signed, long long                                                                      \
             : qn_arg_signed, unsigned char                                                                  \
             : qn_arg_unsigned, unsigned short                                                               \
             : qn_arg_unsigned, unsigned                                                                     \
             : qn_arg_unsigned, unsigned long                                                                \
             : qn_arg_unsigned, unsigned long long                                                           \
             : qn_arg_unsigned)(value)
#define QN_ARGS(...)                                                                                         \
    ((qn_arg[]){QN__MAP(QN__COUNT_ARGS(__VA_ARGS__), __VA_ARGS__)}), QN__COUNT_ARGS(__VA_ARGS__)
#endif
#define QN_BYTES(object) qn_arg_bytes(&(object), sizeof(object))
#define QN_NO_ARGS       NULL, 0

/* The least bytes that the buffer for a parameter must have for a launch with these arguments: what some work-item is
   sure to access, as far as it follows from ids, sizes and arguments by value, and conditions on these; of an access
   elsewhere its own bytes. 0: nothing is known, or it is no buffer. A smaller buffer is a mistake; a larger one may be one too. `args` is as for qn_launch,
   but of buffers and local memory nothing is looked at. Where `local` is zeros and the kernel does not require a size,
   what depends on it is not known; nor is anything of programs that are not optimised (opt_level -1, debug). Errors:
   QN_ERROR_NULL, QN_ERROR_RANGE (param), QN_ERROR_ARGUMENT_COUNT, QN_ERROR_KERNEL_ARGUMENT, QN_ERROR_OUT_OF_MEMORY. Any thread. */
QN_API qn_status qn_kernel_required_size(qn_kernel *kernel, uint32_t param, const qn_range *range,
                                         const qn_arg *args, size_t num_args, uint64_t *bytes);

/* Submits a kernel over a range and returns at once. `args` holds one entry a parameter, in order. Buffers
   must be of the kernel's device. Errors: QN_ERROR_NULL, QN_ERROR_ARGUMENT_COUNT, QN_ERROR_KERNEL_ARGUMENT
   (names the parameter), QN_ERROR_WRONG_CONTEXT, QN_ERROR_LAUNCH_SIZE, QN_ERROR_STATE (a mapped buffer),
   QN_ERROR_ARGUMENT (a read-only buffer would be written), QN_ERROR_OUT_OF_MEMORY, QN_ERROR_DEVICE_LOST. What goes
   wrong while the kernel runs is reported by the next wait on the stream. */
QN_API qn_status qn_launch(qn_stream *stream, qn_kernel *kernel, const qn_range *range, const qn_arg *args,
                           size_t num_args);

/* What a kernel takes of its device, and how many of its work-groups are there at once. */
typedef struct qn_kernel_resources {
    uint32_t max_group_size;     /* work-items of the largest work-group that it can run with */
    uint32_t preferred_multiple; /* that the work-items of a group should be a multiple of */
    uint32_t registers;          /* of a work-item, each of 32 bits; 0: not known */
    uint64_t private_memory;     /* bytes of a work-item in memory: arrays, and registers that were spilled;
                                      0: none, or not known */
    uint64_t local_memory;       /* bytes of a work-group, without __local arguments */
    uint64_t code_size;          /* bytes of its machine code; 0: not known */
    uint32_t local_size[3];      /* that what follows is for: the range's, or what quern chooses for it */
    /* Such groups on a compute unit at a time; 0: not known, or they are too large. */
    uint32_t resident_groups;
    uint64_t resident_on_device; /* on all compute units together; 0: not known */
} qn_kernel_resources;

/* For work-groups of this range; NULL: as of a large range of one dimension. __local arguments count as empty. What is
   not known is 0:

     CUDA     all is known
     OpenCL   group size, multiple and memory
     Vulkan   what the device allows any kernel; registers, private memory and the code's size from drivers with
              VK_KHR_pipeline_executable_properties (NVIDIA's, RADV, ANV, NVK: as far as each tells); no driver tells
              resident groups. Such a driver compiles the kernel once more when a local size is asked for first
     CPU      memory; the code's size where code is ELF (not on Windows), once it is compiled (qn_program_wait); a thread
              runs a group at a time

   Errors: QN_ERROR_LAUNCH_SIZE (as qn_launch), QN_ERROR_OUT_OF_MEMORY, QN_ERROR_DRIVER (also: it does not compile the
   kernel for that size), QN_ERROR_DEVICE_MEMORY, QN_ERROR_DEVICE_LOST. Any thread. */
QN_API qn_status qn_kernel_get_resources(const qn_kernel *kernel, const qn_range *range,
                                         qn_kernel_resources *resources);

/* ---- streams, events, graphs ---- */

/* Errors: QN_ERROR_OUT_OF_MEMORY (also: no more threads), QN_ERROR_DEVICE_LOST. Any thread. */
QN_API qn_status qn_stream_create(qn_device *device, qn_stream **stream);
/* Waits for the stream's work, for ever if need be (qn_stream_close has a deadline). The default stream stays. */
QN_API void qn_stream_destroy(qn_stream *stream);
QN_API qn_device *qn_stream_device(const qn_stream *stream); /* NULL, with a message: it is none */
/* Waits until everything submitted to the stream is done, at most `timeout_ns`. Errors: QN_ERROR_TIMEOUT (the
   message names the kernels that are unfinished; the work goes on), QN_ERROR_KERNEL_FAILED, QN_ERROR_DEVICE_LOST,
   QN_ERROR_CANCELLED: the first failure since the last wait. QN_ERROR_STATE: the stream records a graph. */
QN_API qn_status qn_stream_wait(qn_stream *stream, uint64_t timeout_ns);
/* Gives up what has been submitted to the stream: what has not begun is dropped, a kernel that runs ends at its next
   look, and what the commands were to write is undefined. Returns at once; the next wait reports QN_ERROR_CANCELLED.
   What is submitted afterwards runs as usual. Events that were recorded in what is dropped count as reached; a stream
   that waits for one goes on. Of a graph's launch all is dropped. Nothing to do is no error. On the processor, compiled
   kernels look in each iteration of loops that are not certain to end within 2^32, and between work-groups (at most
   65,536 work-items); the interpreter looks at all loops. On devices without QN_CAN_CANCEL a driver has no way to stop
   a kernel. Errors: QN_ERROR_UNSUPPORTED, QN_ERROR_STATE (the stream records a graph). Any thread, also while others
   wait for the stream. */
QN_API qn_status qn_stream_cancel(qn_stream *stream);
/* Destroys the stream (NULL: nothing to do) whatever the status is: QN_OK; the failure that a wait would report; or
   QN_ERROR_TIMEOUT, where its work was not done in that time. With QN_CAN_CANCEL the work is cancelled then and all is
   released. So it is elsewhere where the driver has none of what is not done, as all of it waited for another device:
   that is dropped. Other work is left with the driver: the buffers, programs and host memory that its commands use are
   kept, and released by a later allocation or the context's end if the work ends after all, else with the process; so
   is the stream itself. Memory of the caller's that they use (qn_stream_read's, and imported host memory) has to stay
   as long. Waits for the whole device, maps and allocations do not wait for it. QN_ERROR_ARGUMENT (nothing destroyed):
   the default stream. */
QN_API qn_status qn_stream_close(qn_stream *stream, uint64_t timeout_ns);
/* For kernels that run until the host tells them to stop, or for ever. To be called before the stream's first work. The
   stream is left out of qn_device_wait, and of whatever else waits for more than one stream or for a buffer's users:
   maps, allocations, destroying; qn_stream_destroy cancels it or leaves it, as qn_stream_close with 0. Waits that name
   the stream, or an event of it, wait. So that a map does not wait for such a kernel, it shows what the buffer holds at
   that time; a buffer that it may write is fetched by each map. Its kernels see what the host sets in memory of
   QN_MEMORY_SHARED, and what other streams write (qn_stream_write), if they read it by atomics or as volatile. Copies
   between devices, and maps, cannot be on the stream (QN_ERROR_STATE), and a graph that it launches should be launched
   on no other. On the processor all such streams together have half of the threads, beside one each; on Vulkan each has
   a queue of the driver's for itself. CUDA's driver would wait for such a kernel before it loads code, so that while one
   runs that does not step aside (qn_stream_set_aside) qn_program_create, and the first qn_kernel_create of a kernel, are
   refused there (QN_ERROR_STATE): create them before its launch. Pinned and imported host memory and programs that are
   given up are released behind such streams, or when code is loaded. Errors: QN_ERROR_UNSUPPORTED (no QN_CAN_PERSIST, or
   on Vulkan no such queue is left), QN_ERROR_STATE (it has been given work), QN_ERROR_ARGUMENT (the default stream). */
QN_API qn_status qn_stream_set_persistent(qn_stream *stream, bool persistent);
/* Waits for all streams of a device, at most `timeout_ns` for all together. Errors as qn_stream_wait. Any thread. */
QN_API qn_status qn_device_wait(qn_device *device, uint64_t timeout_ns);

/* Called once by a thread of the library's own. status: QN_OK, or what the next wait for the stream would report, or has
   reported meanwhile, with its sentence ("" with QN_OK; valid during the call). Of quern it may call qn_status_name and
   qn_status_text alone, and it should be short: all of a context's callbacks come from one thread. */
typedef void qn_done_callback(void *user, qn_status status, const char *message);
/* Has `callback` called when all that was submitted to the stream up to now is done, on every kind of device; at once
   where it is. Callbacks of a stream come in the order of these calls. Each comes before qn_context_destroy is back, but
   perhaps after qn_stream_destroy is; of work that a closed context leaves behind (qn_context_close), with
   QN_ERROR_TIMEOUT. A failure is still reported by the next wait. The library finds out by looking, at first every 20 us,
   then at growing pauses of up to 0.5 ms; a program that never calls this pays nothing. Errors: QN_ERROR_STATE (the
   stream records a graph), QN_ERROR_OUT_OF_MEMORY (also: no more threads). */
QN_API qn_status qn_stream_on_done(qn_stream *stream, qn_done_callback *callback, void *user);

/* An event marks a place in a stream and the time the device reached it. Recording again moves it: a wait that
   began before stays one for the place that it found. Any thread. */
QN_API qn_status qn_event_create(qn_device *device, qn_event **event);
QN_API void qn_event_destroy(qn_event *event);
QN_API qn_status qn_stream_record(qn_stream *stream, qn_event *event);
/* Later work on the stream waits for the event; the call does not. Both are of one context. Where the event is of the
   stream's device, or both devices are CUDA's, the device waits. Else the library keeps what is submitted to the stream
   from then on until the event is reached, and a thread of its own submits it. So does a copy between two devices: it
   starts when the stream gets there, and goes through host memory in pieces; between CUDA devices the driver copies,
   directly where they can access each other's memory. The other device's buffer cannot be mapped before the copy is done;
   to order it with that device's own work takes events. What goes wrong meanwhile, the loss of the other device too,
   ends the waiting and is what the next wait for the stream reports. A deadline's message names the device that is waited
   for. Errors: QN_ERROR_STATE (never recorded; or the stream records a graph), QN_ERROR_WRONG_CONTEXT,
   QN_ERROR_OUT_OF_MEMORY (also: no more threads), QN_ERROR_DEVICE_LOST. */
QN_API qn_status qn_stream_wait_event(qn_stream *stream, qn_event *event);
/* Errors: QN_ERROR_STATE (never recorded), and as qn_stream_wait: of a kernel before it in its stream that failed the stream's next
   wait tells as well. What safe programs note is told by waits for streams and devices alone. */
QN_API qn_status qn_event_wait(qn_event *event, uint64_t timeout_ns);
/* Whether the newest recorded place is reached, without waiting. Where it never will be, *done is true too, and the
   status is the one that qn_event_wait would give. Errors: QN_ERROR_STATE (never recorded), and as qn_stream_wait but for
   QN_ERROR_TIMEOUT. */
QN_API qn_status qn_event_done(qn_event *event, bool *done);
/* A file descriptor for event loops (poll, epoll, select): readable from when the event's newest recorded place is
   reached, or never will be (after a failure: qn_event_wait tells), until it is recorded again; never recorded: not
   readable. The same at each call. It is the event's, which closes it: take it out of the loop before the event is
   destroyed. Reading its 8 bytes, which nobody has to, makes it unreadable until the next recording is reached. Costs as
   qn_stream_on_done, from the first call on. Errors: QN_ERROR_UNSUPPORTED (only Linux has it), QN_ERROR_DRIVER (no more
   descriptors), QN_ERROR_OUT_OF_MEMORY. Any thread. */
QN_API qn_status qn_event_fd(qn_event *event, int *fd);
/* Nanoseconds from one event to another, both done (else QN_ERROR_STATE); same device. */
QN_API qn_status qn_event_elapsed(qn_event *begin, qn_event *end, int64_t *elapsed_ns);

/* Records what is submitted to `stream` between begin and end into a graph instead of running it; a recorded
   graph is launched cheaply any number of times. Reads into host memory and waits for events cannot be recorded
   (QN_ERROR_STATE). An event that is recorded in a graph is moved by each launch of it, on the stream of the launch; it
   cuts the graph in two for the driver, which costs as much as another launch. Objects used by a graph stay alive with
   it. One graph can be launched on several streams; its launches may then run one after another. Errors:
   QN_ERROR_STATE (begin: the stream records already, or is between qn_stream_native_begin and end; end: it does not;
   launch: it records, or a buffer is mapped), QN_ERROR_WRONG_CONTEXT, QN_ERROR_OUT_OF_MEMORY. */
QN_API qn_status qn_graph_begin(qn_stream *stream);
QN_API qn_status qn_graph_end(qn_stream *stream, qn_graph **graph);
QN_API qn_status qn_graph_launch(qn_stream *stream, qn_graph *graph);
/* Sets range and arguments of a launch of the graph, for the graph's launches from now on; those that still run are not
   touched. `index` counts the launches (qn_launch) in the order in which they were recorded, empty ones too, from 0.
   The kernel stays. A NULL range keeps the range, QN_NO_ARGS the arguments; else both are as for qn_launch, with the
   same errors, after which the launch is as it was. An empty range leaves the launch out. What only the driver refuses is
   an error of the next qn_graph_launch, which then runs nothing. Costs as much as a launch; but for CUDA the next launch
   of the graph has the commands recorded again. QN_ERROR_RANGE: there is no such launch. Any thread. */
QN_API qn_status qn_graph_set_launch(qn_graph *graph, uint32_t index, const qn_range *range,
                                     const qn_arg *args, size_t num_args);
/* Where a copy of the graph reads, for the graph's launches from now on; those that still run are not touched. `index` counts the copies (qn_stream_copy) in the
   order in which they were recorded, from 0; what it writes, and how much, stays. On CUDA devices it costs a third of a copy of its own. The graph
   keeps `from` until the next such call. Errors: QN_ERROR_UNSUPPORTED (devices that would have to record the graph again), QN_ERROR_RANGE (there is no such copy, or
   what it would read is not all in the buffer), QN_ERROR_ARGUMENT (a buffer of another device, or a unified one), QN_ERROR_WRONG_CONTEXT. Any thread. */
QN_API qn_status qn_graph_set_copy(qn_graph *graph, uint32_t index, qn_buffer *from, uint64_t from_offset);
/* How many launches it has. Any thread. */
QN_API uint32_t qn_graph_launch_count(const qn_graph *graph);
QN_API void qn_graph_destroy(qn_graph *graph);

/* For the functions above that take a stream but no object that tells the device: the default stream by name.
   The stream belongs to the device. Any thread. */
QN_API qn_stream *qn_device_stream(qn_device *device);

/* ---- disk cache ---- */

typedef struct qn_cache_stats {
    uint64_t bytes, entries; /* on disk now */
    uint64_t hits, misses;   /* of this context */
} qn_cache_stats;
QN_API qn_status qn_cache_get_stats(qn_context *context, qn_cache_stats *stats);
QN_API qn_status qn_cache_clear(qn_context *context); /* removes all entries. QN_ERROR_IO */
QN_API const char *qn_cache_dir(qn_context *context); /* "" when disabled */

#ifdef __cplusplus
}
#endif

#include "interop.h"
#include "memory.h"
#include "words.h"

#endif
