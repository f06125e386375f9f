/* Kernels' side of a ring, which the handlers and loops of rings include as "quern/ring.cl". docs/language.md, Rings, tells how to
   use it; docs/design.md, Rings, how it works. The library defines QN_RING_*, the sizes of the ring that the program is for. */
#pragma once
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
#ifdef __OPENCL_VERSION__
#define QN__FOUR(...) ((uint4)(__VA_ARGS__))
#else
#define QN__FOUR(...) ((uint4){{__VA_ARGS__}})
#endif
/* Before, or behind, a fence. */
#ifdef __OPENCL_VERSION__
#define QN__LOAD_FENCED(word)         QN__LOAD(word, relaxed)
#define QN__STORE_FENCED(word, value) QN__STORE(word, value, relaxed)
#define QN__FENCED_RELEASE            memory_order_relaxed
#else /* ThreadSanitizer knows no fences */
#define QN__LOAD_FENCED(word)         QN__LOAD(word, acquire)
#define QN__STORE_FENCED(word, value) QN__STORE(word, value, release)
#define QN__FENCED_RELEASE            memory_order_release
#endif
#define QN__RING_PIECES  (QN__RING_IN_PIECES > 0)
/* Pieces that a look by one work-item brings, whether there is a message or not. Larger messages all bring as a whole, and look for so
   where they are of one kind, for one work-group. */
#define QN__RING_EAGER      (QN__RING_IN_PIECES < QN__RING_FEW_PIECES ? QN__RING_IN_PIECES : QN__RING_FEW_PIECES)
#define QN__RING_WIDE       (QN__RING_IN_PIECES > QN__RING_FEW_PIECES)
#define QN__RING_WIDE_LOOKS (QN__RING_WIDE && QN_RING_GROUPS == 1 && QN_RING_BANDS == 1)
/* Whether what handlers write besides messages is to be seen by who gets their answers, or what follows these: the host, or another
   work-group, with which they may share variables of the program. */
#define QN__RING_ORDERS (!QN__RING_PIECES || QN__RING_HAS_STATE || QN_RING_BLOCKS > 0 || QN_RING_GROUPS > 1)
#define QN__HALVES(word) (uint)(word), (uint)((word) >> 32)
#define QN__RING_MAILED  0x80000000u /* of what a look has found: it lies in the mail */
#define QN__RING_SEVERAL 0xffffffffu /* several messages, which are not taken */
#define QN__FENCE(order)                                                                                     \
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_##order, memory_scope_all_svm_devices)

/* A single work-item meets nobody; compilers take long for barriers in branches. */
#if QN__RING_ITEMS == 1
#define QN__ITEM           0
#define QN__BARRIER(flags) (void)0
#else
#define QN__ITEM           get_local_id(0)
#define QN__BARRIER(flags) barrier(flags)
#endif

/* A work-group's hold of its ring. All work-items have one; what counts and looks is the first work-item's. What only this work-group
   writes, and what does not change in a launch, is kept here: a load of shared memory goes over the bus on a GPU. */
typedef struct qn_ring {
    global qn__ring_control *control;
    global qn__ring_group *report;
    global uchar *in, *out;
    global uint *in_ends, *out_ends; /* words, a line each */
    local uint4 *block;              /* the message that is handled, as its slot */
    uint epoch, status, command;
    uint spins, budget;
    uint taken, handled, sent, lost; /* in all; handled: in this launch */
    uint passed, beats, failed, bands[QN_RING_BANDS];
    uint room; /* positions of the output before this one are known to be free */
    uint slot; /* 1 + the index of the handled message's; 0: it is free already */
#if QN_RING_GROUPS == 1
    uint heads[QN_RING_BANDS], tail; /* where the ends are, which only this work-group moves */
#endif
    bool busy, counted, leaving;
    bool released; /* a release fence has come after the slot of the handled message was read */
    ulong clock; /* of this work-group: later than all that it has seen */
#if QN__RING_PIECES
    uint4 seen[QN__RING_EAGER]; /* pieces of the message that was looked for */
#endif
#if QN__RING_WIDE
    local struct qn__ring_wide *wide;
    bool expects_wide, is_wide; /* the message that comes may be large; that which is handled was brought by looks */
    bool is_followed;           /* another one waits behind it */
    uint pace;                  /* how long looks wait for the next one */
    uint known_sends;           /* answers to the handled one that there is room for */
    uint looks;                 /* in all; the same for all work-items, as is all of this */
#endif
#if QN__RING_BATCHES
    local struct qn__ring_batch *batch;
    local uint4 *batch_blocks, *staged; /* copies of the messages; what answers them */
    uint count, turn, sends;            /* messages of the batch; the one that is handled; what its handler has sent */
#endif
#if QN_RING_MAIL + QN_RING_LINKS > 0
    global uchar *mail;
    bool mail_first; /* takes turns with the host's messages */
    bool mail_alone;
    bool released_near;           /* as `released`, for this device alone */
    uint near_looks, near_turns;  /* looks at the mail alone that are left; messages of it since a look at the host's */
    uint mailed, mail_head;
#endif
#if QN_RING_BLOCKS > 0
    global uchar *blocks;
#endif
#if QN_RING_LINKS > 0
    global uchar *links[QN_RING_LINKS]; /* others' mail */
    uint link_capacity[QN_RING_LINKS], link_slot[QN_RING_LINKS];
    uint held[QN_RING_LINKS]; /* credits for what the handler may send there */
    bool link_alone[QN_RING_LINKS];
    uint link_tail[QN_RING_LINKS], link_room[QN_RING_LINKS]; /* where nobody else sends; positions before are known to be free */
    uint forwarded[QN_RING_LINKS];
#endif
} qn_ring;

/* With other rings the library defines QN__RING_MORE_PARAMETERS, mail and links, and QN__RING_MORE, their names. */
#if QN_RING_MAIL + QN_RING_LINKS > 0
#define QN__RING_BEGIN_MORE(name)                                                                            \
    global uchar *qn__more[] = {QN__RING_MORE};                                                              \
    qn__ring_begin_more(&name, qn__more)
#else
#define QN__RING_MORE_PARAMETERS
#define QN__RING_BEGIN_MORE(name) (void)0
#endif

#if QN_RING_BLOCKS > 0
#define QN__RING_BLOCKS_PARAMETER     , global uchar *qn__blocks
#define QN__RING_BEGIN_BLOCKS(name) (name).blocks = qn__blocks
#else
#define QN__RING_BLOCKS_PARAMETER
#define QN__RING_BEGIN_BLOCKS(name) (void)0
#endif

/* Where work-items share words, behind a message, of which the last piece may have more than the slot. */
#define QN__RING_SHARED (QN_RING_IN_SLOT / 16 + QN__RING_PIECES)

/* Large messages by all work-items. */
#if QN__RING_WIDE
#define qn__ring_expects_wide(ring) ((ring)->expects_wide)
#define QN__RING_BEGIN_WIDE(name)                                                                            \
    local qn__ring_wide qn__wide;                                                                            \
    qn__ring_begin_wide(&name, &qn__wide)
#else
#define qn__ring_expects_wide(ring) false
#define QN__RING_BEGIN_WIDE(name)   (void)0
#endif

/* Messages, and what answers them where several are handled at a time; else a message and a word. */
#if QN__RING_BATCHES
#define QN__RING_BLOCK_LINES        (QN__RING_ITEMS * (QN_RING_IN_SLOT + QN_RING_SENDS * QN_RING_OUT_SLOT) / 16)
#define QN__RING_BEGIN_BATCH(name)                                                                           \
    local qn__ring_batch qn__batch;                                                                          \
    qn__ring_begin_batch(&name, &qn__batch)
#else
#define QN__RING_BLOCK_LINES       (QN__RING_SHARED + 1)
#define QN__RING_BEGIN_BATCH(name) (void)0
#endif

#define QN_RING_PARAMETERS                                                                                   \
    global qn__ring_control *qn__control, global uchar *qn__in, global uint *qn__in_ends,                    \
        global uchar *qn__out, global uint *qn__out_ends QN__RING_MORE_PARAMETERS QN__RING_BLOCKS_PARAMETER

/* Declares `name`, a ring; the first thing in a kernel of QN_RING_PARAMETERS. */
#define QN_RING(name)                                                                                        \
    local uint4 qn__block[QN__RING_BLOCK_LINES];                                                             \
    qn_ring name;                                                                                            \
    qn__ring_begin(&name, qn__control, qn__in, qn__in_ends, qn__out, qn__out_ends, qn__block);               \
    QN__RING_BEGIN_MORE(name);                                                                               \
    QN__RING_BEGIN_BLOCKS(name);                                                                             \
    QN__RING_BEGIN_WIDE(name);                                                                               \
    QN__RING_BEGIN_BATCH(name)

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
    ring->command = QN__RING_NEVER;
    ring->spins = control->spins;
    ring->budget = control->budget;
    ring->taken = QN__LOAD(ring->report->taken, relaxed);
    ring->handled = 0;
    ring->sent = QN__LOAD(ring->report->sent, relaxed);
    ring->lost = QN__LOAD(ring->report->lost, relaxed);
    ring->passed = QN__LOAD(ring->report->passed, relaxed);
    ring->beats = QN__LOAD(ring->report->heartbeat, relaxed);
    ring->failed = QN__LOAD(ring->report->failed, relaxed);
    for (uint band = 0; band < QN_RING_BANDS; band++)
        ring->bands[band] = QN__LOAD(ring->report->bands[band], relaxed);
    /* Nothing is known: a position that wraps is no start. */
    ring->room = QN__LOAD(out_ends[QN__RING_TAILS * QN__RING_LINE], relaxed);
    ring->slot = 0;
#if QN_RING_GROUPS == 1 /* else others move them */
    for (uint band = 0; band < QN_RING_BANDS; band++)
        ring->heads[band] = QN__ITEM == 0 ? in_ends[(QN__RING_HEADS + band) * QN__RING_LINE] : 0;
    ring->tail = ring->room;
#endif
    ring->busy = ring->counted = ring->leaving = ring->released = false;
    ring->clock = QN__ITEM == 0 ? ring->report->clock : 0;
}

/* ---- the queues ---- */

static global uchar *qn__ring_in_slot(const qn_ring *ring, uint index) {
    return ring->in + (ulong)index * QN__RING_IN_STRIDE;
}

static global uchar *qn__ring_out_slot(const qn_ring *ring, uint at) {
    return ring->out + (ulong)(at & (QN_RING_OUT_CAPACITY - 1)) * QN__RING_OUT_STRIDE;
}

static uint qn__ring_sequence(global uchar *slot) {
    return QN__LOAD(((global qn__ring_slot *)slot)->sequence, acquire);
}

static global uint *qn__ring_head_of(const qn_ring *ring, uint band) {
    return ring->in_ends + (QN__RING_HEADS + band) * QN__RING_LINE;
}

static global uint *qn__ring_tail_of(const qn_ring *ring) {
    return ring->out_ends + QN__RING_TAILS * QN__RING_LINE;
}

#if QN_RING_GROUPS == 1

#define qn__ring_head(ring, band) ((ring)->heads[band])
#define qn__ring_tail(ring)       ((ring)->tail)

static bool qn__ring_claim_head(qn_ring *ring, uint band, uint at) {
    *qn__ring_head_of(ring, band) = ring->heads[band] = at + 1;
    return true;
}

static bool qn__ring_claim_tail(qn_ring *ring, uint at, uint run) {
    *qn__ring_tail_of(ring) = ring->tail = at + run;
    return true;
}

#else

/* Positions that several work-groups share. */
static uint qn__ring_count(global uint *count) {
    return atomic_load_explicit((volatile global atomic_uint *)count, memory_order_relaxed, memory_scope_device);
}

/* The next positions, if `at` still is the first. */
static bool qn__ring_claim_run(global uint *count, uint at, uint run) {
    return atomic_compare_exchange_strong_explicit((volatile global atomic_uint *)count, &at, at + run,
                                                   memory_order_relaxed, memory_order_relaxed,
                                                   memory_scope_device);
}

#define qn__ring_head(ring, band)           qn__ring_count(qn__ring_head_of(ring, band))
#define qn__ring_tail(ring)                 qn__ring_count(qn__ring_tail_of(ring))
#define qn__ring_claim_head(ring, band, at) qn__ring_claim_run(qn__ring_head_of(ring, band), at, 1)
#define qn__ring_claim_tail(ring, at, run)  qn__ring_claim_run(qn__ring_tail_of(ring), at, run)

#endif

/* A look at where a queue's next message is to be: at which position, and how far the slot's number is ahead of that of a message
   there; 0: there is one. */
typedef struct qn__ring_sight {
    uint at;
    int ahead;
} qn__ring_sight;

#if QN__RING_PIECES
#ifdef __OPENCL_VERSION__
#include "ring_pieces.cl"
#else
#include "pieces.cl"
#endif
#endif

static uint qn__ring_index(uint band, uint at) {
    return band * QN_RING_IN_CAPACITY + (at & (QN_RING_IN_CAPACITY - 1));
}

/* A look at a band's first message, and where `command` is not NULL at what the host commands. */
static qn__ring_sight qn__ring_see(qn_ring *ring, uint band, uint *command) {
    qn__ring_sight sight;
    sight.at = qn__ring_head(ring, band);
    global uchar *slot = qn__ring_in_slot(ring, qn__ring_index(band, sight.at));
#if QN__RING_PIECES
    qn__ring_bring(ring, slot, sight.at + 1);
    if (command) *command = QN__LOOK_AT(ring->control->command); /* on its way beside them */
    sight.ahead = qn__ring_judge(ring, sight.at + 1);
#else
    if (command) *command = QN__LOAD(ring->control->command, relaxed); /* before the number is acquired */
    sight.ahead = (int)(qn__ring_sequence(slot) - (sight.at + 1));
#endif
    return sight;
}

/* Whether the message at `at` is the consumer's, who says so first. The host revokes first and looks at the claim then: one of the
   two sees the other. It may have gone round the queue since the consumer's look. */
static bool qn__ring_keep(const qn_ring *ring, global qn__ring_slot *slot, uint band, uint at) {
    QN__STORE(slot->claim, 2 * at + 1, release);
    QN__FENCE(seq_cst);
    if ((int)(QN__LOAD(ring->control->revoked[band], acquire) - at) <= 0) return true;
    QN__STORE(slot->claim, 2 * at + 2, release);
    return false;
}

/* 1 + the index of a slot with a message, which is the caller's from now on; 0: there is none. `sight`: of the highest band. */
static uint qn__ring_take(qn_ring *ring, qn__ring_sight sight) {
    for (int band = QN_RING_BANDS - 1; band >= 0; band--) {
        if (band < QN_RING_BANDS - 1) sight = qn__ring_see(ring, band, 0);
        for (; sight.ahead >= 0; sight = qn__ring_see(ring, band, 0)) {
            const uint index = qn__ring_index(band, sight.at);
            /* Revoked messages are behind: their slots have newer ones. Else others have taken what was there. */
            if (sight.ahead > 0 && QN_RING_GROUPS == 1 && !QN_RING_REVOKES) break;
            if (sight.ahead > 0 && !QN_RING_REVOKES) continue;
            if (!qn__ring_claim_head(ring, band, sight.at)) continue;
            QN__STORE(ring->report->bands[band], ++ring->bands[band], relaxed);
            if (!QN_RING_REVOKES) return index + 1;
            if (sight.ahead == 0 &&
                qn__ring_keep(ring, (global qn__ring_slot *)qn__ring_in_slot(ring, index), band, sight.at))
                return index + 1;
            QN__STORE(ring->report->passed, ++ring->passed, relaxed);
        }
    }
    return 0;
}

/* Positions of the output from the tail on that are known to be free: the host gives them back in order, so that a look at one further
   on tells of all before it. Beside other work-groups it is a guess, as the numbers may have wrapped since. */
static uint qn__ring_known_room(const qn_ring *ring, uint tail) {
    const uint known = ring->room - tail;
    return known <= QN_RING_OUT_CAPACITY ? known : 0;
}

/* Looks for room for `wanted` answers, and rather for more, which saves the next looks; how much there is, or is known to be. */
static uint qn__ring_look_for_room(qn_ring *ring, uint wanted) {
    const uint tail = qn__ring_tail(ring);
    const uint known = qn__ring_known_room(ring, tail);
    if (known >= wanted) return known;
    for (uint ahead = QN_RING_OUT_CAPACITY / 2; ahead > known; ahead = ahead / 8 > wanted || ahead <= wanted ? ahead / 8 : wanted) {
        const uint at = tail + ahead - 1;
        if (qn__ring_sequence(qn__ring_out_slot(ring, at)) != at) continue;
        ring->room = at + 1;
        return ahead;
    }
    return known;
}

/* Whether the output has room for what a handler may send. */
static bool qn__ring_has_room(qn_ring *ring) {
    return QN_RING_SENDS == 0 || qn__ring_look_for_room(ring, QN_RING_SENDS) >= QN_RING_SENDS;
}

/* ---- other rings ---- */

#if QN_RING_MAIL + QN_RING_LINKS > 0
#ifdef __OPENCL_VERSION__
#include "ring_mail.cl"
#else
#include "mail.cl"
#endif
#endif

#if QN_RING_MAIL == 0
static qn__ring_sight qn__ring_see_mail(const qn_ring *ring) {
    (void)ring;
    const qn__ring_sight none = {0, -1};
    return none;
}
#endif

/* As qn__ring_take, of all that there is. */
static uint qn__ring_take_any(qn_ring *ring, qn__ring_sight sight, qn__ring_sight mail) {
    uint found = 0;
#if QN_RING_LINKS > 0
    /* Whether a look at the credits is worth it. */
    if (sight.ahead < 0 && mail.ahead < 0 && !qn__ring_is_lower(ring)) return 0;
    if (!qn__ring_hold(ring)) {
        qn__ring_let_go(ring);
        return 0;
    }
#else
    (void)mail;
#endif
#if QN_RING_MAIL > 0
    ring->mail_first = !ring->mail_first;
    if (ring->mail_first) found = qn__ring_take_mail(ring, mail);
#endif
    if (!found) found = qn__ring_take(ring, sight);
#if QN_RING_MAIL > 0
    if (!found && !ring->mail_first) found = qn__ring_take_mail(ring, mail);
#endif
#if QN_RING_LINKS > 0
    if (!found) qn__ring_let_go(ring);
#endif
    return found;
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
    if (spins < ring->spins) return true;
    ring->counted = true;
    const uint before = atomic_fetch_add_explicit(qn__ring_idle(ring, ring->epoch), 1, memory_order_acq_rel, memory_scope_device);
    if (before + 1 == QN_RING_GROUPS) qn__ring_park(ring);
    return ring->leaving || QN_RING_STAYS;
}

/* The host wants the device for itself for a while: whoever was the last to be idle parks for all. */
static void qn__ring_step_aside(qn_ring *ring) {
    if (ring->counted) return;
    ring->counted = true;
    const uint before = atomic_fetch_add_explicit(qn__ring_idle(ring, ring->epoch), 1, memory_order_acq_rel, memory_scope_device);
    if (before + 1 == QN_RING_GROUPS) qn__ring_park(ring);
}

/* ---- receiving ---- */

static void qn__ring_report(qn_ring *ring, uint status) {
    if (ring->status == status) return;
    ring->status = status;
    QN__STORE(ring->report->status, status, release);
}

/* Whether another message is behind that of the highest band, where a work-group can take several. */
static bool qn__ring_is_followed(const qn_ring *ring) {
    if (!QN__RING_BATCHES) return false;
    const uint next = qn__ring_head(ring, QN_RING_BANDS - 1) + 1;
    global uchar *slot = qn__ring_in_slot(ring, qn__ring_index(QN_RING_BANDS - 1, next));
    return QN__LOAD(((global qn__ring_slot *)slot)->sequence, relaxed) == next + 1;
}

/* Whether nothing is to be done at a look that finds neither a message nor a new command. */
static bool qn__ring_is_quiet(const qn_ring *ring, uint spins) {
    if (QN_RING_BANDS > 1 || QN_RING_MAIL + QN_RING_LINKS > 0) return false;
    return ring->status == QN__GROUP_RUNNING && ring->command == QN__RING_RUN && !ring->counted && !ring->leaving &&
           spins < ring->spins && (spins & 255) != 252;
}

/* What comes of a look, by the host's command: false, where there is a message (1 + the index of its slot in *found), or there are several,
   or the kernel is to end. Where the command is new the next look counts, as the queue may have what came before it. */
static bool qn__ring_decide(qn_ring *ring, uint spins, uint *found, uint command, bool followed, qn__ring_sight sight) {
    if (command != ring->command) {
        ring->command = command;
        QN__FENCE(acquire);
        return true;
    }
    if (command == QN__RING_DROP) return false;
    if (command >= QN__RING_LEAVE) {
        qn__ring_step_aside(ring);
        return false;
    }
    qn__ring_report(ring, command == QN__RING_PAUSE ? QN__GROUP_PAUSED : QN__GROUP_RUNNING);
    if (command != QN__RING_PAUSE && qn__ring_has_room(ring)) {
        if (followed && sight.ahead == 0)
            *found = QN__RING_SEVERAL;
        else
            *found = qn__ring_take_any(ring, sight, qn__ring_see_mail(ring));
        if (*found || command == QN__RING_DRAIN) return false;
    }
    if ((spins & 255) == 252) QN__STORE(ring->report->heartbeat, ++ring->beats, relaxed);
    return qn__ring_rest(ring, spins);
}

/* One look at the command and the queue together. */
static bool qn__ring_look(qn_ring *ring, uint spins, uint *found) {
    uint command;
    const bool followed = qn__ring_is_followed(ring);
    const qn__ring_sight sight = qn__ring_see(ring, QN_RING_BANDS - 1, &command);
    if (sight.ahead < 0 && command == ring->command && qn__ring_is_quiet(ring, spins)) return true;
    return qn__ring_decide(ring, spins, found, command, followed, sight);
}

/* Other rings' messages lie nearer than the host's: three looks of four are for them alone, and those behind one of them, as the next
   one may be on the way. */
static bool qn__ring_look_near(qn_ring *ring, uint spins, uint *found) {
#if QN_RING_MAIL > 0
    if ((ring->near_looks || spins % 4) && ring->command == QN__RING_RUN && !ring->counted && !ring->leaving) {
        if (ring->near_looks) ring->near_looks--;
        const qn__ring_sight none = {0, -1};
        const qn__ring_sight mail = qn__ring_see_mail(ring);
        if (mail.ahead < 0 || !qn__ring_has_room(ring)) return true;
        *found = qn__ring_take_any(ring, none, mail);
        return !*found;
    }
    /* Behind a message that look takes no time from the next one. */
    ring->near_looks = ring->near_turns && !spins ? QN__RING_NEAR_LOOKS : 0;
    ring->near_turns = 0;
#endif
    return qn__ring_look(ring, spins, found);
}

static void qn__ring_free(const qn_ring *ring, uint found, uint sequence, bool released) {
#if QN_RING_MAIL > 0
    if (found & QN__RING_MAILED) {
        qn__ring_free_mail(ring, (found & ~QN__RING_MAILED) - 1, sequence, released || ring->released_near);
        return;
    }
#endif
    global qn__ring_slot *slot = (global qn__ring_slot *)qn__ring_in_slot(ring, found - 1);
    const uint next = sequence + (QN_RING_IN_CAPACITY - 1);
    if (released || (!QN__RING_ORDERS && QN__RING_IS_FAR)) /* what was read of it is here already, and has been waited for */
        QN__STORE(slot->sequence, next, relaxed);
    else
        QN__STORE(slot->sequence, next, release);
}

#if QN_RING_BLOCKS > 0

/* 1 + the block of the message that is handled; 0: it has none. */
static uint qn__ring_block_number(const qn_ring *ring) {
    return ((local const qn__ring_slot *)ring->block)->message.flags / QN__RING_BLOCK;
}

/* One more message with a block: done (0), or sent (1). */
static void qn__ring_count_block(const qn_ring *ring, uint number, uint what) {
    global uint *word = (global uint *)ring->blocks + 2 * (number - 1) + what;
    atomic_fetch_add_explicit((volatile global atomic_uint *)word, 1, memory_order_relaxed, memory_scope_device);
}

#endif

/* A slot is free when its message is handled, so that the host finds the messages of a kernel that has failed. Where the host
   drops the oldest it is free earlier, since the host waits for it. */
static void qn__ring_done(qn_ring *ring) {
    if (!ring->busy) return;
    ring->busy = false;
#if QN_RING_LINKS > 0
    qn__ring_let_go(ring);
#endif
    if (ring->failed) return;
#if QN__RING_PIECES
    /* Who is answered may ask again, but not before the answer is out: a look that comes before that finds nothing, and the next one is a
       trip later. Looks by all work-items have a pace of their own. */
    if (!QN__RING_ORDERS && !qn__ring_expects_wide(ring)) atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
#endif
#if QN_RING_BLOCKS > 0
    /* Whoever sees this one sees what was sent before. */
    const uint number = qn__ring_block_number(ring);
    QN__FENCE(release);
    if (number) qn__ring_count_block(ring, number, 0);
#endif
    if (ring->slot) qn__ring_free(ring, ring->slot, ((local const qn__ring_slot *)ring->block)->sequence, ring->released);
    ring->slot = 0;
    QN__STORE(ring->report->done, ring->taken, relaxed);
}

static bool qn__ring_is_first(void) { return QN__ITEM == 0; }

/* The first work-item's value, for all, who see what it has seen in global memory. Before the next one they have to meet once more. */
static uint qn__ring_share(const qn_ring *ring, uint value) {
    if (QN__RING_ITEMS == 1) return value;
    local volatile uint *word = (local uint *)(ring->block + QN__RING_SHARED);
    if (qn__ring_is_first()) *word = value;
    QN__BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    return *word;
}

/* Before the first look: the last message is done with. false: the kernel is to end. */
static bool qn__ring_go_on(qn_ring *ring) {
    qn__ring_done(ring);
    if (ring->failed) return false;
    if (ring->handled != ring->budget) return true;
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

/* The message that is handled, and its payload; they are the work-group's until the next qn_ring_receive. */
static local const qn_ring_message *qn_ring_current(const qn_ring *ring) {
    return &((local const qn__ring_slot *)ring->block)->message;
}
static local const void *qn_ring_payload(const qn_ring *ring) {
    return (local const uchar *)ring->block + QN__RING_SLOT_HEAD;
}

#if QN__RING_BATCHES
#ifdef __OPENCL_VERSION__
#include "ring_batch.cl"
#else
#include "batch.cl"
#endif
#else

/* By the first work-item. */
static uint qn__ring_find(qn_ring *ring) {
    uint found = 0, spins = 0;
    if (!qn__ring_go_on(ring)) return 0;
    while (!found && qn__ring_look_near(ring, spins, &found)) spins++;
    if (found) qn__ring_start(ring);
#if QN__RING_PIECES
    if (found) qn__ring_unpack_seen(ring);
#endif
    return found;
}

#if QN__RING_WIDE
#ifdef __OPENCL_VERSION__
#include "ring_wide.cl"
#else
#include "wide.cl"
#endif
#endif

/* Looks until there is something: 1 + the index of the next message's slot; 0: the kernel is to end. The same for all work-items. */
static uint qn__ring_poll(qn_ring *ring) {
    /* All are done with the last message: with its block, which the host may take again, its copy, which a look replaces, and the state,
       which the host may have when it is told that no message is handled. */
    if (QN__RING_HAS_STATE || QN_RING_BLOCKS > 0 || QN__RING_PIECES) QN__BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#if QN__RING_WIDE
    const uint wide = qn__ring_expects_wide(ring) ? qn__ring_find_wide(ring) : 0;
    ring->is_wide = wide != 0;
    if (wide) return wide;
    ring->is_followed = false;
    ring->known_sends = 0;
#endif
    return qn__ring_share(ring, qn__ring_is_first() ? qn__ring_find(ring) : 0);
}

static global uchar *qn__ring_found(const qn_ring *ring, uint found) {
#if QN_RING_MAIL > 0
    if (found & QN__RING_MAILED) return qn__mail_slot(ring->mail, (found & ~QN__RING_MAILED) - 1, QN_RING_IN_SLOT);
#endif
    return qn__ring_in_slot(ring, found - 1);
}

/* Copies the message to where the handler has it. */
static void qn__ring_fetch(qn_ring *ring, uint found) {
    global uchar *slot = qn__ring_found(ring, found);
    (void)slot;
#if QN__RING_WIDE
    if (ring->is_wide) return; /* all are behind a barrier already */
    qn__ring_fetch_wide(ring, slot);
#elif !QN__RING_PIECES /* else the look has brought all of it */
    for (uint i = QN__ITEM; i < QN_RING_IN_SLOT / 16; i += QN__RING_ITEMS)
        ring->block[i] = ((global uint4 *)slot)[i];
#endif
    QN__BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}

/* Waits for the next message; all work-items of the group call it. false: the kernel is to end. */
static bool qn_ring_receive(qn_ring *ring) {
    const uint found = qn__ring_poll(ring);
    if (!found) {
        if (qn__ring_is_first()) ring->report->clock = ring->clock;
        if (qn__ring_is_first()) QN__STORE(ring->report->status, QN__GROUP_PARKED, release);
        return false;
    }
    qn__ring_fetch(ring, found);
#if QN__RING_WIDE
    ring->expects_wide = QN__RING_WIDE_LOOKS && qn__ring_is_large(qn_ring_current(ring)->size);
#endif
    if (qn__ring_is_first()) {
        local const qn__ring_slot *copy = (local const qn__ring_slot *)ring->block;
        ring->report->message = copy->message.id;
        QN__STORE(ring->report->taken, ring->taken, relaxed);
        ring->released = false;
#if QN_RING_MAIL + QN_RING_LINKS > 0
        ring->released_near = false;
#endif
        ring->clock = (copy->message.clock > ring->clock ? copy->message.clock : ring->clock) + 1;
        if (QN_RING_REVOKES || (found & QN__RING_MAILED && QN_RING_GROUPS > 1))
            qn__ring_free(ring, found, copy->sequence, false);
        else
            ring->slot = found;
    }
    return true;
}

#endif

#if QN_RING_BLOCKS > 0
/* The block that the message refers to, of QN_RING_BLOCK_SIZE bytes; NULL: none. It is the work-group's until the next
   qn_ring_receive. */
static global void *qn_ring_block(const qn_ring *ring) {
    const uint number = qn__ring_block_number(ring);
    if (!number) return 0;
    return ring->blocks + QN__RING_BLOCKS_BEGIN(QN_RING_BLOCKS) + (ulong)(number - 1) * QN_RING_BLOCK_SIZE;
}
#else
#define qn_ring_block(...) the_descriptor_has_no_blocks()
#endif

static bool qn__ring_is_told_to_end(uint command) { return command <= QN__RING_PAUSE || command >= QN__RING_LEAVE; }

/* Whether a handler that takes long should come back, since the host stops or pauses the ring, or wants the device for itself. */
static bool qn_ring_should_stop(const qn_ring *ring) {
    if (QN__RING_BATCHES) return qn__ring_is_told_to_end(QN__LOAD(ring->control->command, relaxed));
    const uint command = qn__ring_is_first() ? QN__LOAD(ring->control->command, relaxed) : 0;
    const uint shared = qn__ring_share(ring, command);
    QN__BARRIER(CLK_LOCAL_MEM_FENCE);
    return qn__ring_is_told_to_end(shared);
}

/* Makes the ring QN_RING_FAILED, with the handled message's id and the code (not 0), once the handler has returned. */
static void qn_ring_fail(qn_ring *ring, uint code) {
#if QN__RING_BATCHES
    qn__ring_note_failure(ring, code);
#else
    if (!qn__ring_is_first()) return;
    ring->failed = code;
    QN__STORE(ring->report->failed, code, release);
#endif
}

#ifdef __OPENCL_VERSION__
#include "ring_send.cl"
#else
#include "send.cl"
#endif

#endif
