/* Several messages at a time: "quern/ring.cl" includes it. The work-group looks at as many slots of the input as it has work-items,
   copies the messages that are there one after the other, handles them, and shows what answers them together: two trips over
   the bus for all, and one fence. Each work-item handles a message of its own (QN_RING_PER_ITEM), or the first handles all of
   them in turn. What handlers send waits in local memory until all are back, so that it goes out in the order of the messages. */

#define QN__RING_ANSWERS     (QN__RING_ITEMS * QN_RING_SENDS)
#define QN__RING_WORDS(bits) (((bits) + 31) / 32)
#define QN__RING_IN_LINES    (QN_RING_IN_SLOT / 16)
#define QN__RING_OUT_LINES   (QN_RING_OUT_SLOT / 16)
#define QN__RING_PARTS       8 /* of a batch, whose clocks work-items compare */

/* What the work-items share. */
typedef struct qn__ring_batch {
    ulong clock, parts[QN__RING_PARTS];
    uint heads[QN_RING_BANDS], tail;     /* where the ends are */
    uint band, at, count, answers;       /* the messages that are handled, and what answers them */
    uint command;                        /* changed: a look finds it out */
    uint is_wide, several;               /* there may be some behind them; there are some, which nobody has taken */
    uint lost;                           /* sends in vain */
    uint failures, code, failing, rest;  /* how many; of the first: its message, and those behind it */
    uint full[QN_RING_BANDS][QN__RING_WORDS(QN__RING_ITEMS)]; /* slots with a message, from the heads on */
    uint failed[QN__RING_WORDS(QN__RING_ITEMS)];
    uint sent[QN__RING_WORDS(QN__RING_ANSWERS)]; /* places of `staged` with an answer */
    uint order[QN__RING_ANSWERS];                /* those places, one after the other */
    uint sizes[QN__RING_ANSWERS];                /* of the payloads, twice, and 1 where it is a reply */
} qn__ring_batch;

static void qn__ring_begin_batch(qn_ring *ring, local qn__ring_batch *batch) {
    ring->batch = batch;
    ring->batch_blocks = ring->block;
    ring->staged = ring->block + QN__RING_ITEMS * QN__RING_IN_LINES;
    ring->count = ring->turn = ring->sends = 0;
    if (QN__ITEM != 0) return;
    batch->clock = ring->clock;
    batch->command = QN__RING_NEVER;
    batch->count = batch->lost = batch->failures = batch->code = batch->rest = batch->is_wide = batch->several = 0;
    for (uint i = 0; i < QN__RING_WORDS(QN__RING_ITEMS); i++) batch->failed[i] = 0;
    for (uint i = 0; i < QN__RING_WORDS(QN__RING_ANSWERS); i++) batch->sent[i] = 0;
    for (uint band = 0; band < QN_RING_BANDS; band++)
        for (uint i = 0; i < QN__RING_WORDS(QN__RING_ITEMS); i++) batch->full[band][i] = 0;
}

static void qn__ring_set_bit(local uint *words, uint at) {
    atomic_or((volatile local uint *)&words[at / 32], 1u << at % 32);
}

static uint qn__ring_has_bit(local const uint *words, uint at) { return words[at / 32] >> at % 32 & 1; }

/* How many bits are set before a place. */
static uint qn__ring_count_bits(local const uint *words, uint end) {
    uint count = 0;
    for (uint i = 0; i < end / 32; i++) count += popcount(words[i]);
    return end % 32 ? count + popcount(words[end / 32] & ((1u << end % 32) - 1)) : count;
}

/* How many are from the first on. */
static uint qn__ring_count_run(local const uint *words) {
    uint count = 0, i = 0;
    for (; i < QN__RING_WORDS(QN__RING_ITEMS) && !~words[i]; i++) count += 32;
    return i < QN__RING_WORDS(QN__RING_ITEMS) ? count + popcount(words[i] & ~(words[i] + 1)) : count;
}

/* ---- the handlers ---- */

static uint qn__ring_step(void) { return QN_RING_PER_ITEM ? QN__RING_ITEMS : 1; }

/* Whether the work-item has a message to handle, the first or the next one. Of those that one handles in turn the host is told
   which. */
static bool qn__ring_select(qn_ring *ring) {
    if (ring->turn >= ring->count || ring->failed) return false;
    ring->block = ring->batch_blocks + ring->turn * QN__RING_IN_LINES;
    ring->sends = 0;
    if (ring->turn && !QN_RING_PER_ITEM) {
        ring->report->message = qn_ring_current(ring)->id;
        QN__STORE(ring->report->taken, ring->taken - ring->count + ring->turn + 1, relaxed);
    }
    return true;
}

static void qn__ring_note_failure(qn_ring *ring, uint code) {
    local qn__ring_batch *batch = ring->batch;
    ring->failed = code;
    qn__ring_set_bit(batch->failed, ring->turn);
    if (atomic_inc((volatile local uint *)&batch->failures)) return;
    batch->code = code;
    batch->failing = ring->turn;
    batch->rest = QN_RING_PER_ITEM ? 0 : ring->count - ring->turn - 1;
}

/* The first work-item tells the host, which may end the kernel then. */
static void qn__ring_report_failure(const qn_ring *ring) {
    local const uint4 *block = ring->batch_blocks + ring->batch->failing * QN__RING_IN_LINES;
    ring->report->message = ((local const qn__ring_slot *)block)->message.id;
    QN__STORE(ring->report->failed, ring->failed, release);
}

/* A place for what the handler sends, whose last line goes out as a whole; NULL: it is too large, or one too many. */
static local uint4 *qn__ring_stage(qn_ring *ring, uint size, uint flags) {
    if (size > QN_RING_OUT_SLOT - QN__RING_SLOT_HEAD) return 0;
    if (ring->sends == QN_RING_SENDS) {
        atomic_inc((volatile local uint *)&ring->batch->lost);
        return 0;
    }
    const uint place = ring->turn * QN_RING_SENDS + ring->sends++;
    ring->batch->sizes[place] = 2 * size + (flags & QN__RING_REPLY ? 1 : 0);
    qn__ring_set_bit(ring->batch->sent, place);
    local uint4 *lines = ring->staged + place * QN__RING_OUT_LINES + QN__RING_SLOT_HEAD / 16;
    if (size % 16) lines[size / 16] = QN__FOUR(0, 0, 0, 0);
    return lines;
}

/* ---- the answers ---- */

#if QN__RING_IS_FAR
#define QN__FIRST_LINE(to, at) *(to) = QN__FOUR(at, 0, (at) + 1, 0)
#else /* others load the number beside it */
#define QN__FIRST_LINE(to, at) ((global qn__ring_slot *)(to))->message.id = (at) + 1
#endif

/* Positions of the output for all answers. */
static uint qn__ring_reserve_run(qn_ring *ring, uint *count) {
    uint at = qn__ring_tail(ring);
#if QN_RING_GROUPS == 1
    qn__ring_claim_tail(ring, at, *count); /* the messages were taken with this room */
#else
    /* Other work-groups may have taken the room that there was. */
    for (uint spins = 0; *count; at = qn__ring_tail(ring)) {
        const uint last = at + *count - 1;
        if (qn__ring_sequence(qn__ring_out_slot(ring, last)) == last) {
            if (qn__ring_claim_tail(ring, at, *count)) break;
        } else if (QN__LOAD(ring->control->command, relaxed) == QN__RING_DROP || (!QN_RING_STAYS && ++spins == 256)) {
            ring->batch->lost += *count;
            *count = 0;
        }
    }
#endif
    return at;
}

/* The latest of a part of the messages' clocks. */
static ulong qn__ring_latest(const qn_ring *ring, uint part) {
    ulong latest = 0;
    for (uint i = part; i < ring->count; i += QN__RING_PARTS) {
        const ulong clock = ((local const qn__ring_slot *)(ring->batch_blocks + i * QN__RING_IN_LINES))->message.clock;
        latest = clock > latest ? clock : latest;
    }
    return latest;
}

/* Before all that the messages' senders, and this one, have sent comes the clock of what answers them. */
static ulong qn__ring_batch_clock(local const qn__ring_batch *batch) {
    ulong clock = batch->clock;
    for (uint i = 0; i < QN__RING_PARTS; i++) clock = batch->parts[i] > clock ? batch->parts[i] : clock;
    return clock + 2;
}

/* Where the staged answers to a message lie, in order, and what goes with them; each work-item for one message. */
static void qn__ring_put_in_order(qn_ring *ring) {
    local qn__ring_batch *batch = ring->batch;
    local const uint4 *block = ring->batch_blocks + QN__ITEM * QN__RING_IN_LINES;
    local const qn_ring_message *message = &((local const qn__ring_slot *)block)->message;
    for (uint place = QN__ITEM * QN_RING_SENDS; place < (QN__ITEM + 1) * QN_RING_SENDS; place++) {
        if (!qn__ring_has_bit(batch->sent, place)) continue;
        local uint4 *lines = ring->staged + place * QN__RING_OUT_LINES;
        const uint size = batch->sizes[place] / 2, is_reply = batch->sizes[place] % 2;
        const ulong answers = is_reply ? message->id : 0;
        batch->order[qn__ring_count_bits(batch->sent, place)] = place;
        lines[1] = QN__FOUR(QN__HALVES(answers), QN__HALVES(message->time_ns));
        lines[2] = QN__FOUR(QN__HALVES(message->deadline_ns), 0, 0);
        lines[3] = QN__FOUR(message->priority, size, 0, is_reply ? QN__RING_REPLY | (message->flags & QN__RING_CALL) : 0);
    }
}

/* By lines of 16 bytes, neighbours by neighbours: a packet on the bus is as large as it can be then. The slot's number does not
   change with the first of them. */
static void qn__ring_copy_out(const qn_ring *ring, uint tail, uint count, ulong clock) {
    for (uint i = QN__ITEM; i < count * QN__RING_OUT_LINES; i += QN__RING_ITEMS) {
        const uint number = i / QN__RING_OUT_LINES, line = i % QN__RING_OUT_LINES, at = tail + number;
        local const uint4 *from = ring->staged + ring->batch->order[number] * QN__RING_OUT_LINES;
        local const qn_ring_message *message = &((local const qn__ring_slot *)from)->message;
        global uint4 *to = (global uint4 *)qn__ring_out_slot(ring, at) + line;
        if (line == 0)
            QN__FIRST_LINE(to, at);
        else if (line == 2)
            *to = QN__FOUR(QN__HALVES(message->deadline_ns), QN__HALVES(clock + number));
        else if (line * 16 < QN__RING_SLOT_HEAD + message->size)
            *to = from[line];
    }
}

/* What the host sees from now on: answers, and slots that are its own again. */
static void qn__ring_show(const qn_ring *ring, uint tail, uint sent) {
    local const qn__ring_batch *batch = ring->batch;
    for (uint at = tail + QN__ITEM; at - tail < sent; at += QN__RING_ITEMS)
        QN__STORE_FENCED(((global qn__ring_slot *)qn__ring_out_slot(ring, at))->sequence, at + 1);
    if (QN__ITEM >= ring->count || qn__ring_has_bit(batch->failed, QN__ITEM)) return;
    const uint sequence = ((local const qn__ring_slot *)(ring->batch_blocks + QN__ITEM * QN__RING_IN_LINES))->sequence;
    global qn__ring_slot *slot = (global qn__ring_slot *)qn__ring_in_slot(ring, qn__ring_index(batch->band, sequence - 1));
    QN__STORE_FENCED(slot->sequence, sequence + (QN_RING_IN_CAPACITY - 1));
}

/* From where on the work-items look; the first one says it. */
static void qn__ring_note_heads(qn_ring *ring) {
    for (uint band = 0; band < QN_RING_BANDS; band++) ring->batch->heads[band] = qn__ring_head(ring, band);
}

/* A look of each work-item's at a slot further on, of each band. */
static uint qn__ring_see_ahead(const qn_ring *ring) {
    uint seen = 0;
    for (uint band = 0; band < QN_RING_BANDS; band++) {
        const uint at = ring->batch->heads[band] + QN__ITEM;
        global qn__ring_slot *slot = (global qn__ring_slot *)qn__ring_in_slot(ring, qn__ring_index(band, at));
        if (QN__LOAD_FENCED(slot->sequence) == at + 1) seen |= 1u << band;
    }
    return seen;
}

/* The first work-item moves the head of a band, by a run of messages (which may be negative). Of a band's number that is not constant
   the ring's counts would not be kept in registers. */
static bool qn__ring_move_head(qn_ring *ring, uint band, uint at, uint run) {
    for (uint i = 0; i < QN_RING_BANDS; i++) {
        if (i != band) continue;
#if QN_RING_GROUPS == 1
        *qn__ring_head_of(ring, i) = ring->heads[i] = at + run;
#else
        if (!qn__ring_claim_run(qn__ring_head_of(ring, i), at, run)) return false;
#endif
        QN__STORE(ring->report->bands[i], ring->bands[i] += run, relaxed);
    }
    ring->taken += run;
    ring->handled += run;
    return true;
}

/* The first work-item counts what the host sees now. */
static void qn__ring_count_done(qn_ring *ring, uint sent, ulong clock) {
    local qn__ring_batch *batch = ring->batch;
    uint failed = 0;
    for (uint i = 0; i < QN__RING_WORDS(QN__RING_ITEMS); i++) failed += popcount(batch->failed[i]);
    batch->clock = ring->clock = clock + sent;
    ring->sent += sent;
    if (sent) QN__STORE(ring->report->sent, ring->sent, relaxed);
    if (batch->lost) QN__STORE(ring->report->lost, ring->lost += batch->lost, relaxed);
    batch->lost = 0;
    QN__STORE(ring->report->done, ring->taken - failed, relaxed);
    batch->count = 0;
}

/* What the handlers have left. Where messages are behind, they are looked at beside it: bits of the bands that have one for this
   work-item. */
static uint qn__ring_answer(qn_ring *ring) {
    local qn__ring_batch *batch = ring->batch;
    QN__BARRIER(CLK_LOCAL_MEM_FENCE);
    ring->failed = batch->code;
    ring->count -= batch->rest;
    uint sent = qn__ring_count_bits(batch->sent, QN__RING_ANSWERS);
    qn__ring_put_in_order(ring);
    for (uint part = QN__ITEM; part < QN__RING_PARTS; part += QN__RING_ITEMS) batch->parts[part] = qn__ring_latest(ring, part);
    if (QN__ITEM == 0) {
        ring->busy = false;
        if (batch->rest) qn__ring_move_head(ring, batch->band, batch->at + ring->count + batch->rest, 0u - batch->rest);
        batch->tail = qn__ring_reserve_run(ring, &sent);
        batch->answers = sent;
        qn__ring_note_heads(ring);
    }
    QN__BARRIER(CLK_LOCAL_MEM_FENCE);
    sent = batch->answers;
    const uint tail = batch->tail;
    const ulong clock = qn__ring_batch_clock(batch);
    uint command = QN__RING_NEVER, seen = 0;
    if (batch->is_wide) {
        seen = qn__ring_see_ahead(ring);
        if (QN__ITEM == 0) command = QN__LOAD(ring->control->command, relaxed);
    }
    qn__ring_copy_out(ring, tail, sent, clock);
    QN__BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    QN__FENCE(acq_rel);
    qn__ring_show(ring, tail, sent);
    for (uint i = QN__ITEM; i < QN__RING_WORDS(QN__RING_ANSWERS); i += QN__RING_ITEMS) batch->sent[i] = 0;
    if (QN__ITEM == 0) {
        batch->command = command;
        qn__ring_count_done(ring, sent, clock);
    }
    return seen;
}

/* ---- the messages ---- */

/* The first work-item: takes the run of the highest band that was seen, as far as there is room, and others have not been faster. */
static void qn__ring_take_run(qn_ring *ring) {
    local qn__ring_batch *batch = ring->batch;
    uint band = QN_RING_BANDS - 1;
    while (band > 0 && !(batch->full[band][0] & 1)) band--;
    const uint seen = qn__ring_count_run(batch->full[band]), first = batch->heads[band];
    if (!seen || batch->command != ring->command || ring->failed) return;
    const uint room = qn__ring_look_for_room(ring, QN__RING_ANSWERS) / QN_RING_SENDS;
    const uint budget = ring->budget == QN__RING_FOREVER ? seen : ring->budget - ring->handled;
    uint at = first, count;
    do {
#if QN_RING_GROUPS > 1
        at = qn__ring_head(ring, band);
#endif
        count = at - first < seen ? seen - (at - first) : 0;
        count = count < room ? count : room;
        count = count < budget ? count : budget;
        if (!count) return;
    } while (!qn__ring_move_head(ring, band, at, count));
    /* Which counts one. */
    ring->taken--;
    ring->handled--;
    qn__ring_start(ring);
    batch->band = band;
    batch->at = at;
    batch->count = count;
    batch->is_wide = 1;
}

/* The first work-item: waits for a message, which it takes alone; where it sees another behind it it takes none, as all of them shall
   look. Of lower bands it sees one alone, and those behind it are looked at beside its answer. */
static void qn__ring_take_first(qn_ring *ring) {
    local qn__ring_batch *batch = ring->batch;
    uint found = 0, spins = 0;
    if (qn__ring_go_on(ring)) {
        while (!found && qn__ring_look_near(ring, spins, &found)) spins++;
        batch->several = found == QN__RING_SEVERAL;
        if (found && !batch->several) qn__ring_start(ring);
    }
    batch->is_wide = QN_RING_BANDS > 1 && !spins;
    if (batch->several) {
        qn__ring_note_heads(ring);
        batch->command = ring->command;
    } else if (found) {
        batch->band = (found - 1) / QN_RING_IN_CAPACITY;
        batch->at = (found - 1) % QN_RING_IN_CAPACITY;
        batch->count = 1;
    }
}

/* Takes messages, of which the work-item has seen some. 0: the kernel is to end. */
static uint qn__ring_take_batch(qn_ring *ring, uint seen) {
    local qn__ring_batch *batch = ring->batch;
    for (;;) {
        for (uint band = 0; band < QN_RING_BANDS; band++)
            if (seen >> band & 1) qn__ring_set_bit(batch->full[band], QN__ITEM);
        QN__BARRIER(CLK_LOCAL_MEM_FENCE);
        if (QN__ITEM == 0) {
            batch->several = 0;
            if (ring->failed) qn__ring_report_failure(ring);
            qn__ring_take_run(ring);
            if (!batch->count) qn__ring_take_first(ring);
            for (uint band = 0; band < QN_RING_BANDS; band++)
                for (uint i = 0; i < QN__RING_WORDS(QN__RING_ITEMS); i++) batch->full[band][i] = 0;
        }
        QN__BARRIER(CLK_LOCAL_MEM_FENCE);
        if (!batch->several) return batch->count;
        seen = qn__ring_see_ahead(ring);
        QN__FENCE(acquire);
    }
}

/* By all work-items, neighbours by neighbours; of messages around the queue's end in two pieces. */
static void qn__ring_copy_in(qn_ring *ring) {
    local const qn__ring_batch *batch = ring->batch;
    const uint first = batch->at & (QN_RING_IN_CAPACITY - 1), last = QN_RING_IN_CAPACITY - first;
    const uint before = ring->count < last ? ring->count : last;
    global const uint4 *from = (global const uint4 *)qn__ring_in_slot(ring, qn__ring_index(batch->band, 0));
    event_t copies = async_work_group_copy(ring->batch_blocks, from + first * QN__RING_IN_LINES, before * QN__RING_IN_LINES, 0);
    if (ring->count > before)
        copies = async_work_group_copy(ring->batch_blocks + before * QN__RING_IN_LINES, from,
                                       (ring->count - before) * QN__RING_IN_LINES, copies);
    wait_group_events(1, &copies);
}

static bool qn_ring_receive(qn_ring *ring) {
    uint seen = 0;
    if (ring->count) seen = qn__ring_answer(ring);
    ring->count = qn__ring_take_batch(ring, seen);
    if (!ring->count) {
        if (QN__ITEM == 0) ring->report->clock = ring->clock;
        if (QN__ITEM == 0) QN__STORE(ring->report->status, QN__GROUP_PARKED, release);
        return false;
    }
    qn__ring_copy_in(ring);
    if (QN__ITEM == 0) {
        ring->report->message = ((local const qn__ring_slot *)ring->batch_blocks)->message.id;
        QN__STORE(ring->report->taken, ring->taken, relaxed);
    }
    ring->turn = QN_RING_PER_ITEM || QN__ITEM == 0 ? QN__ITEM : QN__RING_ITEMS;
    return true;
}
