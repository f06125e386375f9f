/* What the cache's entries are made of: numbers of 8 bytes, texts and bytes with their length in front and a zero behind,
   and the description of code. The texts that are read lie in the entry itself. */
#ifndef QN__ENTRY_H
#define QN__ENTRY_H

#include "emit/code_info.h"
#include "util/str.h"

void qn__put_number(qn__buf *out, uint64_t value);
void qn__put_bytes(qn__buf *out, const char *data, size_t size);
void qn__put_text(qn__buf *out, const char *text); /* NULL: as "" */
void qn__put_code_info(qn__buf *out, const qn__code_info *info);

/* Every length is checked: after the first that cannot be, all that is read is 0 or empty. */
typedef struct qn__reader {
    const char *at, *end;
    bool failed;
} qn__reader;

uint64_t qn__get_number(qn__reader *r);
const char *qn__get_bytes(qn__reader *r, uint64_t *size);
const char *qn__get_text(qn__reader *r);
/* A count of things that take at least `least` bytes each: never more than there can be. */
uint32_t qn__get_count(qn__reader *r, size_t least);
void qn__get_code_info(qn__reader *r, qn__arena *arena, qn__code_info *info);

#endif
