/* The checker: runs kernels by the interpreter and looks at every access, barrier and value (docs/design.md, "The checker").
   A checker has the memory of a device, and what it has found in the launches so far. One thread at a time. */
#ifndef QN__CHECK_H
#define QN__CHECK_H

#include "emit/cpu_abi.h"
#include "quern/check.h"
#include "util/arena.h"

struct ir_module;
typedef struct qn__checker qn__checker;
typedef struct qn__check_program qn__check_program;

qn__checker *qn__checker_create(const qn__allocator *allocator); /* NULL: out of memory */
void qn__checker_destroy(qn__checker *checker);

/* Memory of the device, at a multiple of 128; NULL: there is no more. What is freed stays for a while, so that who uses it
   is found out. is_shared: the host, too, reads and writes it while kernels run. */
void *qn__check_memory_create(qn__checker *checker, uint64_t size, bool is_shared);
void qn__check_memory_destroy(qn__checker *checker, void *memory);
/* What findings call it; without memory for the text, nothing. */
void qn__check_memory_label(qn__checker *checker, const void *memory, const char *label);
/* Bytes of such memory have been written, or copied, by others than kernels. */
void qn__check_wrote(qn__checker *checker, const void *to, uint64_t size);
void qn__check_copied(qn__checker *checker, const void *to, const void *from, uint64_t size);

/* QN_ERROR_ARGUMENT, with the reason in `why`. */
qn_status qn__check_configure(qn__checker *checker, const qn_check_desc *desc, char *why, size_t size);
qn_check_stats qn__check_stats(const qn__checker *checker);

/* The lines of a text that findings are compared with from now on; `path` is its name in messages. QN_ERROR_ARGUMENT, with
   which line is wrong in `why`: then none of them is taken. QN_ERROR_OUT_OF_MEMORY. */
qn_status qn__check_suppress(qn__checker *checker, const char *text, const char *path, char *why,
                             size_t size);
uint32_t qn__check_profile_count(const qn__checker *checker);
void qn__check_profile_get(const qn__checker *checker, uint32_t index, qn_check_profile *profile);
uint32_t qn__check_suppression_count(const qn__checker *checker);
void qn__check_suppression_get(const qn__checker *checker, uint32_t index, qn_suppression *suppression);

/* Prepares a kernel of a module that was compiled with wants_checks and stays. The program is the arena's. NULL with *error
   set to a message. */
qn__check_program *qn__check_prepare(qn__checker *checker, qn__arena *arena, const struct ir_module *module,
                                     const char *kernel, uint32_t sub_group_size, const char **error);

/* Runs a launch to its end. extents: by argument, the bytes that it leads to. NULL, or why it could not be run. */
const char *qn__check_run(qn__checker *checker, const qn__check_program *program, const qn_cpu_launch *launch,
                          const uint64_t *extents, uint64_t local_memory);

/* What has been found. `first`: findings that have not been told yet; they count as told then. */
uint32_t qn__check_count(const qn__checker *checker);
void qn__check_get(const qn__checker *checker, uint32_t index, qn_finding *finding);
void qn__check_clear(qn__checker *checker);
uint32_t qn__check_tell(qn__checker *checker);

#endif
