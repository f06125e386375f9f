/* The table of encodings: what each is called by the formats. */
#ifndef QN__ENCODING_H
#define QN__ENCODING_H

#include <quern/files.h>

enum { QN__NO_ID = -1 };

typedef struct qn__encoding_info {
    const char *name;
    int element;              /* a qn_element, or -1 */
    uint32_t elements, bytes; /* of a block */
    uint32_t align;           /* bytes of its largest number */
    const char *safetensors;  /* its name there, or NULL */
    int safetensors_order;    /* by which arrays lie in such a file: descending */
    const char *npy;          /* "f4": without byte order; NULL */
    int gguf;                 /* its number there, or QN__NO_ID */
} qn__encoding_info;

/* Of an encoding that is one. */
const qn__encoding_info *qn__encoding(qn_encoding encoding);
/* False where the format has none of that name or number. Names need no zero behind. */
bool qn__encoding_by_safetensors(const char *name, uint64_t size, qn_encoding *encoding);
bool qn__encoding_by_npy(const char *name, uint64_t size, qn_encoding *encoding);
bool qn__encoding_by_gguf(uint32_t id, qn_encoding *encoding);

#endif
