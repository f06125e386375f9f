/* Whether what bounds the accesses of a safe kernel (ir/limits.h) holds for a launch. */
#include "ir/limits.h"

#include "compile.h"

bool qn__stays_inside(const qn__kernel_info *kernel, const unsigned char *args, const uint64_t *extents,
                      const qn__reach_range *range) {
    const qn__limits_launch launch = {.global = range->global,
                                      .offset = range->offset,
                                      .local = range->local,
                                      .args = args,
                                      .arg_offsets = &kernel->params->offset,
                                      .arg_sizes = &kernel->params->size,
                                      .arg_stride = sizeof *kernel->params,
                                      .num_args = kernel->num_params,
                                      .extents = extents};
    return qn__limits_hold(kernel->limits, kernel->num_limits, &launch);
}
