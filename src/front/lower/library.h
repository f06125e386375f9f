/* Functions of the library (src/lib) for the module of another front end: by the name of an OpenCL C built-in and the types of
   scalar arguments. */
#ifndef QN__FRONT_LOWER_LIBRARY_H
#define QN__FRONT_LOWER_LIBRARY_H

#include "front/lower/lower.h"
#include "front/parse/parse.h"

typedef enum lower_library_kind {
    LOWER_LIBRARY_INT,
    LOWER_LIBRARY_FLOAT,
    LOWER_LIBRARY_HALF
} lower_library_kind;

typedef struct lower_library lower_library;

/* All three must outlive it. */
lower_library *qn__lower_library_new(const lower_config *config, front_context *context, ir_module *module);
/* To be called; its body may be missing until the end. NULL: there is no such function. */
ir_function *qn__lower_library_function(lower_library *library, const char *name,
                                        const lower_library_kind *kinds, unsigned count);
/* The bodies of all that were asked for. */
void qn__lower_library_end(lower_library *library);

#endif
