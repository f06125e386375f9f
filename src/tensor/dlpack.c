/* DLPack (dmlc.github.io/dlpack, version 1): tensors as structs that other libraries know, and theirs as tensors. The structs are
   declared here as that page has them. What is given away holds a view of the buffer, which keeps the memory, and nothing of the tensors. */
#include <quern/dlpack.h>
#include <quern/files.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/graph.h"

enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 };
enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_BOOL = 6, DL_E4M3FN = 10, DL_E5M2 = 12 };
enum { DL_READ_ONLY = 1, DL_MAJOR = 1, DL_MINOR = 1 };

typedef struct DLDevice {
    int32_t device_type, device_id;
} DLDevice;

typedef struct DLDataType {
    uint8_t code, bits;
    uint16_t lanes;
} DLDataType;

typedef struct DLTensor {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

typedef struct DLPackVersion {
    uint32_t major, minor;
} DLPackVersion;

typedef struct DLManagedTensorVersioned {
    DLPackVersion version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

static const DLDataType types[QN_ELEMENT_COUNT] = {
    [QN_F32] = {DL_FLOAT, 32, 1},   [QN_F64] = {DL_FLOAT, 64, 1},  [QN_F16] = {DL_FLOAT, 16, 1},
    [QN_BF16] = {DL_BFLOAT, 16, 1}, [QN_E4M3] = {DL_E4M3FN, 8, 1}, [QN_E5M2] = {DL_E5M2, 8, 1},
    [QN_I8] = {DL_INT, 8, 1},       [QN_I16] = {DL_INT, 16, 1},    [QN_I32] = {DL_INT, 32, 1},
    [QN_I64] = {DL_INT, 64, 1},     [QN_U8] = {DL_UINT, 8, 1},     [QN_U16] = {DL_UINT, 16, 1},
    [QN_U32] = {DL_UINT, 32, 1},    [QN_U64] = {DL_UINT, 64, 1},   [QN_BOOL] = {DL_BOOL, 8, 1}};

/* "cuda:1" is 1. */
static int32_t ordinal(const qn_tensors *tensors) {
    const char *colon = strchr(tensors->info.name, ':');
    return colon ? (int32_t)atoi(colon + 1) : 0;
}

/* ---- giving ---- */

/* What is given away, in one piece of memory of the context's. */
typedef struct given {
    qn_allocator allocator;
    qn_buffer *view; /* keeps the memory; NULL: there are no elements */
    int64_t shape[QN_MAX_RANK], strides[QN_MAX_RANK];
    DLManagedTensor old;
    DLManagedTensorVersioned versioned;
} given;

static void drop(given *g) {
    const qn_allocator allocator = g->allocator;
    qn_buffer_destroy(g->view);
    allocator.release(allocator.user, g);
}

static void drop_old(DLManagedTensor *self) { drop(self->manager_ctx); }
static void drop_versioned(DLManagedTensorVersioned *self) { drop(self->manager_ctx); }

/* Where the values are, when they are there. */
static qn_status find_memory(qn_tensors *tensors, const qn__node *node, given *g, DLTensor *t) {
    const bool is_cuda = tensors->info.kind == QN_DEVICE_CUDA;
    t->device = (DLDevice){is_cuda ? DL_CUDA : DL_CPU, is_cuda ? ordinal(tensors) : 0};
    if (!node->storage) return QN_OK;
    qn_buffer *buffer = node->storage->buffer;
    uint64_t address;
    qn_status status =
        qn_buffer_native(buffer, is_cuda ? QN_NATIVE_CUDA_POINTER : QN_NATIVE_HOST_POINTER, &address);
    if (!status) status = qn_stream_wait(tensors->stream, QN_FOREVER);
    if (!status) status = qn_buffer_view(buffer, 0, qn_buffer_size(buffer), &g->view);
    if (status) return status;
    node->storage->shared = true;
    t->data = (void *)(uintptr_t)(address + node->offset * qn_element_size((qn_element)node->type));
    return QN_OK;
}

/* The tensor's values in memory that is quern's own, counted. What is borrowed is copied: who has lent it may want it back. */
static qn_status find_values(qn_tensor *x, qn__node **out) {
    const qn_status status = qn_tensor_realize(x);
    if (status) return status;
    qn__node *node = x->node;
    const bool is_own = !node->storage || !node->storage->borrowed;
    *out = is_own ? node : qn__map_node(x->owner, QN__OP_COPY, (qn_element)node->type, &node, 1);
    if (is_own) qn__node_retain(node);
    return is_own ? QN_OK : *out ? qn__realise(x->owner, out, 1) : QN_ERROR_OUT_OF_MEMORY;
}

static qn_status describe(qn_tensors *tensors, const qn__node *node, given **out) {
    given *g = qn__tensors_allocate(tensors, sizeof *g);
    if (!g) return QN_ERROR_OUT_OF_MEMORY;
    g->allocator = tensors->allocator;
    for (uint32_t d = 0; d < node->rank; d++) {
        g->shape[d] = (int64_t)node->sizes[d];
        g->strides[d] = node->strides[d];
    }
    DLTensor t = {.ndim = node->rank, .dtype = types[node->type], .shape = g->shape, .strides = g->strides};
    const qn_status status = find_memory(tensors, node, g, &t);
    if (status) {
        drop(g);
        return status;
    }
    g->old = (DLManagedTensor){.dl_tensor = t, .manager_ctx = g, .deleter = drop_old};
    g->versioned = (DLManagedTensorVersioned){.version = {DL_MAJOR, DL_MINOR},
                                              .manager_ctx = g,
                                              .deleter = drop_versioned,
                                              .flags = DL_READ_ONLY,
                                              .dl_tensor = t};
    *out = g;
    return QN_OK;
}

static qn_status give(qn_tensor *x, const char *function, given **out) {
    qn_status status = qn_tensor_status(x);
    if (status) return status;
    const qn_device_info *info = &x->owner->info;
    if (info->kind != QN_DEVICE_CPU && info->kind != QN_DEVICE_CUDA)
        return qn__tensors_fail(x->owner, QN_ERROR_UNSUPPORTED,
                                "%s: memory of %s cannot be shared by DLPack; see qn_tensor_read", function,
                                info->name);
    qn__node *node = NULL;
    status = find_values(x, &node);
    if (!status) status = describe(x->owner, node, out);
    qn__node_release(node);
    return status;
}

static qn_status fail_shared(const qn_tensor *x, const char *function) {
    const qn_status status = qn_tensor_status(x);
    return status ? status : qn__tensors_fail(x->owner, QN_ERROR_NULL, "%s: shared is NULL", function);
}

qn_status qn_tensor_to_dlpack(qn_tensor *x, struct DLManagedTensorVersioned **shared) {
    if (!shared) return fail_shared(x, "qn_tensor_to_dlpack");
    given *g = NULL;
    const qn_status status = give(x, "qn_tensor_to_dlpack", &g);
    *shared = status ? NULL : &g->versioned;
    return status;
}

qn_status qn_tensor_to_dlpack_unversioned(qn_tensor *x, struct DLManagedTensor **shared) {
    if (!shared) return fail_shared(x, "qn_tensor_to_dlpack_unversioned");
    given *g = NULL;
    const qn_status status = give(x, "qn_tensor_to_dlpack_unversioned", &g);
    *shared = status ? NULL : &g->old;
    return status;
}

/* ---- taking ---- */

/* A tensor that is taken, of either form. */
typedef struct taken {
    const char *function;
    const DLTensor *from;
    void (*release)(void *shared);
    void *shared;
    bool read_only;
    qn_element type;
    qn_shape shape;
    int64_t strides[QN_MAX_RANK];
    bool is_contiguous;
    /* Bytes from where the first element is to the lowest byte, and to behind the highest. */
    uint64_t before, behind;
} taken;

static bool find_type(const DLDataType *dtype, qn_element *type) {
    for (int i = 0; i < QN_ELEMENT_COUNT; i++) {
        *type = (qn_element)i;
        if (types[i].code == dtype->code && types[i].bits == dtype->bits && types[i].lanes == dtype->lanes)
            return true;
    }
    return false;
}

/* What lies before and behind the first element in bytes, of which there may be 2^62. */
static bool find_extent(taken *t) {
    const uint64_t size = qn_element_size(t->type);
    t->before = 0;
    t->behind = size;
    for (uint32_t d = 0; d < t->shape.rank; d++) {
        const uint64_t steps = t->shape.sizes[d] - 1,
                       stride = t->strides[d] < 0 ? 0 - (uint64_t)t->strides[d] : (uint64_t)t->strides[d];
        if (stride && steps > ((uint64_t)1 << 58) / stride) return false;
        *(t->strides[d] < 0 ? &t->before : &t->behind) += steps * stride * size;
        if (t->before + t->behind >= (uint64_t)1 << 62) return false;
    }
    return true;
}

/* Sizes and strides; NULL, or what is wrong with them. */
static const char *read_shape(taken *t) {
    uint64_t count = 1;
    int64_t contiguous[QN_MAX_RANK];
    t->shape.rank = (uint32_t)t->from->ndim;
    for (uint32_t d = 0; d < t->shape.rank; d++) {
        if (t->from->shape[d] < 0) return "a size is below 0";
        t->shape.sizes[d] = (uint64_t)t->from->shape[d];
        if (count && t->shape.sizes[d] > ((uint64_t)1 << 58) / count)
            return "there are more elements than can be counted";
        count *= t->shape.sizes[d];
    }
    qn__contiguous_strides(t->shape.rank, t->shape.sizes, contiguous);
    t->is_contiguous = true;
    for (uint32_t d = 0; d < t->shape.rank; d++) {
        t->strides[d] = t->from->strides ? t->from->strides[d] : contiguous[d];
        if (t->shape.sizes[d] > 1 && t->strides[d] != contiguous[d]) t->is_contiguous = false;
    }
    if (!count) return NULL;
    if (!t->from->data) return "data is NULL";
    if (!find_extent(t)) return "strides lead too far";
    const uintptr_t first = (uintptr_t)t->from->data + t->from->byte_offset;
    return first % qn_element_size(t->type) ? "elements do not lie at multiples of their size" : NULL;
}

static bool is_empty(const taken *t) {
    for (uint32_t d = 0; d < t->shape.rank; d++)
        if (!t->shape.sizes[d]) return true;
    return false;
}

/* Memory of the processor for another device. Strides that are 0 throughout stand for one element. */
static qn_tensor *copy_from_host(qn_tensors *tensors, taken *t) {
    qn_host_array array = {.name = "shared", .encoding = qn_encoding_of(t->type), .rank = t->shape.rank};
    bool repeats = !t->is_contiguous;
    for (uint32_t d = 0; d < t->shape.rank; d++)
        repeats = repeats && (t->strides[d] == 0 || t->shape.sizes[d] == 1);
    for (uint32_t d = 0; d < t->shape.rank; d++) {
        array.sizes[d] = repeats ? 1 : t->shape.sizes[d];
        if (!t->is_contiguous && !repeats) array.strides[d] = t->strides[d];
    }
    array.bytes = qn_host_array_count(&array) * qn_element_size(t->type);
    array.data = (const char *)t->from->data + t->from->byte_offset;
    qn_tensor *x = qn_from_host_array(tensors, &array, QN_OWN_TYPE);
    if (repeats) x = qn_broadcast_to(x, t->shape);
    if (!qn_tensor_status(x)) t->release(t->shared);
    return x;
}

/* A buffer of the memory. It begins at a multiple of 16: *at is where the first element is in it, in bytes. */
static qn_status make_buffer(qn_tensors *tensors, const taken *t, qn_buffer **buffer, uint64_t *at) {
    const uintptr_t first = (uintptr_t)t->from->data + t->from->byte_offset;
    const uintptr_t lowest = first - (uintptr_t)t->before, begin = lowest - lowest % 16;
    const uint64_t size = first + t->behind - begin;
    *at = first - begin;
    if (tensors->info.kind == QN_DEVICE_CUDA) {
        const qn_import_desc desc = {
            .kind = QN_HANDLE_CUDA_POINTER, .handle = begin, .size = size, .label = "shared tensor"};
        return qn_buffer_import(tensors->device, &desc, buffer);
    }
    const qn_buffer_desc desc = {
        .size = size, .host = (void *)begin, .read_only = t->read_only, .label = "shared tensor"};
    return qn_buffer_create(tensors->device, &desc, buffer);
}

static qn_tensor *use_memory(qn_tensors *tensors, const taken *t) {
    qn_buffer *buffer;
    uint64_t at;
    const qn_status status = make_buffer(tensors, t, &buffer, &at);
    if (status) return qn__failed_as(tensors, status);
    qn__storage *storage = qn__tensors_allocate(tensors, sizeof *storage);
    if (!storage) {
        qn_buffer_destroy(buffer);
        return qn__failed_as(tensors, QN_ERROR_OUT_OF_MEMORY);
    }
    /* Counted once more until it is clear whether the tensor has it, or the caller keeps it. */
    *storage = (qn__storage){.refs = 2, .borrowed = true, .buffer = buffer};
    qn_tensor *x = qn__stored_tensor(tensors, t->type, &t->shape, storage, at / qn_element_size(t->type),
                                     t->is_contiguous ? NULL : t->strides);
    if (qn_tensor_status(x)) {
        qn_buffer_destroy(buffer);
    } else {
        storage->release = t->release;
        storage->user = t->shared;
    }
    qn__storage_release(tensors, storage);
    return x;
}

/* A failed tensor where the memory is none of the device's. NULL: it is, or can be copied to it. */
static qn_tensor *check_device(qn_tensors *tensors, const taken *t, bool *is_host) {
    const DLDevice device = t->from->device;
    *is_host = device.device_type == DL_CPU || device.device_type == DL_CUDA_HOST;
    const bool is_cuda = device.device_type == DL_CUDA || device.device_type == DL_CUDA_MANAGED;
    if (*is_host) return NULL;
    if (!is_cuda)
        return qn__failed(tensors, t->function, QN_ERROR_UNSUPPORTED,
                          "memory of DLPack's device type %d is not known", (int)device.device_type);
    if (tensors->info.kind == QN_DEVICE_CUDA && device.device_id == ordinal(tensors)) return NULL;
    return qn__failed(tensors, t->function, QN_ERROR_ARGUMENT,
                      "the memory is of cuda:%d, the tensors are of %s", (int)device.device_id,
                      tensors->info.name);
}

static qn_tensor *take(qn_tensors *tensors, taken *t) {
    if (t->from->ndim < 0 || t->from->ndim > QN_MAX_RANK || (t->from->ndim && !t->from->shape))
        return qn__failed(tensors, t->function, QN_ERROR_UNSUPPORTED,
                          "it has %d dimensions; at most %u are possible", (int)t->from->ndim,
                          (unsigned)QN_MAX_RANK);
    const DLDataType dtype = t->from->dtype;
    if (!find_type(&dtype, &t->type))
        return qn__failed(tensors, t->function, QN_ERROR_UNSUPPORTED,
                          "elements of DLPack's type %u of %u bits and %u lanes are not known",
                          (unsigned)dtype.code, (unsigned)dtype.bits, (unsigned)dtype.lanes);
    qn_tensor *wrong = qn__check_type(tensors, t->function, t->type);
    if (wrong) return wrong;
    bool is_host;
    wrong = check_device(tensors, t, &is_host);
    if (wrong) return wrong;
    const char *problem = read_shape(t);
    if (problem) return qn__failed(tensors, t->function, QN_ERROR_ARGUMENT, "%s", problem);
    if (is_empty(t)) {
        qn_tensor *x = qn_zeros(tensors, t->type, t->shape);
        if (!qn_tensor_status(x)) t->release(t->shared);
        return x;
    }
    return is_host && tensors->info.kind != QN_DEVICE_CPU ? copy_from_host(tensors, t)
                                                          : use_memory(tensors, t);
}

static void release_old(void *shared) {
    DLManagedTensor *managed = shared;
    if (managed->deleter) managed->deleter(managed);
}

static void release_versioned(void *shared) {
    DLManagedTensorVersioned *managed = shared;
    if (managed->deleter) managed->deleter(managed);
}

/* A failed tensor where there is nothing to be taken, or nobody to take it. */
static qn_tensor *check_taken(qn_tensors *tensors, const void *shared, const char *function) {
    if (qn__tensors_check(tensors, function))
        return qn__failed(NULL, function, QN_ERROR_NULL, "%s",
                          "tensors is NULL or no object of qn_tensors_create");
    return shared ? NULL : qn__failed(tensors, function, QN_ERROR_NULL, "shared is NULL");
}

qn_tensor *qn_from_dlpack(qn_tensors *tensors, struct DLManagedTensorVersioned *shared) {
    static const char function[] = "qn_from_dlpack";
    qn_tensor *wrong = check_taken(tensors, shared, function);
    if (wrong) return wrong;
    if (shared->version.major != DL_MAJOR)
        return qn__failed(tensors, function, QN_ERROR_UNSUPPORTED,
                          "it is of DLPack's version %u; %u is known", (unsigned)shared->version.major,
                          (unsigned)DL_MAJOR);
    taken t = {.function = function,
               .from = &shared->dl_tensor,
               .release = release_versioned,
               .shared = shared,
               .read_only = shared->flags & DL_READ_ONLY};
    return take(tensors, &t);
}

qn_tensor *qn_from_dlpack_unversioned(qn_tensors *tensors, struct DLManagedTensor *shared) {
    static const char function[] = "qn_from_dlpack_unversioned";
    qn_tensor *wrong = check_taken(tensors, shared, function);
    if (wrong) return wrong;
    taken t = {.function = function, .from = &shared->dl_tensor, .release = release_old, .shared = shared};
    return take(tensors, &t);
}
