/* Inside a loader. A batch has a slot while it is made and used:

     free -> begun -> made -> sent -> lent -> free

   Workers begin batches in order in free slots and write their examples; the tensors' thread sends what is made to the device, in order,
   and lends it as tensors; the last tensor's end gives the slot back. `lock` guards states, and what they say is a thread's: the slot of a
   state is that of the threads that work in that state. */
#ifndef QN__DATA_LOADER_H
#define QN__DATA_LOADER_H

#include "data/data.h"

enum { QN__SENTENCE = 512, QN__NOTE = 64 };

typedef enum slot_state { SLOT_FREE, SLOT_BEGUN, SLOT_MADE, SLOT_SENT, SLOT_LENT } slot_state;

typedef struct slot {
    struct slot *next; /* of the loader's */
    qn_loader *loader;
    slot_state state;
    uint64_t number;           /* of its batch, over all epochs */
    uint64_t count;            /* examples */
    uint64_t claimed, written; /* of them, by workers */
    uint64_t *indices;
    bool ready;       /* begun, and the last batch's work is done with the memory */
    qn_status status; /* the first failure, and its sentence */
    char sentence[QN__SENTENCE];
    char *host;        /* where examples are written */
    qn_buffer *buffer; /* what kernels read: the same memory, where the device's is the host's */
    qn_event *sent;    /* the copy is done */
    qn_event *used;    /* kernels are done */
    bool was_sent, was_used;
    uint32_t lent; /* tensors */
} slot;

struct qn_loader {
    qn_tensors *tensors;
    qn_context *context;
    qn_device *device;
    qn_stream *stream; /* for copies; NULL: kernels read where workers write */
    qn_dataset *dataset;
    qn_loader_desc desc; /* defaults filled in */
    uint32_t num_fields;
    qn_field fields[QN_MAX_FIELDS];
    uint64_t example_bytes[QN_MAX_FIELDS], offsets[QN_MAX_FIELDS], bytes; /* in a slot's memory */
    uint64_t examples, batches;                                           /* of an epoch */

    pthread_mutex_t lock;
    pthread_cond_t work, done; /* for workers; for the tensors' thread */
    bool stops, pauses;
    slot *slots;
    uint64_t next_begun;          /* the next batch that workers begin */
    uint64_t *order, order_epoch; /* of the examples in an epoch; UINT64_MAX: none yet */

    /* The tensors' thread's alone. */
    uint32_t num_lent; /* slots */
    bool destroyed;    /* only lent slots are left */
    bool at_end;       /* of an epoch, and the call that says so was not made yet */
    uint64_t next;     /* the batch that is asked for next */
    qn_tensor *batch[QN_MAX_FIELDS];
    pthread_t *threads;
    uint32_t num_threads;
    char note[QN__NOTE];
    double epoch_begin, shown; /* in seconds: when the epoch began, and the bar was shown last */
    uint64_t epoch_first;      /* the batch from which on it is timed */
    bool gave;                 /* the last call gave a batch */
};

/* A worker that works until the loader stops. False: the system gives no more threads. */
bool qn__loader_start(qn_loader *l, pthread_t *thread);
/* Examples of a batch. */
uint64_t qn__loader_examples(const qn_loader *l, uint64_t number);

qn_status qn__slot_create(qn_loader *l, slot **out);
void qn__slot_destroy(slot *s);
/* Copies to the device what workers have made, and lends it as tensors to l->batch. */
qn_status qn__slot_send(slot *s);
qn_status qn__slot_lend(slot *s);

/* Shows the bar behind batch `number`, if it is time to. */
void qn__loader_show(qn_loader *l, uint64_t number);
double qn__data_seconds(void);

#endif
