/* The same kernel file for CUDA: an OpenCL C text behind a prelude that declares its words in CUDA C++
   (texts/cuda_prelude.cuh), and, where C++ spells a thing otherwise (vector literals, __local parameters), a
   few replacements, each of which must be found. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "bench_peer.h"
#include "bench_text.h"
#include "bench_twin.h"

typedef struct replacement {
    const char *file, *from, *to;
} replacement;

/* A `from` whose `to` is NULL: the text ends before it. */
static const replacement replacements[] = {
    {"sum.cl", ", local float *partial) {", ") {\n    extern __shared__ float partial[];"},
    {"nbody.cl", ", local float4 *tile) {", ") {\n    extern __shared__ float4 tile[];"},
    {"nbody.cl", "(float4)(ax, ay, az, 0.0f)", "make_float4(ax, ay, az, 0.0f)"},
    {"nbody.cl", "(float4)(me.xyz + velocity.xyz * time_step, me.w)",
     "make_float4(me.x + velocity.x * time_step, me.y + velocity.y * time_step, me.z + velocity.z * "
     "time_step, "
     "me.w)"},
    {"mandelbrot.cl", "// The same as a picture.", NULL},
    {"blur.cl", "float4 sum = 0.0f;", "float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);"},
    {"blur.cl", "constant float *weights", "const float *__restrict__ weights"},
    {"sobel.cl", "(uchar4)(edge, edge, edge, 255)", "make_uchar4(edge, edge, edge, 255)"},
    {"scan.cl", ",\n                        local uint *rows) {", ") {\n    extern __shared__ uint rows[];"},
    {"scan.cl", "local uint *from = rows", "uint *from = rows"},
    {"scan.cl", "local uint *other", "uint *other"},
    {"bitonic.cl", ", local uint *part) {", ") {\n    extern __shared__ uint part[];"},
    {"spmv.cl", "// One row a work-group", NULL},
    {"sgemm.cl", "#define LOCAL_ARR(n,s) __local float n[s] __attribute__((aligned(16)));",
     "#define LOCAL_ARR(n,s) __shared__ __align__(16) float n[s];"},
    {"sgemm.cl", "#define UNROLL __attribute__((opencl_unroll_hint))", "#define UNROLL _Pragma(\"unroll\")"},
    {"sgemm.cl", "#define MK4(a,b,c,d) (float4)(a,b,c,d)", "#define MK4(a,b,c,d) make_float4(a,b,c,d)"},
    {"sgemm.cl", "(*(__local const float4*)(p))", "(*(const float4*)(p))"},
    {"sgemm.cl",
     "void __attribute__((overloadable)) vst(__global float*p, float4 v){ *(__global float4*)p=v; }", ""},
    {"sgemm.cl",
     "void __attribute__((overloadable)) vst(__local float*p, float4 v){ *(__local float4*)p=v; }",
     "__forceinline__ void vst(float *p, float4 v) { *(float4 *)p = v; }"},
};

/* Replaces every occurrence; NULL when there is none. Takes `text`. */
static char *replace(char *text, const replacement *r) {
    char *at = strstr(text, r->from);
    if (!at) {
        free(text);
        return NULL;
    }
    if (!r->to) {
        *at = 0;
        return text;
    }
    size_t from = strlen(r->from), to = strlen(r->to), begin = 0;
    while ((at = strstr(text + begin, r->from))) {
        size_t head = (size_t)(at - text), tail = strlen(at + from);
        char *next = tool_alloc(head + to + tail + 1);
        memcpy(next, text, head);
        memcpy(next + head, r->to, to);
        memcpy(next + head + to, at + from, tail);
        free(text);
        text = next;
        begin = head + to;
    }
    return text;
}

/* CUDA's own header spells __global__ with the word `global`, which can therefore be no macro: it goes. */
static void drop_global(char *text) {
    for (char *at = text; (at = strstr(at, "global "));) {
        if (at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_'))
            at++;
        else
            memmove(at, at + strlen("global "), strlen(at + strlen("global ")) + 1);
    }
}

char *bench_twin(const char *file, const char *source, char *why) {
    if (strstr(source, "event_t")) return NULL; /* CUDA's async copies are another thing */
    const char *prelude = bench_text("cuda_prelude.cuh", NULL);
    const size_t head = strlen(prelude);
    char *text = tool_alloc(strlen(source) + 1);
    memcpy(text, source, strlen(source));
    drop_global(text);
    for (size_t i = 0; i < sizeof replacements / sizeof *replacements && text; i++) {
        if (strcmp(replacements[i].file, file) != 0) continue;
        text = replace(text, &replacements[i]);
        if (!text) snprintf(why, BENCH_WHY, "%s holds no '%s'", file, replacements[i].from);
    }
    if (!text) return NULL;
    char *all = tool_alloc(head + strlen(text) + 1);
    memcpy(all, prelude, head);
    memcpy(all + head, text, strlen(text));
    free(text);
    return all;
}
