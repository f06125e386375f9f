/* Slots in pieces (layout.h): "quern/ring.cl" includes it for rings whose queues are a bus away. A look brings the number and the first
   pieces of a message together, and an answer needs no fence before its number, as each piece has its own. So a message takes one trip
   over the bus, and its answer none that is waited for. The idea is that of protocols for small messages between GPUs, such as
   NCCL's LL, which has a flag in every 8 bytes. */

/* On a GPU plain loads behind a fence are quicker than those that the memory model has for this: of volatile or atomic ones that the host
   is party to, those of one cache line wait for each other, a trip each. The fence takes what was loaded before out of the cache. */
#if QN__RING_IS_FAR
#ifndef QN__WHOLE /* else a test has its own */
#define QN__WHOLE(piece) (*(global uint4 *)(piece))
#endif
#define QN__LOOK_ANEW()                                                                                      \
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device)
#define QN__LOOK_AT(word) (*(global uint *)&(word))
#else /* as two sides would that see each other's words one by one */
#define QN__PIECE_WORD(piece, i) ((global uint *)(piece))[i]
#define QN__LOOK_ANEW()          (void)0
#define QN__LOOK_AT(word)        QN__LOAD(word, relaxed)
#endif

static uint4 qn__piece_load(global uchar *slot, uint index, uint number) {
    global uchar *piece = slot + index * 16;
#if QN__RING_IS_FAR
    (void)number;
    return QN__WHOLE(piece);
#else
    const uint found = QN__LOAD(QN__PIECE_WORD(piece, 0), acquire);
    if (found != number) return QN__FOUR(found, 0, 0, 0);
    return QN__FOUR(found, QN__PIECE_WORD(piece, 1), QN__PIECE_WORD(piece, 2), QN__PIECE_WORD(piece, 3));
#endif
}

static void qn__piece_store(global uchar *slot, uint index, uint4 value) {
    global uchar *piece = slot + index * 16;
#if QN__RING_IS_FAR
    *(volatile global uint4 *)&QN__WHOLE(piece) = value; /* not to be put off, as no fence follows */
#else
    QN__PIECE_WORD(piece, 1) = value.y;
    QN__PIECE_WORD(piece, 2) = value.z;
    QN__PIECE_WORD(piece, 3) = value.w;
    QN__STORE(QN__PIECE_WORD(piece, 0), value.x, release);
#endif
}

/* ---- what comes ---- */

static void qn__ring_bring(qn_ring *ring, global uchar *slot, uint number) {
    QN__LOOK_ANEW();
    for (uint i = QN__RING_EAGER; i-- > 0;) ring->seen[i] = qn__piece_load(slot, i, number);
}

/* Whether a message with a payload of so many bytes has a piece. */
static bool qn__ring_has_piece(uint index, uint size) {
    return index < QN__PIECES_OF_MESSAGE || (index - QN__PIECES_OF_MESSAGE) * QN__PIECE_BYTES < size;
}

/* How far the number that was brought is ahead of `number`; 0: the message is there, as far as looks bring it. */
static int qn__ring_judge(const qn_ring *ring, uint number) {
    const int ahead = (int)(ring->seen[0].x - number);
    if (ahead != 0) return ahead;
    const uint size = ring->seen[QN__PIECES_OF_SIZE].w;
    bool is_whole = true;
    for (uint i = 1; i < QN__RING_EAGER; i++) is_whole &= ring->seen[i].x == number || !qn__ring_has_piece(i, size);
    if (!is_whole) return -1;
    if (QN__RING_ORDERS) QN__FENCE(acquire);
    return 0;
}

/* Where a piece's words are in a slot as it is handled. */
static void qn__ring_unpack(const qn_ring *ring, uint index, uint4 piece) {
    local uint *words = (local uint *)ring->block + index * 3 + (index < QN__PIECES_OF_MESSAGE ? 2 : 1);
    words[0] = piece.y;
    words[1] = piece.z;
    if (index != QN__PIECES_OF_MESSAGE - 1) words[2] = piece.w;
}

/* Of the first work-item, which has seen them. */
static void qn__ring_unpack_seen(const qn_ring *ring) {
    ((local uint *)ring->block)[0] = ring->seen[0].x;
    for (uint i = 0; i < QN__RING_EAGER; i++) qn__ring_unpack(ring, i, ring->seen[i]);
}

/* ---- what goes ---- */

/* In front of the payload; the first piece last, which the host looks at. Those that the message does not need are written now and
   then. */
static void qn__ring_write_pieces(global uchar *slot, uint number, qn_ring_message m) {
    if (QN__PIECES_ARE_ALL_DUE(number - 1, QN_RING_OUT_CAPACITY))
        for (uint i = QN__PIECES(m.size); i < QN__RING_OUT_PIECES; i++)
            qn__piece_store(slot, i, QN__FOUR(number, 0, 0, 0));
    const uint correlation = (uint)(m.correlation >> 32), clock = (uint)(m.clock >> 32);
    qn__piece_store(slot, 4, QN__FOUR(number, m.type, m.flags, 0));
    qn__piece_store(slot, 3, QN__FOUR(number, clock, m.priority, m.size));
    qn__piece_store(slot, 2, QN__FOUR(number, QN__HALVES(m.deadline_ns), (uint)m.clock));
    qn__piece_store(slot, 1, QN__FOUR(number, correlation, QN__HALVES(m.time_ns)));
    qn__piece_store(slot, 0, QN__FOUR(number, QN__HALVES(m.id), (uint)m.correlation));
}

#define QN__RING_AT_ONCE  4 /* pieces of a work-item whose loads need not wait for each other's stores */
#define QN__RING_OUT_EACH ((QN__RING_OUT_PIECES + QN__RING_ITEMS - 1) / QN__RING_ITEMS)

/* A payload, by all work-items; what is left of it behind its whole pieces by the first one. */
#define QN__RING_PUTS(space)                                                                                 \
    static QN__RING_OVERLOADABLE uint qn__ring_word(space const void *payload, uint at, uint size) {         \
        const uint begin = at * 4;                                                                           \
        uint word = 0;                                                                                       \
        if (begin + 4 <= size) return ((space const uint *)payload)[at];                                     \
        for (uint i = begin; i < size; i++) word |= (uint)((space const uchar *)payload)[i] << (i - begin) * 8; \
        return word;                                                                                         \
    }                                                                                                        \
    static QN__RING_OVERLOADABLE void qn__ring_fill(global uchar *slot, uint number, space const void *payload, \
                                                   uint size) {                                              \
        global uchar *pieces = slot + QN__PIECES_OF_MESSAGE * 16;                                            \
        space const uint *words = (space const uint *)payload;                                               \
        const uint whole = size / QN__PIECE_BYTES, next = whole * 3;                                         \
        for (uint k = 0; k < QN__RING_OUT_EACH; k++) {                                                       \
            const uint i = QN__ITEM + k * QN__RING_ITEMS;                                                    \
            if (QN__RING_OUT_EACH > QN__RING_AT_ONCE && i >= whole) break;                                   \
            if (i < whole)                                                                                   \
                qn__piece_store(pieces, i, QN__FOUR(number, words[3 * i], words[3 * i + 1], words[3 * i + 2])); \
        }                                                                                                    \
        if (size % QN__PIECE_BYTES == 0 || !qn__ring_is_first()) return;                                     \
        const uint y = qn__ring_word(payload, next, size), z = qn__ring_word(payload, next + 1, size);       \
        qn__piece_store(pieces, whole, QN__FOUR(number, y, z, qn__ring_word(payload, next + 2, size)));      \
    }
