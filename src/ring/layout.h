/* The memory that a ring's host and kernel share, as C and as OpenCL C: kernels include this file as "quern/ring_layout.h".
   Each word that both sides use is written by one of them and read by the other (docs/design.md, Rings). What is written often
   by different sides lies in different cache lines. */
#ifndef QUERN_RING_LAYOUT_H
#define QUERN_RING_LAYOUT_H

#ifdef __OPENCL_VERSION__
#define QN__RING_WORD uint
#else
#include <quern/ring_message.h>
#include <stdatomic.h>
#define QN__RING_WORD _Atomic uint32_t
#endif

/* What the host tells the kernel. Above PAUSE messages are taken. */
enum {
    QN__RING_DROP,
    QN__RING_PAUSE,
    QN__RING_RUN,
    QN__RING_DRAIN,
    QN__RING_NEVER, /* of a launch before its first look */
    QN__RING_LEAVE =
        256 /* with one of the others: the kernel is to park between two messages, and is launched again */
};

/* What a work-group tells the host that it does. */
enum {
    QN__GROUP_ABSENT,  /* has never run */
    QN__GROUP_PARKED,  /* its kernel has ended, until the next launch */
    QN__GROUP_PAUSED,  /* runs, and takes no messages */
    QN__GROUP_RUNNING, /* takes messages */
};

enum {
    QN__RING_BANDS_MOST = 4,
    QN__RING_LINE = 16,      /* words of a cache line */
    QN__RING_SLOT_HEAD = 64, /* bytes of a slot before the payload */
    QN__RING_REPLY = 1,      /* flags of a message: it answers one */
    QN__RING_CALL = 2,       /* a qn_ring_call, and its reply, which nobody else wants */
    QN__RING_LINK = 256,     /* times 1 + a link: it is for the ring there, by the host's hand */
    QN__RING_BACK = 4,       /* a message of the kernel with the block of the one that it handles */
    QN__RING_BLOCK = 65536,  /* times 1 + a block: the message refers to it */
    QN__RING_LINKS_MOST = 8,
    QN__RING_TOPICS = 16,
};

/* The mail of a ring: messages of other rings of its device, in device memory. Words, then slots as those of the ring's input. Of
   what lies elsewhere, or nowhere, the capacity is 0. */
enum {
    QN__MAIL_HEAD = 0,                    /* a line each: where the consumers are */
    QN__MAIL_TAIL = QN__RING_LINE,        /* where the producers are */
    QN__MAIL_CREDITS = 2 * QN__RING_LINE, /* free slots that no producer has for itself */
    QN__MAIL_CAPACITY = 3 * QN__RING_LINE,
    QN__MAIL_SLOT,                         /* bytes of a slot; 0: it lies nowhere */
    QN__MAIL_ALONE,                        /* one work-group sends there, to one: credits are not counted */
    QN__MAIL_BARRIERS = 4 * QN__RING_LINE, /* of each, how many wait, and its generation */
    QN__MAIL_NUM_BARRIERS = 8,
    QN__MAIL_WORDS = QN__MAIL_BARRIERS + 2 * QN__MAIL_NUM_BARRIERS,
    QN__MAIL_CREDIT_BIAS = 1 << 24, /* credits are counted from here, so that one too many taken is no wrap */
};

#define QN__RING_LINK_OF(flags) ((flags) % QN__RING_BLOCK / QN__RING_LINK) /* 1 + the link; 0: none */
/* Blocks lie behind two words for each: messages with it that are done, and that were sent with it. */
#define QN__RING_BLOCKS_BEGIN(count) (((count)*8u + 63u) & ~63u)

#define QN__RING_FOREVER 0xffffffffu /* spins, messages: no bound */

/* The words of a queue that only the kernels' side counts in, a line each; of device memory. */
enum {
    QN__RING_HEADS = 0,                   /* a line for each band: where the consumers are */
    QN__RING_TAILS = QN__RING_BANDS_MOST, /* where the producers are */
    QN__RING_IDLES =
        QN__RING_TAILS + QN__RING_BANDS_MOST, /* work-groups that are idle, in odd and even launches */
    QN__RING_END_LINES = QN__RING_IDLES + 2,
};

/* A queue's slot; the payload follows. `sequence` says whose it is: at position p of the queue, p: free, for the producer that
   comes there; p + 1: full, for the consumer; p + capacity: free again, for the producer a round later. `claim` is the
   consumer's: 2 * p + 1: it takes the message at p; 2 * p + 2: it has passed it over, since it was revoked (QN_RING_DROP_OLDEST). */
typedef struct qn__ring_slot {
    QN__RING_WORD sequence, claim;
    qn_ring_message message;
} qn__ring_slot;

/* Where a bus is between both sides, a slot may be in pieces of 16 bytes, each of which bears the slot's number in front of 12 bytes: what
   a look brings over the bus tells itself whether it is the message's, so that no fence, and no trip, has to be between the message and
   its number. The first piece's number is the slot's `sequence`; the message takes five pieces, whose last word is free, and the
   payload those behind. One that a short message does not need keeps an old number, which would come again when positions have gone
   round once: so now and then a producer writes all of them. */
enum {
    QN__PIECE_WORDS = 4,
    QN__PIECE_BYTES = 12, /* of what it holds */
    QN__PIECES_OF_MESSAGE = 5,
    QN__PIECES_OF_SIZE = 3, /* which of them has the payload's size, in its last word */
    QN__PIECES_FEW = 24,    /* as many as one work-item looks at */
    QN__PIECES_MOST = 512,
    QN__PIECES_ALL_EVERY =
        1 << 30, /* positions from one time that all are written, for a round of the queue, to the next */
};
#define QN__PIECES(size) (QN__PIECES_OF_MESSAGE + ((size) + QN__PIECE_BYTES - 1) / QN__PIECE_BYTES)
/* Not at the first positions, where all are new. */
#define QN__PIECES_ARE_ALL_DUE(at, capacity)                                                                 \
    (((at) + QN__PIECES_ALL_EVERY / 2) % QN__PIECES_ALL_EVERY < (capacity))

/* A work-group's report; written by it alone. */
typedef struct qn__ring_group {
    QN__RING_WORD status;
    QN__RING_WORD heartbeat;                  /* goes up while it looks for messages in vain */
    QN__RING_WORD taken, done;                /* messages: it is busy with one where they differ */
    QN__RING_WORD sent, lost;                 /* lost: found no room in an output */
    QN__RING_WORD failed;                     /* the code of qn_ring_fail; 0: none */
    QN__RING_WORD passed;                     /* messages that were revoked */
    QN__RING_U64 message;                     /* id of the last one taken */
    QN__RING_WORD bands[QN__RING_BANDS_MOST]; /* of `taken` and `passed`, by band */
    QN__RING_WORD mailed;                     /* of `taken`: from other rings */
    QN__RING_WORD padding;
    QN__RING_WORD forwarded[QN__RING_LINKS_MOST]; /* messages to other rings' mail, by link */
    QN__RING_U64 clock;                           /* the logical clock between launches */
    QN__RING_U32 more[6];
} qn__ring_group;

/* Followed by the groups' reports. */
typedef struct qn__ring_control {
    /* the host's line */
    QN__RING_WORD command;
    QN__RING_WORD epoch; /* number of the newest launch; set when no kernel reads it */
    QN__RING_U32 spins;  /* looks for a message before a work-group is idle */
    QN__RING_U32 budget; /* messages that a work-group takes in a launch */
    QN__RING_WORD
    revoked[QN__RING_BANDS_MOST]; /* positions before these are dropped, as far as they are not claimed */
    QN__RING_U32 padding[8];
    QN__RING_WORD topics[QN__RING_TOPICS]; /* links that have subscribed, a bit each */
    /* the kernel's line */
    QN__RING_WORD parked; /* number of the last launch that has ended, or is about to */
    QN__RING_U32 more[15];
} qn__ring_control;

#endif
