/* What the files of the VM share: the prepared form of a kernel and the state of a running work-group.
   Each SSA value has a slot: an array with one element a work-item, or one such array a lane of a vector, one
   after another. Slots are places in scratch memory given in bytes a work-item; multiplied by the stride (the
   work-items scratch was laid out for) they become addresses. Pure ops compute every work-item of the slot,
   active or not, since nothing reads what an inactive one gets; all that writes memory, leaves a construct or
   joins work-items looks at the mask. */
#ifndef QN__VM_INTERNAL_H
#define QN__VM_INTERNAL_H

#include "ir/ir.h"
#include "vm/vm.h"

enum {
    QN__VM_CHUNK = 256,    /* work-items run at once when they need not meet: scratch stays in cache */
    QN__VM_MAX_DEPTH = 500 /* of constructs; the IR's own limit */
};

typedef struct qn__vm_frame qn__vm_frame;
typedef struct qn__vm_instr qn__vm_instr;
typedef void qn__vm_handler(qn__vm_frame *frame, const qn__vm_instr *instr);

typedef struct qn__vm_region {
    qn__vm_instr *instrs;
    uint32_t len;
} qn__vm_region;

/* A value handed over by a jump. */
typedef struct qn__vm_copy {
    uint32_t from, to; /* slots */
    uint8_t lanes, size;
    bool tracked; /* see qn__vm_watch */
} qn__vm_copy;

struct qn__vm_instr {
    qn__vm_handler *run;
    const ir_instr *ir;
    qn__vm_handler *plain;    /* what does it, where `run` is a watcher's */
    void *note;               /* the watcher's own */
    uint32_t result;          /* slot of the only result, or the first */
    const uint32_t *results;  /* slots of all; constructs: NULL */
    uint32_t a, b, c;         /* slots of the first operands; those that are missing repeat the first */
    const uint32_t *operands; /* slots of all operands */
    uint8_t lanes, size;      /* of the result, or of the value that is stored: lanes, and bytes of one */
    uint16_t depth;           /* constructs: nesting depth of its regions */
    bool writes;              /* what others may see */
    uint16_t code;            /* jumps: where its work-items go, see qn__vm_frame.codes */
    uint32_t num_copies;      /* jumps; loops: into the parameters */
    const qn__vm_copy *copies;
    qn__vm_region regions[2];
    uint64_t place;      /* var, local: byte offset; global: host address */
    uint32_t objects[3]; /* that the first operands lead to, where they are pointers */
};

typedef enum qn__vm_object_kind {
    QN__VM_UNKNOWN, /* it is looked up where the pointer is used */
    QN__VM_BUFFER,  /* what an argument points to */
    QN__VM_LOCAL_ARG,
    QN__VM_STRUCT, /* an argument's own bytes */
    QN__VM_PRIVATE,
    QN__VM_LOCAL,
    QN__VM_CONSTANT
} qn__vm_object_kind;

/* Something that pointers lead to. */
typedef struct qn__vm_object {
    qn__vm_object_kind kind;
    uint32_t index;   /* of the argument; of the __constant object */
    uint64_t size;    /* bytes; of buffers and __local arguments the launch knows */
    const char *name; /* in the source, or NULL */
    uint64_t place;   /* PRIVATE, LOCAL: byte offset */
    ir_loc loc;       /* of its declaration; line 0: not known */
} qn__vm_object;

typedef struct qn__vm_arg {
    const ir_arg *ir;
    uint32_t slot;
    uint64_t offset; /* in the argument block */
} qn__vm_arg;

typedef struct qn__vm_constant {
    const ir_value *value;
    uint32_t slot;
} qn__vm_constant;

struct qn__vm_program {
    const ir_function *kernel;
    qn__vm_region body;
    QN__VEC(qn__vm_arg) args;
    QN__VEC(qn__vm_constant) constants;
    QN__VEC(qn__vm_object) objects; /* the first is QN__VM_UNKNOWN */
    unsigned char **globals;        /* host addresses of the module's __constant objects */
    uint64_t values_size;           /* bytes of all slots a work-item */
    uint64_t private_size;          /* bytes of private variables a work-item, a multiple of private_align */
    uint64_t private_align;
    uint64_t static_local;
    uint64_t print_size; /* bytes of the longest printf's values */
    uint32_t sub_group_size;
    unsigned depth; /* of nested regions */
    bool uses_sync, uses_local, uses_atomics, has_loops;
};

/* One work-group, or as many work-items as run at once. */
struct qn__vm_frame {
    const qn__vm_program *program;
    const qn_cpu_launch *launch;
    const qn__vm_bounds *bounds; /* NULL: any address is taken */
    uint64_t stride;             /* elements of a slot's lane */
    uint64_t all;                /* work-items that run, at most the stride */
    uint64_t items;  /* one past the last that is active, or more: the others need not be looked at */
    uint64_t count;  /* active */
    uint8_t *active; /* 0 or 1 a work-item */
    /* Where each work-item is: 2 * depth + 1 while it runs (or waits to run on) in a region of that nesting
       depth, 2 * depth while it waits for the next iteration of the loop whose body has that depth, 0 after
       return. */
    uint16_t *codes;
    unsigned char *values, *privates, *local, *print_area;
    uint64_t *group_x, *local_id[3], *linear; /* of each work-item; linear: the local id's */
    uint64_t group_y, group_z;
    uint64_t steps, max_steps;
    const atomic_bool *ready; /* see qn__vm_run_until; NULL: runs to its end */
    bool wrote;               /* what others see */
    const char *error;
    char *why;                          /* QN__VM_WHY bytes for an error that is told of one launch */
    uint64_t hit[2];                    /* first byte and size of what was looked up last */
    void *watcher;                      /* see qn__vm_watch */
    void (*begin)(qn__vm_frame *frame); /* before each work-group, for the watcher; or NULL */
};

/* Who stands between the instructions and what does them: the checker. A kernel that is watched runs a whole work-group at
   a time, and all its work-items step by step. */
typedef struct qn__vm_watch {
    /* An instruction is ready to run: `run` may become the watcher's own, which goes on to `plain`. */
    void (*attach)(void *user, qn__vm_instr *instr);
    const bool *tracked; /* by value id: slots of these are never those of others */
    void *user;
} qn__vm_watch;

qn__vm_program *qn__vm_prepare_watched(qn__arena *arena, ir_function *kernel, uint32_t sub_group_size,
                                       const qn__vm_watch *watch, const char **error);

/* As qn__vm_run, for a program that is watched. */
const char *qn__vm_run_watched(const qn__vm_program *program, const qn_cpu_launch *launch, uint64_t begin_x,
                               uint64_t end_x, uint64_t y, uint64_t z, unsigned char *local,
                               unsigned char *scratch, uint64_t max_steps, void *watcher,
                               void (*begin)(qn__vm_frame *frame));
extern const char qn__vm_spent[]; /* its message where max_steps are done */

static inline void *qn__vm_slot(const qn__vm_frame *frame, uint32_t slot) {
    return frame->values + slot * frame->stride;
}

/* Elements from a slot's first to the last that is looked at, over all lanes. */
static inline uint64_t qn__vm_extent(const qn__vm_frame *frame, unsigned lanes) {
    return (lanes - 1) * frame->stride + frame->items;
}

static inline uint64_t qn__vm_get(const void *slot, unsigned size, uint64_t i) {
    switch (size) {
    case 1: return ((const uint8_t *)slot)[i];
    case 2: return ((const uint16_t *)slot)[i];
    case 4: return ((const uint32_t *)slot)[i];
    default: return ((const uint64_t *)slot)[i];
    }
}

static inline void qn__vm_set(void *slot, unsigned size, uint64_t i, uint64_t bits) {
    switch (size) {
    case 1: ((uint8_t *)slot)[i] = (uint8_t)bits; break;
    case 2: ((uint16_t *)slot)[i] = (uint16_t)bits; break;
    case 4: ((uint32_t *)slot)[i] = (uint32_t)bits; break;
    default: ((uint64_t *)slot)[i] = bits; break;
    }
}

unsigned qn__vm_lane_size(ir_type type); /* bytes of one lane in a slot */

/* Work-items of group number `group` in dimension `dim`: the last group may be smaller. */
uint64_t qn__vm_group_size(const qn_cpu_launch *launch, unsigned dim, uint64_t group);

/* What runs an instruction; NULL: not of that family. */
qn__vm_handler *qn__vm_pick_arith(const ir_instr *instr);
qn__vm_handler *qn__vm_pick_convert(const ir_instr *instr);
qn__vm_handler *qn__vm_pick_data(const ir_instr *instr);
qn__vm_handler *qn__vm_pick_memory(const ir_instr *instr);
qn__vm_handler *qn__vm_pick_atomic(const ir_instr *instr);
qn__vm_handler *qn__vm_pick_group(const ir_instr *instr);
qn__vm_handler *qn__vm_pick_matrix(const ir_instr *instr);
qn__vm_handler *qn__vm_pick_control(const ir_instr *instr);

/* objects.c: the object of each value by its id, an index into program->objects, which it fills. */
uint32_t *qn__vm_find_objects(qn__arena *arena, qn__vm_program *program);

/* bounds.c: whether the active work-items may access `size` bytes where operand `operand`, the pointer, and `offset` lead.
   If not, the frame has an error and nobody is active any more. */
bool qn__vm_may_access(qn__vm_frame *frame, const qn__vm_instr *instr, unsigned operand, int64_t offset,
                       uint64_t size);

/* The same for work-item i and the string at an address, of which at most that many bytes are printed. */
bool qn__vm_may_print(qn__vm_frame *frame, const qn__vm_instr *instr, uint64_t i, uint64_t address,
                      uint64_t most);

qn__vm_handler qn__vm_print; /* print.c */

/* atomic_rmw, group_reduce and group_scan: the two values joined. */
uint64_t qn__vm_combine(ir_combine combine, ir_kind kind, uint64_t a, uint64_t b);

/* Runs a region's instructions until it ends or no work-item is left in it. */
void qn__vm_run_region(qn__vm_frame *frame, const qn__vm_region *region);

#endif
