/* The two sides of a buffer, device and host: maps, which side is newer, what was moved and why; and how much memory is taken.
   quern.h includes this file; programs include that.

   A buffer is one array of bytes that both sides see. Whoever needs it gets its newest contents: a launch or a transfer what
   the host has written through a map, a map what a kernel has written. What the other side has already is not moved again. */
#ifndef QUERN_MEMORY_H
#define QUERN_MEMORY_H

#include "quern.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- maps ---- */

typedef enum qn_map_access { QN_MAP_READ = 1, QN_MAP_WRITE = 2, QN_MAP_READ_WRITE = 3 } qn_map_access;

/* Which side of a buffer holds the newest contents. (A program of header 1 gets
   QN_BUFFER_DEVICE and QN_BUFFER_HOST for the last two.) */
typedef enum qn_buffer_state {
    QN_BUFFER_DEVICE, /* the device alone: the host has no memory for it */
    QN_BUFFER_HOST, /* the host, in part at least: copied to the device when a launch or transfer next needs it */
    QN_BUFFER_BOTH,         /* equal; always so where memory is shared */
    QN_BUFFER_DEVICE_NEWER, /* the device; what the host has is out of date, or only a part */
    QN_BUFFER_HOST_ONLY     /* the host alone: a unified buffer that no device has used */
} qn_buffer_state;

/* Gives a host pointer to the whole buffer, or to `size` bytes at `offset` (map_range), valid until qn_buffer_unmap.
   Waits for work that uses the buffer, and copies only what is mapped, when the host side of it is out of date and the
   access includes reading; nothing at all where memory is shared. After mapping for writing, the copy to the device
   happens when the device next needs it, of what was mapped for writing and no more; a map for writing alone need not
   show what was there, and all that it reaches is taken to be written.
   While anything of it is mapped, using the buffer in a launch or transfer is QN_ERROR_STATE (reading maps allow
   transfers, launches and graphs that only read it: through a pointer to const, or one that the kernel never writes
   through). Maps nest, of any ranges, which may overlap and then are the same memory; what one has written the next
   sees. The last unmap ends them all. A map of a view is one of its range of the buffer, and counts with the buffer's.
   When the device is lost, what the host has is still mapped, if it is not out of date. The host's side has the
   buffer's size once anything is mapped, but of a large buffer (16 MiB and more) of which only ranges are mapped the
   pages in between take no memory. Errors: QN_ERROR_ARGUMENT (access, or a read-only buffer is mapped for writing),
   QN_ERROR_RANGE (the range, or size 0), QN_ERROR_OUT_OF_MEMORY, and what the wait reports. One thread at a time per buffer. */
QN_API qn_status qn_buffer_map(qn_buffer *buffer, qn_map_access access, void **pointer);
QN_API qn_status qn_buffer_map_range(qn_buffer *buffer, qn_map_access access, uint64_t offset, uint64_t size,
                                     void **pointer);
/* The same without waiting: what is read is copied behind the work on `stream` and is there once the stream, or an event
   recorded behind this call, is done. Until then the memory must be neither read nor written. The buffer is mapped at
   once, for other calls too; qn_buffer_unmap ends it. Work on other streams has to be ordered by events, as for any
   other command. The host's side is pinned as a whole (qn_host_alloc), but where other maps of the buffer have begun
   before with ordinary memory; the call may then wait, as qn_stream_read does. Errors as above, QN_ERROR_WRONG_CONTEXT,
   QN_ERROR_STATE (the stream records a graph), QN_ERROR_DEVICE_LOST. */
QN_API qn_status qn_stream_map(qn_stream *stream, qn_buffer *buffer, qn_map_access access, uint64_t offset,
                               uint64_t size, void **pointer);
QN_API qn_status qn_buffer_unmap(qn_buffer *buffer); /* QN_ERROR_STATE when not mapped */
/* Of a view: that of its buffer. */
QN_API qn_buffer_state qn_buffer_get_state(const qn_buffer *buffer);

typedef enum qn_side { QN_SIDE_DEVICE, QN_SIDE_HOST } qn_side;
/* Has the newest contents brought to a side, behind the work on `stream`, before anybody needs them; the call does not wait.
   To the device: all that the host has newer, as the next launch would. To the host: of a view its range, of a buffer all
   that the host has not; a map that comes later then copies nothing. Nothing to do is no error. Errors: QN_ERROR_ARGUMENT
   (side), QN_ERROR_STATE (mapped for writing; or the stream records a graph, or, to the host, is persistent),
   QN_ERROR_WRONG_CONTEXT, QN_ERROR_OUT_OF_MEMORY, QN_ERROR_DEVICE_LOST. One thread at a time per buffer. */
QN_API qn_status qn_stream_prefetch(qn_stream *stream, qn_buffer *buffer, qn_side side);
/* Makes both sides equal, the whole buffer, and waits: for the work that uses it and for the copies. Errors: QN_ERROR_STATE
   (mapped for writing), QN_ERROR_OUT_OF_MEMORY, and what the wait reports. One thread at a time per buffer. */
QN_API qn_status qn_buffer_sync(qn_buffer *buffer);

/* ---- what was moved, and why ---- */

/* X(NAME, name): why bytes of a buffer were moved. */
#define QN_MOVE_MAP_OF(X)                                                                                    \
    X(QN_MOVE_WRITE, "write")   /* asked for: the caller's memory to the device; a buffer's first data */    \
    X(QN_MOVE_READ, "read")     /* asked for: the device to the caller's memory */                           \
    X(QN_MOVE_COPY, "copy")     /* asked for: to this buffer by qn_stream_copy */                            \
    X(QN_MOVE_LAUNCH, "launch") /* the host's newer contents to the device: a launch needed them */          \
    X(QN_MOVE_TRANSFER, "transfer")   /* the same for a transfer */                                          \
    X(QN_MOVE_MAP, "map")             /* the device's contents to the host: a map needed them */             \
    X(QN_MOVE_TO_DEVICE, "to device") /* by qn_stream_prefetch, qn_buffer_sync */                            \
    X(QN_MOVE_TO_HOST, "to host")     /* the same */                                                         \
    X(QN_MOVE_BETWEEN, "between")     /* of a unified buffer: what another device had newer */

typedef enum qn_move {
#define QN_MOVE_ENUM(name, text) name,
    QN_MOVE_MAP_OF(QN_MOVE_ENUM)
#undef QN_MOVE_ENUM
        QN_MOVE_COUNT
} qn_move;

typedef struct qn_moves {
    uint64_t count, bytes;
} qn_moves;
/* "launch" for QN_MOVE_LAUNCH; NULL: there is none. Any thread. */
QN_API const char *qn_move_name(qn_move move);
/* How often, and how much, of the buffer was moved for that reason; of a view: of its buffer. It counts when the copy is
   submitted. What a graph has recorded is not counted. Nothing is moved between the sides where memory is shared. Errors:
   QN_ERROR_NULL, QN_ERROR_ARGUMENT (move). Any thread. */
QN_API qn_status qn_buffer_get_moves(const qn_buffer *buffer, qn_move move, qn_moves *moves);
/* The same of all buffers of the device, those that are gone too. */
QN_API qn_status qn_device_get_moves(const qn_device *device, qn_move move, qn_moves *moves);

/* ---- unified buffers ---- */

/* A buffer of QN_MEMORY_UNIFIED lies on the host, and takes memory of a device when that first uses it: a launch, a transfer
   or a graph on any device of the context takes the one buffer. Each such device has a copy; whoever needs bytes that are
   newer elsewhere gets these, once: from another device directly where the driver can (CUDA), else from the host if that
   has them, else from the device through host memory. The processor's device works on the host's side itself.
   - The device that it is made for (qn_buffer_device) is the one whose default stream a NULL stream is.
   - Work on one device is ordered as for any buffer: by streams and events. Between devices the library sees to it: the
     stream waits for what another device is still to write. The call itself waits where that is the processor's, or of
     several streams; so does one that writes what another device is still being given.
   - qn_buffer_read and qn_buffer_write go by the host's side, so that no device has to have a copy.
   - The host's side is ordinary memory. A copy takes the pool's memory where the pool is of its device; too large for a
     device is an error of the call that first uses it there.
   - It has no native handle, is not exported, and is refused on persistent streams.
   - What only a lost device had is lost: QN_ERROR_DEVICE_LOST for who needs it, until it is written anew. */

/* ---- how much is taken ---- */

/* Bytes on the device as quern counts them. Any thread. */
typedef struct qn_memory_stats {
    uint64_t used;    /* in live buffers */
    uint64_t peak;    /* largest `used` so far */
    uint64_t pooled;  /* kept for reuse, by the driver and by pools */
    uint64_t buffers; /* live buffers */
    uint64_t host;    /* host bytes in mapped views and of qn_host_alloc */
    uint64_t host_peak;
    uint64_t pinned; /* of `host`: what the driver copies from and to without a detour */
    uint64_t pinned_peak;
} qn_memory_stats;
QN_API qn_status qn_device_memory(const qn_device *device, qn_memory_stats *stats);
/* Gives pooled memory back to the driver. Any thread. */
QN_API qn_status qn_device_trim(qn_device *device);

/* ---- pools ---- */

/* Defaults: no limits, 64 MiB kept. */
typedef struct qn_memory_pool_desc {
    uint64_t limit; /* bytes of the device that the pool takes at most, what it keeps included; 0: none */
    uint64_t host_limit; /* bytes of the host: sides of its buffers, and qn_memory_pool_host_alloc; 0: none */
    uint64_t keep;       /* most bytes of free blocks that are kept for the next buffers; 0: 64 MiB */
    bool keep_none;
    const char *label; /* for messages; copied; may be NULL */
} qn_memory_pool_desc;

/* A part of a device's memory, for what one client of a server may have, or one phase of a program: buffers that name it
   (pool in qn_buffer_desc) count against its limits, and the memory that they leave is kept for its next ones, which then
   cost no call of the driver's. Blocks are not cut: one is used again for a buffer of its size, or of up to a fifth less.
   What an `uninitialised` buffer holds was in a buffer of the same pool, or is the driver's. `desc` may be NULL. A
   destroyed pool is gone with the last of its buffers. The call waits until the device is open, like the first use of any. Errors: QN_ERROR_NULL, QN_ERROR_OUT_OF_MEMORY. Any thread. */
QN_API qn_status qn_memory_pool_create(qn_device *device, const qn_memory_pool_desc *desc,
                                       qn_memory_pool **pool);
QN_API void qn_memory_pool_destroy(qn_memory_pool *pool);
/* As qn_host_alloc, within the pool's host_limit; given back by qn_host_free. Errors: as there. */
QN_API qn_status qn_memory_pool_host_alloc(qn_memory_pool *pool, uint64_t size, void **memory);
/* Gives the free blocks back to the device. Any thread. */
QN_API qn_status qn_memory_pool_trim(qn_memory_pool *pool);
/* Destroys all buffers that were made with it, with their views, frees its host memory, and gives all back: at once what no
   work in flight uses, the rest when that is done. The pool can be used again. One thread, while no other call on what it
   destroys is under way. */
QN_API qn_status qn_memory_pool_clear(qn_memory_pool *pool);

typedef struct qn_memory_pool_stats {
    uint64_t limit, host_limit; /* 0: none */
    uint64_t buffers;           /* live, also destroyed ones that work in flight uses */
    uint64_t used, peak;        /* bytes of these; the most there have been */
    uint64_t taken, taken_peak; /* bytes of the device: `used`, what rounding up adds, and `free_bytes` */
    uint64_t free_blocks, free_bytes, largest_free;
    double fragmentation;         /* part of the free bytes that is not in the largest free block: 0 to 1 */
    uint64_t host, host_peak;     /* bytes of the host */
    uint64_t pinned, pinned_peak; /* of these: what the driver copies from and to without a detour */
    uint64_t made, reused,
        refused; /* buffers in new memory, in a free block, and over a limit, of either kind */
} qn_memory_pool_stats;
QN_API qn_status qn_memory_pool_get_stats(const qn_memory_pool *pool, qn_memory_pool_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
