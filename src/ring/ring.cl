/* Kernels' side of a ring, which the handlers and loops of rings include as "quern/ring.cl". docs/language.md, Rings, tells how to
   use it; docs/design.md, Rings, how it works. The library defines QN_RING_*, the sizes of the ring that the program is for. */
#ifndef QUERN_RING_CL
#define QUERN_RING_CL

#ifdef __OPENCL_VERSION__ /* else a test that runs this text as C has included them */
#include "quern/ring_message.h"

#include "quern/ring_layout.h"
#endif

#define QN__LOAD(word, order)                                                                                \
    atomic_load_explicit((volatile global atomic_uint *)&(word), memory_order_##order,                       \
                         memory_scope_all_svm_devices)
#define QN__STORE(word, value, order)                                                                        \
    atomic_store_explicit((volatile global atomic_uint *)&(word), value, memory_order_##order,               \
                          memory_scope_all_svm_devices)
#define QN__FENCE(order)                                                                                     \
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_##order, memory_scope_all_svm_devices)

/* A work-group's hold of its ring. All work-items have one; what counts and looks is the first work-item's. */
typedef struct qn_ring {
    global qn__ring_control *control;
    global qn__ring_group *report;
    global uchar *in, *out;
    global uint *in_ends, *out_ends; /* words, a line each */
    local uint4 *block;              /* the message that is handled, as its slot */
    uint epoch, status;
    uint taken, handled, sent, lost; /* in all; handled: in this launch */
    uint room; /* positions of the output before this one are known to be free */
    uint slot; /* 1 + the index of the handled message's; 0: it is free already */
    bool busy, counted, leaving;
} qn_ring;

#define QN_RING_PARAMETERS                                                                                   \
    global qn__ring_control *qn__control, global uchar *qn__in, global uint *qn__in_ends,                    \
        global uchar *qn__out, global uint *qn__out_ends

/* Declares `name`, a ring; the first thing in a kernel of QN_RING_PARAMETERS. */
#define QN_RING(name)                                                                                        \
    local uint4 qn__block[QN_RING_IN_SLOT / 16 + 1];                                                             \
    qn_ring name;                                                                                            \
    qn__ring_begin(&name, qn__control, qn__in, qn__in_ends, qn__out, qn__out_ends, qn__block)

static void qn__ring_begin(qn_ring *ring, global qn__ring_control *control, global uchar *in,
                           global uint *in_ends, global uchar *out, global uint *out_ends,
                           local uint4 *block) {
    ring->control = control;
    ring->report = (global qn__ring_group *)(control + 1) + get_group_id(0);
    ring->in = in;
    ring->out = out;
    ring->in_ends = in_ends;
    ring->out_ends = out_ends;
    ring->block = block;
    ring->epoch = QN__LOAD(control->epoch, acquire);
    ring->status = QN__GROUP_ABSENT;
    ring->taken = QN__LOAD(ring->report->taken, relaxed);
    ring->handled = 0;
    ring->sent = QN__LOAD(ring->report->sent, relaxed);
    ring->lost = QN__LOAD(ring->report->lost, relaxed);
    ring->room = ring->slot = 0;
    ring->busy = ring->counted = ring->leaving = false;
}

/* ---- the queues ---- */

static global uchar *qn__ring_in_slot(const qn_ring *ring, uint index) {
    return ring->in + (ulong)index * QN_RING_IN_SLOT;
}

static global uchar *qn__ring_out_slot(const qn_ring *ring, uint at) {
    return ring->out + (ulong)(at & (QN_RING_OUT_CAPACITY - 1)) * QN_RING_OUT_SLOT;
}

static uint qn__ring_sequence(global uchar *slot) {
    return QN__LOAD(((global qn__ring_slot *)slot)->sequence, acquire);
}

/* The next position of a count that several work-groups share, if `at` still is it. */
static bool qn__ring_claim(global uint *count, uint at) {
#if QN_RING_GROUPS == 1
    *count = at + 1;
    return true;
#else
    return atomic_compare_exchange_strong_explicit((volatile global atomic_uint *)count, &at, at + 1,
                                                   memory_order_relaxed, memory_order_relaxed,
                                                   memory_scope_device);
#endif
}

static uint qn__ring_count(global uint *count) {
#if QN_RING_GROUPS == 1
    return *count;
#else
    return atomic_load_explicit((volatile global atomic_uint *)count, memory_order_relaxed, memory_scope_device);
#endif
}

/* Whether the message at `at` is the consumer's, who says so first. The host revokes first and looks at the claim then: one of the
   two sees the other. */
static bool qn__ring_keep(const qn_ring *ring, global qn__ring_slot *slot, uint band, uint at) {
    if (!QN_RING_REVOKES) return true;
    QN__STORE(slot->claim, 2 * at + 1, release);
    QN__FENCE(seq_cst);
    if (QN__LOAD(ring->control->revoked[band], acquire) - at - 1 >= QN_RING_IN_CAPACITY) return true;
    QN__STORE(slot->claim, 2 * at + 2, release);
    return false;
}

static void qn__ring_count_band(const qn_ring *ring, uint band) {
    QN__STORE(ring->report->bands[band], QN__LOAD(ring->report->bands[band], relaxed) + 1, relaxed);
}

/* 1 + the index of a slot with a message, which is the caller's from now on; 0: there is none. */
static uint qn__ring_take(const qn_ring *ring) {
    for (int band = QN_RING_BANDS - 1; band >= 0; band--) {
        global uint *head = ring->in_ends + (QN__RING_HEADS + band) * QN__RING_LINE;
        for (;;) {
            const uint at = qn__ring_count(head);
            const uint index = band * QN_RING_IN_CAPACITY + (at & (QN_RING_IN_CAPACITY - 1));
            global uchar *slot = qn__ring_in_slot(ring, index);
            const int ahead = (int)(qn__ring_sequence(slot) - (at + 1));
            if (ahead < 0) break;
            /* Revoked messages are behind: their slots have newer ones. */
            if (ahead > 0 && !QN_RING_REVOKES) continue;
            if (!qn__ring_claim(head, at)) continue;
            qn__ring_count_band(ring, band);
            if (ahead == 0 && qn__ring_keep(ring, (global qn__ring_slot *)slot, band, at)) return index + 1;
            QN__STORE(ring->report->passed, QN__LOAD(ring->report->passed, relaxed) + 1, relaxed);
        }
    }
    return 0;
}

/* Whether the output has room for what a handler may send. */
static bool qn__ring_has_room(qn_ring *ring) {
#if QN_RING_SENDS > 0
    const uint tail = qn__ring_count(ring->out_ends + QN__RING_TAILS * QN__RING_LINE);
    if ((int)(ring->room - (tail + QN_RING_SENDS)) >= 0) return true;
    /* A look at a slot further on saves the next ones. */
    for (uint ahead = QN_RING_OUT_CAPACITY / 2; ahead >= QN_RING_SENDS;
         ahead = ahead == QN_RING_SENDS ? 0 : QN_RING_SENDS) {
        const uint at = tail + ahead - 1;
        if (qn__ring_sequence(qn__ring_out_slot(ring, at)) != at) continue;
        if (QN_RING_GROUPS == 1) ring->room = at + 1;
        return true;
    }
    return false;
#else
    return true;
#endif
}

/* ---- being idle ---- */

static volatile global atomic_uint *qn__ring_idle(const qn_ring *ring, uint epoch) {
    return (volatile global atomic_uint *)(ring->in_ends + (QN__RING_IDLES + (epoch & 1)) * QN__RING_LINE);
}

/* The host launches anew from here on. What it sent before it could see this is found by one more look at the queue. */
static void qn__ring_park(qn_ring *ring) {
    atomic_store_explicit(qn__ring_idle(ring, ring->epoch + 1), 0, memory_order_relaxed, memory_scope_device);
    QN__STORE(ring->control->parked, ring->epoch, release);
    QN__FENCE(seq_cst);
    ring->leaving = true;
}

/* Called where there was nothing to do; false: the kernel is to end at once. */
static bool qn__ring_rest(qn_ring *ring, uint spins) {
    if (ring->leaving) return false;
    if (ring->counted) {
        const uint idle = atomic_load_explicit(qn__ring_idle(ring, ring->epoch), memory_order_relaxed, memory_scope_device);
        if (idle == QN_RING_GROUPS || QN__LOAD(ring->control->parked, relaxed) == ring->epoch) qn__ring_park(ring);
        return true;
    }
    if (spins < ring->control->spins) return true;
    ring->counted = true;
    const uint before = atomic_fetch_add_explicit(qn__ring_idle(ring, ring->epoch), 1, memory_order_acq_rel, memory_scope_device);
    if (before + 1 == QN_RING_GROUPS) qn__ring_park(ring);
    return ring->leaving || QN_RING_STAYS;
}

/* ---- receiving ---- */

static void qn__ring_report(qn_ring *ring, uint status) {
    if (ring->status == status) return;
    ring->status = status;
    QN__STORE(ring->report->status, status, release);
}

/* One look, by the host's command: false, where there is a message (1 + the index of its slot in *found) or the kernel is to end. */
static bool qn__ring_look(qn_ring *ring, uint spins, uint *found) {
    const uint command = QN__LOAD(ring->control->command, acquire);
    if (command == QN__RING_DROP) return false;
    qn__ring_report(ring, command == QN__RING_PAUSE ? QN__GROUP_PAUSED : QN__GROUP_RUNNING);
    if (command != QN__RING_PAUSE && qn__ring_has_room(ring)) {
        *found = qn__ring_take(ring);
        if (*found || command == QN__RING_DRAIN) return false;
    }
    if ((spins & 255) == 255)
        QN__STORE(ring->report->heartbeat, QN__LOAD(ring->report->heartbeat, relaxed) + 1, relaxed);
    return qn__ring_rest(ring, spins);
}

static void qn__ring_free(const qn_ring *ring, uint found, uint sequence) {
    global qn__ring_slot *slot = (global qn__ring_slot *)qn__ring_in_slot(ring, found - 1);
    QN__STORE(slot->sequence, sequence + (QN_RING_IN_CAPACITY - 1), release);
}

/* A slot is free when its message is handled, so that the host finds the messages of a kernel that has failed. Where the host
   drops the oldest it is free earlier, since the host waits for it. */
static void qn__ring_done(qn_ring *ring) {
    if (!ring->busy) return;
    ring->busy = false;
    if (QN__LOAD(ring->report->failed, relaxed)) return;
    if (ring->slot) qn__ring_free(ring, ring->slot, ((local const qn__ring_slot *)ring->block)->sequence);
    ring->slot = 0;
    QN__STORE(ring->report->done, ring->taken, relaxed);
}

static bool qn__ring_is_first(void) { return get_local_id(0) == 0; }

/* The first work-item's value, for all. Before the next one they have to meet once more. */
static uint qn__ring_share(const qn_ring *ring, uint value) {
    if (QN_RING_GROUP_SIZE == 1) return value;
    local volatile uint *word = (local uint *)(ring->block + QN_RING_IN_SLOT / 16);
    if (qn__ring_is_first()) *word = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    return *word;
}

/* Before the first look: the last message is done with. false: the kernel is to end. */
static bool qn__ring_go_on(qn_ring *ring) {
    qn__ring_done(ring);
    if (QN__LOAD(ring->report->failed, relaxed)) return false;
    if (ring->handled != ring->control->budget) return true;
    if (!ring->counted && !ring->leaving) qn__ring_rest(ring, QN__RING_FOREVER);
    return false;
}

/* After the last: a message has been found. */
static void qn__ring_start(qn_ring *ring) {
    if (ring->counted && !ring->leaving) {
        atomic_fetch_sub_explicit(qn__ring_idle(ring, ring->epoch), 1, memory_order_relaxed, memory_scope_device);
        ring->counted = false;
    }
    ring->handled++;
    ring->taken++;
    ring->busy = true;
}

/* 1 + the index of the next message's slot; 0: the kernel is to end. The first work-item looks, while the others wait at a
   barrier. */
static uint qn__ring_poll(qn_ring *ring) {
    uint found = 0, spins = 0;
    if (qn__ring_is_first() && qn__ring_go_on(ring)) {
        while (qn__ring_look(ring, spins, &found)) spins++;
        if (found) qn__ring_start(ring);
    }
    return qn__ring_share(ring, found);
}

/* Waits for the next message; all work-items of the group call it. false: the kernel is to end. */
static bool qn_ring_receive(qn_ring *ring) {
    const uint found = qn__ring_poll(ring);
    if (!found) {
        if (qn__ring_is_first()) QN__STORE(ring->report->status, QN__GROUP_PARKED, release);
        return false;
    }
    global uchar *slot = qn__ring_in_slot(ring, found - 1);
    for (uint i = get_local_id(0); i < QN_RING_IN_SLOT / 16; i += QN_RING_GROUP_SIZE)
        ring->block[i] = ((global uint4 *)slot)[i];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (qn__ring_is_first()) {
        local const qn__ring_slot *copy = (local const qn__ring_slot *)ring->block;
        ring->report->message = copy->message.id;
        QN__STORE(ring->report->taken, ring->taken, release);
        if (QN_RING_REVOKES)
            qn__ring_free(ring, found, copy->sequence);
        else
            ring->slot = found;
    }
    return true;
}

/* The message that is handled, and its payload; they are the work-group's until the next qn_ring_receive. */
static local const qn_ring_message *qn_ring_current(const qn_ring *ring) {
    return &((local const qn__ring_slot *)ring->block)->message;
}
static local const void *qn_ring_payload(const qn_ring *ring) {
    return (local const uchar *)ring->block + QN__RING_SLOT_HEAD;
}

/* Whether a handler that takes long should come back, since the host stops or pauses the ring. */
static bool qn_ring_should_stop(const qn_ring *ring) {
    const uint command = qn__ring_is_first() ? QN__LOAD(ring->control->command, relaxed) : 0;
    const uint shared = qn__ring_share(ring, command);
    barrier(CLK_LOCAL_MEM_FENCE);
    return shared <= QN__RING_PAUSE;
}

/* Makes the ring QN_RING_FAILED, with the handled message's id and the code (not 0), once the handler has returned. */
static void qn_ring_fail(qn_ring *ring, uint code) {
    if (qn__ring_is_first()) QN__STORE(ring->report->failed, code, release);
}

/* ---- sending ---- */

/* 1 + a position of the output that is the caller's to fill; waits for one. 0: none came, as the host stops the ring, or as the
   kernel is one that may not wait. */
static uint qn__ring_reserve(qn_ring *ring) {
    global uint *tail = ring->out_ends + QN__RING_TAILS * QN__RING_LINE;
    for (uint spins = 0; QN_RING_STAYS || spins < 256; spins++) {
        const uint at = qn__ring_count(tail);
        const int ahead = (int)(qn__ring_sequence(qn__ring_out_slot(ring, at)) - at);
        if (ahead == 0 && qn__ring_claim(tail, at)) return at + 1;
        if (ahead < 0 && QN__LOAD(ring->control->command, relaxed) == QN__RING_DROP) return 0;
    }
    return 0;
}

/* A slot of the output to fill, for all work-items; NULL: there is none. */
static global uchar *qn__ring_open(qn_ring *ring, uint size, uint *at) {
    if (size > QN_RING_OUT_SLOT - QN__RING_SLOT_HEAD) return 0;
    uint found = qn__ring_is_first() ? qn__ring_reserve(ring) : 0;
    found = qn__ring_share(ring, found);
    *at = found;
    if (found) return qn__ring_out_slot(ring, found - 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (qn__ring_is_first()) QN__STORE(ring->report->lost, ++ring->lost, relaxed);
    return 0;
}

/* The slot is full. */
static void qn__ring_post(qn_ring *ring, global uchar *slot, uint at, uint size, uint flags) {
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (!qn__ring_is_first()) return;
    global qn__ring_slot *head = (global qn__ring_slot *)slot;
    qn_ring_message message = *qn_ring_current(ring);
    message.correlation = flags & QN__RING_REPLY ? message.id : 0;
    message.id = at;
    message.size = size;
    message.type = 0;
    message.flags = flags ? flags | (message.flags & QN__RING_CALL) : 0;
    head->message = message;
    QN__STORE(head->sequence, at, release);
    QN__STORE(ring->report->sent, ++ring->sent, relaxed);
}

/* Send `size` bytes of payload, aligned to 4, to whoever receives from the ring; a reply answers the message that is handled. All
   work-items of the group call them, with a payload in local or global memory, or each with one of its own that is the same. They
   wait for room; false: there is none, and the ring is stopped (or is a QN_RING_LAUNCHES one, which does not wait); or the
   payload is larger than the ring's replies may be. There is one of each for each address space. */
#define QN__RING_SENDS(space)                                                                                \
    static QN__RING_OVERLOADABLE bool qn__ring_send(qn_ring *ring, space const void *payload, uint size,     \
                                                    uint flags) {                                            \
        uint at;                                                                                             \
        global uchar *slot = qn__ring_open(ring, size, &at);                                                 \
        if (!slot) return false;                                                                             \
        global uchar *bytes = slot + QN__RING_SLOT_HEAD;                                                     \
        for (uint i = get_local_id(0); i < size / 4; i += QN_RING_GROUP_SIZE)                                \
            ((global uint *)bytes)[i] = ((space const uint *)payload)[i];                                    \
        if (qn__ring_is_first())                                                                             \
            for (uint i = size & ~3u; i < size; i++) bytes[i] = ((space const uchar *)payload)[i];           \
        qn__ring_post(ring, slot, at, size, flags);                                                          \
        return true;                                                                                         \
    }                                                                                                        \
    static QN__RING_OVERLOADABLE bool qn_ring_send(qn_ring *ring, space const void *payload, uint size) {    \
        return qn__ring_send(ring, payload, size, 0);                                                        \
    }                                                                                                        \
    static QN__RING_OVERLOADABLE bool qn_ring_reply(qn_ring *ring, space const void *payload, uint size) {   \
        return qn__ring_send(ring, payload, size, QN__RING_REPLY);                                           \
    }

#ifndef __OPENCL_VERSION__
#define QN__RING_OVERLOADABLE
QN__RING_SENDS()
#elif __OPENCL_C_VERSION__ >= 200
#define QN__RING_OVERLOADABLE
QN__RING_SENDS(__generic)
#else
#define QN__RING_OVERLOADABLE __attribute__((overloadable))
QN__RING_SENDS(__private)
QN__RING_SENDS(local)
QN__RING_SENDS(global)
#endif

#endif
