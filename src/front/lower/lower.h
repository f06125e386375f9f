/* Lowering: the typed tree of a file to IR. Variables become memory (VAR) and every access a load or store;
   the mem2reg pass makes values of them. Control flow becomes structured regions; what cannot be structured
   is reported. The tree must come from a file without errors. */
#ifndef QN__FRONT_LOWER_H
#define QN__FRONT_LOWER_H

#include "front/ast.h"
#include "front/diag.h"
#include "front/options.h"
#include "front/pp/pp.h"

typedef struct lower_config {
    qn__arena *arena;
    const front_sources *sources;
    front_diag *diag;
    const front_options *options;
    qn__target target;
    const struct front_frozen_library *frozen; /* that of the front_context */
    uint32_t max_instrs;                       /* becomes ir_module.max_instrs; 0: no limit */
} lower_config;

/* Always gives a module; it is whole only where config->diag got no new error. The tree's lowering fields are
   overwritten. */
ir_module *qn__lower(const lower_config *config, const ast_unit *unit);

#endif
