/* What NVIDIA's libraries have in common as peers: how they are opened, work on quern's stream, and name types. */
#ifndef BENCH_NVIDIA_H
#define BENCH_NVIDIA_H

#include "bench_peer.h"

/* Of a table of functions, X(member, symbol's end, parameters): a member of a struct. */
#define BENCH_MEMBER(member, symbol, parameters) int(*member) parameters;

/* Its stream, and a call of `start`, which makes the library's objects, with the device's CUDA context current. `start` gives the
   library's status; 0: fine. */
bool bench_nvidia_start(const bench_device *d, int (*start)(void *peer), void *peer, void **stream,
                        char *why);

/* cudaDataType of operands and result, cublasComputeType_t, and what the factors 1 and 0 are of. */
typedef struct bench_nvidia_type {
    const char *name; /* as bench_type's */
    int from, to, compute, factors;
} bench_nvidia_type;

const bench_nvidia_type *bench_nvidia_type_of(const bench_type *type); /* NULL: it has none */
/* Pointers to 1 and 0. */
const void *bench_nvidia_one(const bench_nvidia_type *type);
const void *bench_nvidia_zero(const bench_nvidia_type *type);

static inline void *bench_pointer(bench_place place) { return (void *)(uintptr_t)place.at; }

/* Memory that grows as a library asks for it. */
typedef struct bench_storage {
    qn_buffer *buffer;
    size_t size;
} bench_storage;

/* At least `size` bytes; NULL: there is no memory. */
void *bench_storage_take(const bench_device *d, bench_storage *storage, size_t size);

#endif
