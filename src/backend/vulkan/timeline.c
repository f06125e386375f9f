/* What streams and events share: the semaphores that streams count batches by, and places for timestamps. */
#include "backend/vulkan/vulkan.h"
#include "util/file.h"

/* ---- timelines ---- */

/* One that nobody waits for any more serves the next stream. It is not destroyed before the device: Mesa's submission
   thread touches the semaphores that a batch waited for once more when the batch has told that it is done
   (22.3, lavapipe). */
void qn__vk_timeline_drop(qn__vk_timeline *timeline) {
    qn__gpu *gpu = timeline->gpu;
    if (atomic_fetch_sub(&timeline->references, 1) != 1) return;
    pthread_mutex_lock(&gpu->lock);
    timeline->next_free = gpu->free_timelines;
    gpu->free_timelines = timeline;
    pthread_mutex_unlock(&gpu->lock);
}

static void delete_timeline(qn__vk_timeline *timeline) {
    qn__gpu *gpu = timeline->gpu;
    if (timeline->semaphore) gpu->vk.DestroySemaphore(gpu->device, timeline->semaphore, NULL);
    pthread_mutex_destroy(&timeline->lock);
    qn__release(gpu->services->allocator, timeline);
}

void qn__vk_timelines_free(qn__gpu *gpu) {
    for (qn__vk_timeline *timeline = gpu->free_timelines, *next; timeline; timeline = next) {
        next = timeline->next_free;
        delete_timeline(timeline);
    }
}

static qn__vk_timeline *take_timeline(qn__gpu *gpu) {
    pthread_mutex_lock(&gpu->lock);
    qn__vk_timeline *timeline = gpu->free_timelines;
    if (timeline) gpu->free_timelines = timeline->next_free;
    pthread_mutex_unlock(&gpu->lock);
    return timeline;
}

static qn_status make_timeline(qn__gpu *gpu, qn__vk_timeline **out, char *why) {
    qn__vk_timeline *timeline = qn__allocate_zeroed(gpu->services->allocator, sizeof *timeline);
    if (!timeline) return QN_ERROR_OUT_OF_MEMORY;
    timeline->gpu = gpu;
    pthread_mutex_init(&timeline->lock, NULL);
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkFlagsCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    VkResult result = gpu->vk.CreateSemaphore(gpu->device, &info, NULL, &timeline->semaphore);
    if (result != VK_SUCCESS) {
        timeline->semaphore = 0;
        delete_timeline(timeline);
        return qn__vk_failed(gpu, "vkCreateSemaphore", result, why);
    }
    *out = timeline;
    return QN_OK;
}

qn_status qn__vk_timeline_new(qn__gpu *gpu, qn__queue *queue, qn__vk_timeline **out, char *why) {
    qn__vk_timeline *timeline = take_timeline(gpu);
    qn_status status = timeline ? QN_OK : make_timeline(gpu, &timeline, why);
    if (status) return status;
    atomic_store(&timeline->references, 1);
    timeline->queue = queue;
    *out = timeline;
    return QN_OK;
}

/* ---- timestamps ---- */

static bool add_stamps(qn__gpu *gpu) {
    qn__vk_stamp_pool *pool = qn__allocate_zeroed(gpu->services->allocator, sizeof *pool);
    if (!pool) return false;
    VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                  .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                  .queryCount = QN__VK_STAMPS};
    if (gpu->vk.CreateQueryPool(gpu->device, &info, NULL, &pool->pool) != VK_SUCCESS) {
        qn__release(gpu->services->allocator, pool);
        return false;
    }
    pool->next = gpu->stamp_pools;
    gpu->stamp_pools = pool;
    for (uint32_t i = 0; i < QN__VK_STAMPS; i++) {
        pool->stamps[i] = (qn__vk_stamp){.next = gpu->free_stamps, .pool = pool->pool, .index = i};
        gpu->free_stamps = &pool->stamps[i];
    }
    return true;
}

qn__vk_stamp *qn__vk_stamp_new(qn__gpu *gpu) {
    if (gpu->timestamp_bits == 0) return NULL;
    pthread_mutex_lock(&gpu->lock);
    qn__vk_stamp *stamp = gpu->free_stamps || add_stamps(gpu) ? gpu->free_stamps : NULL;
    if (stamp) {
        gpu->free_stamps = stamp->next;
        stamp->references = 1;
    }
    pthread_mutex_unlock(&gpu->lock);
    return stamp;
}

void qn__vk_stamp_keep(qn__gpu *gpu, qn__vk_stamp *stamp) {
    if (!stamp) return;
    pthread_mutex_lock(&gpu->lock);
    stamp->references++;
    pthread_mutex_unlock(&gpu->lock);
}

void qn__vk_stamp_drop(qn__gpu *gpu, qn__vk_stamp *stamp) {
    if (!stamp) return;
    pthread_mutex_lock(&gpu->lock);
    if (--stamp->references == 0) {
        stamp->next = gpu->free_stamps;
        gpu->free_stamps = stamp;
    }
    pthread_mutex_unlock(&gpu->lock);
}

void qn__vk_stamps_free(qn__gpu *gpu) {
    for (qn__vk_stamp_pool *pool = gpu->stamp_pools, *next; pool; pool = next) {
        next = pool->next;
        gpu->vk.DestroyQueryPool(gpu->device, pool->pool, NULL);
        qn__release(gpu->services->allocator, pool);
    }
}

uint64_t qn__vk_stamp_time(qn__gpu *gpu, const qn__vk_stamp *stamp) {
    uint64_t ticks = 0;
    if (!stamp || gpu->vk.GetQueryPoolResults(gpu->device, stamp->pool, stamp->index, 1, sizeof ticks, &ticks,
                                              sizeof ticks, VK_QUERY_RESULT_64_BIT) != VK_SUCCESS)
        return qn__now_ns();
    if (gpu->timestamp_bits < 64) ticks &= ((uint64_t)1 << gpu->timestamp_bits) - 1;
    double period = (double)gpu->physical->properties.limits.timestampPeriod;
    uint64_t whole = (uint64_t)period;
    return ticks * whole + (uint64_t)((double)ticks * (period - (double)whole));
}
