/* JSON as the headers of files have it (RFC 8259), read piece by piece from memory that need not end with a zero. The first
   thing that is wrong is kept: all calls after it fail, too. */
#ifndef QN__FILES_JSON_H
#define QN__FILES_JSON_H

#include "tensor/files/archive.h"

typedef struct qn__json {
    qn_archive *archive; /* whose memory texts take */
    const uint8_t *begin, *at, *end;
    const char *problem; /* what is wrong at `at`: "a string begins here that does not end" */
    bool is_out_of_memory;
} qn__json;

/* Whether the next token is this character, which is taken then. */
bool qn__json_next_is(qn__json *json, char c);
/* The same, and it is wrong if it is not. */
bool qn__json_expect(qn__json *json, char c);
/* A string, its escapes replaced, in memory of the archive's, with a zero behind and none within. */
bool qn__json_text(qn__json *json, const char **text);
/* An integer from 0 to 2^64 - 1. */
bool qn__json_number(qn__json *json, uint64_t *number);
/* Any value, which is left out. */
bool qn__json_skip(qn__json *json);
/* Nothing but blanks is left. */
bool qn__json_end(qn__json *json);
/* Notes a problem of the caller's, at the token that comes next. */
bool qn__json_wrong(qn__json *json, const char *problem);

/* Writing: the bytes that a text takes within quotes, and those bytes. */
uint64_t qn__json_quoted_size(const char *text);
char *qn__json_quote(char *to, const char *text);

#endif
