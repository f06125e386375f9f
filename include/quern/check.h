/* quern/check.h: what the checker finds.

   The device "check" (qn_device_get, QUERN_DEVICE=check, `quern check`) interprets kernels on the processor and looks at every
   access, barrier and value. What is wrong is a finding. Each new one goes to the context's log (QN_LOG_ERROR) when the
   launch is done, and all can be read here. A launch with findings does not fail: an access outside is dropped, or reads zero,
   and the kernel goes on. Waits may have deadlines, and qn_stream_cancel ends a launch, as on the processor. QUERN_CHECK=1 makes every device that a program asks for this one, and
   without a log hook the findings go to the standard error.

   Findings belong to the device; what they point to is valid until qn_check_clear or the end of the context. Functions may be called by any
   thread while nothing runs on the device. They give QN_ERROR_UNSUPPORTED for devices of other kinds. */
#ifndef QUERN_CHECK_H
#define QUERN_CHECK_H

#include <quern/quern.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum qn_finding_kind {
    QN_FINDING_NONE,
    QN_FINDING_OUT_OF_BOUNDS, /* an access that leaves the buffer, view, array or object that its pointer leads to */
    QN_FINDING_NULL_POINTER, /* an access through a null pointer */
    QN_FINDING_WILD_POINTER, /* through one that leads to no memory of the launch */
    QN_FINDING_FREED_BUFFER, /* to a buffer that is destroyed */
    QN_FINDING_MISALIGNED,   /* at an address that its type does not allow */
    QN_FINDING_READ_ONLY,    /* a write to constant or read-only memory */
    QN_FINDING_RACE,         /* two work-items access the same bytes, one writes, and nothing orders them */
    QN_FINDING_DIVERGENCE, /* a barrier, collective or async copy that only some of the work-items reach; a broadcast of several values */
    QN_FINDING_UNINITIALISED, /* a branch, an address or an output that depends on memory that nobody has written, or on a shuffle from nobody */
    QN_FINDING_DIVISION,      /* an integer divided by zero, or the least one by -1 */
    QN_FINDING_CONVERSION,    /* a float converted to an integer type that does not hold it */
    QN_FINDING_SHIFT, /* a shift by the width or more, which OpenCL C takes modulo the width; when asked for */
    QN_FINDING_OVERFLOW, /* signed integers that overflow, which quern wraps; when asked for */
    QN_FINDING_NAN,      /* a NaN or infinity made of numbers; when asked for */
    QN_FINDING_RUNAWAY,  /* a work-group that does not end within its budget of instructions */
    QN_FINDING_UNUSED,   /* a variable or array that is given values that nothing reads; when asked for */
    /* Advice about speed, when asked for: what they tell of is right. */
    QN_FINDING_UNCOALESCED,      /* work-items of a sub-group access global memory far from each other */
    QN_FINDING_BANK_CONFLICT,    /* or local memory in the same banks */
    QN_FINDING_DIVERGENT_BRANCH, /* a branch or loop that leaves many work-items of a sub-group idle */
    QN_FINDING_OCCUPANCY,        /* work-groups of which a multiprocessor keeps few at a time */
    QN_FINDING_KIND_COUNT
} qn_finding_kind;

/* X(ID, name, title): the kinds; title is what stands in front of a finding's sentence. */
#define QN_FINDING_MAP(X)                                                                                    \
    X(OUT_OF_BOUNDS, "out-of-bounds", "out of bounds")                                                       \
    X(NULL_POINTER, "null-pointer", "null pointer")                                                          \
    X(WILD_POINTER, "wild-pointer", "wild pointer")                                                          \
    X(FREED_BUFFER, "freed-buffer", "freed buffer")                                                          \
    X(MISALIGNED, "misaligned", "misaligned access")                                                         \
    X(READ_ONLY, "read-only", "write to read-only memory")                                                   \
    X(RACE, "race", "data race")                                                                             \
    X(DIVERGENCE, "divergence", "divergence")                                                                \
    X(UNINITIALISED, "uninitialised", "uninitialised memory")                                                \
    X(DIVISION, "division", "undefined division")                                                            \
    X(CONVERSION, "conversion", "undefined conversion")                                                      \
    X(SHIFT, "shift", "shift by the width or more")                                                          \
    X(OVERFLOW, "overflow", "signed overflow")                                                               \
    X(NAN, "nan", "not a finite number")                                                                     \
    X(RUNAWAY, "runaway", "runaway kernel")                                                                  \
    X(UNUSED, "unused", "unused result")                                                                     \
    X(UNCOALESCED, "uncoalesced", "uncoalesced access")                                                      \
    X(BANK_CONFLICT, "bank-conflict", "bank conflict")                                                       \
    X(DIVERGENT_BRANCH, "divergent-branch", "divergent branch")                                              \
    X(OCCUPANCY, "occupancy", "low occupancy")

/* "out-of-bounds", as in messages and suppressions; NULL: there is no such kind. */
QN_API const char *qn_finding_kind_name(qn_finding_kind kind);

/* Whether it is advice about speed, which is no fault. The log has advice as QN_LOG_WARNING. */
QN_API bool qn_finding_kind_is_advice(qn_finding_kind kind);

/* Where something happens, and the first work-item that it happens to. */
typedef struct qn_check_place {
    const char *file;       /* as in messages of the compiler; NULL: there is no such place */
    uint32_t line, column;  /* from 1; 0: not known */
    uint64_t work_item[3];  /* global id */
    uint64_t work_group[3]; /* id of its group */
} qn_check_place;

typedef struct qn_finding {
    qn_finding_kind kind;
    uint64_t count; /* how often, at these places; of advice: in how many launches */
    const char *kernel;
    const char *message; /* a sentence without its place */
    const char *text; /* all that is to be told, lines of source and carets among it; ends with a new line */
    qn_check_place place;
    qn_check_place other; /* of a race: the access before */
    const char *object;   /* name of the parameter or variable that is accessed; NULL: not known */
    uint64_t object_size; /* its bytes */
    int64_t offset;       /* of the access in it */
    uint64_t size;        /* bytes of the access */
    qn_check_place
        declared;         /* of the object: where the source declares it, without ids; file NULL: not known */
    const char *buffer;   /* label of the buffer that the object lies in, qn_buffer_desc.label; NULL: none */
    uint64_t buffer_size, /* all its bytes, of which the object may be a view; 0: it lies in no buffer */
        buffer_number;    /* which of the buffers that were made on the device, from 1; 0: it lies in none */
} qn_finding;

/* What is looked for beside what is wrong for certain. */
enum {
    QN_CHECK_SHIFTS = 1 << 0,      /* QN_FINDING_SHIFT */
    QN_CHECK_OVERFLOWS = 1 << 1,   /* QN_FINDING_OVERFLOW */
    QN_CHECK_NANS = 1 << 2,        /* QN_FINDING_NAN */
    QN_CHECK_BUFFERS = 1 << 3,     /* QN_FINDING_UNINITIALISED: of buffers, too, that are made from then on */
    QN_CHECK_PERFORMANCE = 1 << 4, /* advice: QN_FINDING_UNCOALESCED and what follows it */
    QN_CHECK_UNUSED = 1 << 6,      /* QN_FINDING_UNUSED */
    QN_CHECK_PROFILE = 1 << 5      /* no findings: operations and bytes are counted, qn_check_profile_get */
};

/* Defaults: what is wrong for certain; 2^28 steps; all groups, in order. */
typedef struct qn_check_desc {
    uint32_t also; /* QN_CHECK_* bits */
    uint64_t
        budget; /* steps of a work-group, each of which counts once for all its work-items, before it counts as runaway */
    uint64_t
        groups;    /* work-groups of a launch that are run, spread evenly; the others are left out. 0: all */
    uint64_t seed; /* work-groups run one after another in an order that follows from it; 0: by their ids */
    const char
        *arch; /* "sm_90": QN_FINDING_OCCUPANCY is looked for, with QN_CHECK_PERFORMANCE; NULL: it is not */
} qn_check_desc;

/* For programs that are made, and launches that are submitted, from now on. QN_ERROR_ARGUMENT: unknown
   bits, or an unknown architecture; QN_ERROR_UNSUPPORTED. */
QN_API qn_status qn_check_configure(qn_device *device, const qn_check_desc *desc);

/* What has been checked since the device was opened, or the last qn_check_clear. */
typedef struct qn_check_stats {
    uint64_t launches;
    uint64_t groups,
        groups_left_out; /* work-groups that ran, and those that qn_check_desc.groups kept from it */
    uint64_t memory,
        shadow; /* the most bytes of buffers at a time, and of shadow memory for them and a work-group */
} qn_check_stats;

QN_API qn_status qn_check_get_stats(const qn_device *device, qn_check_stats *stats);

/* What the launches of a kernel have done, all together: of the program as it is checked, which is optimised. Kernels of one name are one. */
typedef struct qn_check_profile {
    const char *kernel;
    uint64_t launches, work_items;
    /* Operations by the type that they are done in; of a vector each lane counts, and fma is two. Integers' are those of addresses, too. */
    uint64_t f16, f32, f64, i8, i16, i32, i64;
    uint64_t special;     /* of those of floats: quotients, roots and native functions */
    uint64_t conversions; /* between types */
    uint64_t atomics;
    uint64_t barriers; /* each counts once for a work-group */
    /* Bytes that loads, stores, copies and atomics access. */
    uint64_t global_read, global_written, local_read, local_written, private_read, private_written;
    uint64_t constant_read;
    double intensity; /* float operations for each byte of global memory; 0: it has no such bytes */
} qn_check_profile;

/* Kernels that were launched with QN_CHECK_PROFILE since the last qn_check_clear; 0 too where that cannot be told. */
QN_API uint32_t qn_check_profile_count(const qn_device *device);
/* In order of their first launch. QN_ERROR_RANGE, QN_ERROR_UNSUPPORTED, QN_ERROR_NULL. */
QN_API qn_status qn_check_profile_get(const qn_device *device, uint32_t index, qn_check_profile *profile);

/* Findings so far; 0 too where that cannot be told. */
QN_API uint32_t qn_check_count(const qn_device *device);
/* In order of their first time. QN_ERROR_RANGE, QN_ERROR_UNSUPPORTED, QN_ERROR_NULL. */
QN_API qn_status qn_check_get(const qn_device *device, uint32_t index, qn_finding *finding);
/* Forgets all findings. Suppressions stay. */
QN_API qn_status qn_check_clear(qn_device *device);

/* Findings that are known and wanted are not told: those that have a comment in their line (`// quern-check: allow race`), and those that
   a text of suppressions names, one a line, # and what follows it aside:

       KIND FILE[:LINE] [kernel=NAME] [object=NAME]

   KIND is a kind's name, or * for all. FILE is the source's name, or what follows a slash in it; in it and in NAME, * stands for any letters and
   ? for one. Of a race each of both places may be the one. */

/* Adds the suppressions of a text, for what is found from now on. `path` is its name in messages; NULL: "suppressions". $QUERN_CHECK_SUPPRESS
   is a file of them that each device "check" begins with. QN_ERROR_ARGUMENT: a line is wrong, and none is added; the message has its number;
   QN_ERROR_NULL, QN_ERROR_OUT_OF_MEMORY, QN_ERROR_UNSUPPORTED. */
QN_API qn_status qn_check_suppress(qn_device *device, const char *text, const char *path);

typedef struct qn_suppression {
    const char *path; /* of the text, */
    uint32_t line;    /* from 1, and what stands there */
    const char *text;
    uint64_t
        count; /* findings that it kept from being told; several times at the same places are one. 0: it is of no use */
} qn_suppression;

/* Suppressions so far; 0 too where that cannot be told. */
QN_API uint32_t qn_check_suppression_count(const qn_device *device);
/* QN_ERROR_RANGE, QN_ERROR_UNSUPPORTED, QN_ERROR_NULL. */
QN_API qn_status qn_check_suppression_get(const qn_device *device, uint32_t index,
                                          qn_suppression *suppression);

#ifdef __cplusplus
}
#endif

#endif
