/* The interpreter of the IR: the oracle of the tests, and the CPU device where there is no C compiler. Runs a
   whole work-group in lock step: each op over all lanes (work-items) of the group under an execution mask. */
#ifndef QN__VM_H
#define QN__VM_H

#include <stdbool.h>

#include <stdatomic.h>

#include "emit/cpu_abi.h"
#include "util/arena.h"

struct ir_function;
struct ir_module;
typedef struct qn__vm_program qn__vm_program;

/* Prepares a kernel (after the pipeline's inlining, at any optimisation level). Program memory is the
   arena's. NULL with *error set to a message when it has what the VM does not know. */
qn__vm_program *qn__vm_prepare(qn__arena *arena, struct ir_function *kernel, uint32_t sub_group_size,
                               const char **error);
/* The kernel of that name. */
qn__vm_program *qn__vm_prepare_named(qn__arena *arena, const struct ir_module *module, const char *kernel,
                                     uint32_t sub_group_size, const char **error);

uint64_t qn__vm_static_local(const qn__vm_program *program); /* bytes, as qn__kernel_info.static_local */
bool qn__vm_uses_sync(const qn__vm_program *program);
bool qn__vm_has_loops(const qn__vm_program *program);
uint64_t qn__vm_stack(const qn__vm_program *program); /* bytes of stack, at most */
/* Bytes of scratch memory for one work-group of that many work-items. */
uint64_t qn__vm_scratch_size(const qn__vm_program *program, uint64_t items);

enum { QN__VM_WHY = 512 };

/* The memory that a launch may use beside its group's local memory, scratch and __constant objects. */
typedef struct qn__vm_bounds {
    const uint64_t *extents; /* by argument: bytes of the buffer or local memory that it points to; 0: null */
    /* The memory of the device that an address lies in, which kernels find in buffers, too; NULL: there is no other. */
    bool (*find_memory)(void *user, uint64_t address, uint64_t *begin, uint64_t *size);
    void *user;
} qn__vm_bounds;

/* Same contract as qn_cpu_kernel; several threads may run the same program, each with its own local and
   scratch. Returns NULL; qn__vm_cancelled when the launch says so; or a static message when the work-items that run at once (a work-group, or less)
   had not finished after `max_steps` instructions, each counted once for all of them; 0: no limit. Addresses are taken as
   they are. */
const char *qn__vm_run(const qn__vm_program *program, const qn_cpu_launch *launch, uint64_t begin_x,
                       uint64_t end_x, uint64_t y, uint64_t z, unsigned char *local, unsigned char *scratch,
                       uint64_t max_steps);

/* The same within bounds, without a limit of steps: an access outside gives a message in `why` (QN__VM_WHY bytes). And for code that is there in another form once *ready is true: returns qn__vm_left when that
   happens while nothing has been written to buffers or printed yet. The groups may then be run anew. NULL: there is none. */
const char *qn__vm_run_until(const qn__vm_program *program, const qn_cpu_launch *launch, uint64_t begin_x,
                             uint64_t end_x, uint64_t y, uint64_t z, unsigned char *local,
                             unsigned char *scratch, const atomic_bool *ready, const qn__vm_bounds *bounds,
                             char *why);
extern const char qn__vm_left[], qn__vm_cancelled[]; /* known by their addresses */

#endif
