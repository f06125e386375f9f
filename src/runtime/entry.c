/* Writing and reading the parts of a cache entry. The description of code goes through its tables (emit/code_info.def), so that a
   new fact is kept without a line here. */
#include "runtime/entry.h"

#include <string.h>

/* ---- writing ---- */

void qn__put_number(qn__buf *out, uint64_t value) { qn__buf_append(out, (const char *)&value, sizeof value); }

void qn__put_bytes(qn__buf *out, const char *data, size_t size) {
    qn__put_number(out, size);
    if (size) qn__buf_append(out, data, size);
    qn__buf_putc(out, 0);
}

void qn__put_text(qn__buf *out, const char *text) {
    qn__put_bytes(out, text ? text : "", text ? strlen(text) : 0);
}

static void put_optional(qn__buf *out, const char *text) {
    qn__put_number(out, text != NULL);
    if (text) qn__put_text(out, text);
}

static void put_implicit(qn__buf *out, const qn__implicit *implicit) {
    qn__put_number(out, implicit->kind | implicit->size << 8 | (uint64_t)implicit->dim << 16 |
                            (uint64_t)implicit->offset << 32);
}

#define PUT_NUMBER(type, name) qn__put_number(out, from->name);
#define PUT_TEXT(type, name)   put_optional(out, from->name);
#define PUT_SIZES(type, name)                                                                                \
    for (int d = 0; d < 3; d++) qn__put_number(out, from->name[d]);
#define PUT_BYTES(type, name) qn__put_bytes(out, (const char *)from->name, from->name##_size);
#define PUT_EACH(name, put)                                                                                  \
    qn__put_number(out, from->num_##name);                                                                   \
    for (uint32_t i = 0; i < from->num_##name; i++) put;
#define PUT_WORDS(type, name) PUT_EACH(name, qn__put_number(out, from->name[i]))
#define PUT_TEXTS(type, name) PUT_EACH(name, put_optional(out, from->name[i]))
#define PUT_LIST(type, name)  PUT_EACH(name, put_##type(out, &from->name[i]))

static void put_param_info(qn__buf *out, const qn__param_info *from) {
#define PARAM_FACT(shape, type, name, doc) PUT_##shape(type, name)
#include "emit/code_info.def"
}

static void put_kernel_info(qn__buf *out, const qn__kernel_info *from) {
#define KERNEL_FACT(shape, type, name, doc) PUT_##shape(type, name)
#include "emit/code_info.def"
}

static void put_refusal(qn__buf *out, const qn__refusal *from) {
#define REFUSAL_FACT(shape, type, name, doc) PUT_##shape(type, name)
#include "emit/code_info.def"
}

void qn__put_code_info(qn__buf *out, const qn__code_info *from){
#define CODE_FACT(shape, type, name, doc) PUT_##shape(type, name)
#include "emit/code_info.def"
}

/* ---- reading ---- */

uint64_t qn__get_number(qn__reader *r) {
    uint64_t value = 0;
    if (r->failed || r->end - r->at < 8) {
        r->failed = true;
    } else {
        memcpy(&value, r->at, 8);
        r->at += 8;
    }
    return value;
}

const char *qn__get_bytes(qn__reader *r, uint64_t *size) {
    *size = qn__get_number(r);
    if (r->failed || *size >= (uint64_t)(r->end - r->at) || r->at[*size] != 0) {
        r->failed = true;
        *size = 0;
        return "";
    }
    const char *bytes = r->at;
    r->at += *size + 1;
    return bytes;
}

const char *qn__get_text(qn__reader *r) {
    uint64_t size;
    return qn__get_bytes(r, &size);
}

uint32_t qn__get_count(qn__reader *r, size_t least) {
    const uint64_t count = qn__get_number(r);
    if (r->failed || count > (uint64_t)(r->end - r->at) / least) r->failed = true;
    return r->failed ? 0 : (uint32_t)count;
}

static const char *get_optional(qn__reader *r) { return qn__get_number(r) ? qn__get_text(r) : NULL; }

static void get_implicit(qn__reader *r, qn__arena *arena, qn__implicit *to) {
    const uint64_t word = qn__get_number(r);
    (void)arena;
    *to = (qn__implicit){(uint8_t)word, (uint8_t)(word >> 8), (uint16_t)(word >> 16), (uint32_t)(word >> 32)};
}

/* Each fact takes a number at least. */
enum {
    LEAST_implicit = 8,
#define PARAM_FACT(shape, type, name, doc) +8
    LEAST_param_info = 0
#include "emit/code_info.def"
    ,
#define KERNEL_FACT(shape, type, name, doc) +8
    LEAST_kernel_info = 0
#include "emit/code_info.def"
    ,
#define REFUSAL_FACT(shape, type, name, doc) +8
    LEAST_refusal = 0
#include "emit/code_info.def"
};

#define GET_NUMBER(type, name) to->name = (type)qn__get_number(r);
#define GET_TEXT(type, name)   to->name = get_optional(r);
#define GET_SIZES(type, name)                                                                                \
    for (int d = 0; d < 3; d++) to->name[d] = (uint32_t)qn__get_number(r);
#define GET_BYTES(type, name) to->name = (const uint8_t *)qn__get_bytes(r, &to->name##_size);
#define GET_EACH(type, name, least, get)                                                                     \
    {                                                                                                        \
        to->num_##name = qn__get_count(r, least);                                                            \
        type *items = QN__NEW_ARRAY(arena, type, to->num_##name);                                            \
        for (uint32_t i = 0; i < to->num_##name; i++) get;                                                   \
        to->name = items;                                                                                    \
    }
#define GET_WORDS(type, name) GET_EACH(uint32_t, name, 8, items[i] = (uint32_t)qn__get_number(r))
#define GET_TEXTS(type, name) GET_EACH(const char *, name, 8, items[i] = get_optional(r))
#define GET_LIST(type, name)  GET_EACH(qn__##type, name, LEAST_##type, get_##type(r, arena, &items[i]))

static void get_param_info(qn__reader *r, qn__arena *arena, qn__param_info *to) {
    (void)arena;
#define PARAM_FACT(shape, type, name, doc) GET_##shape(type, name)
#include "emit/code_info.def"
}

static void get_kernel_info(qn__reader *r, qn__arena *arena, qn__kernel_info *to) {
#define KERNEL_FACT(shape, type, name, doc) GET_##shape(type, name)
#include "emit/code_info.def"
}

static void get_refusal(qn__reader *r, qn__arena *arena, qn__refusal *to) {
    (void)arena;
#define REFUSAL_FACT(shape, type, name, doc) GET_##shape(type, name)
#include "emit/code_info.def"
}

void qn__get_code_info(qn__reader *r, qn__arena *arena, qn__code_info *to) {
#define CODE_FACT(shape, type, name, doc) GET_##shape(type, name)
#include "emit/code_info.def"
}
