/* Rings on devices without memory that the host and running kernels see alike. The host has a copy of the queues, which its side uses
   as it uses the queues of other devices, and each launch stands between two transfers: what the host has done goes to the device
   before it, and what the kernel has done comes back behind it. That works since each word is written by one side, and a slot is one
   side's at a time.

   What comes back is little: the reports say how many messages of each band were taken, which lie one after the other, and how
   many were sent, which do too. So of the input nothing is read, and of the output as many slots as the messages may be answered
   by; where more were sent, or a message was not done, the rest is fetched in a second step. */
#include <string.h>

#include "ring/internal.h"

enum phase {
    HERE,       /* no launch is under way: the host's copy is what there is */
    AWAY,       /* one is, and its reports are to come back behind it */
    SECOND_STEP /* it has ended, and more of what it has left comes */
};

struct qn__ring_mirror {
    _Atomic int phase;
    uint64_t since_ns, id; /* of the launch; id: of the host's first message that it may take; 0: of none */
    uint32_t messages;     /* that a work-group of it takes at most; of other rings as many as a launch may */
    uint32_t replies;      /* slots of the output that come back with its reports */
    bool wants_all;        /* the second step: of all that may have changed */
    bool missing;          /* the launch has ended, and its reports have not come */
    bool called_off;       /* what was copied for a launch that was refused may still be on its way */
    uint32_t revoked[QN__RING_BANDS_MOST]; /* as the kernel knows it */
    uint32_t heads[QN__RING_BANDS_MOST * QN__RING_LINE];
};

/* Programs that test the mirror have it on each device. */
bool qn__ring_needs_mirror(const qn_device_info *info) {
#if defined(QN__RING_MIRRORED)
    (void)info;
    return true;
#else
    return !(info->capabilities & QN_CAN_SHARE_COHERENTLY);
#endif
}

/* ---- memory ---- */

qn_status qn__ring_memory_create(qn_ring *ring, uint64_t size, uint32_t copies, const char *label,
                                 qn_buffer **buffer, void **host) {
    const qn_buffer_desc desc = {
        .size = size, .memory = ring->mirror ? QN_MEMORY_DEVICE : QN_MEMORY_SHARED, .label = label};
    const qn_status status = qn_buffer_create(ring->device, &desc, buffer);
    if (status) return status;
    if (ring->mirror) return qn_host_alloc(ring->device, size * (1 + copies), host);
    *host = qn_buffer_host(*buffer);
    return QN_OK;
}

void qn__ring_memory_destroy(qn_ring *ring, qn_buffer *buffer, void *host) {
    qn_buffer_destroy(buffer);
    if (ring->mirror) qn_host_free(ring->device, host);
}

qn_status qn__ring_mirror_create(qn_ring *ring) {
    if (!qn__ring_needs_mirror(&ring->device_info)) return QN_OK;
    ring->mirror = ring->allocator.allocate(ring->allocator.user, sizeof *ring->mirror);
    if (!ring->mirror)
        return qn__ring_fail(ring, QN_ERROR_OUT_OF_MEMORY, "qn_ring_create: out of host memory");
    memset(ring->mirror, 0, sizeof *ring->mirror);
    return QN_OK;
}

void qn__ring_mirror_destroy(qn_ring *ring) {
    if (ring->mirror) ring->allocator.release(ring->allocator.user, ring->mirror);
}

/* ---- slots ---- */

static uint64_t size_of(const qn__ring_queue *queue) {
    return (uint64_t)queue->bands * queue->capacity * queue->slot_size;
}

/* The copy for transfers. */
static qn__ring_slot *copy_at(const qn__ring_queue *queue, uint32_t band, uint32_t at) {
    unsigned char *slot = (unsigned char *)qn__ring_queue_slot(queue, band, at);
    return (qn__ring_slot *)(void *)(slot + size_of(queue));
}

static uint32_t sequence_of(const qn__ring_slot *slot) {
    return atomic_load_explicit(&slot->sequence, memory_order_acquire);
}

static void set_sequence(qn__ring_slot *slot, uint32_t sequence) {
    atomic_store_explicit(&slot->sequence, sequence, memory_order_release);
}

static void copy_message(qn__ring_slot *to, const qn__ring_slot *from) {
    to->message = from->message;
    if (from->message.size) memcpy(to + 1, from + 1, from->message.size);
}

static uint64_t offset_of(const qn__ring_queue *queue, const void *copy) {
    return (uint64_t)((const unsigned char *)copy - queue->slots) - size_of(queue);
}

enum way { TO_DEVICE, FROM_DEVICE };

/* Copies of slots from a position on; around the queue's end in two pieces. */
static qn_status transfer(qn_ring *ring, const qn__ring_queue *queue, uint32_t band, uint32_t at,
                          uint32_t count, enum way way) {
    qn_status status = QN_OK;
    if (count > queue->capacity) count = queue->capacity;
    for (uint32_t run; count && !status; at += run, count -= run) {
        const uint32_t left = queue->capacity - (at & (queue->capacity - 1));
        run = count < left ? count : left;
        void *copy = copy_at(queue, band, at);
        const uint64_t offset = offset_of(queue, copy);
        const uint64_t size = (uint64_t)run * queue->slot_size;
        status = way == TO_DEVICE ? qn_stream_write(ring->stream, queue->memory, offset, copy, size)
                                  : qn_stream_read(ring->stream, queue->memory, offset, copy, size);
    }
    return status;
}

/* As after qn__ring_queue_reset. */
static void number_copies(const qn__ring_queue *queue) {
    for (uint32_t band = 0; band < queue->bands; band++)
        for (uint32_t i = 0; i < queue->capacity; i++) set_sequence(copy_at(queue, band, i), i);
}

/* The copies of a band's slots between two positions have changed; of a new queue all of them. */
static qn_status send_slots(qn_ring *ring, const qn__ring_queue *queue, uint32_t band, uint32_t begin,
                            uint32_t end) {
    if (queue->mirrored.is_new) return transfer(ring, queue, band, 0, queue->capacity, TO_DEVICE);
    return transfer(ring, queue, band, begin, end - begin, TO_DEVICE);
}

/* ---- blocks ---- */

static uint64_t block_offset(const qn_ring *ring, uint32_t number) {
    return QN__RING_BLOCKS_BEGIN(ring->desc.blocks) + (uint64_t)(number - 1) * ring->desc.block_size;
}

static unsigned char *block_copy(const qn_ring *ring) {
    return (unsigned char *)ring->block_bytes + block_offset(ring, ring->desc.blocks + 1);
}

/* 1 + the message's block; 0: it has none. */
static uint32_t block_of(const qn_ring *ring, const qn__ring_slot *slot) {
    return ring->blocks ? slot->message.flags / QN__RING_BLOCK : 0;
}

static qn_status send_block(qn_ring *ring, uint32_t number) {
    if (!number) return QN_OK;
    const uint64_t offset = block_offset(ring, number);
    return qn_stream_write(ring->stream, ring->block_memory, offset,
                           (unsigned char *)ring->block_bytes + offset, ring->desc.block_size);
}

static qn_status fetch_block(qn_ring *ring, uint32_t number) {
    const uint64_t offset = block_offset(ring, number);
    return qn_stream_read(ring->stream, ring->block_memory, offset, block_copy(ring) + offset,
                          ring->desc.block_size);
}

/* A program may read a block that it has sent: what is the same is not written. */
static void show_block(const qn_ring *ring, uint32_t number) {
    const uint64_t offset = block_offset(ring, number);
    unsigned char *to = (unsigned char *)ring->block_bytes + offset;
    const unsigned char *from = block_copy(ring) + offset;
    if (memcmp(to, from, ring->desc.block_size)) memcpy(to, from, ring->desc.block_size);
}

static qn_status transfer_block_words(qn_ring *ring, enum way way) {
    if (!ring->blocks) return QN_OK;
    const uint64_t size = QN__RING_BLOCKS_BEGIN(ring->desc.blocks);
    return way == TO_DEVICE ? qn_stream_write(ring->stream, ring->block_memory, 0, ring->block_bytes, size)
                            : qn_stream_read(ring->stream, ring->block_memory, 0, block_copy(ring), size);
}

/* Of each block the messages that are done come last, as they are what is looked at first. */
static void show_block_words(const qn_ring *ring) {
    const uint32_t *from = (const uint32_t *)(const void *)block_copy(ring);
    _Atomic uint32_t *to = ring->block_bytes;
    for (uint32_t i = 2 * ring->desc.blocks; i--;)
        atomic_store_explicit(&to[i], from[i], memory_order_release);
}

/* ---- before a launch ---- */

/* A message that was put in; false: it is still being. One that was revoked meanwhile is passed over. */
static bool copy_in(const qn__ring_queue *in, uint32_t band, uint32_t at) {
    const qn__ring_slot *slot = qn__ring_queue_slot(in, band, at);
    qn__ring_slot *copy = copy_at(in, band, at);
    const uint32_t sequence = sequence_of(slot);
    if (sequence == at) return false;
    if (sequence == at + 1) copy_message(copy, slot);
    set_sequence(copy, sequence == at + 1 ? sequence : at + in->capacity);
    return true;
}

/* Behind one that is still being put in nothing is taken; where the oldest are revoked, the kernel may have been given older messages in
   these slots, which it passes over then. The end of what changes. */
static uint32_t hide_rest(const qn_ring *ring, uint32_t band, uint32_t at, uint32_t end) {
    if (ring->desc.policy != QN_RING_DROP_OLDEST) return at;
    for (; at != end; at++) set_sequence(copy_at(&ring->in, band, at), at);
    return end;
}

static qn_status send_band(qn_ring *ring, uint32_t band) {
    qn__ring_queue *in = &ring->in;
    const uint32_t end = atomic_load_explicit(&in->at[band], memory_order_acquire);
    uint32_t begin = in->mirrored.sent[band], at;
    /* Those that are further back were revoked, and others are in their slots. */
    if (end - begin > in->capacity) begin = end - in->capacity;
    qn_status status = QN_OK;
    for (at = begin; at != end && !status && copy_in(in, band, at); at++)
        if (sequence_of(copy_at(in, band, at)) == at + 1)
            status = send_block(ring, block_of(ring, copy_at(in, band, at)));
    if (!status) status = send_slots(ring, in, band, begin, hide_rest(ring, band, at, end));
    if (!status) in->mirrored.sent[band] = at;
    return status;
}

/* Slots that are free have nothing but a number to tell; of small ones all is copied at once. */
static qn_status send_free(qn_ring *ring, uint32_t begin, uint32_t end) {
    enum { LARGE = 1024 };
    const qn__ring_queue *out = &ring->out;
    if (out->mirrored.is_new || out->slot_size < LARGE) return send_slots(ring, out, 0, begin, end);
    qn_status status = QN_OK;
    for (; begin != end && !status; begin++) {
        const qn__ring_slot *copy = copy_at(out, 0, begin);
        status =
            qn_stream_write(ring->stream, out->memory, offset_of(out, copy), copy, sizeof copy->sequence);
    }
    return status;
}

/* Slots that the host has given back. */
static qn_status send_room(qn_ring *ring) {
    qn__ring_queue *out = &ring->out;
    const uint32_t begin = out->mirrored.sent[0];
    const uint32_t end = atomic_load_explicit(&out->at[0], memory_order_acquire);
    uint32_t at = begin;
    if (out->mirrored.is_new) number_copies(out);
    for (; at != end && sequence_of(qn__ring_queue_slot(out, 0, at)) == at + out->capacity; at++)
        set_sequence(copy_at(out, 0, at), at + out->capacity);
    const qn_status status = send_free(ring, begin, at);
    if (status) return status;
    out->mirrored.sent[0] = at;
    out->mirrored.is_new = false;
    return QN_OK;
}

static uint64_t control_size(const qn_ring *ring) {
    return sizeof(qn__ring_control) + (uint64_t)ring->desc.groups * sizeof(qn__ring_group);
}

static qn__ring_control *control_copy(const qn_ring *ring, uint32_t which) {
    return (qn__ring_control *)(void *)((unsigned char *)ring->control + which * control_size(ring));
}

enum { TO, BACK }; /* copies of the control: 1 + this */

static void copy_words(void *to, const void *from, uint64_t size) {
    _Atomic uint32_t *words = to;
    for (uint64_t i = 0; i < size / sizeof *words; i++)
        atomic_store_explicit(&words[i],
                              atomic_load_explicit((const _Atomic uint32_t *)from + i, memory_order_relaxed),
                              memory_order_relaxed);
}

static qn_status send_control(qn_ring *ring) {
    qn__ring_control *to = control_copy(ring, 1 + TO);
    copy_words(to, ring->control, control_size(ring));
    atomic_store_explicit(&to->command, atomic_load(&ring->control->command), memory_order_relaxed);
    for (uint32_t band = 0; band < QN__RING_BANDS_MOST; band++)
        ring->mirror->revoked[band] = atomic_load_explicit(&to->revoked[band], memory_order_relaxed);
    return qn_stream_write(ring->stream, ring->control_buffer, 0, to, control_size(ring));
}

/* What is revoked must not be refilled while it is copied. */
static void lock_revoked(qn_ring *ring) {
    if (ring->desc.policy == QN_RING_DROP_OLDEST) pthread_mutex_lock(&ring->drop_lock);
}

static void unlock_revoked(qn_ring *ring) {
    if (ring->desc.policy == QN_RING_DROP_OLDEST) pthread_mutex_unlock(&ring->drop_lock);
}

/* How many messages a work-group may take in the launch, and the first of them. */
static void note_messages(qn_ring *ring) {
    const qn__ring_queue *in = &ring->in;
    struct qn__ring_mirror *m = ring->mirror;
    m->messages = 0;
    m->id = 0;
    for (uint32_t band = in->bands; band--;) {
        const uint32_t at = in->mirrored.seen[band], count = in->mirrored.sent[band] - at;
        if (count && !m->id) m->id = copy_at(in, band, at)->message.id;
        m->messages += count;
    }
    if (m->messages > ring->desc.budget || ring->desc.mail_capacity) m->messages = ring->desc.budget;
    if (atomic_load(&control_copy(ring, 1 + TO)->command) <= QN__RING_PAUSE) m->messages = 0;
}

/* It says first that there is a launch, and reads the command then: who pauses the ring stores the command, and looks then whether there is one. */
qn_status qn__ring_mirror_send(qn_ring *ring) {
    qn__ring_queue *in = &ring->in;
    struct qn__ring_mirror *m = ring->mirror;
    atomic_store(&m->phase, AWAY);
    qn_status status = m->called_off ? qn_stream_wait(ring->stream, QN_FOREVER) : QN_OK;
    if (status) return status;
    m->called_off = false;
    lock_revoked(ring);
    status = in->mirrored.is_new ? transfer_block_words(ring, TO_DEVICE) : QN_OK;
    if (in->mirrored.is_new) number_copies(in);
    for (uint32_t band = 0; band < in->bands && !status; band++) status = send_band(ring, band);
    if (!status) in->mirrored.is_new = false;
    if (!status) status = send_control(ring);
    unlock_revoked(ring);
    if (!status) status = send_room(ring);
    note_messages(ring);
    m->since_ns = qn__ring_now();
    return status;
}

/* ---- behind a launch ---- */

/* The last thing that comes back says so by the launch's number. */
static qn_status fetch_control(qn_ring *ring) {
    qn__ring_control *back = control_copy(ring, 1 + BACK);
    atomic_store_explicit(&back->epoch, atomic_load(&ring->epoch) - 1, memory_order_relaxed);
    return qn_stream_read(ring->stream, ring->control_buffer, 0, back, control_size(ring));
}

static bool has_come(const qn_ring *ring) {
    const qn__ring_control *back = control_copy(ring, 1 + BACK);
    return atomic_load_explicit(&back->epoch, memory_order_relaxed) == atomic_load(&ring->epoch);
}

/* Free slots of the output, as the kernel has found them. */
static uint32_t count_room(const qn_ring *ring) {
    const qn__ring_queue *out = &ring->out;
    return out->mirrored.sent[0] + out->capacity - out->mirrored.seen[0];
}

qn_status qn__ring_mirror_fetch(qn_ring *ring) {
    struct qn__ring_mirror *m = ring->mirror;
    const uint64_t answers = (uint64_t)m->messages * ring->desc.groups * ring->desc.sends;
    const uint32_t room = count_room(ring);
    m->replies = answers < room ? (uint32_t)answers : room;
    m->wants_all = m->missing = false;
    qn_status status = transfer(ring, &ring->out, 0, ring->out.mirrored.seen[0], m->replies, FROM_DEVICE);
    if (!status) status = transfer_block_words(ring, FROM_DEVICE);
    return status ? status : fetch_control(ring);
}

void qn__ring_mirror_call_off(qn_ring *ring) {
    ring->mirror->called_off = true;
    atomic_store(&ring->mirror->phase, HERE);
}

bool qn__ring_mirror_is_away(const qn_ring *ring) {
    return ring->mirror && atomic_load(&ring->mirror->phase) != HERE;
}

/* What has come since the launch before. */
typedef struct news {
    uint32_t sent;
    uint32_t taken[QN__RING_BANDS_MOST]; /* positions */
    bool is_complete;                    /* all that was taken is done */
} news;

static news read_reports(const qn_ring *ring) {
    const qn__ring_group *before = qn__ring_groups(ring);
    const qn__ring_group *now = (const qn__ring_group *)(control_copy(ring, 1 + BACK) + 1);
    news n = {.is_complete = true};
    for (uint32_t i = 0; i < ring->desc.groups; i++) {
        n.sent += now[i].sent - before[i].sent;
        if (now[i].taken != now[i].done || now[i].failed) n.is_complete = false;
        for (uint32_t band = 0; band < ring->desc.bands; band++)
            n.taken[band] += now[i].bands[band] - before[i].bands[band];
    }
    return n;
}

/* Calls for each block of the messages that were taken, or may have been. */
static qn_status each_block(qn_ring *ring, const news *n, bool fetches, uint32_t *count) {
    const qn__ring_queue *in = &ring->in;
    qn_status status = QN_OK;
    for (uint32_t band = 0; band < in->bands && ring->blocks; band++) {
        const uint32_t begin = in->mirrored.seen[band];
        const uint32_t end = ring->mirror->wants_all ? in->mirrored.sent[band] : begin + n->taken[band];
        for (uint32_t at = begin; at != end && !status; at++) {
            const uint32_t number = block_of(ring, qn__ring_queue_slot(in, band, at));
            if (!number) continue;
            ++*count;
            if (fetches)
                status = fetch_block(ring, number);
            else
                show_block(ring, number);
        }
    }
    return status;
}

static qn_status fetch_all(qn_ring *ring) {
    const qn__ring_queue *in = &ring->in;
    struct qn__ring_mirror *m = ring->mirror;
    m->wants_all = true;
    qn_status status =
        transfer(ring, &ring->out, 0, ring->out.mirrored.seen[0], count_room(ring), FROM_DEVICE);
    for (uint32_t band = 0; band < in->bands && !status; band++) {
        const uint32_t begin = in->mirrored.seen[band];
        status = transfer(ring, in, band, begin, in->mirrored.sent[band] - begin, FROM_DEVICE);
    }
    if (!status) status = qn_stream_read(ring->stream, in->ends, QN__RING_HEADS, m->heads, sizeof m->heads);
    return status;
}

/* What is needed beyond the reports; *more: it is on the way. */
static qn_status fetch_more(qn_ring *ring, const news *n, bool *more) {
    struct qn__ring_mirror *m = ring->mirror;
    qn_status status = QN_OK;
    uint32_t blocks = 0;
    *more = true;
    if (!n->is_complete) {
        status = fetch_all(ring);
    } else if (n->sent > m->replies) {
        status = transfer(ring, &ring->out, 0, ring->out.mirrored.seen[0] + m->replies, n->sent - m->replies,
                          FROM_DEVICE);
    } else {
        *more = false;
    }
    if (!status) status = each_block(ring, n, true, &blocks);
    if (blocks) *more = true;
    return status;
}

/* ---- what the host sees then ---- */

/* Messages of the kernel, up to the first that it has not sent. */
static void show_replies(qn_ring *ring, uint32_t count) {
    qn__ring_queue *out = &ring->out;
    for (uint32_t end = out->mirrored.seen[0] + count; out->mirrored.seen[0] != end;
         out->mirrored.seen[0]++) {
        const uint32_t at = out->mirrored.seen[0];
        const qn__ring_slot *copy = copy_at(out, 0, at);
        qn__ring_slot *slot = qn__ring_queue_slot(out, 0, at);
        if (sequence_of(copy) != at + 1) return;
        copy_message(slot, copy);
        set_sequence(slot, at + 1);
    }
}

/* The slot at a position was taken: it is free, unless its message waits for the ring to be launched again. Where the host has revoked
   it meanwhile it has another one already, and the message was handled all the same. */
static void show_taken(qn_ring *ring, uint32_t band, uint32_t at) {
    const qn__ring_queue *in = &ring->in;
    qn__ring_slot *slot = qn__ring_queue_slot(in, band, at);
    const bool is_kept = ring->mirror->wants_all && sequence_of(copy_at(in, band, at)) == at + 1;
    if (sequence_of(slot) == at + 1) {
        if (!is_kept) set_sequence(slot, at + in->capacity);
    } else if ((int32_t)(at - ring->mirror->revoked[band]) >= 0) {
        atomic_fetch_sub_explicit(&ring->dropped[band], 1, memory_order_relaxed);
    }
}

static void show_band(qn_ring *ring, uint32_t band, uint32_t count) {
    qn__ring_queue *in = &ring->in;
    uint32_t *seen = &in->mirrored.seen[band], *sent = &in->mirrored.sent[band];
    for (; count; count--) show_taken(ring, band, (*seen)++);
    if ((int32_t)(*seen - *sent) > 0) *sent = *seen;
}

/* `parked` is last, as whoever sees it sees what the launch has done. */
static void show_control(qn_ring *ring) {
    const qn__ring_control *back = control_copy(ring, 1 + BACK);
    copy_words(ring->control + 1, back + 1, control_size(ring) - sizeof *back);
    atomic_store_explicit(&ring->control->parked, atomic_load_explicit(&back->parked, memory_order_relaxed),
                          memory_order_release);
}

static void show(qn_ring *ring, const news *n) {
    struct qn__ring_mirror *m = ring->mirror;
    uint32_t blocks = 0;
    each_block(ring, n, false, &blocks);
    show_replies(ring, m->wants_all ? count_room(ring) : n->sent);
    if (ring->blocks) show_block_words(ring);
    lock_revoked(ring);
    for (uint32_t band = 0; band < ring->desc.bands; band++) {
        const uint32_t head = m->heads[band * QN__RING_LINE];
        show_band(ring, band, m->wants_all ? head - ring->in.mirrored.seen[band] : n->taken[band]);
    }
    unlock_revoked(ring);
    show_control(ring);
    atomic_store(&m->phase, HERE);
}

bool qn__ring_mirror_update(qn_ring *ring) {
    struct qn__ring_mirror *m = ring->mirror;
    bool done = false, more = false;
    if (!qn__ring_mirror_is_away(ring) || atomic_load(&ring->state) == QN_RING_FAILED) return false;
    if (qn_event_done(ring->ended, &done) || !done) return false;
    m->missing = !has_come(ring);
    if (m->missing) return false;
    const news n = read_reports(ring);
    if (atomic_load(&m->phase) == AWAY) {
        qn_status status = fetch_more(ring, &n, &more);
        if (!status && more) status = qn_stream_record(ring->stream, ring->ended);
        if (status) return false; /* the next look tries again, and sees what is wrong */
    }
    if (more)
        atomic_store(&m->phase, SECOND_STEP);
    else
        show(ring, &n);
    return !more;
}

bool qn__ring_mirror_look(qn_ring *ring) {
    if (!qn__ring_mirror_is_away(ring)) return false;
    pthread_mutex_lock(&ring->lock);
    const bool was_away = qn__ring_mirror_update(ring);
    pthread_mutex_unlock(&ring->lock);
    return was_away;
}

void qn__ring_mirror_pass(qn_ring *ring, const qn__ring_wait *wait) {
    enum { EVERY = 64 };
    if (qn__ring_wait_is_long(wait) || wait->rounds % EVERY == 0) qn__ring_mirror_look(ring);
}

/* What is waited for are copies, which take as long as those of queues do, unless the device is lost. */
qn_status qn__ring_mirror_recover(qn_ring *ring) {
    static const uint64_t patience = (uint64_t)60 * 1000000000;
    bool ended = true;
    if (!qn__ring_mirror_is_away(ring)) return QN_OK;
    if (!qn_event_done(ring->ended, &ended) && !ended)
        return qn__ring_fail(ring, QN_ERROR_TIMEOUT, "the kernel of ring '%s' has not ended", ring->label);
    const news none = {.sent = 0};
    uint32_t blocks = 0;
    qn_status status = transfer_block_words(ring, FROM_DEVICE);
    if (!status) status = fetch_all(ring);
    if (!status) status = each_block(ring, &none, true, &blocks);
    if (!status) status = fetch_control(ring);
    if (status) return status;
    /* The wait may tell of the launch's failure, behind which the reports have come all the same. */
    status = qn_stream_wait(ring->stream, patience);
    if (!has_come(ring)) return status ? status : QN_ERROR_DEVICE_LOST;
    ring->mirror->missing = false;
    show(ring, &none);
    return QN_OK;
}

qn_status qn__ring_mirror_complete(qn_ring *ring) {
    return ring->mirror->missing ? qn__ring_mirror_recover(ring) : QN_OK;
}

uint64_t qn__ring_mirror_age(const qn_ring *ring, uint32_t *messages, uint64_t *id) {
    const struct qn__ring_mirror *m = ring->mirror;
    *messages = m->messages;
    *id = m->id;
    return atomic_load(&m->phase) == AWAY ? qn__ring_now() - m->since_ns : 0;
}
