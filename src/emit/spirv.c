#include "emit/emit.h"

void qn__emit_spirv(qn__arena *arena, ir_module *module, const qn__emit_options *options,
                    qn__emit_result *result) {
    (void)arena, (void)module, (void)options;
    result->error = "this target is being written";
}
