/* Functions of the library for another front end; see library.h. */
#include "front/lower/library.h"

#include "front/library.h"
#include "front/lower/internal.h"

struct lower_library {
    lower *lower;
    front_context *context;
    qn__map functions; /* by name and kinds */
};

lower_library *qn__lower_library_new(const lower_config *config, front_context *context, ir_module *module) {
    lower_library *library = QN__NEW(config->arena, lower_library);
    library->context = context;
    library->lower = qn__lower_new(config, module);
    return library;
}

static ir_function *find(lower_library *library, const char *name, const lower_library_kind *kinds,
                         unsigned count) {
    static const ast_kind scalars[] = {
        [LOWER_LIBRARY_INT] = AST_INT, [LOWER_LIBRARY_FLOAT] = AST_FLOAT, [LOWER_LIBRARY_HALF] = AST_HALF};
    const ast_type *args[FRONT_MAX_BUILTIN_PARAMS];
    const char *message, *hint;
    front_resolved resolved;
    for (unsigned i = 0; i < count; i++)
        args[i] = qn__type_scalar(&library->context->types, scalars[kinds[i]]);
    const front_resolution found =
        qn__builtin_resolve(library->context, qn__str_of(name), args, count, &resolved, &message, &hint);
    if (found != RESOLUTION_OK || !resolved.library) return NULL;
    ast_decl *decl = qn__library_function(library->context, &resolved, FRONT_NO_LOC);
    return decl ? qn__lower_callee(library->lower, decl, FRONT_NO_LOC) : NULL;
}

ir_function *qn__lower_library_function(lower_library *library, const char *name,
                                        const lower_library_kind *kinds, unsigned count) {
    qn__buf key;
    qn__buf_init(&key, library->lower->arena);
    qn__buf_puts(&key, name);
    for (unsigned i = 0; i < count; i++) qn__buf_putc(&key, (char)('0' + kinds[i]));
    const qn__str text = {key.data, key.len};
    ir_function *function = qn__map_get(&library->functions, text);
    if (!function) {
        function = find(library, name, kinds, count);
        qn__map_set(library->lower->arena, &library->functions, text, function);
    }
    return function;
}

void qn__lower_library_end(lower_library *library) {
    qn__lower_bodies(library->lower, library->context->unit);
}
