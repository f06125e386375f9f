/* What emitters share in describing the code that they make (code_info.h). */
#ifndef QN__DESCRIBE_H
#define QN__DESCRIBE_H

#include "emit/code_info.h"
#include "ir/ir.h"

/* The bytes of a kernel's argument block: the parameters in order, each at its alignment. */
uint64_t qn__args_size(const ir_function *kernel);
/* The kernel with what its source says of it, behind those that `info` has; the emitter adds what it finds. */
qn__kernel_info *qn__describe_kernel(qn__arena *arena, qn__code_info *info, const ir_function *kernel);
void qn__describe_strings(qn__arena *arena, qn__code_info *info, const ir_module *module);
void qn__describe_sites(qn__arena *arena, qn__code_info *info, const ir_module *module);

#endif
