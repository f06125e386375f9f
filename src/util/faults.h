/* What a safe program's kernels note of accesses outside of their memory, and of loops that go round too often, in memory of the
   device: the contract between the passes guard.c and loop_budget.c and the runtime. */
#ifndef QN__FAULTS_H
#define QN__FAULTS_H

#include <stdint.h>

typedef struct qn__faults {
    uint32_t count; /* faults so far */
    uint32_t site;  /* of the first: which check (ir_module.sites), */
    int64_t at;     /* how many bytes behind the begin of its memory, */
    uint64_t size;  /* and how many are there; of a loop: QN__FAULT_OF_LOOP */
} qn__faults;

#define QN__FAULT_OF_LOOP UINT64_MAX

#endif
