/* The contract between an emitted C kernel (or the VM) and the CPU backend. The emitted text repeats these
   structs under the same names; QN__CPU_ABI_VERSION is checked when a shared object is loaded. */
#ifndef QN__CPU_ABI_H
#define QN__CPU_ABI_H

#include <stdatomic.h>
#include <stdint.h>

#define QN__CPU_ABI_VERSION 4

/* __constant objects too large to be spelled in C are parts of one array of bytes, qn__code_info.constants, which whoever
   loads the text copies to its symbol of this name. */
#define QN__CPU_CONSTANTS "qn_constants"

/* What a kernel does is in a function of its own: the kernel's name and this. */
#define QN__CPU_GROUPS "_groups"

/* Host services a kernel may call. */
typedef struct qn_cpu_services {
    void *user;
    /* printf: `format` is the zero-terminated format string; `values` is the arguments one after another,
       each at its natural alignment up to 8 (promoted as in a C call; vectors as their lanes; a 3-vector as
       three; a %s argument as a host pointer). Returns 0, or -1. Any thread may call. */
    int32_t (*print)(void *user, const char *format, const unsigned char *values, uint64_t size);
} qn_cpu_services;

/* One launch, the same for all its work-groups. Sizes are in work-items; unused dimensions are 1 (offset
   0). */
typedef struct qn_cpu_launch {
    uint32_t work_dim;
    /* Not 0 once the launch is cancelled: kernels look at it in loops that may not end, and return. */
    _Atomic uint32_t cancelled;
    uint64_t global_size[3], global_offset[3], local_size[3], num_groups[3];
    /* The argument block: each argument at its reflected offset, at its natural alignment; buffers are host
       addresses, __local pointers a byte offset (uint64_t) into the group's local memory, structs their
       bytes. */
    const unsigned char *args;
    const qn_cpu_services *services;
} qn_cpu_launch;

/* Bytes to which local memory, scratch and what lies in them are aligned: those of the largest value, long16. */
enum { QN__CPU_ALIGN = 128 };

/* Runs the work-groups x in [begin_x, end_x) of row (y, z), one after another. `local` is the group's local
   memory (static variables first, at their offsets); `scratch` the context arrays, of scratch_fixed +
   scratch_per_item * items of a full group bytes (QN__CPU_ALIGN bytes per context array are in scratch_fixed);
   both are aligned to QN__CPU_ALIGN. Neither is cleared. The last group of a dimension is smaller when
   local_size does not divide global_size. */
typedef void qn_cpu_kernel(const qn_cpu_launch *launch, uint64_t begin_x, uint64_t end_x, uint64_t y,
                           uint64_t z, unsigned char *local, unsigned char *scratch);

/* Layout of the argument block, used by all that build or read one: next free byte of argument `i` rounded up
   to its alignment. Local arguments and buffers take 8 bytes at alignment 8. */

#endif
