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

/* ---- which facts there are ---- */

enum { PARAM, KERNEL, REFUSAL, CODE };
enum {
#define PARAM_FACT(shape, type, name, doc) PARAM_##name,
#include "emit/code_info.def"
    NUM_PARAM_FACTS
};
enum {
#define KERNEL_FACT(shape, type, name, doc) KERNEL_##name,
#include "emit/code_info.def"
    NUM_KERNEL_FACTS
};
enum {
#define REFUSAL_FACT(shape, type, name, doc) REFUSAL_##name,
#include "emit/code_info.def"
    NUM_REFUSAL_FACTS
};
enum {
#define CODE_FACT(shape, type, name, doc) CODE_##name,
#include "emit/code_info.def"
    NUM_CODE_FACTS
};

static const uint8_t num_facts[QN__FACT_TABLES] = {NUM_PARAM_FACTS, NUM_KERNEL_FACTS, NUM_REFUSAL_FACTS,
                                                   NUM_CODE_FACTS};
_Static_assert((int)NUM_PARAM_FACTS <= (int)QN__MAX_FACTS && (int)NUM_KERNEL_FACTS <= (int)QN__MAX_FACTS,
               "there is room");

/* "NUMBER size", "LIST param_info params": all that reading it takes. */
#define NAME_NUMBER(type, name) "NUMBER " #name
#define NAME_TEXT(type, name)   "TEXT " #name
#define NAME_SIZES(type, name)  "SIZES " #name
#define NAME_BYTES(type, name)  "BYTES " #name
#define NAME_WORDS(type, name)  "WORDS " #name
#define NAME_TEXTS(type, name)  "TEXTS " #name
#define NAME_LIST(type, name)   "LIST " #type " " #name

static const char *const fact_names[QN__FACT_TABLES][QN__MAX_FACTS] = {
    {
#define PARAM_FACT(shape, type, name, doc) NAME_##shape(type, name),
#include "emit/code_info.def"
    },
    {
#define KERNEL_FACT(shape, type, name, doc) NAME_##shape(type, name),
#include "emit/code_info.def"
    },
    {
#define REFUSAL_FACT(shape, type, name, doc) NAME_##shape(type, name),
#include "emit/code_info.def"
    },
    {
#define CODE_FACT(shape, type, name, doc) NAME_##shape(type, name),
#include "emit/code_info.def"
    },
};

void qn__put_facts(qn__buf *out) {
    for (int table = 0; table < QN__FACT_TABLES; table++) {
        qn__put_number(out, num_facts[table]);
        for (int row = 0; row < num_facts[table]; row++) qn__put_text(out, fact_names[table][row]);
    }
}

static void own_facts(qn__facts *facts) {
    for (int table = 0; table < QN__FACT_TABLES; table++) {
        facts->num[table] = num_facts[table];
        for (int row = 0; row < num_facts[table]; row++) facts->rows[table][row] = (uint8_t)row;
    }
}

void qn__get_facts(qn__reader *r, qn__facts *facts) {
    *facts = (qn__facts){0};
    for (int table = 0; table < QN__FACT_TABLES; table++) {
        const uint32_t count = qn__get_count(r, 9);
        if (count == 0 || count > num_facts[table]) r->failed = true;
        for (uint32_t i = 0; i < count && !r->failed; i++) {
            const char *name = qn__get_text(r);
            uint8_t row = 0;
            while (row < num_facts[table] && strcmp(fact_names[table][row], name) != 0) row++;
            if (row == num_facts[table]) r->failed = true;
            facts->rows[table][facts->num[table]++] = row;
        }
    }
}

/* ---- reading a description ---- */

/* Each fact takes a number at least. */
static size_t least_param_info(const qn__facts *facts) { return facts->num[PARAM] * (size_t)8; }
static size_t least_kernel_info(const qn__facts *facts) { return facts->num[KERNEL] * (size_t)8; }
static size_t least_refusal(const qn__facts *facts) { return facts->num[REFUSAL] * (size_t)8; }
static size_t least_implicit(const qn__facts *facts) {
    (void)facts;
    return 8;
}

static void get_implicit(qn__reader *r, qn__arena *arena, const qn__facts *facts, qn__implicit *to) {
    const uint64_t word = qn__get_number(r);
    (void)arena, (void)facts;
    *to = (qn__implicit){(uint8_t)word, (uint8_t)(word >> 8), (uint16_t)(word >> 16), (uint32_t)(word >> 32)};
}

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
#define GET_LIST(type, name)                                                                                 \
    GET_EACH(qn__##type, name, least_##type(facts), get_##type(r, arena, facts, &items[i]))

#define CASE(table, shape, type, name)                                                                       \
    case table##_##name: GET_##shape(type, name) break;

static void get_param_info(qn__reader *r, qn__arena *arena, const qn__facts *facts, qn__param_info *to) {
    (void)arena;
    for (int f = 0; f < facts->num[PARAM]; f++) {
        switch (facts->rows[PARAM][f]) {
#define PARAM_FACT(shape, type, name, doc) CASE(PARAM, shape, type, name)
#include "emit/code_info.def"
        }
    }
}

static void get_kernel_info(qn__reader *r, qn__arena *arena, const qn__facts *facts, qn__kernel_info *to) {
    for (int f = 0; f < facts->num[KERNEL]; f++) {
        switch (facts->rows[KERNEL][f]) {
#define KERNEL_FACT(shape, type, name, doc) CASE(KERNEL, shape, type, name)
#include "emit/code_info.def"
        }
    }
}

static void get_refusal(qn__reader *r, qn__arena *arena, const qn__facts *facts, qn__refusal *to) {
    (void)arena;
    for (int f = 0; f < facts->num[REFUSAL]; f++) {
        switch (facts->rows[REFUSAL][f]) {
#define REFUSAL_FACT(shape, type, name, doc) CASE(REFUSAL, shape, type, name)
#include "emit/code_info.def"
        }
    }
}

void qn__get_code_info(qn__reader *r, qn__arena *arena, const qn__facts *facts, qn__code_info *to) {
    qn__facts own;
    if (!facts) own_facts(&own);
    if (!facts) facts = &own;
    *to = (qn__code_info){0};
    for (int f = 0; f < facts->num[CODE]; f++) {
        switch (facts->rows[CODE][f]) {
#define CODE_FACT(shape, type, name, doc) CASE(CODE, shape, type, name)
#include "emit/code_info.def"
        }
    }
}
