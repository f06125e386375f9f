/* A CUDA driver for tests on machines without one, built as libcuda.so.1. Device memory is host memory, work is
   done when it is submitted, graphs are recorded and replayed, modules are any text with `.entry` lines. A few
   kernels are known by name (see run_kernel). It is stricter than a driver: without a current context calls
   fail, addresses must lie in allocations, a graph is launched by one thread at a time. Tests steer it through the
   fake_* functions (fake.h); faults also come from QN_FAKE_FAIL=name:nth:result,...; QN_FAKE_DEVICES=2 makes it two devices. */
#define _GNU_SOURCE /* memfd_create */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "backend/cuda/driver.h"
#include "fake.h"

#define API __attribute__((visibility("default")))

enum { MAX_ENTRIES = 32, MAX_STACK = 64, INVALID_CONTEXT = 201, INVALID_HANDLE = 400, NOT_FOUND = 500 };

/* ---- state ---- */

enum function_number {
#define ROW(field, symbol, params) N_##field,
    QN__CU_FUNCTIONS(ROW) QN__CU_OPTIONAL_FUNCTIONS(ROW)
#undef ROW
        N_COUNT
};

static const char *const function_names[] = {
#define ROW(field, symbol, params) symbol,
    QN__CU_FUNCTIONS(ROW) QN__CU_OPTIONAL_FUNCTIONS(ROW)
#undef ROW
};

typedef struct block {
    struct block *next;
    size_t size;
    bool pinned, mapped, foreign; /* mapped: kernels see it; foreign: the application's */
    int device;
    unsigned char *data;
} block;

static struct {
    pthread_mutex_t lock;
    long counts[N_COUNT], live[FAKE_LIVE_COUNT];
    struct {
        int nth, result; /* counts down; 0: none */
    } faults[N_COUNT];
    long settings[FAKE_SETTING_COUNT];
    block *blocks;
    int lost[2];                 /* by device */
    atomic_ulong hang, released; /* kernels that hang: counted, and let go */
    fake_launch last;
    uint64_t clock_ns;
    size_t used, reserved;
    bool started;
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .settings = {[FAKE_DEVICES] = 1,
                       [FAKE_VERSION] = 12040,
                       [FAKE_CAPABILITY] = 90,
                       [FAKE_MEMORY] = 1 << 30,
                       [FAKE_POOLS] = 1,
                       [FAKE_PEERS] = 1,
                       [FAKE_MAX_THREADS] = 1024}};

struct qn__cu_context_object {
    int device;
};
static struct qn__cu_context_object contexts[2] = {{0}, {1}};
static _Thread_local qn__cu_context stack[MAX_STACK];
static _Thread_local int depth;

typedef struct entry {
    char name[128];
    size_t params_size;
} entry;

struct qn__cu_module_object {
    unsigned count;
    struct qn__cu_function_object {
        entry entry;
        int dynamic; /* allowed */
        int cluster_policy;
    } functions[MAX_ENTRIES];
};

typedef struct operation {
    struct operation *next;
    const struct operation *node; /* of an instance: the graph's */
    enum { COPY, SET, LAUNCH } kind;
    unsigned char *to;
    const unsigned char *from;
    size_t size, pitch, width, height;
    uint32_t value;
    qn__cu_function function;
    fake_launch launch;
} operation;

struct qn__cu_graph_object {
    operation *first, *last;
};
struct qn__cu_exec_object {
    operation *first;
    atomic_bool busy;
};

struct qn__cu_stream_object {
    int device;
    unsigned long hang; /* of the last hanging kernel */
    qn__cu_graph graph; /* while capturing */
};

struct qn__cu_event_object {
    bool timing, recorded;
    unsigned long hang;
    uint64_t time_ns;
    int device;
};

struct qn__cu_pool_object {
    int device;
};

struct qn__cu_link_object {
    char *text;
    size_t size;
    unsigned char *cubin;
    char *log;
    size_t log_size;
};

/* ---- faults and counts ---- */

API void fake_reset(void) {
    pthread_mutex_lock(&fake.lock);
    memset(fake.counts, 0, sizeof fake.counts);
    memset(fake.faults, 0, sizeof fake.faults);
    memset(fake.lost, 0, sizeof fake.lost);
    memset(fake.live, 0, sizeof fake.live); /* what a lost device still had */
    for (block *next; fake.blocks; fake.blocks = next) {
        next = fake.blocks->next;
        if (!fake.blocks->foreign) free(fake.blocks->data);
        free(fake.blocks);
    }
    fake.used = fake.reserved = 0;
    fake.released = fake.hang;
    pthread_mutex_unlock(&fake.lock);
}

static int number_of(const char *name) {
    for (int i = 0; i < N_COUNT; i++)
        if (strcmp(function_names[i], name) == 0) return i;
    fprintf(stderr, "fake driver: no function %s\n", name);
    exit(3);
}

API void fake_fault(const char *function, int nth, int result) {
    int n = number_of(function);
    fake.faults[n].nth = nth;
    fake.faults[n].result = result;
}

API long fake_count(const char *function) { return fake.counts[number_of(function)]; }
API long fake_live(fake_live_kind kind) { return fake.live[kind]; }
API void fake_set(fake_setting setting, long value) { fake.settings[setting] = value; }
API void fake_release(void) { fake.released = fake.hang; }
API fake_launch fake_last_launch(void) { return fake.last; }
API int fake_depth(void) { return depth; }

static void start(void) {
    if (fake.started) return;
    fake.started = true;
    char text[512], *rest = NULL;
    const char *devices = getenv("QN_FAKE_DEVICES");
    if (devices) fake.settings[FAKE_DEVICES] = strtol(devices, NULL, 10);
    const char *given = getenv("QN_FAKE_FAIL");
    snprintf(text, sizeof text, "%s", given ? given : "");
    for (char *one = strtok_r(text, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        char name[64];
        int nth, result;
        if (sscanf(one, "%63[^:]:%d:%d", name, &nth, &result) == 3) fake_fault(name, nth, result);
    }
}

static int call(int number) {
    pthread_mutex_lock(&fake.lock);
    start();
    fake.counts[number]++;
    int result = 0;
    if (fake.faults[number].nth > 0 && --fake.faults[number].nth == 0) result = fake.faults[number].result;
    pthread_mutex_unlock(&fake.lock);
    return result;
}

#define CALL(field)                                                                                          \
    do {                                                                                                     \
        int fault = call(N_##field);                                                                         \
        if (fault) return fault;                                                                             \
    } while (0)

/* A call that needs a context, and one that is not lost. */
#define CALL_IN_CONTEXT(field)                                                                               \
    CALL(field);                                                                                             \
    do {                                                                                                     \
        if (depth == 0) return INVALID_CONTEXT;                                                              \
        int lost = fake.lost[stack[depth - 1]->device];                                                      \
        if (lost) return lost;                                                                               \
    } while (0)

static void count_live(fake_live_kind kind, long change) {
    pthread_mutex_lock(&fake.lock);
    fake.live[kind] += change;
    pthread_mutex_unlock(&fake.lock);
}

/* ---- driver and devices ---- */

API int cuInit(unsigned flags) {
    (void)flags;
    CALL(init);
    return 0;
}
API int cuDriverGetVersion(int *version) {
    CALL(driver_version);
    *version = (int)fake.settings[FAKE_VERSION];
    return 0;
}
API int cuGetErrorName(int result, const char **text) {
    switch (result) {
#define ROW(name, value)                                                                                     \
    case value: *text = "CUDA_" #name; return 0;
        QN__CU_RESULTS(ROW)
#undef ROW
    }
    return 1;
}
API int cuGetErrorString(int result, const char **text) {
    *text = "as the fake driver says";
    return result < 0;
}
API int cuDeviceGetCount(int *count) {
    CALL(device_count);
    *count = (int)fake.settings[FAKE_DEVICES];
    return *count ? 0 : QN__CU_ERROR_NO_DEVICE;
}
API int cuDeviceGet(int *device, int ordinal) {
    CALL(device_get);
    *device = ordinal;
    return 0;
}
API int cuDeviceGetName(char *name, int size, int device) {
    CALL(device_name);
    snprintf(name, (size_t)size, "Fake GPU %d", device);
    return 0;
}
API int cuDeviceGetUuid_v2(unsigned char uuid[16], int device) {
    CALL(device_uuid);
    memset(uuid, 0xa0 + device, 16);
    return 0;
}
API int cuDeviceTotalMem_v2(size_t *bytes, int device) {
    (void)device;
    CALL(device_total_mem);
    *bytes = (size_t)fake.settings[FAKE_MEMORY];
    return 0;
}
API int cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    CALL(device_attribute);
    switch (attribute) {
    case QN__CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = 1024; break;
    case QN__CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case QN__CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: *value = 1024; break;
    case QN__CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: *value = 64; break;
    case QN__CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: *value = 0x7fffffff; break;
    case QN__CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case QN__CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: *value = 65535; break;
    case QN__CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: *value = 49152; break;
    case QN__CU_DEVICE_ATTRIBUTE_WARP_SIZE: *value = 32; break;
    case QN__CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 132; break;
    case QN__CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case QN__CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED: *value = 1; break;
    case QN__CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = (int)fake.settings[FAKE_CAPABILITY] / 10;
        break;
    case QN__CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = (int)fake.settings[FAKE_CAPABILITY] % 10;
        break;
    case QN__CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = 232448; break;
    case QN__CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case QN__CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED: *value = 1; break;
    case QN__CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: *value = (int)fake.settings[FAKE_POOLS]; break;
    default: return QN__CU_ERROR_INVALID_VALUE;
    }
    return 0;
}

/* ---- contexts ---- */

API int cuDevicePrimaryCtxRetain(qn__cu_context *context, int device) {
    CALL(primary_retain);
    *context = &contexts[device];
    count_live(FAKE_CONTEXTS, 1);
    return 0;
}
API int cuDevicePrimaryCtxRelease_v2(int device) {
    (void)device;
    CALL(primary_release);
    count_live(FAKE_CONTEXTS, -1);
    return 0;
}
/* All that was made in it is gone, and it works again. */
API int cuDevicePrimaryCtxReset_v2(int device) {
    CALL(primary_reset);
    const long held = fake.live[FAKE_CONTEXTS];
    memset(fake.live, 0, sizeof fake.live);
    fake.live[FAKE_CONTEXTS] = held;
    fake.lost[device] = 0;
    return 0;
}
API int cuCtxPushCurrent_v2(qn__cu_context context) {
    CALL(context_push);
    if (depth == MAX_STACK) abort();
    stack[depth++] = context;
    return 0;
}
API int cuCtxPopCurrent_v2(qn__cu_context *context) {
    CALL(context_pop);
    if (depth == 0) return INVALID_CONTEXT;
    *context = stack[--depth];
    return 0;
}

/* ---- memory ---- */

static void *new_block(size_t size, bool pinned, bool mapped) {
    block *b = calloc(1, sizeof *b);
    b->data = malloc(size + 256);
    b->size = size;
    b->pinned = pinned;
    b->mapped = mapped;
    b->device = stack[depth - 1]->device;
    memset(b->data, 0xcd, size);
    pthread_mutex_lock(&fake.lock);
    b->next = fake.blocks;
    fake.blocks = b;
    if (!pinned) fake.used += size;
    if (fake.used > fake.reserved) fake.reserved = fake.used;
    fake.live[pinned ? FAKE_PINNED : FAKE_ALLOCATIONS]++;
    pthread_mutex_unlock(&fake.lock);
    return b->data;
}

static int free_block(void *data, bool pinned) {
    pthread_mutex_lock(&fake.lock);
    block **at = &fake.blocks;
    while (*at && ((*at)->data != data || (*at)->pinned != pinned)) at = &(*at)->next;
    block *b = *at;
    if (b) {
        *at = b->next;
        if (!pinned) fake.used -= b->size;
        fake.live[pinned ? FAKE_PINNED : FAKE_ALLOCATIONS]--;
    }
    pthread_mutex_unlock(&fake.lock);
    if (!b) return QN__CU_ERROR_INVALID_VALUE;
    if (!b->foreign) free(b->data);
    free(b);
    return 0;
}

static bool on_device(const unsigned char *at, size_t size) {
    pthread_mutex_lock(&fake.lock);
    block *b = fake.blocks;
    while (b && ((b->pinned && !b->mapped) || at < b->data || at + size > b->data + b->size)) b = b->next;
    pthread_mutex_unlock(&fake.lock);
    return b != NULL;
}

/* Of the device, and all of it in one allocation. */
static bool is_of(const unsigned char *at, size_t size, int device) {
    pthread_mutex_lock(&fake.lock);
    block *b = fake.blocks;
    while (b && (at < b->data || at + size > b->data + b->size)) b = b->next;
    bool found = b && !b->pinned && b->device == device;
    pthread_mutex_unlock(&fake.lock);
    return found;
}

static int allocate(qn__cu_address *address, size_t size) {
    if (size == 0) return QN__CU_ERROR_INVALID_VALUE;
    if (size > (size_t)fake.settings[FAKE_MEMORY] - fake.used) return QN__CU_ERROR_OUT_OF_MEMORY;
    *address = (qn__cu_address)(uintptr_t)new_block(size, false, false);
    return 0;
}

API int cuDeviceCanAccessPeer(int *can, int device, int peer) {
    CALL(can_access_peer);
    *can = device != peer && (int)fake.settings[FAKE_PEERS];
    return 0;
}
API int cuCtxEnablePeerAccess(qn__cu_context peer, unsigned flags) {
    CALL_IN_CONTEXT(enable_peer);
    return flags || peer->device == stack[depth - 1]->device ? QN__CU_ERROR_INVALID_VALUE : 0;
}
API int cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
    CALL_IN_CONTEXT(mem_info);
    *total = (size_t)fake.settings[FAKE_MEMORY];
    *free_bytes = *total - fake.used;
    return 0;
}
API int cuMemAlloc_v2(qn__cu_address *address, size_t size) {
    CALL_IN_CONTEXT(mem_alloc);
    return allocate(address, size);
}
static size_t take_place(const void *data);
API int cuMemFree_v2(qn__cu_address address) {
    CALL_IN_CONTEXT(mem_free);
    const size_t mapped = take_place((void *)(uintptr_t)address);
    if (mapped) return munmap((void *)(uintptr_t)address, mapped);
    return free_block((void *)(uintptr_t)address, false);
}
API int cuMemPoolCreate(qn__cu_pool *pool, const qn__cu_pool_props *props) {
    CALL_IN_CONTEXT(pool_create);
    if (props->allocation_type != 1 || props->location.type != 1 || props->max_size)
        return QN__CU_ERROR_INVALID_VALUE;
    *pool = calloc(1, sizeof **pool);
    count_live(FAKE_POOLS_LIVE, 1);
    return 0;
}
API int cuMemPoolDestroy(qn__cu_pool pool) {
    CALL(pool_destroy);
    free(pool);
    count_live(FAKE_POOLS_LIVE, -1);
    return 0;
}
API int cuMemPoolSetAttribute(qn__cu_pool pool, int attribute, void *value) {
    (void)pool, (void)value;
    CALL_IN_CONTEXT(pool_set);
    return attribute == QN__CU_MEMPOOL_ATTR_RELEASE_THRESHOLD ? 0 : QN__CU_ERROR_INVALID_VALUE;
}
API int cuMemPoolGetAttribute(qn__cu_pool pool, int attribute, void *value) {
    (void)pool;
    CALL_IN_CONTEXT(pool_get);
    uint64_t bytes = attribute == QN__CU_MEMPOOL_ATTR_USED_MEM_CURRENT ? fake.used : fake.reserved;
    memcpy(value, &bytes, sizeof bytes);
    return 0;
}
API int cuMemPoolSetAccess(qn__cu_pool pool, const qn__cu_access *access, size_t count) {
    CALL_IN_CONTEXT(pool_set_access);
    if (!pool || count != 1 || access->location.type != 1 || access->flags != 3)
        return QN__CU_ERROR_INVALID_VALUE;
    return access->location.id < fake.settings[FAKE_DEVICES] ? 0 : QN__CU_ERROR_INVALID_VALUE;
}
API int cuMemPoolTrimTo(qn__cu_pool pool, size_t keep) {
    (void)pool, (void)keep;
    CALL_IN_CONTEXT(pool_trim);
    fake.reserved = fake.used;
    return 0;
}
API int cuMemAllocFromPoolAsync(qn__cu_address *address, size_t size, qn__cu_pool pool,
                                qn__cu_stream stream) {
    CALL_IN_CONTEXT(pool_alloc);
    if (!pool || !stream || stream->graph) return INVALID_HANDLE;
    return allocate(address, size);
}
API int cuMemFreeAsync(qn__cu_address address, qn__cu_stream stream) {
    CALL_IN_CONTEXT(pool_free);
    if (!stream || stream->graph) return INVALID_HANDLE;
    return free_block((void *)(uintptr_t)address, false);
}
API int cuMemHostAlloc(void **memory, size_t size, unsigned flags) {
    CALL_IN_CONTEXT(host_alloc);
    *memory = new_block(size, true, flags & QN__CU_MEMHOSTALLOC_DEVICEMAP);
    return 0;
}
API int cuMemHostRegister_v2(void *memory, size_t size, unsigned flags) {
    CALL_IN_CONTEXT(host_register);
    if (!(flags & QN__CU_MEMHOSTREGISTER_DEVICEMAP) || size == 0) return QN__CU_ERROR_INVALID_VALUE;
    block *b = calloc(1, sizeof *b);
    *b = (block){.size = size, .pinned = true, .mapped = true, .foreign = true, .data = memory};
    pthread_mutex_lock(&fake.lock);
    bool free_of_others = true;
    for (const block *other = fake.blocks; other && free_of_others; other = other->next)
        free_of_others = other->data + other->size <= b->data || b->data + size <= other->data;
    if (free_of_others) {
        b->next = fake.blocks;
        fake.blocks = b;
        fake.live[FAKE_PINNED]++;
    }
    pthread_mutex_unlock(&fake.lock);
    if (free_of_others) return 0;
    free(b);
    return QN__CU_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}
API int cuMemHostUnregister(void *memory) {
    CALL(host_unregister);
    return free_block(memory, true);
}
API int cuMemHostGetDevicePointer_v2(qn__cu_address *address, void *memory, unsigned flags) {
    CALL_IN_CONTEXT(host_address);
    *address = (qn__cu_address)(uintptr_t)memory;
    return flags || !on_device(memory, 1);
}
API int cuMemFreeHost(void *memory) {
    CALL(host_free);
    return free_block(memory, true);
}

API int cuPointerGetAttribute(void *value, int attribute, qn__cu_address address) {
    CALL_IN_CONTEXT(pointer_get);
    const unsigned char *at = (unsigned char *)(uintptr_t)address;
    int result = 0;
    pthread_mutex_lock(&fake.lock);
    const block *b = fake.blocks;
    while (b && (b->pinned || at < b->data || at >= b->data + b->size)) b = b->next;
    if (!b)
        result = QN__CU_ERROR_INVALID_VALUE;
    else if (attribute == QN__CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
        memcpy(value, &b->device, sizeof b->device);
    else if (attribute == QN__CU_POINTER_ATTRIBUTE_RANGE_START_ADDR)
        memcpy(value, &b->data, sizeof b->data);
    else
        memcpy(value, &b->size, sizeof b->size);
    pthread_mutex_unlock(&fake.lock);
    return result;
}

/* A map is where the tensor begins: nothing here copies by it. What the real one refuses is refused. */
static int make_map(void *map, int type, unsigned rank, void *address, const uint64_t *sizes,
                    const uint64_t *strides) {
    enum { MAP_BYTES = 128, ROWS_ALIGNED = 16, MOST_RANK = 5 };
    if ((uintptr_t)address % ROWS_ALIGNED || rank < 1 || rank > MOST_RANK || type < 0)
        return QN__CU_ERROR_INVALID_VALUE;
    for (unsigned d = 0; d < rank; d++)
        if (!sizes[d] || (d + 1 < rank && strides[d] % ROWS_ALIGNED)) return QN__CU_ERROR_INVALID_VALUE;
    memset(map, 0, MAP_BYTES);
    memcpy(map, &address, sizeof address);
    return 0;
}

enum { MOST_OF_TILE = 256 };

API int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address, const uint64_t *sizes,
                               const uint64_t *strides, const unsigned *tile, const unsigned *steps,
                               int interleave, int swizzle, int promotion, int fill) {
    CALL(tensor_map);
    (void)interleave, (void)swizzle, (void)promotion, (void)fill;
    for (unsigned d = 0; d < rank; d++)
        if (!tile[d] || tile[d] > MOST_OF_TILE || !steps[d]) return QN__CU_ERROR_INVALID_VALUE;
    return make_map(map, type, rank, address, sizes, strides);
}
API int cuTensorMapEncodeIm2col(void *map, int type, unsigned rank, void *address, const uint64_t *sizes,
                                const uint64_t *strides, const int *lower, const int *upper,
                                unsigned channels, unsigned pixels, const unsigned *steps, int interleave,
                                int swizzle, int promotion, int fill) {
    CALL(window_map);
    (void)lower, (void)upper, (void)steps, (void)interleave, (void)swizzle, (void)promotion, (void)fill;
    if (!channels || channels > MOST_OF_TILE || !pixels || rank < 3) return QN__CU_ERROR_INVALID_VALUE;
    return make_map(map, type, rank, address, sizes, strides);
}

#include "libcuda_descriptors.h"

/* ---- what is done on streams ---- */

static uint64_t param(const fake_launch *launch, size_t offset, size_t size) {
    uint64_t value = 0;
    if (offset + size <= launch->params_size) memcpy(&value, launch->params + offset, size);
    return value;
}

/* Kernels by their names: fill(p, value, n), saxpy(y, x, a, n), last_word(p, n, words), print(implicit print buffer), bad()
   and hang(). */
static void run_kernel(qn__cu_stream stream, const fake_launch *launch) {
    uint64_t items = (uint64_t)launch->grid[0] * launch->block[0];
    uint32_t *to = (uint32_t *)(uintptr_t)param(launch, 0, 8);
    if (strcmp(launch->name, "fill") == 0) {
        uint64_t n = param(launch, 12, 4);
        for (uint64_t i = 0; i < n && i < items; i++) to[i] = (uint32_t)param(launch, 8, 4);
    } else if (strcmp(launch->name, "saxpy") == 0) {
        float *y = (float *)to, a;
        const float *x = (const float *)(uintptr_t)param(launch, 8, 8);
        uint32_t bits = (uint32_t)param(launch, 16, 4);
        memcpy(&a, &bits, sizeof a);
        for (uint64_t i = 0; i < param(launch, 20, 4) && i < items; i++) y[i] += a * x[i];
    } else if (strcmp(launch->name, "last_word") == 0) { /* of n words by value, behind the buffer and n */
        to[0] = (uint32_t)param(launch, 12 + 4 * (param(launch, 8, 4) - 1), 4);
    } else if (strcmp(launch->name, "print") == 0) {
        uint32_t record[] = {16, 0, 42, 0};
        uint32_t at = to[1];
        to[1] += sizeof record;
        if (at + sizeof record <= to[0]) memcpy((unsigned char *)to + 8 + at, record, sizeof record);
    } else if (strcmp(launch->name, "bad") == 0) {
        fake.lost[stream->device] = QN__CU_ERROR_ILLEGAL_ADDRESS;
    } else if (strcmp(launch->name, "hang") == 0) {
        stream->hang = ++fake.hang;
    }
}

static void perform(qn__cu_stream stream, const operation *op) {
    switch (op->kind) {
    case COPY: memmove(op->to, op->from, op->size); break;
    case SET:
        for (size_t row = 0; row < op->height; row++)
            for (size_t i = 0; i < op->width; i++)
                memcpy(op->to + row * op->pitch + i * op->size, &op->value, op->size);
        break;
    case LAUNCH:
        pthread_mutex_lock(&fake.lock);
        fake.last = op->launch;
        pthread_mutex_unlock(&fake.lock);
        run_kernel(stream, &op->launch);
        break;
    }
}

static int put(qn__cu_stream stream, const operation *op) {
    if (!stream) return INVALID_HANDLE;
    if (!stream->graph) {
        perform(stream, op);
        return 0;
    }
    operation *copy = malloc(sizeof *copy);
    *copy = *op;
    copy->next = NULL;
    if (stream->graph->last)
        stream->graph->last->next = copy;
    else
        stream->graph->first = copy;
    stream->graph->last = copy;
    return 0;
}

static void *pointer(qn__cu_address address) { return (void *)(uintptr_t)address; }

API int cuMemcpyHtoDAsync_v2(qn__cu_address to, const void *from, size_t size, qn__cu_stream stream) {
    CALL_IN_CONTEXT(copy_to_device);
    if (!on_device(pointer(to), size)) return QN__CU_ERROR_INVALID_VALUE;
    return put(stream, &(operation){.kind = COPY, .to = pointer(to), .from = from, .size = size});
}
API int cuMemcpyDtoHAsync_v2(void *to, qn__cu_address from, size_t size, qn__cu_stream stream) {
    CALL_IN_CONTEXT(copy_to_host);
    if (!on_device(pointer(from), size)) return QN__CU_ERROR_INVALID_VALUE;
    return put(stream, &(operation){.kind = COPY, .to = to, .from = pointer(from), .size = size});
}
API int cuMemcpyDtoDAsync_v2(qn__cu_address to, qn__cu_address from, size_t size, qn__cu_stream stream) {
    CALL_IN_CONTEXT(copy_on_device);
    if (!on_device(pointer(from), size) || !on_device(pointer(to), size)) return QN__CU_ERROR_INVALID_VALUE;
    return put(stream, &(operation){.kind = COPY, .to = pointer(to), .from = pointer(from), .size = size});
}

API int cuMemcpyPeerAsync(qn__cu_address to, qn__cu_context to_context, qn__cu_address from,
                          qn__cu_context from_context, size_t size, qn__cu_stream stream) {
    CALL_IN_CONTEXT(copy_peer);
    if (!is_of(pointer(from), size, from_context->device) || !is_of(pointer(to), size, to_context->device))
        return QN__CU_ERROR_INVALID_VALUE;
    return put(stream, &(operation){.kind = COPY, .to = pointer(to), .from = pointer(from), .size = size});
}

static int set(qn__cu_stream stream, qn__cu_address to, size_t pitch, uint32_t value, size_t size,
               size_t width, size_t height) {
    size_t bytes = height ? (height - 1) * pitch + width * size : 0;
    if (to % size || !on_device(pointer(to), bytes)) return QN__CU_ERROR_INVALID_VALUE;
    return put(stream, &(operation){.kind = SET,
                                    .to = pointer(to),
                                    .size = size,
                                    .value = value,
                                    .pitch = pitch,
                                    .width = width,
                                    .height = height});
}
API int cuMemsetD8Async(qn__cu_address to, unsigned char value, size_t count, qn__cu_stream stream) {
    CALL_IN_CONTEXT(set_8);
    return set(stream, to, 0, value, 1, count, 1);
}
API int cuMemsetD16Async(qn__cu_address to, unsigned short value, size_t count, qn__cu_stream stream) {
    CALL_IN_CONTEXT(set_16);
    return set(stream, to, 0, value, 2, count, 1);
}
API int cuMemsetD32Async(qn__cu_address to, unsigned value, size_t count, qn__cu_stream stream) {
    CALL_IN_CONTEXT(set_32);
    return set(stream, to, 0, value, 4, count, 1);
}
API int cuMemsetD2D32Async(qn__cu_address to, size_t pitch, unsigned value, size_t width, size_t height,
                           qn__cu_stream stream) {
    CALL_IN_CONTEXT(set_columns_32);
    if (pitch < width * 4) return QN__CU_ERROR_INVALID_VALUE;
    return set(stream, to, pitch, value, 4, width, height);
}

static void free_operations(operation *first) {
    for (operation *next; first; first = next) {
        next = first->next;
        free(first);
    }
}

static void free_graph(qn__cu_graph graph) {
    free_operations(graph->first);
    free(graph);
    count_live(FAKE_GRAPHS, -1);
}

/* ---- streams and events ---- */

API int cuStreamCreate(qn__cu_stream *stream, unsigned flags) {
    (void)flags;
    CALL_IN_CONTEXT(stream_create);
    *stream = calloc(1, sizeof **stream);
    (*stream)->device = stack[depth - 1]->device;
    count_live(FAKE_STREAMS, 1);
    return 0;
}
API int cuStreamDestroy_v2(qn__cu_stream stream) {
    CALL(stream_destroy);
    if (stream->graph) free_graph(stream->graph);
    free(stream);
    count_live(FAKE_STREAMS, -1);
    return 0;
}
API int cuStreamSynchronize(qn__cu_stream stream) {
    CALL_IN_CONTEXT(stream_synchronize);
    if (stream->graph) return 900;
    while (stream->hang > fake.released) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return fake.lost[stream->device];
}
API int cuStreamWaitEvent(qn__cu_stream stream, qn__cu_event event, unsigned flags) {
    (void)flags;
    CALL_IN_CONTEXT(stream_wait_event);
    if (event->hang > stream->hang) stream->hang = event->hang;
    return 0;
}
API int cuStreamBeginCapture_v2(qn__cu_stream stream, int mode) {
    (void)mode;
    CALL_IN_CONTEXT(stream_begin_capture);
    if (stream->graph) return QN__CU_ERROR_INVALID_VALUE;
    stream->graph = calloc(1, sizeof *stream->graph);
    count_live(FAKE_GRAPHS, 1);
    return 0;
}
API int cuStreamEndCapture(qn__cu_stream stream, qn__cu_graph *graph) {
    CALL_IN_CONTEXT(stream_end_capture);
    if (!stream->graph) return QN__CU_ERROR_INVALID_VALUE;
    *graph = stream->graph;
    stream->graph = NULL;
    return 0;
}
API int cuEventCreate(qn__cu_event *event, unsigned flags) {
    CALL_IN_CONTEXT(event_create);
    *event = calloc(1, sizeof **event);
    (*event)->timing = !(flags & QN__CU_EVENT_DISABLE_TIMING);
    (*event)->device = stack[depth - 1]->device;
    count_live(FAKE_EVENTS, 1);
    return 0;
}
API int cuEventDestroy_v2(qn__cu_event event) {
    CALL(event_destroy);
    free(event);
    count_live(FAKE_EVENTS, -1);
    return 0;
}
API int cuEventRecord(qn__cu_event event, qn__cu_stream stream) {
    CALL_IN_CONTEXT(event_record);
    if (stream->graph) return 900;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    event->recorded = true;
    event->hang = stream->hang;
    event->time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return 0;
}
API int cuEventQuery(qn__cu_event event) {
    CALL_IN_CONTEXT(event_query);
    return event->hang > fake.released ? QN__CU_ERROR_NOT_READY : 0;
}
API int cuEventSynchronize(qn__cu_event event) {
    CALL_IN_CONTEXT(event_synchronize);
    while (event->hang > fake.released) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return fake.lost[event->device];
}
API int cuEventElapsedTime(float *milliseconds, qn__cu_event begin, qn__cu_event end) {
    CALL_IN_CONTEXT(event_elapsed);
    if (!begin->timing || !end->timing || !begin->recorded || !end->recorded) return INVALID_HANDLE;
    *milliseconds = (float)((double)(int64_t)(end->time_ns - begin->time_ns) / 1e6);
    return 0;
}

#include "libcuda_code.h"

static int set_launch(operation *op, const qn__cu_kernel_node *with) {
    const unsigned *grid = with->grid, *block = with->block;
    if (!grid[0] || !grid[1] || !grid[2] || !block[0] || !block[1] || !block[2] ||
        block[0] * block[1] * block[2] > 1024)
        return QN__CU_ERROR_INVALID_VALUE;
    if (with->shared > 49152 && (int)with->shared > with->function->dynamic)
        return QN__CU_ERROR_INVALID_VALUE;
    op->kind = LAUNCH;
    op->function = with->function;
    op->launch = (fake_launch){.grid = {grid[0], grid[1], grid[2]},
                               .block = {block[0], block[1], block[2]},
                               .shared = with->shared,
                               .cluster_policy = with->function->cluster_policy};
    snprintf(op->launch.name, sizeof op->launch.name, "%.60s", with->function->entry.name);
    op->launch.params_size = with->function->entry.params_size;
    if (op->launch.params_size > sizeof op->launch.params) return QN__CU_ERROR_INVALID_VALUE;
    if (op->launch.params_size) memcpy(op->launch.params, with->params[0], op->launch.params_size);
    return 0;
}

API int cuLaunchKernel(qn__cu_function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared, qn__cu_stream stream, void **params,
                       void **extra) {
    CALL_IN_CONTEXT(launch);
    const qn__cu_kernel_node with = {function, {gx, gy, gz}, {bx, by, bz}, shared, params, extra};
    operation op = {.next = NULL};
    const int result = set_launch(&op, &with);
    return result ? result : put(stream, &op);
}

/* ---- graphs ---- */

API int cuStreamGetCaptureInfo_v2(qn__cu_stream stream, int *status, uint64_t *id, qn__cu_graph *graph,
                                  const qn__cu_node **before, size_t *num_before) {
    CALL_IN_CONTEXT(stream_capture_info);
    *status = stream->graph != NULL;
    if (!stream->graph) return 0;
    *id = 1;
    *graph = stream->graph;
    *before = (const qn__cu_node *)(const void *)&stream->graph->last;
    *num_before = stream->graph->last != NULL;
    return 0;
}
API int cuGraphInstantiateWithFlags(qn__cu_exec *exec, qn__cu_graph graph, unsigned long long flags) {
    (void)flags;
    CALL_IN_CONTEXT(graph_instantiate);
    *exec = calloc(1, sizeof **exec);
    operation **end = &(*exec)->first;
    for (const operation *op = graph->first; op; op = op->next) {
        *end = malloc(sizeof **end);
        **end = *op;
        (*end)->node = op;
        (*end)->next = NULL;
        end = &(*end)->next;
    }
    count_live(FAKE_EXECS, 1);
    return 0;
}
API int cuGraphDestroy(qn__cu_graph graph) {
    CALL(graph_destroy);
    free_graph(graph);
    return 0;
}
API int cuGraphUpload(qn__cu_exec exec, qn__cu_stream stream) {
    (void)exec, (void)stream;
    CALL_IN_CONTEXT(exec_upload);
    return 0;
}
API int cuGraphLaunch(qn__cu_exec exec, qn__cu_stream stream) {
    CALL_IN_CONTEXT(exec_launch);
    if (atomic_exchange(&exec->busy, true)) return INVALID_HANDLE; /* one thread at a time */
    for (const operation *op = exec->first; op; op = op->next) perform(stream, op);
    atomic_store(&exec->busy, false);
    return 0;
}
API int cuGraphExecKernelNodeSetParams(qn__cu_exec exec, qn__cu_node node, const qn__cu_kernel_node *params) {
    CALL_IN_CONTEXT(exec_set_kernel);
    operation *op = exec->first;
    while (op && op->node != (const operation *)(const void *)node) op = op->next;
    if (!op || op->kind != LAUNCH) return INVALID_HANDLE;
    return set_launch(op, params);
}
API int cuGraphMemcpyNodeGetParams(qn__cu_node node, qn__cu_copy_node *params) {
    CALL_IN_CONTEXT(copy_node_get);
    const operation *op = (const operation *)(const void *)node;
    if (op->kind != COPY) return INVALID_HANDLE;
    *params = (qn__cu_copy_node){.from.device = (qn__cu_address)(uintptr_t)op->from,
                                 .to.device = (qn__cu_address)(uintptr_t)op->to,
                                 .width = op->size,
                                 .height = 1,
                                 .depth = 1};
    return 0;
}
API int cuGraphExecMemcpyNodeSetParams(qn__cu_exec exec, qn__cu_node node, const qn__cu_copy_node *params,
                                       qn__cu_context context) {
    (void)context;
    CALL_IN_CONTEXT(exec_set_copy);
    operation *op = exec->first;
    while (op && op->node != (const operation *)(const void *)node) op = op->next;
    if (!op || op->kind != COPY || params->width != op->size) return INVALID_HANDLE;
    op->from = pointer(params->from.device);
    op->to = pointer(params->to.device);
    return 0;
}
API int cuGraphExecDestroy(qn__cu_exec exec) {
    CALL(exec_destroy);
    free_operations(exec->first);
    free(exec);
    count_live(FAKE_EXECS, -1);
    return 0;
}
