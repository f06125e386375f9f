/* What a WGSL text says of its bindings and entry points, as far as a test has to know to run it: read off the tokens, apart
   from quern's own front end, which is what is tested. */
#ifndef WGSL_SHAPE_H
#define WGSL_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WGSL_MAX_TOKENS = 1 << 15, WGSL_MAX_BINDINGS = 32, WGSL_MAX_FUNCTIONS = 128 };

typedef struct wgsl_token {
    const char *text;
    size_t length;
} wgsl_token;

typedef struct wgsl_binding {
    wgsl_token name;
    uint32_t group, binding;
    bool uniform;
} wgsl_binding;

typedef struct wgsl_function {
    wgsl_token name;
    uint32_t first, end; /* tokens, the attributes in front of it among them */
    uint32_t local[3];   /* workgroup_size; 0: none, or not a number */
} wgsl_function;

typedef struct wgsl_shape {
    wgsl_token tokens[WGSL_MAX_TOKENS];
    wgsl_binding bindings[WGSL_MAX_BINDINGS]; /* by group and binding */
    wgsl_function functions[WGSL_MAX_FUNCTIONS];
    uint32_t num_tokens, num_bindings, num_functions;
} wgsl_shape;

/* False when it is too large. The shape's tokens lie in `source`. */
bool wgsl_shape_read(const char *source, wgsl_shape *shape);
const wgsl_function *wgsl_shape_function(const wgsl_shape *shape, const char *name); /* or NULL */
/* Which bindings the function or one that it calls names; gives their number. */
uint32_t wgsl_shape_uses(const wgsl_shape *shape, const wgsl_function *function,
                         const wgsl_binding *used[WGSL_MAX_BINDINGS]);

#endif
