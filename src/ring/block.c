/* Blocks: memory that messages refer to, too large to be copied with them. Who refers to a block is counted by both sides, each in
   words of its own: the host those that it holds and the messages that it has sent with it, the kernel the messages that it is done
   with and those that it has sent back with it. A block is free when nobody is left. */
#include <string.h>

#include "ring/internal.h"

enum { NUM_WORDS = 2 }; /* the kernel's, of each block: messages done, messages sent */

typedef struct block {
    uint32_t held, given,
        back; /* by the program; in messages to the kernel; in messages of the kernel that have come */
} block;

struct qn__ring_blocks {
    pthread_mutex_t lock;
    uint32_t next; /* to look at */
    block all[];
};

static _Atomic uint32_t *words_of(const qn_ring *ring, uint32_t which) {
    return (_Atomic uint32_t *)ring->block_bytes + (size_t)NUM_WORDS * which;
}

static void *bytes_of(const qn_ring *ring, uint32_t which) {
    unsigned char *memory = ring->block_bytes;
    return memory + QN__RING_BLOCKS_BEGIN(ring->desc.blocks) + (size_t)which * ring->desc.block_size;
}

qn_status qn__ring_blocks_create(qn_ring *ring) {
    const uint32_t count = ring->desc.blocks;
    if (!count) return QN_OK;
    const uint64_t size = QN__RING_BLOCKS_BEGIN(count) + (uint64_t)count * ring->desc.block_size;
    const size_t bytes = sizeof(struct qn__ring_blocks) + count * sizeof(block);
    const qn_status status =
        qn__ring_memory_create(ring, size, 1, "a ring's blocks", &ring->block_memory, &ring->block_bytes);
    if (status) return status;
    ring->blocks = ring->allocator.allocate(ring->allocator.user, bytes);
    if (!ring->blocks)
        return qn__ring_fail(ring, QN_ERROR_OUT_OF_MEMORY, "qn_ring_create: out of host memory");
    memset(ring->blocks, 0, bytes);
    pthread_mutex_init(&ring->blocks->lock, NULL);
    memset(ring->block_bytes, 0, QN__RING_BLOCKS_BEGIN(count));
    return QN_OK;
}

void qn__ring_blocks_destroy(qn_ring *ring) {
    if (ring->blocks) {
        pthread_mutex_destroy(&ring->blocks->lock);
        ring->allocator.release(ring->allocator.user, ring->blocks);
    }
    qn__ring_memory_destroy(ring, ring->block_memory, ring->block_bytes);
}

/* The kernel counts what it sends before it is done with what it has got. */
static bool is_free(const qn_ring *ring, uint32_t which) {
    const block *b = &ring->blocks->all[which];
    const _Atomic uint32_t *words = words_of(ring, which);
    return !b->held && b->given == atomic_load_explicit(&words[0], memory_order_acquire) &&
           b->back == atomic_load_explicit(&words[1], memory_order_acquire);
}

static block *lock_block(qn_ring *ring, uint32_t which) {
    pthread_mutex_lock(&ring->blocks->lock);
    return &ring->blocks->all[which];
}

static void unlock(qn_ring *ring) { pthread_mutex_unlock(&ring->blocks->lock); }

void qn__ring_block_came(qn_ring *ring, const qn_ring_message *message, bool is_kept) {
    const uint32_t number = message->flags / QN__RING_BLOCK;
    if (!number || !ring->blocks || number > ring->desc.blocks) return;
    block *b = lock_block(ring, number - 1);
    b->back++;
    b->held += is_kept;
    unlock(ring);
}

void qn__ring_block_died(qn_ring *ring, const qn_ring_message *message) {
    const uint32_t number = message->flags / QN__RING_BLOCK;
    if (!number || !ring->blocks || number > ring->desc.blocks) return;
    block *b = lock_block(ring, number - 1);
    b->given--;
    b->held++;
    unlock(ring);
}

/* ---- the calls ---- */

static qn_status check(qn_ring *ring, const char *function, uint32_t which) {
    const qn_status status = qn__ring_check(ring, function);
    if (status) return status;
    if (which >= ring->desc.blocks)
        return qn__ring_fail(ring, QN_ERROR_RANGE, "%s: block is %u; ring '%s' has %u", function,
                             (unsigned)which, ring->label, (unsigned)ring->desc.blocks);
    return QN_OK;
}

qn_status qn_ring_take_block(qn_ring *ring, uint32_t *which, void **bytes) {
    static const char function[] = "qn_ring_take_block";
    const qn_status status = check(ring, function, 0);
    if (status) return status;
    if (!which || !bytes)
        return qn__ring_fail(ring, QN_ERROR_NULL, "%s: %s is NULL", function, which ? "bytes" : "block");
    qn__ring_mirror_look(ring);
    pthread_mutex_lock(&ring->blocks->lock);
    uint32_t left = ring->desc.blocks, at = ring->blocks->next;
    while (left && !is_free(ring, at)) at = (at + 1) % ring->desc.blocks, left--;
    if (left) {
        ring->blocks->all[at].held = 1;
        ring->blocks->next = (at + 1) % ring->desc.blocks;
    }
    unlock(ring);
    if (!left)
        return qn__ring_fail(ring, QN_ERROR_OUT_OF_MEMORY, "%s: none of the %u blocks of ring '%s' is free",
                             function, (unsigned)ring->desc.blocks, ring->label);
    *which = at;
    *bytes = bytes_of(ring, at);
    return QN_OK;
}

/* Fails where the program does not hold it. */
static qn_status change(qn_ring *ring, const char *function, uint32_t which, int held, int given) {
    qn_status status = check(ring, function, which);
    if (status) return status;
    block *b = lock_block(ring, which);
    if (!b->held)
        status = qn__ring_fail(ring, QN_ERROR_STATE, "%s: the program does not hold block %u of ring '%s'",
                               function, (unsigned)which, ring->label);
    else
        b->held += (uint32_t)held, b->given += (uint32_t)given;
    unlock(ring);
    return status;
}

qn_status qn_ring_send_block(qn_ring *ring, qn_ring_message *message, const void *payload, size_t size,
                             uint32_t which, uint64_t timeout_ns) {
    static const char function[] = "qn_ring_send_block";
    qn_status status = qn__ring_check_send(ring, function, message, payload, size);
    if (!status) status = change(ring, function, which, 0, 1);
    if (status) return status;
    const qn_ring_message full = qn__ring_address(ring, message, size, (which + 1) * QN__RING_BLOCK, 1);
    if (message) *message = full;
    qn__ring_wait wait = qn__ring_wait_begin(timeout_ns);
    status = qn__ring_put(ring, function, &full, payload, &wait);
    if (status) change(ring, function, which, 0, -1);
    return status;
}

qn_status qn_ring_get_block(qn_ring *ring, const qn_ring_message *message, uint32_t *which, void **bytes) {
    static const char function[] = "qn_ring_get_block";
    qn_status status = qn__ring_check(ring, function);
    if (status) return status;
    if (!message || !which || !bytes)
        return qn__ring_fail(ring, QN_ERROR_NULL, "%s: %s is NULL", function,
                             !message ? "message"
                             : !which ? "block"
                                      : "bytes");
    const uint32_t number = message->flags / QN__RING_BLOCK;
    if (!number)
        return qn__ring_fail(ring, QN_ERROR_STATE, "%s: message %llu has no block", function,
                             (unsigned long long)message->id);
    status = check(ring, function, number - 1);
    if (status) return status;
    *which = number - 1;
    *bytes = bytes_of(ring, number - 1);
    return QN_OK;
}

qn_status qn_ring_free_block(qn_ring *ring, uint32_t which) {
    return change(ring, "qn_ring_free_block", which, -1, 0);
}
