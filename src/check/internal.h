/* What the files of the checker share. It watches the interpreter (qn__vm_watch): instructions that can go wrong, and those
   that may hand undefined bits on, get handlers of the checker's, which look first and then have the interpreter do it.

   Shadow memory. Each region, a buffer or a group's local memory, has a cell for every 4 bytes (every byte, once smaller
   accesses have been there) with the stamps of its last write and read: time, work-item, instruction. Time is a counter that
   goes up at barriers and with each work-group; as groups run one after another, it tells the group, too. Two accesses are
   ordered if one came before the launch, or before the group's last barrier that orders that kind of memory, or both are
   of one work-item; between groups only atomics order anything. That is FastTrack's idea (Flanagan, Freund 2009) with
   barriers in place of locks.

   Undefined bits. A shadow of private and local memory, and of the values that may come from there, has a bit for each of
   their bits, 1 where it is undefined, as in Memcheck (Seward, Nethercote 2005). Values that cannot be undefined, by their
   dataflow, have none; `dirty` tells which slots have a bit set at all, which is rare. */
#ifndef QN__CHECK_INTERNAL_H
#define QN__CHECK_INTERNAL_H

#include "check/check.h"
#include "util/map.h"
#include "util/vec.h"
#include "vm/internal.h"

/* ---- stamps and regions ---- */

/* time << 32 | flags << 28 | item << 16 | place. 0: never. */
typedef uint64_t qn__check_stamp;
enum { QN__CHECK_ITEM_SHIFT = 16, QN__CHECK_ITEMS = 1 << 12, QN__CHECK_PLACES = 1 << 16 };
#define QN__STAMP_ITEM   ((uint64_t)(QN__CHECK_ITEMS - 1) << QN__CHECK_ITEM_SHIFT)
#define QN__STAMP_ATOMIC ((uint64_t)1 << 28)
/* An atomic whose scope is the work-group, or less; of what is not atomic: volatile in the source. */
#define QN__STAMP_NARROW ((uint64_t)1 << 29)
#define QN__STAMP_SEVERAL                                                                                    \
    ((uint64_t)1                                                                                             \
     << 30) /* read, or done by atomics: by other work-items, too, since the group's last barrier */
#define QN__STAMP_GROUPS ((uint64_t)1 << 31) /* by other groups, too */

static inline uint32_t qn__stamp_time(qn__check_stamp stamp) { return (uint32_t)(stamp >> 32); }
static inline uint32_t qn__stamp_item(qn__check_stamp stamp) {
    return (uint32_t)(stamp & QN__STAMP_ITEM) >> QN__CHECK_ITEM_SHIFT;
}
static inline uint32_t qn__stamp_place(qn__check_stamp stamp) {
    return (uint32_t)(stamp & (QN__CHECK_PLACES - 1));
}

typedef struct qn__check_cell {
    qn__check_stamp write, read;
} qn__check_cell;

/* A buffer's memory, or local memory. */
typedef struct qn__check_region {
    struct qn__check_region *next;
    void *base; /* as allocated */
    uint64_t begin, size;
    qn__check_cell *cells; /* NULL: not needed yet */
    unsigned char *bits;   /* undefined ones, where buffers are looked at, too; else NULL */
    unsigned shift;        /* of an offset to its cell: 2 or 0 */
    uint64_t number;       /* of buffers, from 1 in the order in which they were made */
    char *label;           /* or NULL */
    bool is_local, is_freed;
    bool is_shared;  /* with the host */
    bool is_written; /* in this launch, perhaps */
} qn__check_region;

/* ---- programs ---- */

#define QN__CHECK_CLEAN UINT32_MAX

typedef struct qn__check_counter qn__check_counter;
typedef struct qn__check_arch qn__check_arch; /* occupancy.c */

/* What the checker knows of an instruction. */
typedef struct qn__check_note {
    uint32_t place;  /* in program->places; QN__CHECK_PLACES - 1 for all that are too many */
    uint32_t *slots; /* of the operands whose values are tracked, QN__CHECK_CLEAN elsewhere; NULL: none is */
    bool is_tracked; /* the result is */
    qn__vm_handler *checked;    /* where instructions are counted: what does it then */
    qn__check_counter *counter; /* and the count */
} qn__check_note;

struct qn__check_program {
    qn__checker *checker;
    qn__arena *arena;
    qn__vm_program *vm;
    const struct ir_module *module;
    QN__VEC(const ir_instr *) places;
    const bool *tracked; /* by value id */
    uint32_t *slots;     /* of results that are tracked, by value id; QN__CHECK_CLEAN: of others */
    QN__VEC(qn__check_counter *) counters; /* profile.c; none, unless asked for */
    qn__map64 constructs;                  /* by their instructions: lanes.c */
    bool buffers;                          /* undefined bits of buffers are looked at, too */
    bool orders;                           /* has fences, or atomics that order */
    bool has_fences;
    bool writes_anywhere; /* through pointers that may lead to any buffer */
};

/* ---- a launch ---- */

/* What an object of the program is in this launch: work-item i's bytes begin at begin + i * step. */
typedef struct qn__check_object {
    uint64_t begin, step, size;
    qn__check_region *region; /* NULL: no other work-item can get there, or nobody writes it */
    uint64_t shadow;          /* added to an address: where its undefined bits are; 0: there are none */
    bool is_known, is_read_only;
} qn__check_object;

/* Whether an access is ordered behind another, by its time. */
typedef struct qn__check_window {
    uint32_t launch, group; /* when they began */
    uint32_t barrier;       /* the group's last one for that memory */
} qn__check_window;

typedef struct qn__check_group {
    uint32_t begin;
    uint64_t id[3];
} qn__check_group;

typedef struct qn__check_order qn__check_order;
typedef struct qn__check_release qn__check_release;
typedef struct qn__check_acquired qn__check_acquired;

/* A variable into which undefined bits were copied, and the one that they are of. */
typedef struct qn__check_origin {
    const void *of; /* the kernel's argument, local or private variable */
    const char *name;
    ir_loc declared;
    const ir_instr *shuffle; /* that took nothing, instead; or NULL */
} qn__check_origin;
enum { QN__CHECK_ORIGINS = 32 };

typedef struct qn__check_run_state {
    qn__checker *checker;
    const qn__check_program *program;
    const qn_cpu_launch *launch;
    qn__check_object *objects;
    qn__check_window local, global;
    qn__check_region *local_region;
    unsigned char *local_shadow, *private_shadow, *value_shadow;
    uint8_t *dirty; /* by slot */
    uint64_t local_size, private_bytes;
    uint8_t *saved;   /* who was active, while some are not because their access is refused */
    uint8_t *ordered; /* the same, while atomics are done one by one */
    bool is_masked;
    bool is_spent;          /* the work-group was stopped, and that has been told */
    uint32_t *sub_barriers; /* by sub-group: the last one for local memory, and for global */
    bool has_sub_barriers;
    QN__VEC(qn__check_group) groups;
    qn__check_origin origins[QN__CHECK_ORIGINS]; /* of the work-group */
    unsigned num_origins;
    const ir_instr *lost_shuffle; /* the last that took something from nobody; NULL: none has */
    qn__check_order *order;       /* NULL: nothing in the kernel orders memory but barriers */
    qn__arena *arena;
} qn__check_run_state;

uint32_t qn__check_tick(qn__check_run_state *r); /* the next time */

static inline qn__check_run_state *qn__check_state(const qn__vm_frame *frame) { return frame->watcher; }

/* The group that a time was in. */
const qn__check_group *qn__check_group_at(const qn__check_run_state *r, uint32_t time);

/* ---- findings ---- */

typedef struct qn__check_suppression qn__check_suppression;

typedef struct qn__check_report {
    qn_finding_kind kind;
    const qn__vm_frame *frame;
    const ir_instr *instr;
    uint64_t item; /* in the frame */
    const ir_instr *other;
    qn__check_stamp other_stamp;
    const char *object;
    uint64_t object_size, size;
    int64_t offset;
    ir_loc declared;                /* of the object; line 0: not known */
    const qn__check_region *region; /* that it lies in; NULL: no buffer */
    uint64_t object_begin;          /* its address, where there is a region */
} qn__check_report;

struct qn__checker {
    const qn__allocator *allocator;
    qn_check_desc settings;
    qn_check_stats stats;
    uint64_t memory, shadow; /* bytes now */
    qn__check_region *regions, *freed;
    qn__check_region local; /* of the group that runs */
    uint64_t num_made;      /* regions, since it began */
    uint64_t freed_size;
    uint32_t time;
    qn__arena arena; /* findings */
    QN__VEC(qn_finding *) findings;
    QN__VEC(qn_finding *) allowed;        /* by comments in their sources, or suppressed */
    QN__VEC(qn_check_profile *) profiles; /* of the arena, as findings are */
    const qn__check_arch *arch;           /* NULL: none is asked about */
    qn__arena kept;                       /* what qn__check_clear keeps */
    QN__VEC(qn__check_suppression *) suppressions;
    uint32_t told;
    bool is_out_of_memory;
    bool shares; /* memory with the host, or has done so: else no address is looked up for it */
};

/* Counts it, if there is one like it; else the message is for a new one. */
bool qn__check_is_known(qn__checker *checker, const qn__check_report *report);
void qn__check_report_new(qn__checker *checker, const qn__check_report *report, const char *format, ...)
    QN__PRINTF(3, 4);
#define QN__CHECK_REPORT(checker, report, ...)                                                               \
    (qn__check_is_known(checker, report) ? (void)0 : qn__check_report_new(checker, report, __VA_ARGS__))

bool qn__check_is_suppressed(qn__checker *checker, const qn_finding *finding);

/* "work-item 5" or "work-item (5,2)", in a text of at least 96 bytes. */
const char *qn__check_item_text(const qn__vm_frame *frame, uint64_t item, char *text);

/* ---- memory.c ---- */

/* The live region, or the freed one, that an address lies in; NULL: none. */
qn__check_region *qn__check_find(qn__checker *checker, uint64_t address);
void qn__check_cells_free(qn__checker *checker, qn__check_region *region);
void qn__check_shadow_add(qn__checker *checker, uint64_t bytes); /* taken; who gives it back subtracts it */
/* Its cells, as small as the access wants them. NULL: there is no memory for them. */
qn__check_cell *qn__check_cells(qn__checker *checker, qn__check_region *region, uint64_t offset,
                                uint64_t size);

/* ---- access.c, race.c, sync.c ---- */

typedef enum qn__check_access {
    QN__CHECK_READ,
    QN__CHECK_WRITE,
    QN__CHECK_ATOMIC_READ,
    QN__CHECK_ATOMIC
} qn__check_access;

qn__vm_handler *qn__check_pick_access(const ir_instr *instr);
qn__vm_handler *qn__check_pick_sync(const ir_instr *instr);
qn__vm_handler *qn__check_pick_arith(const ir_instr *instr, uint32_t also); /* arith.c; also: QN_CHECK_* */

/* Work-item i's access to bytes of a region. */
void qn__check_race(qn__vm_frame *frame, const qn__vm_instr *instr, qn__check_region *region, uint64_t i,
                    uint64_t address, uint64_t size, qn__check_access access);
/* The same of all below `end` that are active, whose accesses are within the region and aligned to 4. */
void qn__check_race_all(qn__vm_frame *frame, const qn__vm_instr *instr, qn__check_region *region,
                        const uint64_t *pointer, uint64_t offset, uint64_t size, uint64_t end,
                        qn__check_access access);

/* The same where neighbours access neighbouring bytes, from the address on, and all below `end` are active. */
void qn__check_race_row(qn__vm_frame *frame, const qn__vm_instr *instr, qn__check_region *region,
                        uint64_t address, uint64_t size, uint64_t end, qn__check_access access);

/* ---- profile.c, occupancy.c ---- */

/* Puts the counter in front of an instruction, if that is asked for. */
void qn__check_count_instr(qn__check_program *program, qn__vm_instr *instr, qn__check_note *note);
void qn__check_profile_begin(const qn__check_program *program); /* a launch */
void qn__check_profile_end(qn__check_run_state *r, uint64_t local_memory);
/* NULL: there is none of that name; `known` has the names. */
const qn__check_arch *qn__check_arch_find(const char *name, char *known, size_t size);

/* ---- order.c: what atomics and fences order ---- */

qn__check_order *qn__check_order_new(qn__arena *arena, uint64_t items);
void qn__check_order_begin_group(qn__check_order *order);
bool qn__check_orders(const ir_instr *instr);
void qn__check_order_atomic(qn__vm_frame *frame, const qn__vm_instr *instr); /* behind the access */
qn__vm_handler qn__check_order_fence;
/* Whether what the stamp tells of is ordered before what work-item i does now. */
bool qn__check_is_known_to(qn__check_run_state *r, uint64_t item, qn__check_stamp before);

/* ---- defined.c: undefined bits ---- */

/* By value id: whether it may be undefined. */
const bool *qn__check_find_tracked(qn__arena *arena, const ir_function *kernel, bool buffers);
/* What hands undefined bits on, or ends where they matter: NULL for what does neither. */
qn__vm_handler *qn__check_pick_bits(const ir_instr *instr);
/* Of an access that is done next, or was: its pointer, what it stores, what it loads. */
void qn__check_pointer_bits(qn__vm_frame *frame, const qn__vm_instr *instr, unsigned operand);
/* is_row: neighbours access neighbouring bytes. */
void qn__check_store_bits(qn__vm_frame *frame, const qn__vm_instr *instr, bool is_row);
void qn__check_load_bits(qn__vm_frame *frame, const qn__vm_instr *instr, uint64_t end, bool is_row);
void qn__check_copy_bits(qn__vm_frame *frame, const qn__vm_instr *instr);

#endif
