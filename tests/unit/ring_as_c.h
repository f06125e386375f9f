/* The kernel's side of a ring as C, for tests that run it beside the host's: small queues in memory of the test's own. The includer
   has made the atomic functions what it wants, with any scope behind their orders, and says by AS_C_GROUPS how many work-groups there
   are, by AS_C_REVOKES whether the host drops the oldest, by AS_C_CAPACITY how many messages a queue has, and by AS_C_BATCH how many work-items
   of a group take as many messages at a time (0: one takes one), which AS_C_PER_ITEM handles side by side. Of several each is a thread; the includer has their barrier then. */
#ifndef RING_AS_C_H
#define RING_AS_C_H

/* Messages of other rings that there is room for, where a test has them; work-items of a group that handle one together. */
#ifndef AS_C_ITEMS
#define AS_C_ITEMS 1
#endif
#ifndef AS_C_MAIL
#define AS_C_MAIL 0
#else
#define QN__RING_MORE_PARAMETERS
#define QN__RING_MORE qn__mail, qn__link0
#endif

/* Pieces that slots are in, where they are: 7 for a message of 16 bytes, and more; as many as one work-item looks at. */
#ifndef AS_C_PIECES
#define AS_C_PIECES 0
#endif
#ifndef AS_C_FEW_PIECES
#define AS_C_FEW_PIECES 24
#endif
#define STRIDE (AS_C_PIECES ? 16 * AS_C_PIECES : 80)

#include "../../src/ring/queue.c"

#define QN_RING_IN_SLOT      80
#define QN_RING_OUT_SLOT     80
#define QN__RING_IN_PIECES   AS_C_PIECES
#define QN__RING_OUT_PIECES  AS_C_PIECES
#define QN__RING_FEW_PIECES  AS_C_FEW_PIECES
#define QN__RING_IN_STRIDE   STRIDE
#define QN__RING_OUT_STRIDE  STRIDE
#define QN_RING_IN_CAPACITY  AS_C_CAPACITY
#define QN_RING_OUT_CAPACITY (2 * AS_C_CAPACITY)
#define QN__RING_ITEMS       (AS_C_BATCH ? AS_C_BATCH : AS_C_ITEMS)
#define QN__RING_BATCHES     AS_C_BATCH
#define QN_RING_PER_ITEM     AS_C_PER_ITEM
#ifdef QN__WHOLE
#define QN__RING_IS_FAR 1
#else
#define QN__RING_IS_FAR 0
#endif
#define QN__RING_HAS_STATE 0
#define QN_RING_BANDS      1
#define QN_RING_GROUPS     AS_C_GROUPS
#define QN_RING_SENDS      1
#define QN_RING_STAYS      AS_C_STAYS
#define QN_RING_MAIL       AS_C_MAIL
#define QN_RING_LINKS      (AS_C_MAIL ? 1 : 0)
#define QN_RING_BLOCKS     0
#define QN_RING_REVOKES    AS_C_REVOKES

typedef union uint4 {
    uint32_t words[4];
    struct {
        uint32_t x, y, z, w;
    };
} uint4;
#if !AS_C_PIECES
static uint4 vload4(size_t at, const void *from) {
    uint4 four;
    memcpy(&four, (const uint4 *)from + at, sizeof four);
    return four;
}
#endif
#if AS_C_BATCH
#define popcount(word)        ((uint32_t)__builtin_popcount(word))
#define atomic_or(word, bits) __atomic_fetch_or(word, bits, __ATOMIC_RELAXED)
#define atomic_inc(word)      __atomic_fetch_add(word, 1, __ATOMIC_RELAXED)
typedef int event_t;
static event_t async_work_group_copy(uint4 *to, const uint4 *from, size_t count, event_t event) {
    for (size_t i = get_local_id(0); i < count; i += AS_C_BATCH) to[i] = from[i];
    return event;
}
static void wait_group_events(int count, event_t *events) {
    (void)count, (void)events;
    barrier(0);
}
#endif
#define qn_ring         model_ring
#define qn_ring_receive model_receive
#define qn_ring_send    model_send
#define qn__ring_count  model_count
#define qn__ring_look   model_look
#define global
#define local
#define uint                         uint32_t
#define uchar                        unsigned char
#define ulong                        uint64_t
#define memory_scope_all_svm_devices 0
#define memory_scope_device          0
#define memory_scope_work_group      0
#include "../../src/ring/ring.cl"

static qn__ring_queue in, out;
static union {
    qn__ring_control control;
    unsigned char bytes[sizeof(qn__ring_control) + AS_C_GROUPS * sizeof(qn__ring_group)];
} shared;
static uint32_t in_ends[QN__RING_END_LINES * QN__RING_LINE], out_ends[QN__RING_END_LINES * QN__RING_LINE];
static _Alignas(16) unsigned char in_slots[QN_RING_IN_CAPACITY * STRIDE],
    out_slots[QN_RING_OUT_CAPACITY * STRIDE];

#if !AS_C_MAIL

/* Answers each message with what it has. */
static void run_kernel(void) {
    qn__ring_control *qn__control = &shared.control;
    unsigned char *qn__in = in_slots, *qn__out = out_slots;
    uint32_t *qn__in_ends = in_ends, *qn__out_ends = out_ends;
#if AS_C_BATCH
    static uint4 blocks[AS_C_GROUPS][QN__RING_BLOCK_LINES];
    static qn__ring_batch batches[AS_C_GROUPS];
    qn_ring ring;
    qn__ring_begin(&ring, qn__control, qn__in, qn__in_ends, qn__out, qn__out_ends, blocks[get_group_id(0)]);
    qn__ring_begin_batch(&ring, &batches[get_group_id(0)]);
    while (qn_ring_receive(&ring))
        for (; qn__ring_select(&ring); ring.turn += qn__ring_step())
            qn_ring_reply(&ring, qn_ring_payload(&ring), 16);
#elif AS_C_ITEMS > 1
    /* The message is all work-items' until the last of them is back. */
    static uint4 blocks[AS_C_GROUPS][QN__RING_BLOCK_LINES];
    qn_ring ring;
    qn__ring_begin(&ring, qn__control, qn__in, qn__in_ends, qn__out, qn__out_ends, blocks[get_group_id(0)]);
#if QN__RING_WIDE
    static qn__ring_wide qn__wides[AS_C_GROUPS];
    qn__ring_begin_wide(&ring, &qn__wides[get_group_id(0)]);
#endif
    while (qn_ring_receive(&ring)) {
        const uint32_t *payload = qn_ring_payload(&ring), before = *payload;
        qn_ring_reply(&ring, payload, 16);
        if (get_local_id(0)) sched_yield();
        assert_int_equal(*payload, before);
    }
#else
    QN_RING(ring);
    while (qn_ring_receive(&ring)) qn_ring_reply(&ring, qn_ring_payload(&ring), 16);
#endif
}

#endif

/* All that has a number in the slot of a position. */
static void number_slot(unsigned char *slots, uint32_t capacity, uint32_t at) {
    for (uint32_t i = 0; i < (AS_C_PIECES ? AS_C_PIECES : 1); i++)
        *(uint32_t *)(void *)(slots + (size_t)STRIDE * (at % capacity) + 16 * i) = at;
}

/* Positions of the input begin at `first`, those of the output behind it, or where they are negative as numbers with a sign. */
static void set_up_queues(uint32_t first) {
    const uint32_t first_out = first ? first + 1 : 0x80000001u;
    memset(&shared, 0, sizeof shared);
    memset(in_ends, 0, sizeof in_ends);
    memset(out_ends, 0, sizeof out_ends);
    memset(in_slots, 0, sizeof in_slots);
    static _Alignas(16) unsigned char gathered[2][QN_RING_IN_SLOT];
    in = (qn__ring_queue){.slots = in_slots, .capacity = QN_RING_IN_CAPACITY};
    out = (qn__ring_queue){.slots = out_slots, .capacity = QN_RING_OUT_CAPACITY};
    in.bands = out.bands = 1;
    in.slot_size = out.slot_size = QN_RING_IN_SLOT;
    in.stride = out.stride = STRIDE;
    in.pieces = out.pieces = AS_C_PIECES;
    in.gathered = (qn__ring_slot *)(void *)gathered[0];
    out.gathered = (qn__ring_slot *)(void *)gathered[1];
    for (uint32_t i = 0; i < QN_RING_IN_CAPACITY; i++) number_slot(in_slots, QN_RING_IN_CAPACITY, first + i);
    for (uint32_t i = 0; i < QN_RING_OUT_CAPACITY; i++)
        number_slot(out_slots, QN_RING_OUT_CAPACITY, first_out + i);
    *(uint32_t *)&out.at[0] = first_out;
    out_ends[QN__RING_TAILS * QN__RING_LINE] = first_out;
    in.in_order = AS_C_GROUPS == 1 && !AS_C_BATCH && !AS_C_REVOKES;
    *(uint32_t *)&in.at[0] = *(uint32_t *)&in.room[0] = first;
    in_ends[0] = first;
    *(uint32_t *)&shared.control.revoked[0] = first;
    *(uint32_t *)&shared.control.command = QN__RING_RUN;
    shared.control.budget = QN__RING_FOREVER;
}

#if !AS_C_MAIL

/* Whether a launch that finds its output full believes that it has room. */
static bool full_output_has_room(void) {
    qn__ring_control *qn__control = &shared.control;
    unsigned char *qn__in = in_slots, *qn__out = out_slots;
    uint32_t *qn__in_ends = in_ends, *qn__out_ends = out_ends;
    set_up_queues(0);
    for (uint32_t i = 0; i < QN_RING_OUT_CAPACITY; i++) ++*(uint32_t *)(void *)(out_slots + STRIDE * i);
    out_ends[QN__RING_TAILS * QN__RING_LINE] += QN_RING_OUT_CAPACITY;
    QN_RING(ring);
    return qn__ring_has_room(&ring);
}

#endif

#endif
