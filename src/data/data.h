/* What the files of this room share. It sees the public headers only. */
#ifndef QN__DATA_H
#define QN__DATA_H

#include <pthread.h>
#include <quern/data.h>

/* Sets the context's sentence and gives the status. */
qn_status qn__data_fail(qn_context *context, qn_status status, const char *format, ...);
/* Memory by the context's allocator, zeroed; NULL, with a sentence. */
void *qn__data_allocate(qn_context *context, uint64_t size);
void qn__data_release(qn_context *context, void *memory);

/* Numbers from a seed: SplitMix64 (Steele, Lea and Flood, 2014). */
uint64_t qn__data_random(uint64_t *state);
/* The numbers below `count` in an order by the seed. */
void qn__data_shuffle(uint64_t *order, uint64_t count, uint64_t seed);

/* Bytes of a field of one example. */
uint64_t qn__field_bytes(const qn_field *field);
qn_context *qn__dataset_context(const qn_dataset *dataset);
/* The user of a set that has this callback, or is a part of one that has; else NULL. */
void *qn__dataset_user(const qn_dataset *dataset, qn_example_callback *get);
/* One more to whom it belongs: qn_dataset_destroy is one less. */
qn_dataset *qn__dataset_retain(qn_dataset *dataset);

#endif
