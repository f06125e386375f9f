/* cuDNN's convolution, its gradients and softmax in 32-bit floats without TF32, on quern's CUDA context and stream. The few declarations needed are
   written out here (NVIDIA, cuDNN's manual). */
#include <stdlib.h>
#include <string.h>

#include "bench_nvidia.h"

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

/* cudnnConvolutionFwdAlgoPerf_t; those of the gradients are the same. */
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
    X(find_by_images, FindConvolutionBackwardDataAlgorithm,                                                  \
      (void *handle, void *filter, void *gradient, void *convolution, void *to, int wanted, int *found,      \
       way *ways))                                                                                           \
    X(by_images, ConvolutionBackwardData,                                                                    \
      (void *handle, const void *alpha, void *filter, const void *w, void *gradient, const void *dy,         \
       void *convolution, int algorithm, void *workspace, size_t size, const void *beta, void *to,           \
       void *dx))                                                                                            \
    X(find_by_weights, FindConvolutionBackwardFilterAlgorithm,                                               \
      (void *handle, void *from, void *gradient, void *convolution, void *filter, int wanted, int *found,    \
       way *ways))                                                                                           \
    X(by_weights, ConvolutionBackwardFilter,                                                                 \
      (void *handle, const void *alpha, void *from, const void *x, void *gradient, const void *dy,           \
       void *convolution, int algorithm, void *workspace, size_t size, const void *beta, void *filter,       \
       void *dw))                                                                                            \
    X(softmax, SoftmaxForward,                                                                               \
      (void *handle, int algorithm, int mode, const void *alpha, void *from, const void *x,                  \
       const void *beta, void *to, void *y))

/* Which of them a row of `quern bench kernels` is. */
typedef enum kind { CONVOLVE, BY_IMAGES, BY_WEIGHTS, SOFTMAX, NUM_KINDS } kind;
static const char *const rows[NUM_KINDS] = {"convolve 3x3 f32", "convolve 3x3 f32, gradient by images",
                                            "convolve 3x3 f32, gradient by weights", "softmax f32"};

typedef struct cudnn {
    void *handle, *stream;
    const bench_device *d;
    void *in, *filter, *convolution,
        *out; /* descriptors; in and out: of what goes into a convolution, and comes out */
    bench_storage storage;
    way chosen;
    kind ready; /* what they are for; NUM_KINDS: nothing */
    FUNCTIONS(BENCH_MEMBER)
} cudnn;

static int start(void *peer) {
    cudnn *c = peer;
    int failed = c->create(&c->handle);
    if (!failed) failed = c->set_stream(c->handle, c->stream);
    if (!failed) failed = c->tensor_create(&c->in);
    if (!failed) failed = c->tensor_create(&c->out);
    if (!failed) failed = c->filter_create(&c->filter);
    return failed ? failed : c->convolution_create(&c->convolution);
}

static void *open_cudnn(const bench_device *d, char *why) {
    static const char *const names[] = {"cudnn64_9.dll", "libcudnn.so.9", "libcudnn.so.8", "libcudnn.so",
                                        NULL};
    cudnn *c = tool_alloc(sizeof *c);
#define SYMBOL(member, symbol, parameters) {"cudnn" #symbol, &c->member},
    const bench_symbol symbols[] = {FUNCTIONS(SYMBOL)};
#undef SYMBOL
    c->d = d;
    c->ready = NUM_KINDS;
    if (bench_library_load(names, symbols, sizeof symbols / sizeof *symbols, why) &&
        bench_nvidia_start(d, start, c, &c->stream, why))
        return c;
    free(c);
    return NULL;
}

static kind kind_of(const char *what) {
    int i = 0;
    while (i < NUM_KINDS && strcmp(rows[i], what) != 0) i++;
    return (kind)i;
}

static bool has(void *peer, const char *what) {
    (void)peer;
    return kind_of(what) < NUM_KINDS;
}

static int find(cudnn *c, kind k, int *found, way *ways) {
    if (k == CONVOLVE)
        return c->find(c->handle, c->in, c->filter, c->convolution, c->out, MOST_WAYS, found, ways);
    if (k == BY_IMAGES)
        return c->find_by_images(c->handle, c->filter, c->out, c->convolution, c->in, MOST_WAYS, found, ways);
    return c->find_by_weights(c->handle, c->in, c->out, c->convolution, c->filter, MOST_WAYS, found, ways);
}

/* The quickest way that keeps all bits, as it measures them itself. */
static bool choose(cudnn *c, kind k) {
    way ways[MOST_WAYS];
    int found = 0;
    if (find(c, k, &found, ways)) return false;
    for (int i = 0; i < found; i++) {
        c->chosen = ways[i];
        if (!ways[i].status && ways[i].math <= FMA_MATH && ways[i].memory <= MOST_WORKSPACE) return true;
    }
    return false;
}

static bool prepare_convolution(cudnn *c, kind k, const uint32_t *s) {
    const int n = (int)s[BENCH_IMAGES], channels = (int)s[BENCH_CHANNELS], h = (int)s[BENCH_ROWS],
              w = (int)s[BENCH_COLUMNS], outputs = (int)s[BENCH_OUTPUTS], taps = (int)s[BENCH_TAPS];
    int failed = c->tensor_set(c->in, NCHW, FLOAT, n, channels, h, w);
    if (!failed) failed = c->tensor_set(c->out, NCHW, FLOAT, n, outputs, h, w);
    if (!failed) failed = c->filter_set(c->filter, FLOAT, NCHW, outputs, channels, taps, taps);
    if (!failed)
        failed = c->convolution_set(c->convolution, taps / 2, taps / 2, 1, 1, 1, 1, CROSS_CORRELATION, FLOAT);
    if (!failed) failed = c->convolution_set_math(c->convolution, FMA_MATH);
    return !failed && choose(c, k);
}

static bool prepare(cudnn *c, kind k, const bench_work *w) {
    const int side = (int)w->side;
    if (c->ready == k) return true;
    c->ready = k;
    if (k != SOFTMAX) return prepare_convolution(c, k, w->image);
    return c->tensor_set(c->in, NCHW, FLOAT, side, side, 1, 1) == 0 &&
           c->tensor_set(c->out, NCHW, FLOAT, side, side, 1, 1) == 0;
}

static bool run(void *peer, const bench_work *w) {
    cudnn *c = peer;
    const float one = 1, zero = 0;
    const kind k = kind_of(w->what);
    const void *from = bench_pointer(w->from), *other = bench_pointer(w->other);
    void *to = bench_pointer(w->to);
    if (!prepare(c, k, w)) return false;
    if (k == SOFTMAX)
        return c->softmax(c->handle, ACCURATE, OVER_INSTANCE, &one, c->in, from, &zero, c->out, to) == 0;
    const size_t size = c->chosen.memory;
    const int algorithm = c->chosen.algorithm;
    void *storage = bench_storage_take(c->d, &c->storage, size);
    if (!storage) return false;
    if (k == CONVOLVE)
        return c->convolve(c->handle, &one, c->in, from, c->filter, other, c->convolution, algorithm, storage,
                           size, &zero, c->out, to) == 0;
    if (k == BY_IMAGES)
        return c->by_images(c->handle, &one, c->filter, other, c->out, from, c->convolution, algorithm,
                            storage, size, &zero, c->in, to) == 0;
    return c->by_weights(c->handle, &one, c->in, from, c->out, other, c->convolution, algorithm, storage,
                         size, &zero, c->filter, to) == 0;
}

static void close_cudnn(void *peer) {
    cudnn *c = peer;
    c->tensor_destroy(c->in);
    c->tensor_destroy(c->out);
    c->filter_destroy(c->filter);
    c->convolution_destroy(c->convolution);
    c->destroy(c->handle);
    qn_buffer_destroy(c->storage.buffer);
    free(c);
}

const bench_peer_type bench_cudnn = {.name = "cudnn",
                                     .kind = QN_DEVICE_CUDA,
                                     .open = open_cudnn,
                                     .close = close_cudnn,
                                     .has = has,
                                     .run = run};
