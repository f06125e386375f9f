/* What handlers send: "quern/ring.cl" includes it. A place in the output, or in another ring's mail, the payload by all work-items, and by the
   first one what goes with it, and the number that shows it. Where several are handled at a time, answers wait in local memory (batch.cl). */

#if !QN__RING_BATCHES

/* A position of the output that is the caller's to fill; waits for one. false: none came, as the host stops the ring, or as the
   kernel is one that may not wait. */
static bool qn__ring_reserve(qn_ring *ring, uint *position) {
    for (uint spins = 0; QN_RING_STAYS || spins < 256; spins++) {
        const uint at = *position = qn__ring_tail(ring);
        /* The slot's line is the host's still: what is known of it already is not looked at. */
        const bool is_known = QN_RING_GROUPS == 1 && qn__ring_known_room(ring, at);
        const int ahead = is_known ? 0 : (int)(qn__ring_sequence(qn__ring_out_slot(ring, at)) - at);
        if (ahead == 0 && qn__ring_claim_tail(ring, at, 1)) return true;
        if (ahead < 0 && QN__LOAD(ring->control->command, relaxed) == QN__RING_DROP) return false;
    }
    return false;
}

#if QN_RING_LINKS > 0

static bool qn__ring_reserve_for(qn_ring *ring, uint flags, uint *position) {
    if (!qn__ring_is_near(ring, flags)) return qn__ring_reserve(ring, position);
    return qn__ring_reserve_mail(ring, QN__RING_LINK_OF(flags) - 1, position);
}

#else

#define qn__ring_fits(ring, size, flags)            ((size) <= QN_RING_OUT_SLOT - QN__RING_SLOT_HEAD)
#define qn__ring_reserve_for(ring, flags, position) qn__ring_reserve(ring, position)
#define qn__ring_slot_for(ring, flags, at)          ((void)(flags), qn__ring_out_slot(ring, at))

#endif

/* A position for all work-items, who are done with what they have written for the message; false: there is none. */
static bool qn__ring_reserve_together(qn_ring *ring, bool fits, uint flags, uint *position) {
    (void)flags;
#if QN__RING_WIDE_LOOKS
    /* The first work-item has seen room before the message was taken: all know where. */
    if (fits && ring->known_sends > 0) {
        ring->known_sends--;
        *position = ring->tail;
        if (qn__ring_is_first())
            qn__ring_claim_tail(ring, *position, 1);
        else
            ring->tail++;
        QN__BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        return true;
    }
#endif
    const bool reserved = fits && qn__ring_is_first() && qn__ring_reserve_for(ring, flags, position);
#if QN__RING_ITEMS > 1
    local volatile uint *shared = (local uint *)(ring->block + QN__RING_SHARED) + 1; /* beside qn__ring_share's */
    if (qn__ring_is_first()) *shared = *position;
    const uint found = qn__ring_share(ring, reserved);
    *position = *shared;
#else
    const uint found = reserved;
#endif
#if QN__RING_WIDE_LOOKS
    if (found) ring->tail = *position + 1;
#endif
    return found;
}

/* A slot to fill, for all work-items; NULL: there is none. *at: the number that it is full with. */
static global uchar *qn__ring_open(qn_ring *ring, uint size, uint flags, uint *at) {
    const bool fits = qn__ring_fits(ring, size, flags);
    uint position = 0;
    const bool found = qn__ring_reserve_together(ring, fits, flags, &position);
    *at = position + 1;
    if (found) return qn__ring_slot_for(ring, flags, position);
    QN__BARRIER(CLK_LOCAL_MEM_FENCE);
    if (fits && qn__ring_is_first()) QN__STORE(ring->report->lost, ++ring->lost, relaxed);
    return 0;
}

/* What goes with a payload: of a reply, of a message that answers none, or of one that goes on to another ring. */
static qn_ring_message qn__ring_stamp(qn_ring *ring, uint at, uint size, uint flags) {
    qn_ring_message message = *qn_ring_current(ring);
    const uint call = message.flags & QN__RING_CALL;
    message.clock = ++ring->clock;
    message.size = size;
#if QN_RING_BLOCKS > 0
    const uint number = flags & QN__RING_BACK ? qn__ring_block_number(ring) : 0;
    if (number) qn__ring_count_block(ring, number, 1);
    flags += number * QN__RING_BLOCK;
#endif
    message.flags = flags & QN__RING_REPLY ? flags | call : flags;
    if (QN__RING_LINK_OF(flags)) return message;
    message.correlation = flags & QN__RING_REPLY ? message.id : 0;
    message.id = at;
    message.type = 0;
    return message;
}

#if !QN__RING_PIECES
/* By 16 bytes: each store is a packet of its own on the bus. */
static void qn__ring_write_head(global uchar *slot, qn_ring_message message) {
    global uint4 *lines = (global uint4 *)slot;
    ((global qn__ring_slot *)slot)->message.id = message.id;
    lines[1] = QN__FOUR(QN__HALVES(message.correlation), QN__HALVES(message.time_ns));
    lines[2] = QN__FOUR(QN__HALVES(message.deadline_ns), QN__HALVES(message.clock));
    lines[3] = QN__FOUR(message.priority, message.size, message.type, message.flags);
}
#endif

/* The slot is full. */
static void qn__ring_post(qn_ring *ring, global uchar *slot, uint at, uint size, uint flags) {
    QN__BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (!qn__ring_is_first()) return;
    qn_ring_message message = qn__ring_stamp(ring, at, size, flags); /* before the barrier it would take registers of all work-items */
#if QN_RING_LINKS > 0
    if (qn__ring_is_near(ring, flags)) {
        const uint link = QN__RING_LINK_OF(flags) - 1;
        message.flags = 0;
        qn__ring_write_head(slot, message);
        qn__ring_post_mail(ring, link, slot, at);
        QN__STORE(ring->report->forwarded[link], ++ring->forwarded[link], relaxed);
        return;
    }
#endif
#if !QN__RING_PIECES
    qn__ring_write_head(slot, message);
#endif
#ifdef __OPENCL_VERSION__
    if (QN__RING_ORDERS) QN__FENCE(release);
    ring->released = QN__RING_ORDERS;
#endif
#if QN__RING_PIECES
    qn__ring_write_pieces(slot, at, message);
#else
    QN__STORE_FENCED(((global qn__ring_slot *)slot)->sequence, at);
#endif
    QN__STORE(ring->report->sent, ++ring->sent, relaxed);
}

#endif

#if !QN__RING_PIECES
/* A payload, by all work-items, into a slot. */
#define QN__RING_PUTS(space)                                                                                 \
    static QN__RING_OVERLOADABLE void qn__ring_fill(global uchar *slot, uint number, space const void *payload, \
                                                   uint size) {                                              \
        global uchar *bytes = slot + QN__RING_SLOT_HEAD;                                                     \
        (void)number;                                                                                        \
        for (uint i = QN__ITEM; i < size / 16; i += QN__RING_ITEMS)                                          \
            ((global uint4 *)bytes)[i] = vload4(i, (space const uint *)payload);                             \
        if (!qn__ring_is_first()) return;                                                                    \
        for (uint i = size / 16 * 4; i < size / 4; i++)                                                      \
            ((global uint *)bytes)[i] = ((space const uint *)payload)[i];                                    \
        for (uint i = size & ~3u; i < size; i++) bytes[i] = ((space const uchar *)payload)[i];               \
    }
#endif

#if QN__RING_BATCHES
#define QN__RING_SENDS_ONE(space)                                                                            \
    static QN__RING_OVERLOADABLE bool qn__ring_send(qn_ring *ring, space const void *payload, uint size,     \
                                                    uint flags) {                                            \
        local uint4 *lines = qn__ring_stage(ring, size, flags);                                              \
        if (!lines) return false;                                                                            \
        for (uint i = 0; i < size / 16; i++) lines[i] = vload4(i, (space const uint *)payload);              \
        for (uint i = size / 16 * 4; i < size / 4; i++)                                                      \
            ((local uint *)lines)[i] = ((space const uint *)payload)[i];                                     \
        for (uint i = size & ~3u; i < size; i++) ((local uchar *)lines)[i] = ((space const uchar *)payload)[i]; \
        return true;                                                                                         \
    }
#else
#define QN__RING_SENDS_ONE(space)                                                                            \
    QN__RING_PUTS(space)                                                                                     \
    static QN__RING_OVERLOADABLE bool qn__ring_send(qn_ring *ring, space const void *payload, uint size,     \
                                                    uint flags) {                                            \
        uint at;                                                                                             \
        global uchar *slot = qn__ring_open(ring, size, flags, &at);                                          \
        if (!slot) return false;                                                                             \
        qn__ring_fill(slot, at, payload, size);                                                               \
        qn__ring_post(ring, slot, at, size, flags);                                                          \
        return true;                                                                                         \
    }
#endif

/* Send `size` bytes of payload, aligned to 4, to whoever receives from the ring; a reply answers the message that is handled; one
   that is forwarded goes to the ring at a link, with the id, times, priority, type and correlation of the one that is handled; one that is published
   goes to all links that have subscribed to a topic; a qn_ring_reply_block gives the message's block back to the host. All
   work-items of the group call them, with a payload in local or global memory, or each with one of its own that is the same. They
   wait for room; false: there is none, and the ring is stopped (or is a QN_RING_LAUNCHES one, which does not wait); or the
   payload is larger than the receiver's may be, or nothing is at the link. There is one of each for each address space. */
#define QN__RING_SENDS(space)                                                                                \
    QN__RING_SENDS_ONE(space)                                                                                \
    static QN__RING_OVERLOADABLE bool qn_ring_send(qn_ring *ring, space const void *payload, uint size) {    \
        return qn__ring_send(ring, payload, size, 0);                                                        \
    }                                                                                                        \
    static QN__RING_OVERLOADABLE bool qn_ring_reply(qn_ring *ring, space const void *payload, uint size) {   \
        return qn__ring_send(ring, payload, size, QN__RING_REPLY);                                           \
    }                                                                                                        \
    QN__RING_REPLIES_BLOCK(space)                                                                            \
    QN__RING_FORWARDS(space)

#if QN_RING_BLOCKS > 0
#define QN__RING_REPLIES_BLOCK(space)                                                                        \
    static QN__RING_OVERLOADABLE bool qn_ring_reply_block(qn_ring *ring, space const void *payload,          \
                                                          uint size) {                                       \
        return qn__ring_send(ring, payload, size, QN__RING_REPLY | QN__RING_BACK);                           \
    }
#else
#define QN__RING_REPLIES_BLOCK(space)
#define qn_ring_reply_block(...) the_descriptor_has_no_blocks()
#endif

#if QN_RING_LINKS > 0

/* Links that have subscribed to a topic, a bit each; all work-items get the same. */
static uint qn__ring_subscribers(qn_ring *ring, uint topic) {
    uint links = 0;
    if (qn__ring_is_first() && topic < QN__RING_TOPICS) links = QN__LOAD(ring->control->topics[topic], relaxed);
    links = qn__ring_share(ring, links);
    QN__BARRIER(CLK_LOCAL_MEM_FENCE);
    return links;
}

#define QN__RING_FORWARDS(space)                                                                             \
    static QN__RING_OVERLOADABLE bool qn_ring_forward(qn_ring *ring, uint link, space const void *payload,   \
                                                      uint size) {                                           \
        return qn__ring_send(ring, payload, size, (link + 1) * QN__RING_LINK);                               \
    }                                                                                                        \
    static QN__RING_OVERLOADABLE uint qn_ring_publish(qn_ring *ring, uint topic, space const void *payload,  \
                                                      uint size) {                                           \
        const uint links = qn__ring_subscribers(ring, topic);                                                \
        uint reached = 0;                                                                                    \
        for (uint i = 0; i < QN_RING_LINKS; i++)                                                             \
            if (links >> i & 1) reached += qn_ring_forward(ring, i, payload, size);                          \
        return reached;                                                                                      \
    }

/* Waits until `parties` work-groups, of any rings, have come to a barrier (0 to 7) of the ring at a link. false: the ring is stopped
   before, or is one of QN_RING_LAUNCHES, whose work-groups may not wait for others. */
static bool qn_ring_meet(qn_ring *ring, uint link, uint number, uint parties) {
    uint met = 0;
    if (QN_RING_STAYS && qn__ring_is_first() && link < QN_RING_LINKS && number < QN__MAIL_NUM_BARRIERS) {
        global uchar *mail = ring->links[link];
        const uint count = QN__MAIL_BARRIERS + 2 * number;
        const uint generation = qn__mail_add(mail, count + 1, 0);
        met = 1;
        if (qn__mail_add(mail, count, 1) + 1 == parties) {
            qn__mail_add(mail, count, 0u - parties);
            qn__mail_add(mail, count + 1, 1);
        } else {
            while (met && qn__mail_sequence((global uchar *)qn__mail_word(mail, count + 1)) == generation)
                met = QN__LOAD(ring->control->command, relaxed) != QN__RING_DROP;
        }
    }
    met = qn__ring_share(ring, met);
    QN__BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return met;
}

#else
/* The compiler's sentence says then what is missing. */
#define QN__RING_FORWARDS(space)
#define qn_ring_forward(...) the_descriptor_has_no_links()
#define qn_ring_publish(...) the_descriptor_has_no_links()
#define qn_ring_meet(...)    the_descriptor_has_no_links()
#endif

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
