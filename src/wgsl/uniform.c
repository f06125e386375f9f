/* Uniformity */
#include "wgsl/internal.h"
void qn__wf_check_uniformity(wgsl_lower *w, ir_function *kernel) { (void)w, (void)kernel; }
