/* Other libraries for the same work, opened at run time where they are. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "bench.h"

/* Their names, for messages. */
#define BENCH_PEERS                                                                                          \
    "cublas, cublaslt, cudnn, cub, nvrtc (on CUDA devices), glslang (Vulkan), clblast (OpenCL), "            \
    "driver (these and WebGPU), pocl, openblas, blis, mkl, onednn (on the processor), torch (CUDA and "      \
    "the processor), wgsl, wgsl-checked"

enum { BENCH_MAX_PEERS = 16, BENCH_WHY = 256 };

/* Where an operand is: by its pointer, or on OpenCL devices by its cl_mem and the bytes in front of it there. */
typedef struct bench_place {
    uint64_t at, offset;
} bench_place;

/* What a row of `quern bench kernels` works on. */
typedef struct bench_work {
    const char *what; /* the row's name */
    uint64_t count, side;
    const uint32_t *image; /* BENCH_IMAGE_* numbers, of convolutions */
    bench_place from, other, to;
} bench_work;

/* What a convolution is of: images, channels, rows and columns of each, outputs, taps along a side; at a padding that keeps sizes. */
enum {
    BENCH_IMAGES,
    BENCH_CHANNELS,
    BENCH_ROWS,
    BENCH_COLUMNS,
    BENCH_OUTPUTS,
    BENCH_TAPS,
    BENCH_IMAGE_NUMBERS
};

enum { BENCH_LAUNCH_ITEMS = 64, BENCH_GRAPH_LAUNCHES = 20 };

/* How launches are made. */
typedef struct bench_launches {
    bool waits;    /* for each */
    bool is_graph; /* of BENCH_GRAPH_LAUNCHES of them, recorded once */
} bench_launches;

/* Bytes from one place to another: from the host to the device, back, within it, and to another device of the kind. */
typedef enum bench_transfer {
    BENCH_UP,
    BENCH_DOWN,
    BENCH_ACROSS,
    BENCH_BEYOND,
    BENCH_NOWHERE
} bench_transfer;

typedef struct bench_copy {
    bench_transfer what;
    void *host;           /* of BENCH_UP and BENCH_DOWN */
    bench_place from, to; /* on the device; of BENCH_UP `to` alone, of BENCH_DOWN `from` alone */
    uint64_t size;
    qn_device *to_device; /* of BENCH_BEYOND */
} bench_copy;

/* A packed program, and a kernel in it. */
typedef struct bench_code {
    const char *data;
    size_t size;
    bool is_text; /* for the driver to compile; else its machine code */
    const char *kernel;
} bench_code;

typedef struct bench_workload bench_workload;

/* Another compiler, for `quern bench code`. */
typedef struct bench_code_peer {
    /* A session; NULL, and a sentence in `why` (BENCH_WHY bytes): it does not take the file, or has no memory. Without a sentence: it is
       not meant to. */
    void *(*prepare)(void *peer, const bench_workload *load, const char *file, const char *source, char *why);
    bool (*reset)(void *session); /* gives changing buffers their data again */
    bool (*run)(void *session, uint32_t count);
    bool (*read)(void *session, uint32_t buffer, void *to);
    void (*release)(void *session);
} bench_code_peer;

/* A library that does the work of some of quern's calls. Functions that it lacks are NULL. */
typedef struct bench_peer_type {
    const char *name;
    qn_device_kind kind; /* of devices that it is a peer on */
    bool is_anywhere;    /* but on WebGPU devices, in place of `kind`'s alone */
    bool on_host;        /* it is done when the call returns */
    /* Where it is not there, NULL and a sentence in `why` (BENCH_WHY bytes). */
    void *(*open)(const bench_device *d, char *why);
    void (*close)(void *peer);
    /* c = a b: whether it can at all, whether it can for these sizes, and the call, of the places of a, b and c. */
    bool (*takes)(const bench_type *type);
    bool (*prepare)(void *peer, const bench_product *p); /* NULL: it always can */
    bool (*multiply)(void *peer, const bench_product *p, const bench_place places[3]);
    /* Rows of `quern bench kernels`. `run` is called again and again with the same sizes. */
    bool (*has)(void *peer, const char *what);
    bool (*run)(void *peer, const bench_work *work);
    /* So many launches of a group of BENCH_LAUNCH_ITEMS work-items, each of which adds one to its counter. */
    bool (*launch)(void *peer, const bench_launches *what, bench_place counters, uint32_t count);
    bool has_graphs;
    /* One copy, done when the call returns. */
    bool (*copy)(void *peer, const bench_copy *copy);
    /* From the code in a packed program to a kernel that can be launched, and back to nothing. */
    bool (*load)(void *peer, const bench_code *code);
    const bench_code_peer *code;
    bool has_tensors; /* bench_torch.c runs it */
} bench_peer_type;

typedef struct bench_peer {
    const bench_peer_type *type;
    void *peer;
    const bench_device *d;
} bench_peer;

extern const bench_peer_type bench_cublas, bench_cublaslt, bench_cudnn, bench_cub, bench_driver, bench_nvrtc,
    bench_opencl_driver, bench_vulkan_driver, bench_glslang, bench_clblast, bench_pocl, bench_openblas,
    bench_blis, bench_mkl, bench_onednn, bench_torch, bench_torch_cpu, bench_webgpu_driver, bench_webgpu_wgsl,
    bench_wgsl, bench_wgsl_checked;

typedef enum bench_peer_use {
    BENCH_OF_NOTHING,
    BENCH_OF_PRODUCTS,
    BENCH_OF_ROWS,
    BENCH_OF_LAUNCHES,
    BENCH_OF_CODE,
    BENCH_OF_TRANSFERS,
    BENCH_OF_LOADING,
    BENCH_OF_TENSORS
} bench_peer_use;

/* Opens those for the device and the use that `against` lists ("all", or names with commas), and prints which of them are not
   there. */
uint32_t bench_peers_open(const bench_device *d, const char *against, bench_peer_use use,
                          bench_peer peers[BENCH_MAX_PEERS]);
void bench_peers_close(bench_peer *peers, uint32_t count);
/* Whether a peer of that name is one for the device and the use. */
bool bench_peer_is_for(const bench_device *d, const char *name, bench_peer_use use);
/* False: there is no such peer. */
bool bench_peers_known(const char *against);
/* The product by the peer, checked; `can`: whether it takes the sizes. Exit status, after a message. */
int bench_peer_measure(const bench_peer *peer, bench_product *p, bench_time *time, bool *can);
/* The place of a buffer, between qn_stream_native_begin and qn_stream_native_end. */
qn_status bench_peer_place(const bench_peer *peer, const qn_buffer *buffer, bench_place *place);

/* The first of these names (NULL ends them) that can be opened. */
void *bench_library_open(const char *const *names, char *why);
/* Sets *function, which is a pointer to a function, to the symbol; false: it has none, which `why` says. */
bool bench_library_find(void *library, const char *symbol, void *function, char *why);

typedef struct bench_symbol {
    const char *name;
    void *function; /* as above */
} bench_symbol;

/* Opens the first of the libraries that can be, and finds all symbols. */
bool bench_library_load(const char *const *names, const bench_symbol *symbols, size_t count, char *why);

#endif
