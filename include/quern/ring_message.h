/* What comes with each message of a ring, for the host and for kernels alike. Part of ring.h, and of quern/ring.cl, which kernels
   include. */
#ifndef QUERN_RING_MESSAGE_H
#define QUERN_RING_MESSAGE_H

#ifdef __OPENCL_VERSION__
#define QN__RING_U32 uint
#define QN__RING_U64 ulong
#else
#include <stdint.h>
#define QN__RING_U32 uint32_t
#define QN__RING_U64 uint64_t
#endif

typedef struct qn_ring_message {
    QN__RING_U64 id; /* of those that one side of a ring sends: counts from 1, given by the library */
    QN__RING_U64 correlation; /* id of the message that this one answers; 0: none */
    QN__RING_U64
    time_ns; /* when the host sent it, by its monotonic clock; a kernel's has that of what it handled */
    QN__RING_U64
    deadline_ns; /* by the same clock: sending does not wait for longer, and handlers see it; 0: none */
    QN__RING_U64 clock;    /* hybrid logical clock: later than that of everything that its sender had seen */
    QN__RING_U32 priority; /* 0 to 255, the highest first */
    QN__RING_U32 size;     /* bytes of the payload */
    QN__RING_U32 type;     /* the program's own */
    QN__RING_U32 flags;    /* the library's */
} qn_ring_message;

#endif
