/* cuDNN's convolution and softmax in 32-bit floats without TF32, on quern's CUDA context and stream. The few declarations needed are
   written out here (NVIDIA, cuDNN's manual). */
#include <stdlib.h>
#include <string.h>

#include "bench_peer.h"

enum {
    NCHW = 0,
    FLOAT = 0,
    CROSS_CORRELATION = 1,
    ACCURATE = 1,
    OVER_INSTANCE = 0,
    FMA_MATH = 3,
    MOST_WAYS = 16
};
enum { MOST_WORKSPACE = 1 << 30 };

/* cudnnConvolutionFwdAlgoPerf_t. */
typedef struct way {
    int algorithm, status;
    float time;
    size_t memory;
    int determinism, math, reserved[3];
} way;

/* X(member, symbol's end, parameters) */
#define FUNCTIONS(X)                                                                                         \
    X(create, Create, (void **handle))                                                                       \
    X(destroy, Destroy, (void *handle))                                                                      \
    X(set_stream, SetStream, (void *handle, void *stream))                                                   \
    X(tensor_create, CreateTensorDescriptor, (void **tensor))                                                \
    X(tensor_set, SetTensor4dDescriptor, (void *tensor, int format, int type, int n, int c, int h, int w))   \
    X(tensor_destroy, DestroyTensorDescriptor, (void *tensor))                                               \
    X(filter_create, CreateFilterDescriptor, (void **filter))                                                \
    X(filter_set, SetFilter4dDescriptor, (void *filter, int type, int format, int k, int c, int h, int w))   \
    X(filter_destroy, DestroyFilterDescriptor, (void *filter))                                               \
    X(convolution_create, CreateConvolutionDescriptor, (void **convolution))                                 \
    X(convolution_set, SetConvolution2dDescriptor,                                                           \
      (void *convolution, int pad_h, int pad_w, int stride_h, int stride_w, int dilation_h, int dilation_w,  \
       int mode, int type))                                                                                  \
    X(convolution_set_math, SetConvolutionMathType, (void *convolution, int math))                           \
    X(convolution_destroy, DestroyConvolutionDescriptor, (void *convolution))                                \
    X(find, FindConvolutionForwardAlgorithm,                                                                 \
      (void *handle, void *from, void *filter, void *convolution, void *to, int wanted, int *found,          \
       way *ways))                                                                                           \
    X(convolve, ConvolutionForward,                                                                          \
      (void *handle, const void *alpha, void *from, const void *x, void *filter, const void *w,              \
       void *convolution, int algorithm, void *workspace, size_t size, const void *beta, void *to, void *y)) \
    X(softmax, SoftmaxForward,                                                                               \
      (void *handle, int algorithm, int mode, const void *alpha, void *from, const void *x,                  \
       const void *beta, void *to, void *y))

typedef struct cudnn {
    void *handle;
    const bench_device *d;
    void *from, *filter, *convolution, *to; /* descriptors */
    qn_buffer *workspace;
    size_t size;    /* of the workspace */
    char ready[64]; /* the row that they are for */
    int algorithm;
#define MEMBER(member, symbol, parameters) int(*member) parameters;
    FUNCTIONS(MEMBER)
#undef MEMBER
} cudnn;

static bool find_functions(cudnn *c, void *library, char *why) {
    bool found = true;
#define FIND(member, symbol, parameters)                                                                     \
    found = found && bench_library_find(library, "cudnn" #symbol, &c->member, why);
    FUNCTIONS(FIND)
#undef FIND
    return found;
}

static bool start(const bench_device *d, cudnn *c, char *why) {
    uint64_t stream = 0;
    qn_status status = qn_stream_native(d->stream, QN_NATIVE_CUDA_STREAM, &stream);
    if (!status) status = qn_stream_native_begin(d->stream, NULL, 0);
    if (status) {
        snprintf(why, BENCH_WHY, "%s", qn_error_message(d->context));
        return false;
    }
    int failed = c->create(&c->handle);
    if (!failed) failed = c->set_stream(c->handle, (void *)(uintptr_t)stream);
    if (!failed) failed = c->tensor_create(&c->from) || c->tensor_create(&c->to);
    if (!failed) failed = c->filter_create(&c->filter) || c->convolution_create(&c->convolution);
    if (failed) snprintf(why, BENCH_WHY, "it does not start: status %d", failed);
    return qn_stream_native_end(d->stream) == QN_OK && !failed;
}

static void *open_cudnn(const bench_device *d, char *why) {
    static const char *const names[] = {"cudnn64_9.dll", "libcudnn.so.9", "libcudnn.so.8", "libcudnn.so",
                                        NULL};
    cudnn *c = tool_alloc(sizeof *c);
    void *library = bench_library_open(names, why);
    c->d = d;
    if (library && find_functions(c, library, why) && start(d, c, why)) return c;
    free(c);
    return NULL;
}

static const char convolution_row[] = "convolve 3x3 f32", softmax_row[] = "softmax f32";

static bool has(void *peer, const char *what) {
    (void)peer;
    return strcmp(what, convolution_row) == 0 || strcmp(what, softmax_row) == 0;
}

/* The quickest way that keeps all bits, as it measures them itself. */
static bool choose(cudnn *c) {
    way ways[MOST_WAYS];
    int found = 0;
    if (c->find(c->handle, c->from, c->filter, c->convolution, c->to, MOST_WAYS, &found, ways)) return false;
    for (int i = 0; i < found; i++) {
        if (ways[i].status || ways[i].math > FMA_MATH || ways[i].memory > MOST_WORKSPACE) continue;
        c->algorithm = ways[i].algorithm;
        c->size = ways[i].memory + 1;
        qn_buffer_destroy(c->workspace);
        return qn_buffer_create(c->d->device, &(qn_buffer_desc){.size = c->size, .uninitialised = true},
                                &c->workspace) == QN_OK;
    }
    return false;
}

static bool prepare_convolution(cudnn *c, const uint32_t *s) {
    const int n = (int)s[BENCH_IMAGES], channels = (int)s[BENCH_CHANNELS], h = (int)s[BENCH_ROWS],
              w = (int)s[BENCH_COLUMNS], outputs = (int)s[BENCH_OUTPUTS], taps = (int)s[BENCH_TAPS];
    int failed = c->tensor_set(c->from, NCHW, FLOAT, n, channels, h, w);
    if (!failed) failed = c->tensor_set(c->to, NCHW, FLOAT, n, outputs, h, w);
    if (!failed) failed = c->filter_set(c->filter, FLOAT, NCHW, outputs, channels, taps, taps);
    if (!failed)
        failed = c->convolution_set(c->convolution, taps / 2, taps / 2, 1, 1, 1, 1, CROSS_CORRELATION, FLOAT);
    if (!failed) failed = c->convolution_set_math(c->convolution, FMA_MATH);
    return !failed && choose(c);
}

static bool prepare(cudnn *c, const bench_work *w) {
    const int side = (int)w->side;
    if (strcmp(c->ready, w->what) == 0) return true;
    snprintf(c->ready, sizeof c->ready, "%s", w->what);
    if (strcmp(w->what, convolution_row) == 0) return prepare_convolution(c, w->image);
    return c->tensor_set(c->from, NCHW, FLOAT, side, side, 1, 1) == 0 &&
           c->tensor_set(c->to, NCHW, FLOAT, side, side, 1, 1) == 0;
}

static bool run(void *peer, const bench_work *w) {
    cudnn *c = peer;
    const float one = 1, zero = 0;
    const void *x = (const void *)(uintptr_t)w->from.at, *weights = (const void *)(uintptr_t)w->other.at;
    void *y = (void *)(uintptr_t)w->to.at;
    uint64_t workspace;
    if (!prepare(c, w)) return false;
    if (strcmp(w->what, softmax_row) == 0)
        return c->softmax(c->handle, ACCURATE, OVER_INSTANCE, &one, c->from, x, &zero, c->to, y) == 0;
    if (qn_buffer_native(c->workspace, QN_NATIVE_CUDA_POINTER, &workspace)) return false;
    return c->convolve(c->handle, &one, c->from, x, c->filter, weights, c->convolution, c->algorithm,
                       (void *)(uintptr_t)workspace, c->size, &zero, c->to, y) == 0;
}

static void close_cudnn(void *peer) {
    cudnn *c = peer;
    c->tensor_destroy(c->from);
    c->tensor_destroy(c->to);
    c->filter_destroy(c->filter);
    c->convolution_destroy(c->convolution);
    c->destroy(c->handle);
    qn_buffer_destroy(c->workspace);
    free(c);
}

const bench_peer_type bench_cudnn = {.name = "cudnn",
                                     .kind = QN_DEVICE_CUDA,
                                     .open = open_cudnn,
                                     .close = close_cudnn,
                                     .has = has,
                                     .run = run};
