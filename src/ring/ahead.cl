/* Several messages at a time, for a ring whose queues are a trip away: "quern/ring.cl" includes it. The loop copies those that are
   there, and shows the host together what answers messages of one batch. One work-item, one band, no other rings. */

/* Shows the host all replies that were kept back, and gives back the slots of their messages: by one fence, beside which a look at the
   command costs nothing. */
static void qn__ring_publish(qn_ring *ring) {
    if (ring->kept_replies + ring->kept_messages == 0) return;
    if (ring->kept_replies || !ring->released) {
        const uint command = ring->ready ? QN__LOAD(ring->control->command, relaxed) : ring->command;
        QN__FENCE(release);
        ring->released = true;
        if (command != ring->command) ring->ready = 0;
    }
    for (uint at = ring->tail - ring->kept_replies; at != ring->tail; at++) {
        global qn__ring_slot *slot = (global qn__ring_slot *)qn__ring_out_slot(ring, at);
        QN__STORE_FENCED(slot->sequence, at + 1);
    }
    const uint end = ring->heads[0] - (ring->busy ? 1 : 0);
    for (uint at = end - ring->kept_messages; at != end; at++) {
        global qn__ring_slot *slot = (global qn__ring_slot *)qn__ring_in_slot(ring, qn__ring_index(0, at));
        QN__STORE_FENCED(slot->sequence, at + QN_RING_IN_CAPACITY);
    }
    if (ring->kept_replies) QN__STORE(ring->report->sent, ring->sent, relaxed);
    if (ring->kept_messages) QN__STORE(ring->report->done, ring->taken - (ring->busy ? 1 : 0), relaxed);
    ring->kept_replies = ring->kept_messages = 0;
}

/* Whether the host can wait until more of its batch is done: until QN__RING_TOGETHER messages are. */
static bool qn__ring_keeps_back(const qn_ring *ring) {
    return ring->ready && ring->kept_messages < QN__RING_TOGETHER - 1 && ((local const qn__ring_slot *)ring->block)->message.flags & QN__RING_MORE;
}

/* Whether there is one more message; the load is under way beside those of the one that was taken. */
static bool qn__ring_is_followed(const qn_ring *ring) {
    const uint at = ring->heads[0];
    global qn__ring_slot *next = (global qn__ring_slot *)qn__ring_in_slot(ring, qn__ring_index(0, at));
    return !QN_RING_REVOKES && QN__LOAD(next->sequence, relaxed) == at + 1;
}

#define QN__AHEAD_EIGHT(X, i) X(i##0) X(i##1) X(i##2) X(i##3) X(i##4) X(i##5) X(i##6) X(i##7)
#define QN__AHEAD_ALL(X)      QN__AHEAD_EIGHT(X, 0) QN__AHEAD_EIGHT(X, 01) QN__AHEAD_EIGHT(X, 02) QN__AHEAD_EIGHT(X, 03)

/* How many messages there are one after the other. All loads are under way before one is waited for; numbers are octal. */
static uint qn__ring_count_ahead(const qn_ring *ring, uint at, uint *command) {
#define QN__AHEAD_LOAD(i)                                                                                    \
    const uint is##i =                                                                                       \
        0##i < QN_RING_AHEAD                                                                                 \
            ? QN__LOAD_FENCED(((global qn__ring_slot *)qn__ring_in_slot(ring, qn__ring_index(0, at + 0##i)))->sequence) \
            : at;
#define QN__AHEAD_TEST(i) full |= is##i == at + 0##i + 1 ? 1u << 0##i : 0;
    *command = QN__LOAD(ring->control->command, relaxed);
    QN__AHEAD_ALL(QN__AHEAD_LOAD)
    uint full = 0, count = 0;
    QN__AHEAD_ALL(QN__AHEAD_TEST)
    while (full >> count & 1 && ++count < QN_RING_AHEAD) {
    }
    return count;
}

/* Copies as many of the next messages as there are. Where the host says something new there are none, as a look finds out first. */
static void qn__ring_read_ahead(qn_ring *ring) {
    const uint at = ring->heads[0];
    uint command;
    const uint count = qn__ring_count_ahead(ring, at, &command);
    if (command != ring->command || !count) return;
    QN__FENCE(acquire);
    event_t copies = 0;
    for (uint i = 0, run = 0; i < count; i += run) {
        /* Neither slots nor their copies are in one piece where positions wrap. */
        const uint to = (at + i) % QN_RING_AHEAD;
        run = count - i < QN_RING_AHEAD - to ? count - i : QN_RING_AHEAD - to;
        global const uint4 *from = (global const uint4 *)qn__ring_in_slot(ring, qn__ring_index(0, at + i));
        copies = async_work_group_copy(ring->blocks_ahead + to * (QN_RING_IN_SLOT / 16), from,
                                       run * (QN_RING_IN_SLOT / 16), copies);
    }
    wait_group_events(1, &copies);
    ring->released = false;
    ring->ready = count;
}

/* As qn__ring_take, of what was copied, or is now. */
static uint qn__ring_take_ready(qn_ring *ring) {
    if (!ring->ready) {
        qn__ring_publish(ring);
        if (ring->follows) qn__ring_read_ahead(ring);
    }
    if (!ring->ready || !qn__ring_has_room(ring)) {
        ring->ready = 0;
        qn__ring_publish(ring);
        return 0;
    }
    const uint at = ring->heads[0];
    qn__ring_claim_head(ring, 0, at);
    QN__STORE(ring->report->bands[0], ++ring->bands[0], relaxed);
    ring->ready--;
    ring->copied = true;
    return qn__ring_index(0, at) + 1;
}
