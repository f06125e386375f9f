/* What building a program shares among program.c, cache.c and translate.c. */
#ifndef QN__PROGRAM_H
#define QN__PROGRAM_H

#include "runtime/runtime.h"

/* A compile request and the memory it refers to. */
typedef struct qn__program_input {
    qn__compile_request request;
    char *source;                /* read from a file, or NULL */
    qn__compile_header *headers; /* or NULL */
} qn__program_input;

/* Free with qn__program_input_free whatever the status. */
qn_status qn__program_request(qn_context *context, const qn_program_desc *desc, const char *function,
                              qn__program_input *input);
void qn__program_input_free(qn_context *context, qn__program_input *input);
/* Sets the message for a failed compile. */
qn_status qn__compile_failure(qn_context *context, const qn__compile_result *result);

/* ---- cache.c: an entry is HASH.qn (key, includes, reflection, log) and CODE.so, which the backend reads and
   writes. CODE also depends on what the included files hold: a loaded library's path must never come to mean
   another library. ---- */

typedef struct qn__cache_key {
    qn__hash128 hash;
    char *text; /* everything the result depends on but included files; the allocator's */
    size_t size;
} qn__cache_key;

bool qn__cache_key_make(qn_context *context, const qn_device *device, const qn__compile_request *request,
                        qn__cache_key *key); /* false: out of memory */
/* Path of a file of the cache; makes the directory. False when there is no cache. */
bool qn__cache_path(qn_context *context, qn__hash128 name, const char *extension, char *out, size_t size);
/* The name of the code: starts as the key's hash and takes in each included file. */
qn__hash128 qn__cache_code_name(qn__hash128 name, qn__hash128 included);
/* Fills the program's reflection and log, and the name of its code, if the entry is whole and its includes
   have not changed. */
bool qn__cache_load(qn_program *program, const qn__cache_key *key, qn__code_kernel **kernels,
                    qn__hash128 *code);
void qn__cache_forget(qn_program *program); /* what cache_load filled */
/* Failure to store is logged and otherwise ignored. */
void qn__cache_store(qn_context *context, const qn__cache_key *key, const qn__compile_result *result);

#endif
