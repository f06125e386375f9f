/* From nodes to launches: a walk lists the nodes that a value needs, the scheduler makes groups of them, each of which becomes a
   kernel, and a plan keeps what came out by the structure of the graph.

       walk.c       nodes in order, and the key of their structure
       place.c       places as sums of loop variables, through views
       schedule.c   groups
       demand.c      what elements of which nodes a group needs
       epilogue.c   maps that are done by the call before them
       replace.c    values that take over the memory of others
       text.c       values of elements as OpenCL C
       bounds.c     between which numbers values are
       merge.c      groups that are of one launch
       kernel.c     what a group does, as text; see kernel.h for access.c, shape.c, value.c, assemble.c and multi.c
       program.c    compiled texts, kept
       plan.c       plans, kept, and what runs them
       layout.c     the values of a recorded step in one memory
       explain.c    plans for people */
#ifndef QN__TENSOR_PLAN_H
#define QN__TENSOR_PLAN_H

#include <math.h>

#include "tensor/graph.h"

#define QN__NONE UINT32_MAX

/* ---- walk.c ---- */

/* The nodes from which some asked ones are computed, sources before users; what has a value already is a leaf. */
typedef struct qn__walk {
    qn_tensors *tensors;
    qn__node **nodes;
    size_t count, room;
    uint64_t *key; /* what a plan depends on */
    size_t num_words, key_room;
    uint64_t hash;
} qn__walk;

/* Lists them in `walk`, which may have been used before; a node's index is its place in the list. The key has the asked ones too. */
qn_status qn__walk_from(qn_tensors *tensors, qn__node *const *asked, size_t count, qn__walk *walk);
void qn__walk_end(qn__walk *walk);
/* The key has, too, which leaves the asked nodes may replace; entries that are NULL: none. */
qn_status qn__walk_replace(qn__walk *walk, qn__node *const *replaced, size_t count);

/* ---- place.c ---- */

enum { QN__LOOPS = 16 };

/* A place along a dimension, or in memory: base + the sum of steps[l] times loop variable l. */
typedef struct qn__form {
    int64_t base;
    int64_t steps[QN__LOOPS];
} qn__form;

typedef struct qn__loop {
    uint64_t size;
    uint32_t dimension; /* of the space that the loops run through */
    bool reduced;
} qn__loop;

typedef struct qn__loops {
    uint32_t count;
    qn__loop at[QN__LOOPS]; /* the innermost is the last one */
} qn__loops;

/* Where an element of a node is read: a form for each dimension. */
typedef struct qn__place {
    qn__form forms[QN_MAX_RANK];
    uint32_t condition; /* under which it is there at all, by a number of the caller's; 0: always */
} qn__place;

typedef enum qn__followed {
    QN__FOLLOWED,
    QN__SPLIT, /* a loop has to be cut in two, see *loop and *inner */
    QN__STUCK  /* no sums say where: the source needs a value in memory */
} qn__followed;

/* From a place in a view to that in its first source. `flat`: the source lies contiguous in memory, so that its dimensions may be taken
   together, in a sum for the last of several. Conditions are not looked at: those of PAD are the caller's. QN__SPLIT: loop *loop has to
   become two, of which the inner one has *inner iterations. */
qn__followed qn__view_follow(const qn__node *view, const qn__loops *loops, const qn__place *place, bool flat,
                             qn__place *source, uint32_t *loop, uint64_t *inner);
bool qn__form_equal(const qn__form *a, const qn__form *b);
bool qn__place_equal(const qn__place *a, const qn__place *b, uint32_t rank);

/* ---- demand.c ---- */

/* That a place along a padded dimension is within the source: 0 <= form < size, and `outer` holds too. */
typedef struct qn__condition {
    uint32_t outer;
    qn__form form;
    uint64_t size;
} qn__condition;

/* An element of a node that is needed, at a place that depends on the loops. */
typedef struct qn__instance {
    qn__node *node;
    qn__place place;
    uint32_t sources[3];
    uint32_t condition; /* of a PAD: under which it is what it pads */
    uint32_t next;      /* another one of the same node */
    bool stopped;       /* it is not computed here from its sources */
    uint32_t names;     /* free for who goes through them */
} qn__instance;

typedef struct qn__demand {
    qn_tensors *tensors;
    qn__loops loops;
    qn__instance *instances;
    size_t count, room;
    qn__condition *conditions; /* number 1 is the first */
    size_t num_conditions, condition_room;
    uint32_t *first; /* by the node's index */
    size_t num_first;
    qn__node *stuck; /* what needs a value in memory, as no view leads to it */
} qn__demand;

/* Whether a demand goes on into the sources of a node. */
typedef bool qn__stops(const void *user, const qn__node *node);

/* Begins with no instances, loops through `space`; all uses of a demand are of one walk. */
qn_status qn__demand_begin(qn__demand *demand, qn_tensors *tensors, size_t nodes, const qn__loops *space);
/* Needs an element of the node, in the iteration that stands for it: see qn__place_of_own. */
typedef struct qn__root {
    qn__node *node;
    bool of_rows; /* its dimensions are those that are not reduced */
} qn__root;
/* Finds all that the roots need. QN_OK with `stuck` set: that node has to be forced first. */
qn_status qn__demand_run(qn__demand *demand, const qn__root *roots, size_t count, qn__stops *stops,
                         const void *user);
/* Forgets the instances, while the nodes still have their places in the walk; what there is of memory can be used for another walk then. */
void qn__demand_clear(qn__demand *demand);
void qn__demand_free(qn__demand *demand);
/* The instance of a root. */
const qn__instance *qn__demand_root(const qn__demand *demand, const qn__root *root);
/* The place whose dimensions other than those of size 1 are the space's, or those that are not reduced. */
qn__place qn__place_of_own(const qn__loops *loops, const qn__node *node, bool of_rows);

/* ---- schedule.c ---- */

typedef enum qn__extent {
    QN__INLINED,     /* computed where it is needed */
    QN__WHOLE_SPACE, /* an output with an element for each of a group's */
    QN__ROWS,        /* with an element for each row */
    QN__REDUCTION    /* made of a row */
} qn__extent;

/* What was decided for a node of the walk. */
typedef struct qn__item {
    uint32_t uses, user; /* how often nodes of the walk need it, and the last one that does */
    uint32_t epilogue;   /* that it is part of, or QN__NONE */
    bool absorbed;       /* by an epilogue: it is never stored */
    uint32_t group;      /* QN__NONE: inlined, or a leaf */
    qn__extent extent;
    bool asked, stored; /* stored: it gets memory */
    bool replaces;      /* it may be written into the memory of a leaf: see replace.c */
    bool forced;        /* it has to be computed for itself */
    bool heavy;         /* computing it again costs more than a few operations */
    uint32_t depth;     /* ops on the longest way to a leaf */
    uint32_t ready;     /* the least level of a group that reads it */
    uint32_t after;     /* the least level of a group that computes it */
    uint32_t places;    /* at which it is computed for one element: ever more in a recurrence */
    uint32_t moved;     /* of those what comes through views */
    uint64_t reads;     /* which leaves it reads, as bits by their hash */
    uint64_t bytes;     /* of these */
    uint64_t constants; /* which numbers, likewise */
    uint32_t seen_in;   /* a group that computes it, in a look for those that several do */
    bool shared, exposed;
    bool waits;                         /* it reads what is forced now, and is looked at again */
    uint32_t last_read, astray, reader; /* of a leaf: see replace.c */
    bool takes_over;                    /* it is written into the memory of the leaf that it replaces */
} qn__item;

/* What a call does to its result y before it stores it: scale * activation(alpha y + bias) + residual, by nodes of the walk; QN__NONE:
   nothing of the kind. */
typedef struct qn__epilogue {
    uint32_t call, result;
    qn_activation activation;
    uint32_t alpha, scale;   /* numbers */
    uint32_t bias, residual; /* what is read through views that strides can say */
} qn__epilogue;

/* Nodes that are computed by one kernel: all of one space, whose dimensions are rows' and reduced ones; sizes of 1 are left out. */
typedef struct qn__group {
    qn__node *call;    /* a call instead, with its parts as further members; NULL: none */
    uint32_t epilogue; /* of the call, by its number; QN__NONE: none */
    uint32_t level;    /* it needs none of the same level or above */
    bool is_read;      /* by another group, so that the level stays */
    bool replaces;     /* a member of it may */
    uint32_t launch;   /* groups of the same one are side by side in the order, and of one level */
    qn__loops space;
    uint64_t reads, constants;
    uint32_t *members; /* in the order of the walk */
    size_t count, room;
} qn__group;

/* What a call reads: a node with a value in memory, of which it sees this array. */
typedef struct qn__seen {
    qn__node *node;
    qn_array array; /* without the buffer */
} qn__seen;
/* Below the views that strides can say; a view that they cannot say has to have a value itself. */
qn__seen qn__call_source(qn__node *source);

typedef struct qn__schedule {
    qn_tensors *tensors;
    const qn__walk *walk;
    qn__item *items;
    qn__group *groups;
    size_t num_groups, group_room;
    uint32_t *order; /* of the groups, by level and launch */
    qn__epilogue *epilogues;
    size_t num_epilogues, epilogue_room;
    qn__demand demand;
} qn__schedule;

/* `schedule` is zeroed, but for a demand that was used before. */
qn_status qn__schedule_make(qn_tensors *tensors, const qn__walk *walk, qn__node *const *asked,
                            qn__node *const *replaced, size_t count, qn__schedule *schedule);
/* The demand stays. */
void qn__schedule_free(qn__schedule *schedule);
/* Demands all that a group computes, up to leaves, values in memory and its own reductions. */
qn_status qn__group_demand(qn__schedule *schedule, uint32_t group);
bool qn__group_has_reductions(const qn__group *group);
/* Whether an op costs more than a few operations. */
bool qn__is_heavy(const qn__node *node);

/* Whether a node is computed for itself, and not where it is needed. */
bool qn__is_anchor(const qn__schedule *schedule, const qn__node *node);

/* ---- epilogue.c ---- */

/* Finds the maps that calls do in passing. */
qn_status qn__epilogues_find(qn__schedule *schedule);

enum { QN__CALL_READS = QN__SOURCES + 2 };
/* The nodes whose values the call of a group reads, with its epilogue; says how many. */
uint32_t qn__call_reads(const qn__schedule *schedule, uint32_t group, qn__node **reads);

/* ---- merge.c ---- */

/* Finds groups that may be of one launch, as none needs another, and settles the order. */
qn_status qn__launches_find(qn__schedule *schedule);
/* How many groups the launch has that begins at this place of the order. */
size_t qn__launch_size(const qn__schedule *schedule, size_t place);

/* ---- shape.c ---- */

/* Whether work-items are the lanes of a processor's vectors. */
bool qn__tensors_on_processor(const qn_tensors *tensors);

/* ---- replace.c ---- */

/* Finds out which of the asked nodes can be written into the memory of the leaves that they replace (`takes_over`). */
qn_status qn__replacements_find(qn__schedule *schedule, qn__node *const *asked, qn__node *const *replaced,
                                size_t count);

/* ---- plan.c ---- */

typedef enum qn__argument_kind { QN__NUMBERS, QN__CONSTANT, QN__BUFFER } qn__argument_kind;

/* What a launch gets, by the place of a node in the walk. */
typedef struct qn__argument {
    qn__argument_kind kind;
    uint32_t node;
} qn__argument;

/* A launch, and what there is to say about it. */
typedef struct qn__step {
    uint32_t call; /* the node of a call; QN__NONE: it is a launch */
    /* Of a call: what it reads, its results, and what its epilogue reads; the buffers are in `arguments` in the same order. */
    qn_array *arrays;
    qn__epilogue *epilogue; /* NULL: none */
    qn_kernel *kernel;
    qn_range range;
    void *numbers;
    uint32_t numbers_size;
    qn__argument *arguments;
    uint32_t num_arguments;
    uint64_t bytes, operations; /* that it moves, and computes */
    const char *text;           /* the program's */
    char *fuses;                /* words of its ops */
} qn__step;

void qn__plan_set_free(qn_tensors *tensors);
/* Computes the asked nodes, none of which has a value or is without elements. replaced[i], unless it or `replaced` is NULL: a leaf that
   nobody needs afterwards, in order in memory of its own, which asked[i], of its type and sizes, gets where that can be. */
qn_status qn__plan_run(qn_tensors *tensors, qn__node *const *asked, qn__node *const *replaced, size_t count);
/* The same while launches are recorded: what nobody asked for lies in one memory, *memory, which is counted and has to stay (NULL: there
   is none). */
qn_status qn__plan_record(qn_tensors *tensors, qn__node *const *asked, qn__node *const *replaced,
                          size_t count, qn__storage **memory);
typedef qn_status qn__plan_visitor(void *user, const qn__walk *walk, const qn__step *steps, size_t count);
/* Schedules and compiles what would compute them. */
qn_status qn__plan_prepare(qn_tensors *tensors, qn__node *const *asked, qn__node *const *replaced,
                           size_t count);
/* Shows the steps that would compute them. */
qn_status qn__plan_visit(qn_tensors *tensors, qn__node *const *asked, size_t count, qn__plan_visitor *visitor,
                         void *user);

/* ---- explain.c ---- */

/* As qn_tensor_explain, of nodes that have to be computed. */
qn_status qn__explain(qn_tensors *tensors, qn__node *const *asked, size_t count, const qn_explain_desc *desc,
                      qn_text_callback *callback, void *user);

/* ---- layout.c ---- */

/* Memory that a value needs from one step to another, both included, and where it gets it. */
typedef struct qn__piece {
    uint64_t bytes, offset; /* bytes: a multiple of QN__STORAGE_STEP */
    uint32_t first, last;
    uint32_t node;
} qn__piece;

/* Places them so that those which are alive at the same step share nothing; *bytes: of all. */
qn_status qn__pieces_place(qn_tensors *tensors, qn__piece *pieces, size_t count, uint64_t *bytes);

/* ---- text.c ---- */

/* A text that grows. Without memory it stays as it is and `failed`. */
typedef struct qn__text {
    qn_tensors *tensors;
    char *text;
    size_t length, room;
    bool failed;
} qn__text;
void qn__text_add(qn__text *text, const char *format, ...);
void qn__text_free(qn__text *text);
/* Between which numbers a value is. */
typedef struct qn__bounds {
    float low, high;
} qn__bounds;
#define qn__unbounded ((qn__bounds){-INFINITY, INFINITY})
/* Those of a function of elements, from its operands'. */
qn__bounds qn__bounds_of(qn__op op, const qn__bounds *of);
/* The expression of an op of nodes of type `type`, with the names of its operands, the first within `bounds`, X being `result`. Functions
   that it calls are defined in `helpers`, each once. */
void qn__text_op(qn__text *to, qn__text *helpers, qn__op op, qn_element type, const char *const *operands,
                 qn__bounds bounds, const char *result);
void qn__text_cast(qn__text *to, qn_element from, qn_element type, const char *operand);
/* What a reduction begins with. */
const char *qn__text_start(qn__op op, qn_element type);

/* ---- assemble.c ---- */

enum { QN__ARGUMENTS = 512 }; /* of a kernel, at most */

/* Makes the kernels of the groups of a launch, one if that can be, as steps behind the *made ones. */
qn_status qn__kernels_make(qn__schedule *schedule, const uint32_t *groups, size_t count, qn__step *steps,
                           size_t *made);

/* Makes the step of a group that is a call. */
qn_status qn__call_make(qn__schedule *schedule, uint32_t group, qn__step *step);

/* ---- program.c ---- */

/* The kernel of a text, which is called `kernel`, compiled at the first time. *kept: the text as long as the tensors live. */
qn_status qn__program_get(qn_tensors *tensors, const char *text, qn_kernel **kernel, const char **kept);
qn_status qn__programs_wait(qn_tensors *tensors, uint64_t timeout_ns);
void qn__programs_free(qn_tensors *tensors);

#endif
