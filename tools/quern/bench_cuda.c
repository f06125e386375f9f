/* The CUDA driver, opened at run time. */
#include "bench_cuda.h"

bool bench_cuda_open(const bench_device *d, bench_cuda *c, char *why) {
    static const char *const names[] = {"nvcuda.dll", "libcuda.so.1", NULL};
#define SYMBOL(member, symbol, parameters) {#symbol, &c->member},
    const bench_symbol symbols[] = {BENCH_CUDA_FUNCTIONS(SYMBOL)};
#undef SYMBOL
    uint64_t context = 0, stream = 0;
    c->d = d;
    if (!bench_library_load(names, symbols, sizeof symbols / sizeof *symbols, why)) return false;
    qn_status status = qn_device_native(d->device, QN_NATIVE_CUDA_CONTEXT, &context);
    if (!status) status = qn_stream_native(d->stream, QN_NATIVE_CUDA_STREAM, &stream);
    if (status) snprintf(why, BENCH_WHY, "its context: %s", qn_error_message(d->context));
    c->context = (void *)(uintptr_t)context;
    c->stream = (void *)(uintptr_t)stream;
    return !status;
}

bool bench_cuda_arch(const bench_cuda *c, int *arch, char *why) {
    enum { MAJOR = 75, MINOR = 76 }; /* CUdevice_attribute */
    int major = 0, minor = 0;
    uint64_t device = 0;
    const bool told = qn_device_native(c->d->device, QN_NATIVE_CUDA_DEVICE, &device) == QN_OK &&
                      c->device_attribute(&major, MAJOR, (int)device) == 0 &&
                      c->device_attribute(&minor, MINOR, (int)device) == 0;
    if (!told) snprintf(why, BENCH_WHY, "the driver does not tell the device's architecture");
    *arch = major * 10 + minor;
    return told;
}

bool bench_cuda_enter(const bench_cuda *c, qn_buffer *const *buffers, size_t count) {
    if (qn_stream_native_begin(c->d->stream, buffers, count)) return false;
    if (c->push(c->context) == 0) return true;
    qn_stream_native_end(c->d->stream);
    return false;
}

bool bench_cuda_leave(const bench_cuda *c) {
    void *context;
    const bool popped = c->pop(&context) == 0;
    return qn_stream_native_end(c->d->stream) == QN_OK && popped;
}
