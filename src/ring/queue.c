/* Queues as the host sees them: D. Vyukov's bounded queue, in which each slot says by a sequence number whose it is. The host
   and the kernels share these numbers, by loads and stores alone; read-modify-write happens on an end's positions, which one side
   has for itself. */
#include <string.h>

#include "ring/internal.h"

static qn__ring_slot *slot_at(const qn__ring_queue *queue, uint32_t band, uint32_t at) {
    const size_t index = (size_t)band * queue->capacity + (at & (queue->capacity - 1));
    return (qn__ring_slot *)(void *)(queue->slots + index * queue->stride);
}

qn__ring_slot *qn__ring_queue_slot(const qn__ring_queue *queue, uint32_t band, uint32_t at) {
    return slot_at(queue, band, at);
}

/* ---- slots in pieces ---- */

static _Atomic uint32_t *piece_at(const qn__ring_slot *slot, uint32_t index) {
    return (_Atomic uint32_t *)(void *)slot + (size_t)index * QN__PIECE_WORDS;
}

/* The number last, which shows the rest. */
static void write_piece(qn__ring_slot *slot, uint32_t index, uint32_t number, const void *bytes,
                        size_t size) {
    _Atomic uint32_t *piece = piece_at(slot, index);
    memcpy((uint32_t *)piece + 1, bytes, size);
    atomic_store_explicit(piece, number, memory_order_release);
}

/* false: it is another message's. */
static bool read_piece(const qn__ring_slot *slot, uint32_t index, uint32_t number, void *bytes, size_t size) {
    const _Atomic uint32_t *piece = piece_at(slot, index);
    if (atomic_load_explicit(piece, memory_order_acquire) != number) return false;
    memcpy(bytes, (const uint32_t *)piece + 1, size);
    return true;
}

/* The words of a message, and the free one. */
typedef union message_words {
    qn_ring_message message;
    uint32_t words[QN__PIECES_OF_MESSAGE * (QN__PIECE_WORDS - 1)];
} message_words;

/* From the last piece to the first, which is the one that the other side waits for. */
static void scatter(const qn__ring_queue *queue, qn__ring_slot *slot, uint32_t at,
                    const qn_ring_message *message, const unsigned char *payload) {
    const message_words head = {*message};
    const uint32_t number = at + 1, last = message->size % QN__PIECE_BYTES;
    uint32_t i = QN__PIECES(message->size);
    if (QN__PIECES_ARE_ALL_DUE(at, queue->capacity))
        for (uint32_t more = i; more < queue->pieces; more++)
            atomic_store_explicit(piece_at(slot, more), number, memory_order_relaxed);
    const unsigned char *end = message->size ? payload + message->size : payload;
    if (last) write_piece(slot, --i, number, end -= last, last);
    while (i > QN__PIECES_OF_MESSAGE) write_piece(slot, --i, number, end -= QN__PIECE_BYTES, QN__PIECE_BYTES);
    while (i--) write_piece(slot, i, number, head.words + i * (QN__PIECE_WORDS - 1), QN__PIECE_BYTES);
}

/* false: not all of it is there yet. Its size is a kernel's word, which may have been written over. */
static bool gather(const qn__ring_queue *queue, const qn__ring_slot *slot, uint32_t at) {
    qn__ring_slot *to = queue->gathered;
    message_words head;
    uint32_t i = 0;
    for (; i < QN__PIECES_OF_MESSAGE; i++)
        if (!read_piece(slot, i, at + 1, head.words + i * (QN__PIECE_WORDS - 1), QN__PIECE_BYTES))
            return false;
    if (head.message.size > queue->slot_size - QN__RING_SLOT_HEAD) return false;
    to->message = head.message;
    unsigned char *payload = (unsigned char *)(to + 1);
    uint32_t left = to->message.size;
    for (; left >= QN__PIECE_BYTES; left -= QN__PIECE_BYTES, payload += QN__PIECE_BYTES)
        if (!read_piece(slot, i++, at + 1, payload, QN__PIECE_BYTES)) return false;
    return !left || read_piece(slot, i, at + 1, payload, left);
}

/* The message of a slot whose first number says that it is there; NULL: not all of it is. */
static const qn__ring_slot *message_in(const qn__ring_queue *queue, const qn__ring_slot *slot, uint32_t at) {
    if (!queue->pieces) return slot;
    return gather(queue, slot, at) ? queue->gathered : NULL;
}

static void fill(const qn__ring_queue *queue, qn__ring_slot *slot, uint32_t at,
                 const qn_ring_message *message, const void *payload) {
    if (queue->pieces) {
        scatter(queue, slot, at, message, payload);
        return;
    }
    slot->message = *message;
    if (message->size) memcpy(slot + 1, payload, message->size);
    atomic_store_explicit(&slot->sequence, at + 1, memory_order_release);
}

/* ---- queues ---- */

/* No piece has a number that its slot's next messages will have. */
static void number_pieces(const qn__ring_queue *queue, qn__ring_slot *slot, uint32_t number) {
    for (uint32_t i = 1; i < queue->pieces; i++)
        atomic_store_explicit(piece_at(slot, i), number, memory_order_relaxed);
}

static void number_slots(qn__ring_queue *queue) {
    memset(&queue->mirrored, 0, sizeof queue->mirrored);
    queue->mirrored.is_new = true;
    for (uint32_t band = 0; band < queue->bands; band++) {
        atomic_store(&queue->at[band], 0);
        atomic_store(&queue->room[band], 0);
        for (uint32_t i = 0; i < queue->capacity; i++) {
            qn__ring_slot *slot = slot_at(queue, band, i);
            atomic_store_explicit(&slot->sequence, i, memory_order_relaxed);
            atomic_store_explicit(&slot->claim, 0, memory_order_relaxed);
            number_pieces(queue, slot, i);
        }
    }
    atomic_thread_fence(memory_order_seq_cst);
}

qn_status qn__ring_queue_create(qn_ring *ring, qn__ring_queue *queue, const char *label) {
    const uint64_t size = (uint64_t)queue->bands * queue->capacity * queue->stride;
    const qn_buffer_desc ends = {.size = QN__RING_END_LINES * QN__RING_LINE * sizeof(uint32_t),
                                 .label = label};
    void *host = NULL;
    qn_status status = qn__ring_memory_create(ring, size, 1, label, &queue->memory, &host);
    queue->slots = host;
    if (!status) status = qn_buffer_create(ring->device, &ends, &queue->ends);
    if (status) return status;
    if (queue->pieces) queue->gathered = ring->allocator.allocate(ring->allocator.user, queue->slot_size);
    if (queue->pieces && !queue->gathered)
        return qn__ring_fail(ring, QN_ERROR_OUT_OF_MEMORY, "qn_ring_create: out of host memory");
    number_slots(queue);
    return QN_OK;
}

void qn__ring_queue_destroy(qn_ring *ring, qn__ring_queue *queue) {
    qn__ring_memory_destroy(ring, queue->memory, queue->slots);
    qn_buffer_destroy(queue->ends);
    if (queue->gathered) ring->allocator.release(ring->allocator.user, queue->gathered);
}

qn_status qn__ring_queue_reset(qn__ring_queue *queue, qn_stream *stream) {
    const uint32_t zero = 0;
    number_slots(queue);
    return qn_stream_fill(stream, queue->ends, 0, qn_buffer_size(queue->ends), &zero, sizeof zero);
}

/* The message before the peak's first is still there: one more than ever. */
static void note_peak(qn__ring_queue *queue, uint32_t band, uint32_t at) {
    uint32_t peak = atomic_load_explicit(&queue->peak[band], memory_order_relaxed);
    while (peak < queue->capacity) {
        const uint32_t oldest = at - peak;
        if (atomic_load_explicit(&slot_at(queue, band, oldest)->sequence, memory_order_relaxed) != oldest + 1)
            return;
        if (atomic_compare_exchange_weak_explicit(&queue->peak[band], &peak, peak + 1, memory_order_relaxed,
                                                  memory_order_relaxed))
            peak++;
    }
}

/* Whether the slot at a position is free (0), full, or another's already, as its sequence number's distance says. A look fetches
   the slot's line from the kernel's side; so one look at a slot further on stands for all before it. */
static int32_t look_ahead(qn__ring_queue *queue, uint32_t band, uint32_t at) {
    const uint32_t further = at + queue->capacity / 4;
    _Atomic uint32_t *room = &queue->room[band];
    if (queue->in_order) {
        if ((int32_t)(atomic_load_explicit(room, memory_order_acquire) - at) > 0) return 0;
        if (atomic_load_explicit(&slot_at(queue, band, further)->sequence, memory_order_acquire) == further) {
            atomic_store_explicit(room, further + 1, memory_order_release);
            return 0;
        }
    }
    const uint32_t sequence = atomic_load_explicit(&slot_at(queue, band, at)->sequence, memory_order_acquire);
    /* What is known keeps up, so that it is never half of all positions behind. */
    if (sequence == at) atomic_store_explicit(room, at + 1, memory_order_release);
    return (int32_t)(sequence - at);
}

bool qn__ring_queue_put(qn__ring_queue *queue, uint32_t band, const qn_ring_message *message,
                        const void *payload) {
    uint32_t at = atomic_load_explicit(&queue->at[band], memory_order_relaxed);
    for (;;) {
        qn__ring_slot *slot = slot_at(queue, band, at);
        const int32_t ahead = look_ahead(queue, band, at);
        if (ahead < 0) return false;
        if (ahead > 0) {
            at = atomic_load_explicit(&queue->at[band], memory_order_relaxed);
            continue;
        }
        if (!atomic_compare_exchange_weak_explicit(&queue->at[band], &at, at + 1, memory_order_relaxed,
                                                   memory_order_relaxed))
            continue;
        fill(queue, slot, at, message, payload);
        note_peak(queue, band, at);
        return true;
    }
}

static bool is_free(const qn__ring_queue *queue, uint32_t band, uint32_t at) {
    return atomic_load_explicit(&slot_at(queue, band, at)->sequence, memory_order_acquire) == at;
}

/* How many slots from position `at` on are free, up to `count`: where they become so in order, as many as one half of them, a
   quarter, ... is. Else one before the last may still be copied from, or stay full, as its message has failed: each is looked at. */
static uint32_t free_run(const qn__ring_queue *queue, uint32_t band, uint32_t at, uint32_t count) {
    const uint32_t most = count < queue->capacity ? count : queue->capacity;
    uint32_t run = 0;
    if (queue->in_order)
        for (run = most; run && !is_free(queue, band, at + run - 1);) run /= 2;
    else
        while (run < most && is_free(queue, band, at + run)) run++;
    return run;
}

uint32_t qn__ring_queue_put_run(qn__ring_queue *queue, uint32_t band, const qn_ring_message *first,
                                const unsigned char *payloads, size_t stride, uint32_t count) {
    uint32_t at = atomic_load_explicit(&queue->at[band], memory_order_relaxed), run;
    do {
        run = free_run(queue, band, at, count);
    } while (run && !atomic_compare_exchange_weak_explicit(&queue->at[band], &at, at + run,
                                                           memory_order_relaxed, memory_order_relaxed));
    qn_ring_message message = *first;
    for (uint32_t i = 0; i < run; i++, message.id++, message.clock++)
        fill(queue, slot_at(queue, band, at + i), at + i, &message, payloads + i * stride);
    if (run) note_peak(queue, band, at + run - 1);
    return run;
}

/* Where a bus is between both sides the other one has looked at the slot since it was written, or some other memory has its place in the
   cache: to store many pieces takes twice as long then. */
void qn__ring_queue_warm(const qn__ring_queue *queue, uint32_t band, uint32_t size) {
#ifdef __GNUC__
    const uint32_t at = atomic_load_explicit(&queue->at[band], memory_order_relaxed);
    const unsigned char *slot = (const unsigned char *)slot_at(queue, band, at);
    const size_t bytes = queue->pieces ? sizeof(uint32_t) * QN__PIECE_WORDS * QN__PIECES(size) : 0;
    for (size_t i = 0; i < bytes; i += sizeof(uint32_t) * QN__RING_LINE) __builtin_prefetch(slot + i, 1);
#else
    (void)queue, (void)band, (void)size;
#endif
}

/* The host says first that it revokes and looks at the claim then; the kernel claims first and looks at what is revoked then. Where
   both see the other, the kernel passes the message over and says so. Where it has taken it, it frees the slot soon. */
bool qn__ring_queue_revoke(qn__ring_queue *queue, uint32_t band, _Atomic uint32_t *revoked, uint64_t *call) {
    const uint32_t next = atomic_load_explicit(&queue->at[band], memory_order_relaxed);
    const uint32_t oldest = next - queue->capacity;
    qn__ring_slot *slot = slot_at(queue, band, oldest);
    if (atomic_load_explicit(&slot->sequence, memory_order_acquire) != oldest + 1) return false;
    atomic_store_explicit(revoked, oldest + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    for (bool claimed = true; claimed;) {
        claimed = atomic_load_explicit(&slot->claim, memory_order_acquire) == 2 * oldest + 1;
        if (atomic_load_explicit(&slot->sequence, memory_order_acquire) != oldest + 1) return false;
    }
    *call = slot->message.flags & QN__RING_CALL ? slot->message.id : 0;
    atomic_store_explicit(&slot->sequence, next, memory_order_release);
    return true;
}

const qn__ring_slot *qn__ring_queue_first(const qn__ring_queue *queue) {
    const uint32_t at = atomic_load_explicit(&queue->at[0], memory_order_relaxed);
    const qn__ring_slot *slot = slot_at(queue, 0, at);
    if (atomic_load_explicit(&slot->sequence, memory_order_acquire) != at + 1) return NULL;
    return message_in(queue, slot, at);
}

bool qn__ring_queue_is_empty(const qn__ring_queue *queue) {
    const uint32_t at = atomic_load_explicit(&queue->at[0], memory_order_relaxed);
    return atomic_load_explicit(&slot_at(queue, 0, at)->sequence, memory_order_acquire) != at + 1;
}

void qn__ring_queue_drop_first(qn__ring_queue *queue) {
    const uint32_t at = atomic_load_explicit(&queue->at[0], memory_order_relaxed);
    atomic_store_explicit(&queue->at[0], at + 1, memory_order_relaxed);
    atomic_store_explicit(&slot_at(queue, 0, at)->sequence, at + queue->capacity, memory_order_release);
}

/* The last message that was put in has not been taken. (One of a producer that is still filling its slot counts, too.) */
bool qn__ring_queue_is_pending(const qn__ring_queue *queue) {
    for (uint32_t band = 0; band < queue->bands; band++) {
        const uint32_t at = atomic_load_explicit(&queue->at[band], memory_order_relaxed);
        const qn__ring_slot *slot = slot_at(queue, band, at - 1);
        if (atomic_load_explicit(&slot->sequence, memory_order_acquire) == at) return true;
    }
    return false;
}

bool qn__ring_queue_has_room(const qn__ring_queue *queue, uint32_t count) {
    const uint32_t at = atomic_load_explicit(&queue->at[0], memory_order_relaxed);
    const uint32_t last = at + queue->capacity - count;
    const qn__ring_slot *slot = slot_at(queue, 0, last);
    return atomic_load_explicit(&slot->sequence, memory_order_acquire) != last + 1;
}

/* Slots become free in order, but where several work-groups give them back: by halves. */
uint32_t qn__ring_queue_credits(const qn__ring_queue *queue, uint32_t band) {
    const uint32_t at = atomic_load_explicit(&queue->at[band], memory_order_relaxed);
    uint32_t free = 0, full = queue->capacity + 1;
    while (full - free > 1) {
        const uint32_t middle = free + (full - free) / 2, last = at + middle - 1;
        const qn__ring_slot *slot = slot_at(queue, band, last);
        if (atomic_load_explicit(&slot->sequence, memory_order_acquire) == last)
            free = middle;
        else
            full = middle;
    }
    return free;
}

const qn__ring_slot *qn__ring_queue_orphan(const qn__ring_queue *queue, uint32_t band, uint32_t head,
                                           uint32_t *back) {
    for (; *back; --*back) {
        const uint32_t at = head - *back;
        const qn__ring_slot *slot = slot_at(queue, band, at);
        if (atomic_load_explicit(&slot->sequence, memory_order_acquire) == at + 1)
            return message_in(queue, slot, at);
    }
    return NULL;
}

void qn__ring_queue_free(qn__ring_queue *queue, uint32_t band, uint32_t head, uint32_t back) {
    const uint32_t at = head - back;
    atomic_store_explicit(&slot_at(queue, band, at)->sequence, at + queue->capacity, memory_order_release);
}
