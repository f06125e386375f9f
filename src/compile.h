/* The one door to the compiler: source text in; target text, reflection, IR and the log out. Everything a
   result holds lives in the result's own arena; running out of memory or of a budget is a status, never a
   leak. No state is kept between calls; any number of threads may compile at once. */
#ifndef QN__COMPILE_H
#define QN__COMPILE_H

#include "emit/code_info.h"
#include "target/target.h"
#include "util/arena.h"
#include "util/hash.h"

typedef enum qn__compile_status {
    QN__COMPILE_OK,
    QN__COMPILE_SOURCE_ERROR,  /* the log says what is wrong with the source */
    QN__COMPILE_BAD_OPTION,    /* options, or the pass of `dump`; the log is a message */
    QN__COMPILE_UNSUPPORTED,   /* the source is right, but this target cannot do it; the log says what */
    QN__COMPILE_TOO_LARGE,     /* more instructions or memory than the budget */
    QN__COMPILE_OUT_OF_MEMORY, /* the allocator gave NULL */
    QN__COMPILE_INTERNAL       /* a fault of the compiler itself (the verifier's message is in the log) */
} qn__compile_status;

/* A header given as text; found by `#include` under its name before any directory is looked at. */
typedef struct qn__compile_header {
    const char *name;
    const char *text;
    size_t size;
} qn__compile_header;

/* A macro beside those of the options, after them. */
typedef struct qn__compile_define {
    const char *name, *value; /* NULL: 1 */
} qn__compile_define;

/* A file of a program, which is a translation unit of its own. */
typedef struct qn__compile_source {
    const char *name; /* what messages and #line call it; NULL: "kernel.cl", or "kernel.wgsl" */
    const char *text;
    size_t size; /* bytes; 0: up to the zero byte */
} qn__compile_source;

enum { QN__MAX_SOURCE = 64 << 20 }; /* bytes of a source, and of each header */

typedef enum qn__language { QN__OPENCL_C, QN__WGSL, QN__LANGUAGES } qn__language;

/* Zeroed but for source: all defaults. */
typedef struct qn__compile_request {
    const qn__allocator *allocator; /* NULL: malloc; must outlive the result */
    qn__arena_store
        *store; /* of that allocator, for compiles to hand memory on; must outlive the result; or NULL */
    const char *source; /* this, `size` and `name` are the program's first file, as in qn__compile_source */
    size_t size;
    const char *name;
    const qn__compile_source *more; /* the files behind the first */
    size_t num_more;
    qn__language language;
    const char *options; /* as clBuildProgram's: -D, -I, -cl-*, -g, -w, -Werror; NULL: none */
    const qn__compile_define *defines;
    size_t num_defines;
    const qn__compile_header *headers;
    size_t num_headers;
    size_t num_uncounted_headers;    /* the first so many: their loops have no part in `loop_budget` */
    const char *const *include_dirs; /* searched after the options' -I */
    size_t num_include_dirs;
    bool no_files;        /* headers only from the list above, nothing from disk */
    qn__target target;    /* and what the device can do */
    bool target_complete; /* by qn__compile_target, or changed since: nothing is added to it */
    int level;            /* 0, 1 or 2; -cl-opt-disable makes it 0 */
    bool debug;           /* as -g */
    bool safe;            /* no access leaves what a kernel was given (pass/guard.c) */
    uint32_t loop_budget; /* with `safe`: how often a work-item's loops go round at most; 0: any number */
    bool verify;          /* verifier after every pass */
    const char *dump; /* NULL: no dump; "": the IR at the end; "all": after each pass that changed something;
                         otherwise after the pass of that name ("lower" is what the passes start from) */
    size_t memory_budget; /* bytes; 0: 2 GB */
    uint32_t max_instrs;  /* 0: 4 million */
} qn__compile_request;

/* A file that was read from disk: a cache checks that it is still the same. */
typedef struct qn__compile_dependency {
    const char *path;
    qn__hash128 hash;
} qn__compile_dependency;

typedef enum qn__compile_stage {
    QN__STAGE_PREPROCESS,
    QN__STAGE_PARSE,
    QN__STAGE_LOWER,
    QN__STAGE_PASSES,
    QN__STAGE_EMIT,
    QN__STAGE_COUNT
} qn__compile_stage;

/* All pointers are the arena's, valid until qn__compile_free; they are NULL or empty where a stage was not
   reached. The strings `log` and `dump` are never NULL. */
typedef struct qn__compile_result {
    qn__compile_status status;
    const char *log; /* errors and warnings with excerpts, or "" */
    uint32_t errors, warnings;
    const struct ir_module *module; /* after the passes */
    const char *text;               /* the target's; zero-terminated */
    size_t text_size;
    qn__code_info info;
    const char *dump;
    const qn__compile_dependency *dependencies;
    size_t num_dependencies;
    uint64_t stage_ns[QN__STAGE_COUNT];
    qn__allocator allocator; /* a copy: the arena's */
    qn__arena arena;
} qn__compile_result;

/* The file of that number, from 0 to num_more, its name and size told. */
qn__compile_source qn__compile_source_at(const qn__compile_request *request, size_t index);

/* What a device's backend says of it, completed by what is so on every device of its target. */
void qn__compile_target(qn__target *target);

/* Fills *result, which the caller need not initialise; status is result->status. The result must not be moved
   (its arena refers to it) and is freed with qn__compile_free whatever the status. */
qn__compile_status qn__compile(const qn__compile_request *request, qn__compile_result *result);
void qn__compile_free(qn__compile_result *result); /* a zeroed result is fine */

/* The module of an IR text (a dump), checked: of the request only the allocator, source and size count. There are no
   reflection and no text. */
qn__compile_status qn__compile_read_ir(const qn__compile_request *request, qn__compile_result *result);

/* The range of a launch; a local size of zeros: it is not known. */
typedef struct qn__reach_range {
    uint64_t global[3], offset[3];
    uint32_t local[3];
} qn__reach_range;

/* The bytes of a parameter's buffer that a launch is sure to reach: behind the last byte that some work-item accesses for
   certain; 0 where none is known. `args` is the argument block, of which the values count. */
uint64_t qn__reach(const qn__kernel_info *kernel, uint32_t param, const unsigned char *args,
                   const qn__reach_range *range);
/* The same as text, one expression after another, each given to `put`: "4 * get_global_id(0) + 4 if get_global_id(0) < n". */
void qn__reach_print(const qn__kernel_info *kernel, uint32_t param, qn__arena *arena,
                     void (*put)(void *user, const char *text), void *user);

/* Whether a safe kernel's accesses stay inside in a launch but for those that it checks. `extents` are the bytes of the memory
   of each parameter. */
bool qn__stays_inside(const qn__kernel_info *kernel, const unsigned char *args, const uint64_t *extents,
                      const qn__reach_range *range);

/* A word for a stage or status, for messages: "parse", "out of memory". */
const char *qn__compile_stage_name(qn__compile_stage stage);
const char *qn__compile_status_name(qn__compile_status status);

#endif
