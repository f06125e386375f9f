/* What rings send to each other: "quern/ring.cl" includes it for those with mail or links. Of the mail one takes messages; to that of
   others one sends by credits. */

#define QN__NEAR(word) ((volatile global atomic_uint *)(word))

static global uint *qn__mail_word(global uchar *mail, uint word) { return (global uint *)mail + word; }

static global uchar *qn__mail_slot(global uchar *mail, uint index, uint size) {
    return mail + QN__MAIL_WORDS * 4 + (ulong)index * size;
}

static uint qn__mail_sequence(global uchar *slot) {
    return atomic_load_explicit(QN__NEAR(slot), memory_order_acquire, memory_scope_device);
}

static uint qn__mail_add(global uchar *mail, uint word, uint value) {
    return atomic_fetch_add_explicit(QN__NEAR(qn__mail_word(mail, word)), value, memory_order_acq_rel, memory_scope_device);
}

/* What orders is the slots' numbers; these only count. */
static uint qn__mail_count(global uchar *mail, uint word, uint value) {
    return atomic_fetch_add_explicit(QN__NEAR(qn__mail_word(mail, word)), value, memory_order_relaxed, memory_scope_device);
}

#if QN_RING_MAIL > 0

#if QN_RING_GROUPS == 1
#define qn__ring_mail_head(ring) ((ring)->mail_head)
static bool qn__ring_claim_mail(qn_ring *ring, uint at) {
    *qn__mail_word(ring->mail, QN__MAIL_HEAD) = ring->mail_head = at + 1;
    return true;
}
#else
#define qn__ring_mail_head(ring)      qn__ring_count(qn__mail_word((ring)->mail, QN__MAIL_HEAD))
#define qn__ring_claim_mail(ring, at) qn__ring_claim_run(qn__mail_word((ring)->mail, QN__MAIL_HEAD), at, 1)
#endif

static qn__ring_sight qn__ring_see_mail(const qn_ring *ring) {
    qn__ring_sight sight;
    sight.at = qn__ring_mail_head(ring);
    sight.ahead = (int)(qn__mail_sequence(qn__mail_slot(ring->mail, sight.at & (QN_RING_MAIL - 1), QN_RING_IN_SLOT)) -
                        (sight.at + 1));
    return sight;
}

#define QN__RING_NEAR_LOOKS 16 /* for some microseconds */
#define QN__RING_NEAR_TURNS 16

/* As qn__ring_take, of what other rings have sent. */
static uint qn__ring_take_mail(qn_ring *ring, qn__ring_sight sight) {
    for (; sight.ahead >= 0; sight = qn__ring_see_mail(ring)) {
        if (sight.ahead > 0 || !qn__ring_claim_mail(ring, sight.at)) continue;
        QN__STORE(ring->report->mailed, ++ring->mailed, relaxed);
        ring->near_looks = ++ring->near_turns < QN__RING_NEAR_TURNS ? QN__RING_NEAR_LOOKS : 0;
        return QN__RING_MAILED | ((sight.at & (QN_RING_MAIL - 1)) + 1);
    }
    return 0;
}

static void qn__ring_free_mail(const qn_ring *ring, uint index, uint sequence, bool released) {
    global uchar *slot = qn__mail_slot(ring->mail, index, QN_RING_IN_SLOT);
    const uint next = sequence + (QN_RING_MAIL - 1);
    if (released)
        atomic_store_explicit(QN__NEAR(slot), next, QN__FENCED_RELEASE, memory_scope_device);
    else
        atomic_store_explicit(QN__NEAR(slot), next, memory_order_release, memory_scope_device);
    if (!ring->mail_alone) qn__mail_count(ring->mail, QN__MAIL_CREDITS, 1);
}

#endif

#if QN_RING_LINKS > 0

/* Whether mail that nobody else sends to has room for what a handler may send; its slots become free in order. */
static bool qn__ring_link_has_room(qn_ring *ring, uint link) {
    const uint tail = ring->link_tail[link], capacity = ring->link_capacity[link], known = ring->link_room[link] - tail;
    if (known >= QN_RING_SENDS && known <= capacity) return true;
    for (uint ahead = capacity / 2; ahead >= QN_RING_SENDS; ahead = ahead > QN_RING_SENDS ? QN_RING_SENDS : 0) {
        const uint at = tail + ahead - 1;
        if (qn__mail_sequence(qn__mail_slot(ring->links[link], at & (capacity - 1), ring->link_slot[link])) != at) continue;
        ring->link_room[link] = at + 1;
        return true;
    }
    return false;
}

/* Takes credits of all links, for as many sends as a handler may make. false: one has not so many. */
static bool qn__ring_hold(qn_ring *ring) {
    for (uint i = 0; i < QN_RING_LINKS; i++) {
        global uchar *mail = ring->links[i];
        ring->held[i] = 0;
        if (!ring->link_capacity[i]) continue;
        if (ring->link_alone[i]) {
            if (!qn__ring_link_has_room(ring, i)) return false;
            ring->held[i] = QN_RING_SENDS;
            continue;
        }
        const uint before = qn__mail_count(mail, QN__MAIL_CREDITS, 0u - QN_RING_SENDS);
        ring->held[i] = QN_RING_SENDS;
        if (before < QN__MAIL_CREDIT_BIAS + QN_RING_SENDS) return false;
    }
    return true;
}

/* Gives back those that were not used. */
static void qn__ring_let_go(qn_ring *ring) {
    for (uint i = 0; i < QN_RING_LINKS; i++) {
        if (ring->held[i] && !ring->link_alone[i]) qn__mail_count(ring->links[i], QN__MAIL_CREDITS, ring->held[i]);
        ring->held[i] = 0;
    }
}

/* Whether lower bands have a message. */
static bool qn__ring_is_lower(qn_ring *ring) {
    for (int band = 0; band < QN_RING_BANDS - 1; band++)
        if (qn__ring_see(ring, band, 0).ahead >= 0) return true;
    return false;
}

/* A position of another ring's mail, by a credit; false: the handler has none left. */
static bool qn__ring_reserve_mail(qn_ring *ring, uint link, uint *position) {
    global uchar *mail = ring->links[link];
    if (ring->held[link] == 0) return false;
    ring->held[link]--;
    *position = ring->link_alone[link] ? ring->link_tail[link] : qn__mail_count(mail, QN__MAIL_TAIL, 1);
    if (ring->link_alone[link]) return true;
    const uint index = *position & (ring->link_capacity[link] - 1);
    global uchar *slot = qn__mail_slot(mail, index, ring->link_slot[link]);
    /* Of several consumers one before the last may still copy. */
    while (qn__mail_sequence(slot) != *position) {
    }
    return true;
}

/* A launch that failed may have posted what it has not counted. */
static void qn__ring_begin_link(qn_ring *ring, uint link) {
    const uint capacity = ring->link_capacity[link];
    ring->link_tail[link] = ring->link_room[link] = 0;
    ring->link_alone[link] = capacity && *qn__mail_word(ring->links[link], QN__MAIL_ALONE) != 0;
    if (!ring->link_alone[link] || QN__ITEM != 0) return;
    const uint tail = *qn__mail_word(ring->links[link], QN__MAIL_TAIL); /* which nobody else moves */
    ring->link_tail[link] = ring->link_room[link] = tail;
    const uint sequence = qn__mail_sequence(qn__mail_slot(ring->links[link], tail & (capacity - 1), ring->link_slot[link]));
    if (sequence == tail + 1 || sequence == tail + capacity) ring->link_tail[link] = ring->link_room[link] = tail + 1;
}

/* A slot of another ring's mail is full. */
static void qn__ring_post_mail(qn_ring *ring, uint link, global uchar *slot, uint at) {
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
    ring->released_near = true;
    atomic_store_explicit(QN__NEAR(slot), at, QN__FENCED_RELEASE, memory_scope_device);
    if (ring->link_alone[link]) *qn__mail_word(ring->links[link], QN__MAIL_TAIL) = ring->link_tail[link] = at;
}

static bool qn__ring_is_near(const qn_ring *ring, uint flags) {
    const uint link = QN__RING_LINK_OF(flags);
    return link && ring->link_capacity[link - 1] != 0;
}

/* Whether there is a receiver that takes so much. */
static bool qn__ring_fits(const qn_ring *ring, uint size, uint flags) {
    const uint link = QN__RING_LINK_OF(flags), own = QN_RING_OUT_SLOT - QN__RING_SLOT_HEAD;
    if (!link) return size <= own;
    if (link > QN_RING_LINKS) return false;
    const uint slot = ring->link_slot[link - 1];
    return slot && size <= slot - QN__RING_SLOT_HEAD && (size <= own || qn__ring_is_near(ring, flags));
}

static global uchar *qn__ring_slot_for(const qn_ring *ring, uint flags, uint at) {
    if (!qn__ring_is_near(ring, flags)) return qn__ring_out_slot(ring, at);
    const uint link = QN__RING_LINK_OF(flags) - 1;
    return qn__mail_slot(ring->links[link], at & (ring->link_capacity[link] - 1), ring->link_slot[link]);
}

#endif

static void qn__ring_begin_more(qn_ring *ring, global uchar **more) {
    ring->mail = more[0];
    ring->mail_first = ring->released_near = false;
    ring->near_looks = ring->near_turns = 0;
    ring->mail_alone = *qn__mail_word(ring->mail, QN__MAIL_ALONE) != 0;
    ring->mailed = QN__LOAD(ring->report->mailed, relaxed);
#if QN_RING_LINKS > 0
    for (uint i = 0; i < QN_RING_LINKS; i++) {
        ring->links[i] = more[1 + i];
        ring->held[i] = 0;
        ring->link_capacity[i] = *qn__mail_word(more[1 + i], QN__MAIL_CAPACITY);
        ring->link_slot[i] = *qn__mail_word(more[1 + i], QN__MAIL_SLOT);
        qn__ring_begin_link(ring, i);
        ring->forwarded[i] = QN__LOAD(ring->report->forwarded[i], relaxed);
    }
#endif
#if QN_RING_MAIL > 0
    /* A launch that failed has left what it was at. */
    ring->mail_head = 0;
    if (QN_RING_GROUPS > 1 || QN__ITEM != 0) return;
    ring->mail_head = *qn__mail_word(ring->mail, QN__MAIL_HEAD);
    const uint last = ring->mail_head - 1;
    const uint index = last & (QN_RING_MAIL - 1);
    if (qn__mail_sequence(qn__mail_slot(ring->mail, index, QN_RING_IN_SLOT)) == last + 1) qn__ring_free_mail(ring, index, last + 1, false);
#endif
}
