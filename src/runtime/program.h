/* What building a program shares among program.c, cache.c and translate.c. */
#ifndef QN__PROGRAM_H
#define QN__PROGRAM_H

#include "runtime/runtime.h"
#include "util/str.h"

/* A compile request and the memory it refers to. */
typedef struct qn__program_input {
    qn__compile_request request;
    char *file;                  /* the first file, where it was read, or NULL */
    size_t num_more;             /* files behind it */
    char **more_files;           /* the same of these; NULL: there are none */
    qn__compile_source *more;    /* of the request, or NULL */
    qn__compile_header *headers; /* or NULL */
    qn__compile_define *defines; /* or NULL */
    const void *qnb;             /* the program is a .qnb instead: the caller's, or a file; else NULL */
    size_t qnb_size;
} qn__program_input;

/* Free with qn__program_input_free whatever the status. */
qn_status qn__program_request(qn_context *context, const qn_program_desc *desc, const char *function,
                              qn__program_input *input);
void qn__program_input_free(qn_context *context, qn__program_input *input);
/* Sets the message for a failed compile. */
qn_status qn__compile_failure(qn_context *context, const qn__compile_result *result);

typedef struct qn__cache_key {
    qn__hash128 hash;
    char *text; /* everything the result depends on but included files; the allocator's */
    size_t size;
} qn__cache_key;

/* Makes the program's variables in global memory. */
qn_status qn__program_create_state(qn_program *program);
/* Loads code, and takes the time. */
qn_status qn__program_load(qn_program *program, const qn__code_source *source);
/* The same with what the disk cache has under the key; false where that is not there, or not whole. `source` says how
   else: its info and path are set. */
bool qn__program_load_cached(qn_program *program, const qn__cache_key *key, qn__code_source source);

/* ---- translate.c ---- */

qn_status qn__find_target(qn_context *context, const char *name, qn__target_kind *kind);
qn_status qn__find_arch(qn_context *context, const char *name, uint32_t *arch); /* "sm_90" is 90 */
void qn__put_json(qn__buf *out, const char *text);                              /* with its quotes */
void qn__put_reflection(qn__buf *out, const qn__code_info *info); /* JSON, without the brace at its end */

/* ---- cache.c: an entry is HASH.qn (key, includes, reflection, log, the code's hash) and CODE.so (or what the
   backend calls its files), which the backend reads and writes. CODE also depends on what the included files hold:
   a loaded library's path must never come to mean another library. ---- */

bool qn__cache_key_make(qn_context *context, const qn_device *device, const qn__compile_request *request,
                        qn__cache_key *key); /* false: out of memory */
/* Whether there is a cache whose folder is this user's alone; makes the folder, and logs why not. For each use anew. */
bool qn__cache_usable(qn_context *context);
/* Path of a file of the cache. False when there is no cache. */
bool qn__cache_path(qn_context *context, qn__hash128 name, const char *extension, char *out, size_t size);
/* Path of a device's code: its name starts as the key's hash and takes in each included file. */
qn__hash128 qn__cache_code_name(qn__hash128 name, qn__hash128 included);
bool qn__cache_code_path(const qn_device *device, qn__hash128 name, char *out, size_t size);
/* Fills the program's description and log, which live as long as its arena, and the code's path, if the entry and its
   code are whole and its includes have not changed. */
bool qn__cache_load(qn_program *program, const qn__cache_key *key, char *code_path, size_t path_size);
void qn__cache_forget(qn_program *program); /* what cache_load filled */
/* The code's file is written already. Failure to store is logged and otherwise ignored. */
void qn__cache_store(qn_context *context, const qn__cache_key *key, const qn__compile_result *result,
                     const char *code_path);

#endif
