/* Programs to ship: one piece of bytes (a .qnb) that holds a program as code for several targets. docs/qnb.md has the
   format; qnb.c writes and reads it, qnb_needs.c finds what an entry asks of a device and whether a device has it,
   qnb_make.c compiles, qnb_load.c chooses and loads. */
#ifndef QN__QNB_H
#define QN__QNB_H

#include "runtime/entry.h"
#include "runtime/program.h"
#include "util/hash.h"

/* Code for one target. Strings and bytes lie in what was read. */
typedef struct qn__qnb_entry {
    qn__target_kind kind;
    const char *needs; /* words of qnb_needs.c, apart by spaces: what the text asks of a device */
    const char
        *machine;     /* the binary's: what the backend's runs_binary understands; "": there is no binary */
    const char *log;  /* warnings */
    const char *info; /* a qn__code_info, to be read with `facts` of the file */
    uint64_t info_size;
    const char *text; /* the target's; IR: the module as text */
    uint64_t text_size;
    const char *binary; /* a file of the backend's, as in the disk cache; CPU: the shared object */
    uint64_t binary_size;
} qn__qnb_entry;

typedef struct qn__qnb {
    const char *version; /* of the library that made it */
    qn__facts facts;
    const qn__qnb_entry *entries; /* the arena's */
    uint32_t num_entries;
} qn__qnb;

/* ---- qnb.c ---- */

bool qn__qnb_is(const void *data, size_t size); /* begins as one does */
/* Adds what stands before the entries, an entry, and the end. */
void qn__qnb_begin(qn__buf *out, uint32_t num_entries);
void qn__qnb_add(qn__buf *out, const qn__qnb_entry *entry);
void qn__qnb_end(qn__buf *out);
/* Looks at every length. Returns NULL, or what is wrong: the end of a sentence that begins with the file's name. */
const char *qn__qnb_read(qn__arena *arena, const void *data, size_t size, qn__qnb *qnb);
/* The entry's description; the same about it. */
const char *qn__qnb_info(qn__arena *arena, const qn__qnb *qnb, const qn__qnb_entry *entry,
                         qn__code_info *info);

/* ---- qnb_needs.c ---- */

/* Compiles for another target, complete, and gives the code's hash; false where it does not compile. */
typedef bool qn__qnb_compile(void *user, const qn__target *target, qn__hash128 *code);
/* The words that say what code for a target, complete, needs of a device: all that would change the code if it were not
   there. */
const char *qn__qnb_needs(qn__arena *arena, const qn__target *target, qn__qnb_compile *compile, void *user);
/* Takes away from a target, complete, what the code can do without of the abilities in a list, which NULL ends. Where it
   cannot do without all, those at its end are kept rather. */
void qn__qnb_reduce(qn__target *target, const char *const *words, qn__qnb_compile *compile, void *user);
/* Whether the device has it. If not and `missing` is not NULL: the first word that it does not have. */
bool qn__qnb_has(const qn__target *device, const char *needs, qn__str *missing);
uint32_t qn__qnb_num_needs(const char *needs);

/* ---- qnb_load.c ---- */

/* Fills the program, which has its device. `name` is for messages. */
qn_status qn__qnb_load(qn_program *program, const void *data, size_t size, const char *name, bool use_cache);
/* What is in it, as JSON; in the allocator's memory. */
qn_status qn__qnb_reflect(qn_context *context, const void *data, size_t size, const char *name, char **text);

#endif
