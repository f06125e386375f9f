/* Large messages as a whole: "quern/ring.cl" includes it for rings whose messages are in more pieces than a look by one work-item brings. All
   work-items take part, each with pieces of its own, by copies that go past the cache, without a fence, and any number at a time.

   Behind a message that was large, looks bring the next one so, which then takes one trip over the bus where it else takes two. They cost
   the bus some kilobytes each: there are some of them, and then looks as of other rings. */

/* Loops that are no quicker for being unrolled, and take C compilers long then. */
#define QN__AS_IT_IS __attribute__((opencl_unroll_hint(1)))

/* The pieces that are there, the host's command, and what work-items tell each other. */
typedef struct qn__ring_wide {
    uint4 pieces[QN__RING_IN_PIECES], command;
    uint goes_on, found, at, missing;
} qn__ring_wide;

static void qn__ring_bring_wide(const qn_ring *ring, global uchar *slot, uint number) {
    local qn__ring_wide *wide = ring->wide;
#if QN__RING_IS_FAR
    (void)number;
    for (uint i = QN__ITEM; i < QN__RING_IN_PIECES; i += QN__RING_ITEMS)
        qn_async_copy(&wide->pieces[i], (global const uint4 *)slot + i);
    if (QN__ITEM == 0) qn_async_copy(&wide->command, (global const uint4 *)ring->control);
    event_t all = qn_async_commit(0);
    wait_group_events(1, &all);
#else
    QN__AS_IT_IS for (uint i = QN__ITEM; i < QN__RING_IN_PIECES; i += QN__RING_ITEMS)
        wide->pieces[i] = qn__piece_load(slot, i, number);
    if (QN__ITEM == 0) wide->command = QN__FOUR(QN__LOAD(ring->control->command, relaxed), 0, 0, 0);
    QN__BARRIER(CLK_LOCAL_MEM_FENCE);
#endif
}

static void qn__ring_unpack_wide(const qn_ring *ring) {
    local const qn__ring_wide *wide = ring->wide;
    if (QN__ITEM == 0) ((local uint *)ring->block)[0] = wide->pieces[0].x;
    QN__AS_IT_IS for (uint i = QN__ITEM; i < QN__RING_IN_PIECES; i += QN__RING_ITEMS) qn__ring_unpack(ring, i, wide->pieces[i]);
}

/* A message of which a look has seen the first pieces: the others are there, as the host has written the first one last. */
static void qn__ring_fetch_wide(const qn_ring *ring, global uchar *slot) {
    local const qn__ring_slot *copy = (local const qn__ring_slot *)ring->block;
    if (QN__PIECES(copy->message.size) <= QN__RING_EAGER) return;
    QN__LOOK_ANEW(); /* for GPUs before sm_80, whose copies are plain loads */
    qn__ring_bring_wide(ring, slot, copy->sequence);
    qn__ring_unpack_wide(ring);
}

#define QN__WIDE_LOOKS 64 /* some 100 us, before those of other rings, which are counted from there on */

/* Whether there is a message of which a piece of this work-item's is missing. */
static bool qn__ring_misses_wide(const qn_ring *ring, uint number) {
    local const qn__ring_wide *wide = ring->wide;
    if (wide->pieces[0].x != number) return false;
    const uint size = wide->pieces[QN__PIECES_OF_SIZE].w;
    bool misses = false;
    QN__AS_IT_IS for (uint i = QN__ITEM; i < QN__RING_IN_PIECES; i += QN__RING_ITEMS)
        misses |= qn__ring_has_piece(i, size) && wide->pieces[i].x != number;
    return misses;
}

/* As qn__ring_find, by all work-items, of which the first decides. *goes_on: that one shall look further, as these looks were in vain. */
static uint qn__ring_find_wide(qn_ring *ring, bool *goes_on) {
    local qn__ring_wide *wide = ring->wide;
    uint found = 0;
    bool more = QN__ITEM == 0 && qn__ring_go_on(ring);
    for (uint spins = 0;; spins++) {
        if (QN__ITEM == 0) {
            wide->goes_on = more && spins < QN__WIDE_LOOKS;
            wide->found = found;
            wide->at = qn__ring_head(ring, 0);
            wide->missing = 0;
        }
        QN__BARRIER(CLK_LOCAL_MEM_FENCE);
        if (!wide->goes_on) break;
        const uint at = wide->at;
        if (spins % 8 == 7) QN__LOOK_ANEW(); /* as there */
        qn__ring_bring_wide(ring, qn__ring_in_slot(ring, qn__ring_index(0, at)), at + 1);
        if (qn__ring_misses_wide(ring, at + 1)) wide->missing = 1;
        QN__BARRIER(CLK_LOCAL_MEM_FENCE);
        if (QN__ITEM != 0) continue;
        qn__ring_sight sight;
        sight.at = at;
        sight.ahead = wide->missing ? -1 : (int)(wide->pieces[0].x - (at + 1));
        if (sight.ahead == 0 && QN__RING_ORDERS) QN__FENCE(acquire);
        more = qn__ring_decide(ring, spins, &found, wide->command.x, false, sight);
    }
    if (found) qn__ring_start(ring);
    *goes_on = more;
    if (wide->found) qn__ring_unpack_wide(ring);
    return wide->found;
}
