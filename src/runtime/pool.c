/* Pools: a part of a device's memory with limits of its own, which keeps what destroyed buffers leave. Blocks are whole
   allocations of the driver's: none is cut, so that a buffer's memory never shares a block with another client's. */
#include <stdio.h>
#include <string.h>

#include "runtime/runtime.h"

enum { ROUND = 256, MOST_WASTE = 4 /* a part of the size */, USUAL_KEEP = 64 << 20 };

/* Memory that no buffer has. */
struct qn__block {
    qn__block *next; /* older */
    qn__memory *memory;
    uint64_t address, size;
    void *shared;
    qn_memory kind;
};

/* ---- blocks ---- */

/* The checker tells by the memory itself what is destroyed and what lies outside. */
static bool is_plain(const qn_device *device) { return !device->backend->finding_count; }

static uint64_t rounded(const qn_device *device, uint64_t size) {
    const uint64_t more = size > UINT64_MAX - ROUND ? size : (size + ROUND - 1) / ROUND * ROUND;
    return is_plain(device) && more <= device->info.max_buffer ? more : size;
}

static void unlink_block(qn_memory_pool *pool, qn__block **link) {
    qn__block *block = *link;
    *link = block->next;
    pool->free_bytes -= block->size;
    pool->free_blocks--;
}

/* The smallest that holds the size, if not too much of it were wasted; the lock is held. */
static qn__block *take_block(qn_memory_pool *pool, uint64_t size, qn_memory kind) {
    qn__block **best = NULL;
    for (qn__block **link = &pool->free; *link; link = &(*link)->next) {
        const qn__block *block = *link;
        const bool fits =
            block->kind == kind && block->size >= size && block->size - size <= size / MOST_WASTE;
        if (fits && (!best || block->size < (*best)->size)) best = link;
    }
    if (!best) return NULL;
    qn__block *found = *best;
    unlink_block(pool, best);
    return found;
}

static void destroy_block(qn_memory_pool *pool, qn__block *block) {
    qn_device *device = pool->device;
    device->backend->memory_destroy(device->gpu, block->memory);
    atomic_fetch_sub(&device->kept, block->size);
    qn__release(&pool->object.context->allocator, block);
}

/* Gives back the oldest blocks until no more than `most` bytes are kept. */
static void keep_most(qn_memory_pool *pool, uint64_t most) {
    qn__block *gone = NULL;
    pthread_mutex_lock(&pool->lock);
    while (pool->free_bytes > most) {
        qn__block **last = &pool->free;
        while ((*last)->next) last = &(*last)->next;
        qn__block *block = *last;
        unlink_block(pool, last);
        pool->taken -= block->size;
        block->next = gone;
        gone = block;
    }
    pthread_mutex_unlock(&pool->lock);
    for (qn__block *next; gone; gone = next) {
        next = gone->next;
        destroy_block(pool, gone);
    }
}

void qn__pools_trim(qn_device *device) {
    qn_context *context = device->object.context;
    for (qn_memory_pool *pool = NULL, *next;; pool = next) {
        pthread_mutex_lock(&context->lock);
        qn__object *o = pool ? pool->object.next : context->objects[QN__OBJECT_POOL].first;
        while (o && (((qn_memory_pool *)o)->device != device || !qn__try_retain(o))) o = o->next;
        pthread_mutex_unlock(&context->lock);
        next = (qn_memory_pool *)o;
        if (pool) qn__drop(&pool->object);
        if (!next) return;
        keep_most(next, 0);
    }
}

/* ---- memory of buffers ---- */

static void name_of(const qn_memory_pool *pool, char *text) {
    const char *quote = pool->label ? "'" : "";
    snprintf(text, QN__BUFFER_NAME, "the pool%s%s%.128s%s", pool->label ? " " : "", quote,
             pool->label ? pool->label : "", quote);
}

static void count_peak(uint64_t now, uint64_t *peak) {
    if (now > *peak) *peak = now;
}

/* Counts the bytes as taken, if the limit allows; the lock is held. */
static bool reserve(qn_memory_pool *pool, uint64_t size) {
    const uint64_t limit = pool->limit ? pool->limit : UINT64_MAX;
    if (size > limit || pool->taken > limit - size) return false;
    pool->taken += size;
    count_peak(pool->taken, &pool->taken_peak);
    return true;
}

static qn_status over_limit(const qn_memory_pool *pool, uint64_t used, char *why) {
    char name[QN__BUFFER_NAME];
    name_of(pool, name);
    snprintf(why, QN__WHY, "%s has a limit of %llu, of which buffers take %llu", name,
             (unsigned long long)pool->limit, (unsigned long long)used);
    return QN_ERROR_DEVICE_MEMORY;
}

static void note_buffer(qn_memory_pool *pool, uint64_t size, bool reused) {
    pool->used += size;
    count_peak(pool->used, &pool->peak);
    pool->buffers++;
    pool->made += !reused;
    pool->reused += reused;
}

static void use_block(qn_memory_pool *pool, qn_buffer *buffer, qn__block *block) {
    buffer->memory = block->memory;
    buffer->address = block->address;
    buffer->shared = block->shared;
    buffer->block_size = block->size;
    atomic_fetch_sub(&pool->device->kept, block->size);
    qn__release(&pool->object.context->allocator, block);
}

qn_status qn__pool_take(qn_buffer *buffer, char *why) {
    qn_memory_pool *pool = buffer->pool;
    qn_device *device = pool->device;
    const qn_backend *backend = device->backend;
    const uint64_t size = rounded(device, buffer->size);
    pthread_mutex_lock(&pool->lock);
    qn__block *block = take_block(pool, size, buffer->kind);
    bool fits = block || reserve(pool, size);
    if (block) note_buffer(pool, buffer->size, true);
    pthread_mutex_unlock(&pool->lock);
    if (block) {
        use_block(pool, buffer, block);
        return QN_OK;
    }
    if (!fits) keep_most(pool, 0);
    pthread_mutex_lock(&pool->lock);
    fits = fits || reserve(pool, size);
    const uint64_t used = pool->used;
    pthread_mutex_unlock(&pool->lock);
    if (!fits) return over_limit(pool, used, why);
    qn_status status = (buffer->kind == QN_MEMORY_SHARED ? backend->memory_share : backend->memory_create)(
        device->gpu, size, &buffer->memory, &buffer->address, &buffer->shared, why);
    pthread_mutex_lock(&pool->lock);
    if (status)
        pool->taken -= size;
    else
        note_buffer(pool, buffer->size, false);
    pthread_mutex_unlock(&pool->lock);
    buffer->block_size = size;
    return status;
}

void qn__pool_refused(qn_memory_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    pool->refused++;
    pthread_mutex_unlock(&pool->lock);
}

/* Kept for another buffer; where there is no memory to note that, or nothing is kept, it goes back. */
void qn__pool_give(qn_buffer *buffer) {
    qn_memory_pool *pool = buffer->pool;
    qn_device *device = pool->device;
    const bool keeps = pool->keep && is_plain(device);
    qn__block *block = keeps ? qn__allocate(&pool->object.context->allocator, sizeof *block) : NULL;
    if (!block) device->backend->memory_destroy(device->gpu, buffer->memory);
    pthread_mutex_lock(&pool->lock);
    pool->used -= buffer->size;
    pool->buffers--;
    if (block) {
        *block = (qn__block){.next = pool->free,
                             .memory = buffer->memory,
                             .address = buffer->address,
                             .size = buffer->block_size,
                             .shared = buffer->shared,
                             .kind = buffer->kind};
        pool->free = block;
        pool->free_bytes += block->size;
        pool->free_blocks++;
        atomic_fetch_add(&device->kept, block->size);
    } else {
        pool->taken -= buffer->block_size;
    }
    pthread_mutex_unlock(&pool->lock);
    if (block) keep_most(pool, pool->keep);
}

/* ---- host memory ---- */

static void add_peak(atomic_uint_fast64_t *now, atomic_uint_fast64_t *peak, uint64_t size) {
    const uint64_t after = atomic_fetch_add(now, size) + size;
    uint_fast64_t before = atomic_load(peak);
    while (after > before && !atomic_compare_exchange_weak(peak, &before, after)) {
    }
}

qn_status qn__host_take(qn_device *device, qn_memory_pool *pool, uint64_t size) {
    if (pool) {
        const uint64_t limit = pool->host_limit ? pool->host_limit : UINT64_MAX;
        pthread_mutex_lock(&pool->lock);
        const uint64_t host = pool->host;
        const bool fits = size <= limit && host <= limit - size;
        if (fits) count_peak(pool->host += size, &pool->host_peak);
        pool->refused += !fits;
        pthread_mutex_unlock(&pool->lock);
        char name[QN__BUFFER_NAME];
        name_of(pool, name);
        if (!fits)
            return qn__fail(pool->object.context, QN_ERROR_OUT_OF_MEMORY,
                            "%llu bytes of host memory: %s has a limit of %llu, of which %llu are taken",
                            (unsigned long long)size, name, (unsigned long long)limit,
                            (unsigned long long)host);
    }
    add_peak(&device->host, &device->host_peak, size);
    return QN_OK;
}

void qn__host_pinned(qn_device *device, qn_memory_pool *pool, uint64_t size) {
    add_peak(&device->pinned, &device->pinned_peak, size);
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    count_peak(pool->pinned += size, &pool->pinned_peak);
    pthread_mutex_unlock(&pool->lock);
}

void qn__host_give(qn_device *device, qn_memory_pool *pool, uint64_t size, bool pinned) {
    atomic_fetch_sub(&device->host, size);
    if (pinned) atomic_fetch_sub(&device->pinned, size);
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->host -= size;
    if (pinned) pool->pinned -= size;
    pthread_mutex_unlock(&pool->lock);
}

/* ---- the object ---- */

qn_status qn_memory_pool_create(qn_device *device, const qn_memory_pool_desc *given, qn_memory_pool **out) {
    static const char function[] = "qn_memory_pool_create";
    if (out) *out = NULL;
    qn_status status = qn__check(device, QN__OBJECT_DEVICE, function, "device");
    if (status) return status;
    qn_context *context = device->object.context;
    if (!out) return qn__fail_null(context, function, "pool");
    qn_memory_pool_desc desc;
    QN__READ(context, qn_memory_pool_desc, &desc, given);
    status = qn__device_ready(device);
    if (status) return status;
    qn_memory_pool *pool = qn__object_new(context, QN__OBJECT_POOL);
    if (!pool) return QN_ERROR_OUT_OF_MEMORY;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_mutex_lock(&context->lock); /* it is in the list already: other threads look at it */
    pool->device = device;
    pthread_mutex_unlock(&context->lock);
    pool->limit = desc.limit;
    pool->host_limit = desc.host_limit;
    pool->keep = desc.keep_none ? 0 : desc.keep ? desc.keep : USUAL_KEEP;
    if (desc.label) pool->label = qn__copy_label(context, desc.label);
    *out = pool;
    return QN_OK;
}

void qn_memory_pool_destroy(qn_memory_pool *pool) {
    qn__handle_destroy(pool, QN__OBJECT_POOL, "qn_memory_pool_destroy", "pool");
}

void qn__pool_finalise(qn_memory_pool *pool) {
    if (pool->device) keep_most(pool, 0);
    qn__release(&pool->object.context->allocator, pool->label);
    pthread_mutex_destroy(&pool->lock);
}

/* What is not there any more, or is being destroyed, is passed over. */
static qn__object *next_of(qn_memory_pool *pool) {
    qn_context *context = pool->object.context;
    pthread_mutex_lock(&context->lock);
    qn__object *o = context->objects[QN__OBJECT_BUFFER].first;
    while (o && (qn__buffer_root((qn_buffer *)o)->pool != pool || atomic_exchange(&o->destroyed, true)))
        o = o->next;
    pthread_mutex_unlock(&context->lock);
    return o;
}

qn_status qn_memory_pool_clear(qn_memory_pool *pool) {
    qn_status status = qn__check(pool, QN__OBJECT_POOL, "qn_memory_pool_clear", "pool");
    if (status) return status;
    for (qn__object *o; (o = next_of(pool));) qn__drop(o);
    qn__hosts_clear(pool);
    qn__device_reap(pool->device, false);
    keep_most(pool, 0);
    return QN_OK;
}

qn_status qn_memory_pool_trim(qn_memory_pool *pool) {
    qn_status status = qn__check(pool, QN__OBJECT_POOL, "qn_memory_pool_trim", "pool");
    if (status) return status;
    qn__device_reap(pool->device, false);
    keep_most(pool, 0);
    return QN_OK;
}

qn_status qn_memory_pool_get_stats(const qn_memory_pool *const_pool, qn_memory_pool_stats *stats) {
    qn_status status = qn__check(const_pool, QN__OBJECT_POOL, "qn_memory_pool_get_stats", "pool");
    if (status) return status;
    qn_memory_pool *pool = (qn_memory_pool *)const_pool;
    if (!stats) return qn__fail_null(pool->object.context, "qn_memory_pool_get_stats", "stats");
    pthread_mutex_lock(&pool->lock);
    qn_memory_pool_stats found = {.limit = pool->limit,
                                  .host_limit = pool->host_limit,
                                  .buffers = pool->buffers,
                                  .used = pool->used,
                                  .peak = pool->peak,
                                  .taken = pool->taken,
                                  .taken_peak = pool->taken_peak,
                                  .free_blocks = pool->free_blocks,
                                  .free_bytes = pool->free_bytes,
                                  .host = pool->host,
                                  .host_peak = pool->host_peak,
                                  .pinned = pool->pinned,
                                  .pinned_peak = pool->pinned_peak,
                                  .made = pool->made,
                                  .reused = pool->reused,
                                  .refused = pool->refused};
    for (const qn__block *block = pool->free; block; block = block->next)
        if (block->size > found.largest_free) found.largest_free = block->size;
    pthread_mutex_unlock(&pool->lock);
    if (found.free_bytes) found.fragmentation = 1 - (double)found.largest_free / (double)found.free_bytes;
    QN__WRITE(pool->object.context, qn_memory_pool_stats, stats, &found);
    return QN_OK;
}
