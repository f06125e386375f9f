/* WGSL, the second front end: a module's tree to IR. Each entry point becomes a kernel, whose parameters are the bindings
   that it uses, in order of group and binding; the functions that it calls are lowered in place, so that a pointer is known by
   what it points to. Where the IR has to be what the specification says it is: integer quotients, shifts and conversions are by
   the IR's own rules; indices are clamped here; what has no initialiser is zeroed here. Functions are named qn__wf_*; src/emit/wgsl, the way out, has qn__wgsl_*. */
#ifndef QN__WGSL_H
#define QN__WGSL_H

#include "front/lower/library.h"
#include "wgsl/ast.h"

/* Always gives a module; it is whole only where config->diag got no new error. */
ir_module *qn__wf_lower(const lower_config *config, front_context *context, wgsl_module *module);

#endif
