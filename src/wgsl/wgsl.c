/* A module to IR: its declarations are looked at, its entry points become kernels. */
#include "wgsl/wgsl.h"

#include <string.h>

#include "wgsl/internal.h"

static bool is_entry(const wgsl_decl *decl) {
    return decl->kind == WGSL_DECL_FUNCTION && qn__wf_attribute(&decl->attributes, "compute");
}

/* Without those that were only looked at. */
static void drop_unnamed(ir_module *module) {
    size_t count = 0;
    for (size_t i = 0; i < module->functions.len; i++)
        if (module->functions.data[i]->name[0]) module->functions.data[count++] = module->functions.data[i];
    module->functions.len = count;
}

static void lower_module(wgsl_lower *w) {
    const wgsl_decls *decls = &w->source->decls;
    for (size_t i = 0; i < decls->len && !w->stopped; i++) qn__wf_resolve(w, decls->data[i]);
    for (size_t i = 0; i < decls->len && !w->stopped; i++)
        if (is_entry(decls->data[i]) && !decls->data[i]->is_broken) qn__wf_entry(w, decls->data[i]);
    for (size_t i = 0; i < decls->len && !w->stopped; i++) {
        wgsl_decl *decl = decls->data[i];
        if (decl->kind == WGSL_DECL_FUNCTION && !decl->is_broken && !is_entry(decl) && !decl->is_lowered)
            qn__wf_look_at(w, decl);
    }
}

ir_module *qn__wf_lower(const lower_config *config, front_context *context, wgsl_module *source) {
    wgsl_lower *w = QN__NEW(config->arena, wgsl_lower);
    w->config = config;
    w->context = context;
    w->arena = config->arena;
    w->diag = config->diag;
    w->source = source;
    w->module = qn__ir_module_new(config->arena);
    w->module->max_instrs = config->max_instrs;
    w->library = qn__lower_library_new(config, context, w->module);
    w->unchecked = config->options && config->options->unchecked;
    const bool fast = config->options && config->options->fast_relaxed_math;
    w->scratch = qn__ir_function_new(w->module, "", qn__ir_type(IR_VOID, 1));
    w->b.float_flags = (uint16_t)(IR_CONTRACT | (fast ? IR_FAST : 0));
    qn__wf_types_init(w);
    qn__wf_check_overrides(w);
    lower_module(w);
    if (!w->diag->errors) qn__lower_library_end(w->library);
    drop_unnamed(w->module);
    for (size_t i = 0; i < config->sources->names.len; i++)
        qn__vec_push(w->arena, &w->module->files, config->sources->names.data[i]);
    return w->module;
}
