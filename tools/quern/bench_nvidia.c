/* NVIDIA's libraries as peers: what their files share. */
#include "bench_nvidia.h"

#include <string.h>

enum { F32 = 0, F64 = 1, F16 = 2, I8 = 3, I32 = 10, BF16 = 14, E4M3 = 28, E5M2 = 29 }; /* cudaDataType */
enum { IN_F32 = 68, IN_F64 = 70, IN_I32 = 72, IN_TF32 = 77 }; /* cublasComputeType_t */

static const bench_nvidia_type types[] = {
    {"f32", F32, F32, IN_F32, F32}, {"tf32", F32, F32, IN_TF32, F32},  {"bf16", BF16, BF16, IN_F32, F32},
    {"f16", F16, F16, IN_F32, F32}, {"e4m3", E4M3, BF16, IN_F32, F32}, {"e5m2", E5M2, BF16, IN_F32, F32},
    {"i8", I8, I32, IN_I32, I32},   {"f64", F64, F64, IN_F64, F64}};
enum { NUM_TYPES = sizeof types / sizeof *types };

const bench_nvidia_type *bench_nvidia_type_of(const bench_type *type) {
    for (int i = 0; i < NUM_TYPES; i++)
        if (strcmp(types[i].name, type->name) == 0) return &types[i];
    return NULL;
}

static const float singles[] = {0, 1};
static const double doubles[] = {0, 1};
static const int32_t integers[] = {0, 1};

static const void *factor(const bench_nvidia_type *type, int value) {
    return type->factors == F64   ? (const void *)&doubles[value]
           : type->factors == I32 ? (const void *)&integers[value]
                                  : (const void *)&singles[value];
}

const void *bench_nvidia_one(const bench_nvidia_type *type) { return factor(type, 1); }
const void *bench_nvidia_zero(const bench_nvidia_type *type) { return factor(type, 0); }

bool bench_nvidia_start(const bench_device *d, int (*start)(void *peer), void *peer, void **stream,
                        char *why) {
    uint64_t handle = 0;
    qn_status status = qn_stream_native(d->stream, QN_NATIVE_CUDA_STREAM, &handle);
    if (!status) status = qn_stream_native_begin(d->stream, NULL, 0);
    *stream = (void *)(uintptr_t)handle;
    const int failed = status ? 0 : start(peer);
    if (!status) status = qn_stream_native_end(d->stream);
    if (status) snprintf(why, BENCH_WHY, "%s", qn_error_message(d->context));
    if (failed) snprintf(why, BENCH_WHY, "it does not start: status %d", failed);
    return !status && !failed;
}

void *bench_storage_take(const bench_device *d, bench_storage *storage, size_t size) {
    const qn_buffer_desc desc = {.size = size ? size : 1, .uninitialised = true};
    uint64_t at = 0;
    if (size > storage->size || !storage->buffer) {
        qn_buffer_destroy(storage->buffer);
        *storage = (bench_storage){.size = desc.size};
        if (qn_buffer_create(d->device, &desc, &storage->buffer)) return NULL;
    }
    return qn_buffer_native(storage->buffer, QN_NATIVE_CUDA_POINTER, &at) ? NULL : (void *)(uintptr_t)at;
}
