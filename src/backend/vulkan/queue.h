/* A stream's batches: shared by the files that submit commands, hand batches to the driver, and watch them. All
   functions here but those for the watcher want the queue's lock to be held. */
#ifndef QN__VULKAN_QUEUE_H
#define QN__VULKAN_QUEUE_H

#include "backend/vulkan/vulkan.h"

enum { QN__VK_MAX_WAITS = 8, QN__VK_MAX_STAMPS = 8, QN__VK_MOST_TIMES = 16 };

typedef struct qn__vk_batch {
    struct qn__vk_batch *next;
    VkCommandPool pool;
    qn__vk_recorder recorder;        /* of its own commands */
    const qn__vk_recorder *recorded; /* what is submitted: its own, or a graph's */
    uint32_t times;                  /* how often; its own once */
    uint64_t value;                  /* that the timeline reaches with it */
    uint64_t last;                   /* number of its last command */
    uint32_t num_commands;
    uint32_t num_waits, num_stamps;
    qn__vk_timeline *waits[QN__VK_MAX_WAITS];
    uint64_t wait_values[QN__VK_MAX_WAITS];
    qn__vk_stamp *stamps[QN__VK_MAX_STAMPS];
    bool failed; /* never reached the device */
} qn__vk_batch;

/* A transfer to the host from memory that is the host's anyway: a copy once all before it is done. */
typedef struct qn__vk_late_read {
    struct qn__vk_late_read *next;
    qn__command command;
    uint64_t number;
} qn__vk_late_read;

struct qn__queue {
    qn__gpu *gpu;
    qn__vk_lane *lane;
    qn__vk_timeline *timeline;
    pthread_mutex_t lock;
    uint64_t submitted;           /* last number given */
    atomic_uint_fast64_t retired; /* last number that is done in all respects */
    qn__vk_batch *open;           /* gathers commands, or launches of one graph; or NULL */
    qn__vk_batch *first, *last;   /* with the device, oldest first */
    qn__vk_batch *free;           /* for reuse */
    unsigned num_free;
    qn__vk_late_read *late, *late_last; /* behind all batches; none while a batch is open */
    uint64_t staged;                    /* bytes of staging memory of all batches */
    uint64_t sent_ns;                   /* when a batch was last handed to the driver */
    bool watched;                       /* in the watcher's list */
    uint64_t seen;                      /* by the watcher: `submitted` when it last looked */
    qn__queue *next_watched;
    qn__sticky failure;
};

/* batch.c */
qn__vk_batch *qn__vk_batch_open(qn__queue *queue, char *why); /* for commands; NULL: failed */
qn__vk_batch *qn__vk_batch_take(qn__queue *queue, char *why); /* without any; NULL: failed */
void qn__vk_batches_free(qn__queue *queue);
void qn__vk_flush(qn__queue *queue); /* submits what has gathered */
/* Submits it if the device is about to run out of work, or the batch is full. */
void qn__vk_flush_if_due(qn__queue *queue);
void qn__vk_retire(qn__queue *queue);
void qn__vk_late_reads_drop(qn__queue *queue);
VkResult qn__vk_wait_value(qn__queue *queue, uint64_t value, uint64_t timeout_ns);
qn_status qn__vk_queue_lost(qn__queue *queue, char *why);

/* watch.c: sees to it that what has gathered is submitted when the device has time for it, whether or not the
   stream is used again. Called without the queue's lock. */
void qn__vk_watch(qn__queue *queue);
void qn__vk_unwatch(qn__queue *queue);

#endif
