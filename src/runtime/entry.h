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
/* The names of the facts that qn__put_code_info writes, for a reader whose tables may be others. */
void qn__put_facts(qn__buf *out);

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

/* The rows of emit/code_info.def, in the order in which they were written. */
enum { QN__FACT_TABLES = 4, QN__MAX_FACTS = 64 };
typedef struct qn__facts {
    uint8_t num[QN__FACT_TABLES], rows[QN__FACT_TABLES][QN__MAX_FACTS];
} qn__facts;

/* By their names: a fact of ours that is not there stays 0; one that is there and not ours fails. */
void qn__get_facts(qn__reader *r, qn__facts *facts);
/* `facts` NULL: as this library writes them. */
void qn__get_code_info(qn__reader *r, qn__arena *arena, const qn__facts *facts, qn__code_info *info);

#endif
