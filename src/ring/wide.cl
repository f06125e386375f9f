/* Large messages as a whole: "quern/ring.cl" includes it for rings whose messages are in more pieces than a look by one work-item brings. All
   work-items take part, each with pieces of its own, by copies that go past the cache, without a fence, and any number at a time.

   Behind a message that was large, looks bring the next one so, which then takes one trip over the bus where it else takes two. They cost
   the bus some kilobytes each, and while lines are looked at the host's stores wait for them. So there are some of them, and then looks
   as of other rings; and the first one waits for as long as the caller has lately taken to send the next message behind an answer, unless
   that is there already. */

/* Loops that are no quicker for being unrolled where a C compiler gets them, and take it long then. */
#if defined(__OPENCL_VERSION__) && !QN__RING_IS_FAR
#define QN__AS_IT_IS __attribute__((opencl_unroll_hint(1)))
#else
#define QN__AS_IT_IS
#endif

/* What a look has brought, and what work-items tell each other of it. Pieces are not judged by those who have ordered them: all wait for all. */
typedef struct qn__ring_wide {
    uint4 pieces[QN__RING_IN_PIECES], next, command; /* next: the first piece of the message behind it; the host's words */
    uint missing; /* the last look that has not brought all of a message, as they are counted */
    uint ended;   /* the first work-item shall look further */
} qn__ring_wide;

static void qn__ring_begin_wide(qn_ring *ring, local qn__ring_wide *wide) {
    ring->wide = wide;
    ring->expects_wide = ring->is_wide = ring->is_followed = false;
    ring->pace = ring->known_sends = ring->looks = 0;
    if (QN__ITEM == 0) wide->missing = 0;
}

/* ---- what comes, by all work-items ---- */

/* Orders the pieces that a slot has now, last piece first, as the host writes them. */
static void qn__ring_order_pieces(const qn_ring *ring, global uchar *slot, uint number) {
    local qn__ring_wide *wide = ring->wide;
#if QN__RING_IS_FAR
    (void)number;
    for (uint i = QN__ITEM; i < QN__RING_IN_PIECES; i += QN__RING_ITEMS) {
        const uint last = QN__RING_IN_PIECES - 1 - i;
        qn_async_copy(&wide->pieces[last], (global const uint4 *)slot + last);
    }
#else
    QN__AS_IT_IS for (uint i = QN__ITEM; i < QN__RING_IN_PIECES; i += QN__RING_ITEMS)
        wide->pieces[i] = qn__piece_load(slot, i, number);
#endif
}

/* Of the first work-item: what a look brings beside. */
static void qn__ring_order_more(const qn_ring *ring, global uchar *next, uint number) {
    local qn__ring_wide *wide = ring->wide;
#if QN__RING_IS_FAR
    (void)number;
    qn_async_copy(&wide->next, (global const uint4 *)next);
    qn_async_copy(&wide->command, (global const uint4 *)ring->control);
#else
    wide->next = qn__piece_load(next, 0, number);
    wide->command = QN__FOUR(QN__LOAD(ring->control->command, relaxed), 0, 0, 0);
#endif
}

/* Until all work-items have what each of them has ordered. */
static void qn__ring_await_pieces(void) {
#if QN__RING_IS_FAR
    event_t all = qn_async_commit(0);
    wait_group_events(1, &all); /* with a barrier */
#else
    QN__BARRIER(CLK_LOCAL_MEM_FENCE);
#endif
}

#define QN__RING_EACH ((QN__RING_IN_PIECES + QN__RING_ITEMS - 1) / QN__RING_ITEMS)

/* Copies this work-item's pieces of a message to where the handler has it. Whether one is not there. */
static bool qn__ring_unpack_wide(const qn_ring *ring, uint number) {
    local const qn__ring_wide *wide = ring->wide;
    if (wide->pieces[0].x != number) return true;
    const uint size = wide->pieces[QN__PIECES_OF_SIZE].w;
    bool misses = false;
    if (QN__ITEM == 0) ((local uint *)ring->block)[0] = number;
    QN__AS_IT_IS for (uint k = 0; k < QN__RING_EACH; k++) {
        const uint i = QN__ITEM + k * QN__RING_ITEMS;
        if (i >= QN__RING_IN_PIECES) break;
        const uint4 piece = wide->pieces[i];
        qn__ring_unpack(ring, i, piece); /* what is none of the message is written over, or not looked at */
        misses |= piece.x != number && qn__ring_has_piece(i, size);
    }
    return misses;
}

/* Whether a message has more pieces than one work-item looks at. */
static bool qn__ring_is_large(uint size) { return size > (QN__RING_EAGER - QN__PIECES_OF_MESSAGE) * QN__PIECE_BYTES; }

/* By any work-items, beside each other. */
static void qn__ring_note_missing(const qn_ring *ring) {
    atomic_store_explicit((volatile local atomic_uint *)&ring->wide->missing, ring->looks, memory_order_relaxed,
                          memory_scope_work_group);
}

/* Whether the look that has come has brought all of a message; the same for all work-items. */
static bool qn__ring_brings(const qn_ring *ring, uint number) {
    if (qn__ring_unpack_wide(ring, number)) qn__ring_note_missing(ring);
    QN__BARRIER(CLK_LOCAL_MEM_FENCE);
    return ring->wide->missing != ring->looks;
}

/* A message of which a look has seen the first pieces: the others are there, as the host has written the first one last. */
static void qn__ring_fetch_wide(qn_ring *ring, global uchar *slot) {
    local const qn__ring_slot *copy = (local const qn__ring_slot *)ring->block;
    if (!qn__ring_is_large(copy->message.size)) return;
    const uint number = copy->sequence;
    do {
        ring->looks++;
        QN__LOOK_ANEW(); /* for GPUs before sm_80, whose copies are plain loads */
        qn__ring_order_pieces(ring, slot, number);
        qn__ring_await_pieces();
    } while (!qn__ring_brings(ring, number));
}

#if QN__RING_WIDE_LOOKS

#define QN__WIDE_LOOKS 48 /* some 100 us, before those of other rings, which are counted from there on */
/* How long the first look waits, in parts of a load of local memory: longer where the second one has found the message, else a little
   less. So it misses one message of nine, which costs that one a look. */
enum { QN__PACE_PART = 8, QN__PACE_UP = 8, QN__PACE_MOST = 1600 };

static void qn__ring_keep_pace(const qn_ring *ring, uint at) {
    local volatile uint *word = (local uint *)ring->block; /* the last message's number: no load begins before the last one has come */
    for (uint i = ring->pace / QN__PACE_PART; i > 0 && *word == at; i--) {
    }
}

static void qn__ring_adapt_pace(qn_ring *ring, uint looks) {
    if (looks == 1 && ring->pace) ring->pace--;
    if (looks == 2 && ring->pace < QN__PACE_MOST) ring->pace += QN__PACE_UP;
}

/* Whether a message is taken as soon as it comes: nothing else is to be decided. */
static bool qn__ring_is_ready(const qn_ring *ring, uint command) {
    if (command != QN__RING_RUN || command != ring->command || ring->status != QN__GROUP_RUNNING) return false;
    if (ring->failed || ring->handled == ring->budget || ring->counted || ring->leaving) return false;
    return qn__ring_known_room(ring, qn__ring_tail(ring)) >= QN_RING_SENDS;
}

/* Of the first work-item, about a look that has come. */
static void qn__ring_judge_wide(const qn_ring *ring, uint look) {
    local qn__ring_wide *wide = ring->wide;
    const bool is_ready = qn__ring_is_ready(ring, wide->command.x);
    if (!is_ready) qn__ring_note_missing(ring);
    if (!is_ready || look == QN__WIDE_LOOKS || look > ring->spins) wide->ended = 1;
}

/* Of the first work-item: the message is the work-group's. */
static void qn__ring_take_wide(qn_ring *ring, uint at) {
    qn__ring_claim_head(ring, 0, at);
    QN__STORE(ring->report->bands[0], ++ring->bands[0], relaxed);
    qn__ring_start(ring);
    if (QN__RING_ORDERS) QN__FENCE(acquire);
}

/* As qn__ring_find, by all work-items, behind a message of this launch. 0: looks were in vain, and the first work-item shall look further. */
static uint qn__ring_find_wide(qn_ring *ring) {
    local qn__ring_wide *wide = ring->wide;
    const uint at = ((local const qn__ring_slot *)ring->block)->sequence; /* the last message's, and so behind its position */
    global uchar *slot = qn__ring_in_slot(ring, qn__ring_index(0, at)), *next = qn__ring_in_slot(ring, qn__ring_index(0, at + 1));
    uint looks = 0;
    bool found = false;
    if (QN__ITEM == 0) {
        wide->ended = 0;
        qn__ring_done(ring);
        qn__ring_has_room(ring); /* is known then */
    }
    if (!ring->is_followed) qn__ring_keep_pace(ring, at);
    while (!found) {
        ring->looks++;
        if (++looks % 8 == 0) QN__LOOK_ANEW(); /* as there */
        qn__ring_order_pieces(ring, slot, at + 1);
        if (QN__ITEM == 0) qn__ring_order_more(ring, next, at + 2);
        qn__ring_await_pieces();
        if (QN__ITEM == 0) qn__ring_judge_wide(ring, looks);
        found = qn__ring_brings(ring, at + 1);
        if (!found && wide->ended) return 0;
    }
    if (!ring->is_followed) qn__ring_adapt_pace(ring, looks);
    ring->is_followed = wide->next.x == at + 2;
    ring->known_sends = QN_RING_SENDS;
    if (QN__ITEM == 0) qn__ring_take_wide(ring, at);
    if (QN__RING_ORDERS) QN__BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return 1 + qn__ring_index(0, at);
}

#else

#define qn__ring_find_wide(ring) 0

#endif
