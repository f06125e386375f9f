/* What the files of this room share: handles, nodes, values, and the object that owns them. A handle (qn_tensor) names a node; a node is
   an op with its sources, immutable but for its value, which it gets when it is computed. Handles and nodes are counted; a node
   keeps its sources until it has a value that nothing else is asked of.
   This room sees the public headers only. */
#ifndef QN__TENSOR_GRAPH_H
#define QN__TENSOR_GRAPH_H

#include <quern/tensor.h>

/* ---- ops ---- */

typedef enum qn__kind {
    QN__LEAF,   /* has a value from the begin */
    QN__CREATE, /* a map without sources */
    QN__MAP,    /* an expression of the elements at the same place */
    QN__REDUCE, /* many elements become one */
    QN__CALL,   /* a call of kernels.h, or another result of one */
    QN__VIEW    /* the elements of the first source in other places */
} qn__kind;

/* What the operands become before a map sees them, and what it gives. */
typedef enum qn__rule {
    QN__ANY,   /* the common type */
    QN__REAL,  /* likewise, integers becoming f32 */
    QN__WHOLE, /* likewise, of integers and bool only */
    QN__TRUTH, /* the common type, giving bool */
    QN__OWN    /* the op's function has its own rule */
} qn__rule;

typedef enum qn__op {
#define OP(name, word, kind, arity, rule, real, integer, sentence) QN__OP_##name,
#include "tensor/ops.def"
#undef OP
    QN__OP_COUNT
} qn__op;

typedef struct qn__op_info {
    const char *word;
    qn__kind kind;
    uint32_t arity;
    qn__rule rule;
    const char *real, *integer; /* expressions, see ops.def; NULL: not of such operands */
} qn__op_info;
extern const qn__op_info qn__ops[QN__OP_COUNT];

/* ---- elements ---- */

typedef enum qn__class { QN__FLOAT, QN__SIGNED, QN__UNSIGNED } qn__class;

typedef struct qn__element_info {
    const char *storage; /* "half": what a pointer points to */
    const char *value;   /* "float": what is computed with */
    uint32_t size;
    qn__class class;
    const char *least, *most; /* of numbers, as kernels write them */
} qn__element_info;
const qn__element_info *qn__element_of(qn_element type);
bool qn__is_float(qn_element type);
/* What a type is computed in: narrow floats in f32, all others in themselves. */
qn_element qn__value_type(qn_element type);
/* The type that two make together; QN_ELEMENT_COUNT: none. */
qn_element qn__common_type(qn_element a, qn_element b);

/* ---- values ---- */

/* Device memory that several tensors may show parts of. */
typedef struct qn__storage {
    uint32_t refs;
    bool borrowed; /* not quern's to release, and not to be written */
    /* Others see the memory, too: it is not used again when it is released, and not to be written. */
    bool shared;
    void (*release)(void *user); /* of borrowed memory that gets a buffer of its own: tells the lender */
    qn_release_callback *release_enqueued; /* of a borrowed buffer: without waiting for work with it */
    void *user;
    bool is_part;  /* its buffer is a view of another storage's */
    bool assigned; /* runs of a step put new values of a tensor there: values of others lie elsewhere */
    uint64_t bytes;
    qn_buffer *buffer;
    struct qn__storage *next; /* in the pool */
} qn__storage;

typedef union qn__number {
    double d;
    int64_t i;
    uint64_t u;
} qn__number;

/* An operand that is a number as an element of the type, and whether an integer type has it. */
qn__number qn__number_of(const qn_operand *x, qn_element type);
bool qn__holds(qn_element type, const qn_operand *x);

enum { QN__SOURCES = 7 };

/* What an op is told beside its sources; zero where it does not matter. */
typedef struct qn__attributes {
    uint32_t axes;              /* REDUCE: bit i: dimension i */
    uint32_t axis;              /* SLICE, PAD, INDEX */
    int64_t begin, step;        /* SLICE: first element and distance; PAD: elements before */
    uint8_t order[QN_MAX_RANK]; /* PERMUTE: dimension d is the source's order[d] */
    int64_t integers[8];        /* CALL: what the call's function makes of them */
    double reals[2];
} qn__attributes;

typedef struct qn__node {
    uint32_t refs;
    uint16_t op;
    uint8_t type, rank;
    uint32_t num_sources;
    uint32_t index;           /* in the list of a walk that is under way */
    uint64_t mark;            /* of the walk that was here last */
    struct qn__node *waiting; /* in a list of nodes to be released */
    struct qn__node
        *parts; /* of a call: the PART nodes that it has at the moment, not counted; of those the next */
    qn_tensors *owner;
    struct qn__node *sources[QN__SOURCES];
    uint64_t sizes[QN_MAX_RANK];
    qn__attributes attributes;
    qn__number number; /* FULL: by the class of the type */
    /* The value, once there is one: */
    qn__storage *storage; /* NULL: not computed, or no elements */
    bool realised;
    /* Gradients reach it: it keeps its sources when it gets a value. A leaf of gradients hands nothing on to its sources. */
    bool needs_gradient, is_leaf;
    bool is_replaced;   /* a leaf whose handle was given another value: no gradient gets there any more */
    qn_tensor *leaf_of; /* the handle that gets a leaf's gradient; NULL: it is gone */
    struct qn__detour *detour; /* what gradients do here other than the op says; NULL: nothing */
    uint64_t offset;           /* elements */
    int64_t strides[QN_MAX_RANK];
} qn__node;

struct qn_tensor {
    uint32_t magic;
    uint32_t refs;
    qn_tensors *owner;
    qn__node *node;   /* NULL: failed */
    qn_status status; /* of a failed one */
    char *message;    /* likewise */
    qn_tensor *next;  /* in the list of free ones */
    bool requires_gradient;
    qn_tensor *gradient;                  /* what qn_backward has added up; NULL: nothing */
    const struct qn__recording *made_for; /* of which step's recording it is; only to be compared */
};

/* ---- the owner ---- */

typedef struct qn__block qn__block;
typedef struct qn__recording qn__recording;
typedef struct qn__plans qn__plans;
typedef struct qn__programs qn__programs;

enum { QN__POOL_LISTS = 256 };

struct qn_tensors {
    uint32_t magic;
    uint32_t header; /* version of the structs that the program hands over */
    qn_device *device;
    qn_context *context;
    qn_allocator allocator;
    qn_device_info info;
    qn_kernels *kernels;
    qn_stream *stream;
    qn_tensors_desc desc;
    /* Scopes: the handles that were made, in order, and where each open scope begins among them. */
    qn_tensor **made;
    size_t num_made, max_made;
    size_t *scopes;
    size_t num_scopes, max_scopes;
    char **labels;
    size_t num_labels, max_labels;
    /* Memory. */
    qn__block *node_blocks, *handle_blocks;
    qn__node *free_nodes;
    qn_tensor *free_handles;
    qn__storage *pool[QN__POOL_LISTS];
    qn_tensor out_of_memory;  /* what ops give where there is no memory for a handle */
    uint64_t ops;             /* how many were called */
    qn__recording *recording; /* of a step's function that is called at the moment; NULL: none */
    uint32_t tracing;         /* how many functions are called at the moment whose inputs have no values */
    uint32_t no_gradient;     /* how often qn_no_gradient_begin is open */
    uint64_t random_words;    /* of the seed's sequence that were taken */
    uint64_t walk;            /* number of the last walk through nodes */
    qn__plans *plans;
    qn__programs *programs;
    qn_tensors_stats stats;
};

/* ---- object.c ---- */

qn_status qn__tensors_check(const qn_tensors *tensors, const char *function);
/* Sets the sentence and gives the status. Formats as printf. */
qn_status qn__tensors_fail(const qn_tensors *tensors, qn_status status, const char *format, ...);
/* Zeroed; NULL with a sentence. */
void *qn__tensors_allocate(qn_tensors *tensors, size_t size);
void qn__tensors_release(qn_tensors *tensors, void *memory);
/* Room for one more in an array of `count` elements of `size` bytes. */
bool qn__reserve(qn_tensors *tensors, void *array, size_t *room, size_t count, size_t size);

/* ---- memory.c ---- */

qn_tensor *qn__handle_allocate(qn_tensors *tensors);
void qn__handle_free(qn_tensor *x);
qn__node *qn__node_allocate(qn_tensors *tensors);
void qn__node_free(qn__node *node);
/* Uninitialised device memory of at least so many bytes, counted once. */
qn_status qn__storage_create(qn_tensors *tensors, uint64_t bytes, qn__storage **storage);
/* A range of a storage, counted once, which is to be gone before it. */
qn_status qn__storage_part(qn_tensors *tensors, const qn__storage *whole, uint64_t offset, uint64_t bytes,
                           qn__storage **storage);
/* To what multiples the memory of values is rounded up, at least. */
enum { QN__STORAGE_STEP = 512 };
void qn__storage_retain(qn__storage *storage);
void qn__storage_release(qn_tensors *tensors, qn__storage *storage);
void qn__memory_free(qn_tensors *tensors);

/* ---- node.c ---- */

/* The handle's node, of a handle that is none or failed NULL. */
qn__node *qn__node_of(const qn_tensor *x);
void qn__node_retain(qn__node *node);
/* Without recursion, however long the chain of sources. */
void qn__node_release(qn__node *node);
/* A new node of no sources yet, counted once; NULL: out of memory, with a sentence. */
qn__node *qn__node_make(qn_tensors *tensors, qn__op op, qn_element type, uint32_t rank,
                        const uint64_t *sizes);
void qn__node_add_source(qn__node *node, qn__node *source);
uint64_t qn__node_count(const qn__node *node); /* elements */
/* Gives the node its value, and its sources up. Takes over the caller's count of the storage. */
void qn__node_set_value(qn__node *node, qn__storage *storage, uint64_t offset, const int64_t *strides);
void qn__contiguous_strides(uint32_t rank, const uint64_t *sizes, int64_t *strides);
/* Whether a node that has a value has it in order. */
bool qn__is_contiguous(const qn__node *node);

/* ---- handle.c ---- */

/* A handle in the innermost scope for the node, whose count it takes over; NULL gives the failed one of out of memory. */
qn_tensor *qn__handle(qn_tensors *tensors, qn__node *node);
/* A failed tensor, whose sentence names the op. `tensors` may be NULL. Formats as printf. */
qn_tensor *qn__failed(qn_tensors *tensors, const char *function, qn_status status, const char *format, ...);
/* A failed tensor with what the context's sentence says. */
qn_tensor *qn__failed_as(qn_tensors *tensors, qn_status status);
/* What an op of these tensors gives at once: the first failed one, a failure where they are no tensors or of several
   owners; NULL: all are good, and *tensors is their owner. Entries that are NULL count as wrong. */
qn_tensor *qn__refuse(const char *function, qn_tensor *const *operands, uint32_t count, qn_tensors **tensors);

/* "f32 64x1000" for messages. */
typedef struct qn__shape_text {
    char text[200];
} qn__shape_text;
qn__shape_text qn__describe(const qn__node *node);
qn__shape_text qn__shape_of(uint32_t rank, const uint64_t *sizes);

/* ---- ops.c ---- */

/* An op of nodes that fit: types and shapes have been settled. Gives a counted node, NULL without memory. */
qn__node *qn__map_node(qn_tensors *tensors, qn__op op, qn_element type, qn__node *const *sources,
                       uint32_t count);
/* A number as a tensor without dimensions. */
qn__node *qn__number_node(qn_tensors *tensors, qn_element type, const qn_operand *value);
/* A failed tensor where the type is none, or none of the device's. */
qn_tensor *qn__check_type(qn_tensors *tensors, const char *function, qn_element type);
/* The node as of that type; the caller's count passes over. */
qn__node *qn__cast_node(qn__node *node, qn_element type);
/* A tensor of one op of the table from operands: broadcasts, promotes. */
qn_tensor *qn__apply(qn__op op, const char *function, const qn_operand *operands, uint32_t count);

/* ---- create.c ---- */

/* A tensor of values in memory, whose count it takes over. Strides may be NULL. */
qn_tensor *qn__stored_tensor(qn_tensors *tensors, qn_element type, const qn_shape *shape,
                             qn__storage *storage, uint64_t offset, const int64_t *strides);
/* What a function that makes a tensor of numbers refuses, as a failed one: no object, types and shapes that cannot be. NULL: fine. */
qn_tensor *qn__check_creation(qn_tensors *tensors, const char *function, qn_element type,
                              const qn_shape *shape);
/* 0, 1, ..., QN_I64, along one dimension. */
qn_tensor *qn__index_tensor(qn_tensors *tensors, uint64_t count);

/* The place along an axis of that shape, QN_I64. */
qn__node *qn__index_node(qn_tensors *tensors, uint32_t rank, const uint64_t *sizes, uint32_t axis);

/* ---- channels.c ---- */

/* Four sizes as they are where channels lie together. */
void qn__channels_order(uint64_t *sizes);
/* The usual order of such a node, whose count passes over, as a marked view. */
qn__node *qn__channels_view(qn__node *node);
/* What a marked view shows; NULL: it is none. */
qn__node *qn__channels_below(const qn__node *node);
/* A node of four dimensions, whose count passes over, in the order of one with channels together. */
qn__node *qn__channels_turn(qn__node *node);
/* Whether that made it. */
bool qn__channels_are_turned(const qn__node *node);
/* Dimensions of a marked view, as bits, as those of what it shows. */
uint32_t qn__channels_axes(uint32_t bits);

/* ---- views.c ---- */

/* The node broadcast to the shape, which fits; the caller's count passes over. */
qn__node *qn__expand_node(qn__node *node, uint32_t rank, const uint64_t *sizes);
qn__node *qn__reshape_node(qn__node *node, uint32_t rank, const uint64_t *sizes);
/* `count` elements along dimension d from `from` on, `step` apart; the node's count passes over. */
qn__node *qn__slice_node(qn__node *node, uint32_t d, int64_t from, int64_t step, uint64_t count);
/* `value`, without dimensions, before and behind along dimension d; both counts pass over. */
qn__node *qn__pad_node(qn__node *node, uint32_t d, uint64_t before, uint64_t after, qn__node *value);
/* Whether what is below a view can stand in its place: nothing stops or begins at the view. */
bool qn__view_is_clear(const qn__node *view);
/* Where axis `axis` is, from 0; false: there is none such. */
bool qn__axis(int32_t axis, uint32_t rank, uint32_t *place);
/* The axes as bits; a failed tensor where one is wrong or there twice. */
qn_tensor *qn__axes(qn_tensors *tensors, const char *function, const qn__node *node, const qn_axes *axes,
                    uint32_t *bits);

/* ---- reduce.c ---- */

/* The reduction of a node along the axes in `bits`; the node's count passes over. */
qn__node *qn__reduce_node(qn__node *node, qn__op op, uint32_t bits, bool keep);

/* ---- call.c ---- */

enum { QN__RESULTS = 4, QN__EPILOGUE_READS = 2 };

/* Enqueues the call that a node stands for. sources[i]: of the node's sources; results[0] is the node's own, the others are those of PART
   nodes, or have no buffer where nobody wants them. */
typedef qn_status qn__call(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                           const qn_array *results);
/* What is done to a call's result before it is stored: scale * activation(alpha y + bias) + residual; arrays without a buffer: none. */
typedef struct qn__finish {
    double alpha, scale;
    qn_activation activation;
    qn_array bias, residual;
} qn__finish;
typedef qn_status qn__finishing_call(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                                     const qn_array *results, const qn__finish *finish);
/* Whether an op's call takes one; of convolutions it is a bias alone. */
bool qn__call_finishes(qn__op op);
/* `finish` may be NULL. */
qn_status qn__call_run(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                       const qn_array *results, const qn__finish *finish);
/* A node of a call of these sources, which it counts. Gives a counted node, NULL without memory. */
qn__node *qn__call_node(qn_tensors *tensors, qn__op op, qn_element type, uint32_t rank, const uint64_t *sizes,
                        qn__node *const *sources, uint32_t count);
/* Its result number `index`, from 1: the node that there is already, or a new one; counted. */
qn__node *qn__part_node(qn__node *call, uint32_t index, qn_element type, uint32_t rank,
                        const uint64_t *sizes);

/* ---- walk.c ---- */

/* What a way from a node back to its sources goes through, depth first: `ends`: it goes into none of the node's sources; `enters` (NULL: any):
   whether it goes into this one. `add` gets each node once, behind its sources; false: an end. */
typedef struct qn__traversal {
    bool (*ends)(const qn__node *node);
    bool (*enters)(const qn__node *source);
    bool (*add)(void *user, qn__node *node);
    qn__node *const *(*sources)(const qn__node *node, uint32_t *count); /* NULL: the node's own */
} qn__traversal;
/* Nodes that are marked with the number of the owner's walk have been added. Uses the nodes' indices. */
bool qn__traverse(const qn__traversal *traversal, qn__node *node, void *user);

/* ---- gradient.c ---- */

/* What a node's function of gradients works with; its handles are of a scope that ends soon. */
typedef struct qn__backward {
    qn_tensors *tensors;
    const qn__node *node;
    qn_tensor *gradient, *value; /* by the node, and the node itself */
    qn_tensor *sources[QN__SOURCES];
    qn_tensor *given[QN__SOURCES]; /* by the sources; NULL: none */
} qn__backward;
typedef void qn__gradient(qn__backward *b);
/* The gradient by a source that is not asked for may be left out. */
bool qn__wants_gradient(const qn__backward *b, uint32_t source);
/* The function of an op's gradients; NULL: it has none, its result is the same all around (comparisons, rounding). */
qn__gradient *qn__gradient_of(qn__op op); /* gradients.c */
/* Without its gradient, when the handle goes. */
void qn__forget_gradient(qn_tensor *x);

/* ---- detour.c ---- */

/* Of a node that is freed: gives the list of further nodes to be freed. */
qn__node *qn__detour_free(qn__node *node, qn__node *list);
/* Whether it is what a function of qn_recompute gave. */
bool qn__detour_calls_again(const qn__node *node);

/* ---- step.c ---- */

/* How many words of the seed's sequence were taken, by the step that is recorded or by the owner. */
uint64_t *qn__step_position(qn_tensors *tensors);

/* Tells the step that is recorded, if one is, that a tensor is going to be assigned. */
qn_status qn__step_watch(qn_tensors *tensors, qn_tensor *x);
/* The place in the seed's sequence of `count` further words for a step that is recorded, as u64 without dimensions; NULL: none is. */
qn_tensor *qn__step_words(qn_tensors *tensors, uint64_t count);

/* ---- realize.c ---- */

qn_status qn__realise(qn_tensors *tensors, qn__node *const *nodes, size_t count);
/* Of an eager owner: gives x, or a failed tensor where it cannot be computed, or has numbers that it should not have. */
qn_tensor *qn__realise_at_once(qn_tensors *tensors, qn_tensor *x); /* finite.c */
/* A node with the tensor's values in order, computed if need be, counted. */
qn_status qn__in_order(qn_tensor *x, qn__node **out);

#endif
