/* Transfers. Ordinary host memory goes through pinned blocks, so that a write returns when its data is copied
   and not when the stream gets there, and so that a large read runs at the speed of memcpy. A fill with a
   pattern that the driver has no function for starts with its columns and doubles what is there. */
#include <string.h>

#include "backend/cuda/cuda.h"

typedef struct qn__cuda_stage stage;

/* The block, made if it was not there, and free to use. */
static qn__cu_result prepare(qn__queue *queue, stage *block) {
    const qn__cu *cu = queue->gpu->cu;
    if (!block->memory) {
        void *memory;
        qn__cu_result result = cu->event_create(&block->event, QN__CU_EVENT_DISABLE_TIMING);
        if (result) return result;
        result = cu->host_alloc(&memory, QN__CUDA_STAGE_SIZE, 0);
        if (result) {
            cu->event_destroy(block->event);
            return result;
        }
        block->memory = memory;
    }
    if (!block->busy) return QN__CU_SUCCESS;
    block->busy = false;
    return cu->event_synchronize(block->event);
}

static qn__cu_result close_block(qn__queue *queue, stage *block) {
    block->busy = true;
    return queue->gpu->cu->event_record(block->event, queue->stream);
}

/* Goes on to the next block if the current one is full. */
static qn__cu_result next_if_full(qn__queue *queue) {
    stage *block = &queue->stages[queue->stage];
    if (block->memory && queue->stage_used < QN__CUDA_STAGE_SIZE) return QN__CU_SUCCESS;
    if (block->memory) {
        qn__cu_result result = close_block(queue, block);
        if (result) return result;
        queue->stage = (queue->stage + 1) % QN__CUDA_STAGES;
    }
    queue->stage_used = 0;
    return prepare(queue, &queue->stages[queue->stage]);
}

static size_t least(uint64_t a, uint64_t b) { return (size_t)(a < b ? a : b); }

qn_status qn__cuda_write(qn__queue *queue, qn__cu_address to, const void *from, uint64_t size, char *why) {
    const qn__cu *cu = queue->gpu->cu;
    for (uint64_t at = 0; at < size;) {
        qn__cu_result result = next_if_full(queue);
        if (result == QN__CU_ERROR_OUT_OF_MEMORY) {
            /* the driver has blocks of its own, and copies before it returns */
            const unsigned char *rest = (const unsigned char *)from + at;
            result = cu->copy_to_device(to + at, rest, (size_t)(size - at), queue->stream);
            return result ? qn__cuda_fail(queue->gpu, result, "a write", why) : QN_OK;
        }
        if (result) return qn__cuda_fail(queue->gpu, result, "a write", why);
        size_t piece = least(size - at, QN__CUDA_STAGE_SIZE - queue->stage_used);
        unsigned char *block = queue->stages[queue->stage].memory + queue->stage_used;
        memcpy(block, (const unsigned char *)from + at, piece);
        result = cu->copy_to_device(to + at, block, piece, queue->stream);
        queue->stage_used = least((queue->stage_used + piece + 63) / 64 * 64, QN__CUDA_STAGE_SIZE);
        if (result) return qn__cuda_fail(queue->gpu, result, "a write", why);
        at += piece;
    }
    return QN_OK;
}

/* While one block is filled by the device, the ones before are copied out. */
static qn__cu_result read_in_blocks(qn__queue *queue, unsigned char *to, qn__cu_address from, uint64_t size) {
    const qn__cu *cu = queue->gpu->cu;
    uint64_t asked = 0, got = 0;
    unsigned in_flight = 0, oldest = queue->stage;
    while (got < size) {
        if (asked < size && in_flight < QN__CUDA_STAGES) {
            stage *block = &queue->stages[(oldest + in_flight) % QN__CUDA_STAGES];
            size_t piece = least(size - asked, QN__CUDA_STAGE_SIZE);
            qn__cu_result result = prepare(queue, block);
            if (!result) result = cu->copy_to_host(block->memory, from + asked, piece, queue->stream);
            if (!result) result = close_block(queue, block);
            if (result) return result;
            asked += piece;
            in_flight++;
            continue;
        }
        size_t piece = least(size - got, QN__CUDA_STAGE_SIZE);
        qn__cu_result result = prepare(queue, &queue->stages[oldest]);
        if (result) return result;
        memcpy(to + got, queue->stages[oldest].memory, piece);
        got += piece;
        oldest = (oldest + 1) % QN__CUDA_STAGES;
        in_flight--;
    }
    queue->stage = oldest;
    return QN__CU_SUCCESS;
}

/* Returns when the data is there: the stream's earlier work is waited for. */
qn_status qn__cuda_read(qn__queue *queue, void *to, qn__cu_address from, uint64_t size, char *why) {
    qn__cu_result result;
    if (size <= QN__CUDA_SMALL) {
        result = queue->gpu->cu->copy_to_host(to, from, (size_t)size, queue->stream);
    } else {
        /* the block that small writes were filling may still be read by the device */
        stage *current = &queue->stages[queue->stage];
        result = current->memory && queue->stage_used ? close_block(queue, current) : QN__CU_SUCCESS;
        queue->stage_used = 0;
        if (!result) result = read_in_blocks(queue, to, from, size);
        if (result == QN__CU_ERROR_OUT_OF_MEMORY)
            result = queue->gpu->cu->copy_to_host(to, from, (size_t)size, queue->stream);
    }
    return result ? qn__cuda_fail(queue->gpu, result, "a read", why) : QN_OK;
}

/* ---- between devices ---- */

/* `peer` may access the memory of `gpu`, from now on: what is in its pool, and what is not. Where it cannot, the driver
   goes through host memory by itself. */
static void open_to(qn__gpu *gpu, qn__gpu *peer) {
    const qn__cu *cu = gpu->cu;
    const unsigned word = (unsigned)peer->device / 64, bit = (unsigned)peer->device % 64;
    int can = 0;
    if (word >= QN__CUDA_PEER_WORDS) return;
    pthread_mutex_lock(&gpu->lock);
    const bool is_open = gpu->peers[word] >> bit & 1;
    gpu->peers[word] |= (uint64_t)1 << bit;
    pthread_mutex_unlock(&gpu->lock);
    if (is_open || cu->can_access_peer(&can, peer->device, gpu->device) || !can) return;
    const qn__cu_access access = {.location = {QN__CU_MEM_LOCATION_TYPE_DEVICE, peer->device},
                                  .flags = QN__CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    const bool entered = qn__cuda_enter(peer);
    cu->enable_peer(gpu->context, 0); /* fails where the application has done it already */
    qn__cuda_leave(peer, entered);
    if (gpu->pool) cu->pool_set_access(gpu->pool, &access, 1);
}

qn_status qn__cuda_copy_peer(const qn__cuda_target *target, const qn__command *command, char *why) {
    qn__gpu *from = command->from_gpu, *to = command->to_gpu;
    qn__gpu *other = target->gpu == from ? to : from;
    if (qn__is_lost(&other->loss)) return qn__lost(&other->loss, why);
    open_to(from, to);
    open_to(to, from);
    qn__cu_result result =
        target->gpu->cu->copy_peer((qn__cu_address)(uintptr_t)command->to + command->to_offset, to->context,
                                   (qn__cu_address)(uintptr_t)command->from + command->from_offset,
                                   from->context, (size_t)command->size, target->stream);
    return result ? qn__cuda_fail(target->gpu, result, "a copy between devices", why) : QN_OK;
}

void qn__cuda_stages_free(qn__queue *queue) {
    for (unsigned i = 0; i < QN__CUDA_STAGES; i++) {
        if (!queue->stages[i].memory) continue;
        qn__cuda_unpin(queue->gpu, queue->stages[i].memory);
        queue->gpu->cu->event_destroy(queue->stages[i].event);
    }
}

/* ---- fill ---- */

enum { SEED = 64 << 10 }; /* bytes filled by columns */

/* 8 and 16 bytes: words in columns, then copies of twice the length each. */
static qn__cu_result fill_wide(const qn__cuda_target *target, qn__cu_address to, uint64_t size,
                               const uint32_t *words, uint32_t pattern_size) {
    const qn__cu *cu = target->gpu->cu;
    uint64_t done = least(size, SEED);
    for (uint32_t i = 0; i < pattern_size / 4; i++) {
        qn__cu_result result = cu->set_columns_32(to + 4 * i, pattern_size, words[i], 1,
                                                  (size_t)(done / pattern_size), target->stream);
        if (result) return result;
    }
    while (done < size) {
        size_t piece = least(done, size - done);
        qn__cu_result result = cu->copy_on_device(to + done, to, piece, target->stream);
        if (result) return result;
        done += piece;
    }
    return QN__CU_SUCCESS;
}

qn_status qn__cuda_fill(const qn__cuda_target *target, const qn__command *command, char *why) {
    const qn__cu *cu = target->gpu->cu;
    qn__cu_address to = (qn__cu_address)(uintptr_t)command->to + command->to_offset;
    const unsigned char *pattern = command->pattern;
    uint32_t width = command->pattern_size;
    while (width > 1 && memcmp(pattern, pattern + width / 2, width / 2) == 0) width /= 2;
    uint32_t words[4] = {0};
    memcpy(words, pattern, width);
    size_t count = (size_t)(command->size / width);
    qn__cu_result result;
    switch (width) {
    case 1: result = cu->set_8(to, pattern[0], count, target->stream); break;
    case 2: result = cu->set_16(to, (unsigned short)words[0], count, target->stream); break;
    case 4: result = cu->set_32(to, words[0], count, target->stream); break;
    default: result = fill_wide(target, to, command->size, words, width); break;
    }
    return result ? qn__cuda_fail(target->gpu, result, "a fill", why) : QN_OK;
}
