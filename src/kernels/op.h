/* What the calls of kernels.h share: the checks of their arrays, programs compiled once, and plans, which are what a call
   decided for operands of these shapes and types. A call goes so: check the arrays, make a key of what matters, get the plan
   for it (the first time it is made, which may compile), launch.
   This room sees the public headers only. */
#ifndef QN__KERNELS_OP_H
#define QN__KERNELS_OP_H

#include <quern/kernels.h>

#include <pthread.h>

/* Sets the message and returns `status`. Formats as printf. */
qn_status qn__op_fail(const qn_kernels *kernels, qn_status status, const char *format, ...);
/* QN_ERROR_NULL where one of them is. */
qn_status qn__op_check(const qn_kernels *kernels, const void *desc, const char *function);
/* The same for a call with a stream, which is of the kernels' device, or NULL. */
qn_status qn__op_begin(const qn_kernels *kernels, const qn_stream *stream, const void *desc,
                       const char *function);
/* QN_ERROR_WRONG_CONTEXT for `what` ("the stream") of another device; not where the one is the other that was lost, which says so
   itself. */
qn_status qn__op_own(const qn_kernels *kernels, const qn_device *device, const char *function,
                     const char *what);

/* ---- elements ---- */

/* What kernel texts need to know of a type; the functions are those of kernels/element.h. */
typedef struct qn__element_info {
    const char *name;
    uint32_t size;
    bool is_float;
    const char *storage; /* "ushort": what a pointer to it points to */
    const char *value;   /* "float": what is computed with */
    const char *load, *store;
    const char *to_value; /* converts a float or double to `value` */
} qn__element_info;

/* `type` is a valid one. */
const qn__element_info *qn__element(qn_element type);
/* The type of kernels that moves this many bytes, a power of two; of more than 16, that moves 16 of them. */
const char *qn__element_word(uint32_t bytes);
/* The function of kernels/element.h that makes of a loaded `from` what the store of `to` takes; "" where it is the same. */
typedef struct qn__conversion {
    char text[32];
} qn__conversion;
qn__conversion qn__element_conversion(qn_element from, qn_element to);
/* The least or the largest number of a type that is computed in, as kernels write it. */
const char *qn__element_limit(qn_element type, bool largest);
/* The bytes of `value` as an element, converted as qn_kernels_copy does. */
void qn__element_encode(qn_element type, double value, void *bytes);

/* ---- arrays ---- */

/* Checks the array and writes it to `out` with all its strides. `name` is the field's. */
qn_status qn__array_check(const qn_kernels *kernels, const char *function, const char *name,
                          const qn_array *array, qn_array *out);
/* The same for an array that is written: none of its elements may stand for several. */
qn_status qn__array_check_written(const qn_kernels *kernels, const char *function, const char *name,
                                  const qn_array *array, qn_array *out);
/* QN_ERROR_ARGUMENT where what `written` reaches and what `other` reaches overlap; both have been checked. */
qn_status qn__array_apart(const qn_kernels *kernels, const char *function, const char *written_name,
                          const qn_array *written, const char *other_name, const qn_array *other);
/* Whether they are one array; both have been checked. */
bool qn__array_is_same(const qn_array *a, const qn_array *b);
/* QN_ERROR_ARGUMENT where their shapes differ; both have been checked. */
qn_status qn__array_alike(const qn_kernels *kernels, const char *function, const char *name,
                          const qn_array *array, const char *other_name, const qn_array *other);
/* "64x1000x3" for messages. */
typedef struct qn__shape_text {
    char text[176];
} qn__shape_text;
qn__shape_text qn__shape(const qn_array *array);

/* Whether the elements follow each other in the order of the indices; the array has been checked. */
bool qn__array_is_packed(const qn_array *array);

/* An array as kernels take it that know contiguous ones only: the array itself, or a copy. */
typedef struct qn__packed {
    qn_array array;
    qn_buffer *copy; /* NULL: none was needed */
} qn__packed;

/* For an array that is read, or is written in part: a copy has its elements. */
qn_status qn__packed_open(qn_kernels *kernels, qn_stream *stream, const qn_array *array, qn__packed *packed);
/* For an array that will be written as a whole. */
qn_status qn__packed_blank(qn_kernels *kernels, const qn_array *array, qn__packed *packed);
/* Writes a copy back to `to`, unless that is NULL or `status` is a failure, and gives the copy up. */
qn_status qn__packed_close(qn_kernels *kernels, qn_stream *stream, const qn_array *to, qn__packed *packed,
                           qn_status status);

/* Whether a work-group of one work-item that goes through its share is best: on processors. (OpenCL's compilers for them are slow
   where barriers are many.) */
bool qn__is_processor(const qn_kernels *kernels);

/* Memory between kernels: destroy it right after the launches that need it. */
qn_status qn__scratch(qn_kernels *kernels, uint64_t bytes, qn_buffer **buffer);

enum { QN__WALK_ARRAYS = 6 };

/* How to visit all elements of some arrays together: dimensions of size 1 are gone, those that lie together are one. The
   first is the innermost. Rank 0: one element. */
typedef struct qn__walk {
    uint32_t rank;
    uint64_t sizes[QN_MAX_RANK];
    int64_t strides[QN__WALK_ARRAYS][QN_MAX_RANK];
} qn__walk;

/* Of `count` arrays, which have been checked; all are broadcast to the first one's shape, whose strides decide which
   dimension is the innermost. */
qn_status qn__walk_make(const qn_kernels *kernels, const char *function, const qn_array *const *arrays,
                        const char *const *names, uint32_t count, qn__walk *walk);

/* Makes a dimension of 1 where there is none. */
void qn__walk_give_dimension(qn__walk *walk, uint32_t count);
/* A work-item for each index of the two innermost dimensions, and for all others together. */
qn_range qn__walk_range(const qn__walk *walk);

enum { QN__LINES_GROUP = 256 };

/* How work-groups of a size of their own share out a walk in which neighbours are moved in packs: `times` packs a work-item, `along` the
   innermost dimension, as many work-items apart as a group has there, or in as many rows. */
typedef struct qn__lines {
    bool along;
    uint32_t times;
    qn_range range;
} qn__lines;
/* Of so many packs in the innermost dimension, `times` a work-item where there are enough. */
qn__lines qn__lines_of(const qn__walk *walk, uint64_t packs, uint32_t times);
uint64_t qn__power_from(uint64_t value); /* the least power of 2 that is not below */

/* What a kernel gets of a walk: struct { ulong sizes[RANK]; long strides[ARRAYS][RANK]; }. */
typedef struct qn__walk_block {
    uint32_t size; /* bytes */
    uint64_t words[(1 + QN__WALK_ARRAYS) * QN_MAX_RANK];
} qn__walk_block;
qn__walk_block qn__walk_block_of(const qn__walk *walk, uint32_t count);

/* ---- programs ---- */

typedef struct qn__variant {
    const char *file;   /* under kernels/ */
    const char *kernel; /* NULL: the only one */
    const char *options;
} qn__variant;

/* The kernel, compiled at the first call. It is the qn_kernels' own. */
qn_status qn__variant_get(qn_kernels *kernels, const qn__variant *variant, qn_kernel **kernel);

/* ---- plans ---- */

enum { QN__KEY_WORDS = 160 };

/* What a plan depends on. */
typedef struct qn__key {
    uint32_t count;
    uint64_t words[QN__KEY_WORDS];
} qn__key;

void qn__key_add(qn__key *key, uint64_t word);
/* Type, sizes and strides; not the buffer, nor the offset. */
void qn__key_add_array(qn__key *key, const qn_array *array);

/* A kind of call. A plan is `plan_size` bytes that can be copied. */
typedef struct qn__op {
    const char *name;
    size_t plan_size;
    /* Decides, from what the call was given, and compiles. Must depend on nothing but what is in the key. */
    qn_status (*make)(qn_kernels *kernels, const void *request, void *plan);
} qn__op;

/* Copies the plan for the key to *plan, making it if need be. Plans are kept, up to some thousands. */
qn_status qn__plan_get(qn_kernels *kernels, const qn__op *op, const qn__key *key, const void *request,
                       void *plan);

/* ---- tuning ---- */

/* The calls that have a choice, and its parameters: src/kernels/tunables.def. */
typedef enum qn__call {
#define CALL(call, words, sizes, reach) QN__CALL_##call,
#include "kernels/tunables.def"
    QN__CALLS
} qn__call;

typedef enum qn__tunable {
#define TUNABLE(call, name, numbers, names) QN__TUNE_##call##_##name,
#include "kernels/tunables.def"
    QN__TUNABLES
} qn__tunable;

enum { QN__TUNED_SIZES = 3 };

/* A call as a line of a tuning has it, and its parameters: numbers, or 1 more than a name's index; 0: not set. */
typedef struct qn__tuned {
    qn__call call;
    char words[64];
    uint64_t sizes[QN__TUNED_SIZES];
    uint32_t values[QN__TUNABLES];
} qn__tuned;

typedef struct qn__tuning qn__tuning;

/* The choices in a text for devices as this one; of its lines for others the form alone is looked at. */
qn_status qn__tuning_read(const qn_kernels *kernels, const char *text, qn__tuning **tuning);
/* What the tuning sets for a call, whose words are a format: that of the nearest line. The first of `sizes` are the call's. */
qn__tuned qn__tuned_of(const qn_kernels *kernels, qn__call call, const uint64_t *sizes, const char *words,
                       ...);
/* What it sets, or without that `otherwise`, which it is then said to have been; likewise where a number that was set cannot be. */
uint32_t qn__tuned_number(qn__tuned *tuned, qn__tunable what, uint32_t otherwise);
/* Remembers what was chosen, for qn_kernels_tuning_line. */
void qn__tuned_keep(qn_kernels *kernels, const qn__tuned *tuned);

/* ---- the object ---- */

typedef struct qn__plan_set qn__plan_set;
typedef struct qn__compiled qn__compiled;

enum { QN__CHOSEN = 16 };

struct qn_kernels {
    uint32_t magic;
    uint32_t header; /* version of the structs that the program hands over */
    qn_device *device;
    qn_context *context;
    qn_allocator allocator;
    qn_device_info info;
    qn_memory_pool *pool;      /* of buffers between kernels; NULL: the driver has one */
    qn__tuning *tuning;        /* NULL: none */
    pthread_mutex_t plan_lock; /* of `plans` */
    qn__plan_set *plans;
    qn__tuned chosen[QN__CHOSEN]; /* of the first plans, as the lock of plans has it */
    uint32_t num_chosen;
    pthread_mutex_t
        compile_lock; /* of `compiled`; held while one compiles, so that no two compile the same */
    qn__compiled *compiled;
};

void *qn__op_allocate(const qn_kernels *kernels, size_t size); /* zeroed; NULL with a message */
void qn__op_release(const qn_kernels *kernels, void *memory);
void qn__plans_free(qn_kernels *kernels);
void qn__compiled_free(qn_kernels *kernels);

#endif
