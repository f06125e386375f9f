/* The contract between kernels emitted for GPUs (PTX, SPIR-V, OpenCL C) and the backends that launch them.

   Parameters. A kernel's parameter block is its argument block (each argument at its reflected offset, as on the
   CPU) followed by the implicit arguments that it uses, each at the offset its qn__implicit gives. PTX: one `.param`
   array of bytes, aligned to 16. CUDA takes up to 32,764 of them, quern fewer: the instruction that reads a parameter
   at an index has a signed 16-bit displacement from the start of the constant bank, and ptxas (13.0) for sm_90 and
   newer decides by the distance from the first parameter whether that is enough. What lies beyond 32,767 in the
   bank, where the parameters begin at 528 (sm_90) or 896 (sm_100 and on), is then read from elsewhere. SPIR-V: the push constants; where the block is larger than 128 bytes, the push
   constants hold only the 64-bit address of the block in memory. OpenCL C: the arguments in order as the
   kernel's own parameters (buffers as __global pointers, which the kernel adds QN__IMPLICIT_BUFFER_OFFSET to); behind them
   the implicit ones together as one struct by value, a 64-bit word each, `offset` bytes from its start, without
   QN__IMPLICIT_PRINT, which is a pointer of its own behind the struct.

   Buffers are 64-bit device addresses (0: null). __local arguments are byte offsets into the group's local
   memory (uint64_t): PTX declares static variables itself, and the arguments lie in dynamic shared memory at
   offset - round_up(static_local, 128). SPIR-V: each __local parameter is an array whose length in elements of
   local_units bytes is the specialisation constant 3, 4, ... in their order; constants 0 to 2 are the local size.
   OpenCL C: clSetKernelArg with the size.

   WGSL: all bindings are of group 0. The parameter block is a uniform array of vec4<u32>, padded to 16 bytes; it has no
   addresses in it: a buffer is a storage buffer of its own, which the kernel adds QN__IMPLICIT_BUFFER_OFFSET to, a multiple of
   4 where its accesses are; the null pointer is QN__WGSL_NULL. The fact `bindings` tells which there are. The local size are
   the override constants local_x, local_y and local_z; a kernel with __local parameters has words_of_<symbol>, the words
   that these take together, and finds each at offset - round_up(static_local, 128).

   Groups. All groups of a launch are of one size. Where the local size does not divide the global size, a kernel
   that is `guarded` is launched with groups that overhang, and QN__IMPLICIT_OVERHANG tells in which dimensions:
   its work-items past the end leave at once; a kernel may instead take QN__IMPLICIT_LIMIT, how many work-items the
   part has in a dimension. A kernel that is not (it has barriers, collectives or asks for the
   local size) is launched in parts, each with groups of one size and its own QN__IMPLICIT_GROUP_BASE. Parts also
   keep a launch under the device's largest grid, and each under 2^31 work-items in a dimension. A kernel with QN__IMPLICIT_ROW
   may have a part of one dimension as rows of groups, one in y behind the other; else that is 0.

   Output. The buffer at QN__IMPLICIT_PRINT starts with two 32-bit words: the bytes of data that fit (written by the
   host) and the bytes asked for so far (atomically added to). Then records, each a multiple of 8 bytes: 32-bit
   size of the record, 32-bit index of the format in the module's objects, then the values as in cpu_abi.h, each
   at its natural alignment up to 8. A %s argument is a 64-bit word: index of the object << 32 | offset. A record
   that does not fit is not written and its printf returns -1; where the first such one would begin, there is
   a zero. A string that is not found has an index past the last object. */
/* Programs to ship are launched by this contract: where a change would launch those of before wrongly, ABI of
   runtime/qnb.c goes up. */
#ifndef QN__GPU_ABI_H
#define QN__GPU_ABI_H

#include <stdint.h>

enum {
    QN__PTX_PARAMS = 4096,        /* bytes of a kernel's parameters that every CUDA device takes */
    QN__PTX_MOST_PARAMS = 30720,  /* from sm_70 and CUDA 12.1 on */
    QN__LOCAL_ALIGN = 128,        /* of each __local argument */
    QN__MAX_PUSH_CONSTANTS = 128, /* Vulkan's least limit */
    QN__SPEC_LOCAL_SIZE = 0,      /* 0, 1, 2 */
    QN__SPEC_LOCAL_ARG = 3,       /* and on */
    QN__WGSL_PARAMS = 0,          /* numbers of bindings */
    QN__WGSL_CONSTANTS = 1,
    QN__WGSL_PRINT = 2,
    QN__WGSL_PARAM = 3,          /* of the first parameter, and on */
    QN__WGSL_NO_PARAM = 65535,   /* the `param` of the others in the fact `bindings` */
    QN__WGSL_READS = 65536,      /* added to a binding's number there: the kernel only reads it */
    QN__WGSL_NULL = -256,        /* buffer offset of a null pointer: address 0 behind a buffer's begin, 256 */
    QN__PRINT_HEADER = 8,        /* bytes before the first record */
    QN__PRINT_CAPACITY = 1 << 20 /* bytes of records that a launch may print */
};

/* The line between a module's text and the same module with all buffers of a kernel of one type, of words: for launches
   that bind one for several of its parameters (backend/webgpu/alias.c). Bindings and parameter blocks are alike. */
#define QN__WGSL_ONE_TYPE "// With buffers of one type:\n"

typedef enum qn__implicit_kind {
    QN__IMPLICIT_GLOBAL_BASE,   /* u64 per dim: global id of this part's first work-item, with the offset */
    QN__IMPLICIT_GLOBAL_SIZE,   /* u64 per dim: of the whole launch */
    QN__IMPLICIT_GLOBAL_OFFSET, /* u64 per dim */
    QN__IMPLICIT_GROUP_BASE,    /* u32 per dim: id of this part's first group */
    QN__IMPLICIT_NUM_GROUPS,    /* u32 per dim: of the whole launch */
    QN__IMPLICIT_ENQUEUED_SIZE, /* u32 per dim: local size asked for */
    QN__IMPLICIT_WORK_DIM,      /* u32 */
    QN__IMPLICIT_OVERHANG,      /* u32: bit d: the last groups of dimension d overhang */
    QN__IMPLICIT_PRINT,         /* u64: address of the print buffer; OpenCL C: a buffer */
    QN__IMPLICIT_CONSTANTS,     /* u64: address of the constants */
    QN__IMPLICIT_BUFFER_OFFSET, /* u64: bytes to add to parameter `dim` */
    QN__IMPLICIT_LIMIT,         /* u32 per dim: work-items of this part; UINT32_MAX where nothing overhangs */
    QN__IMPLICIT_ROW, /* u32, WGSL: what of x a group in y stands for: work-items (dim 0), groups (dim 1) */
    QN__IMPLICIT_KIND_COUNT
} qn__implicit_kind;

typedef struct qn__implicit {
    uint8_t kind; /* qn__implicit_kind */
    uint8_t size; /* bytes: 4 or 8 */
    uint16_t dim;
    uint32_t offset; /* in the parameter block */
} qn__implicit;

#endif
