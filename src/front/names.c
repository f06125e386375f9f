/* Interned identifiers and the names of token kinds; see token.h. The keywords are entered when a table is
   made: a hundred insertions cost less than a look-up of keywords beside that of names would. */
#include <string.h>

#include "front/token.h"

typedef struct keyword {
    const char *text;
    uint8_t len;
    uint16_t kind;
} keyword;

static const keyword keywords[] = {
#define KEYWORD(ID, spelling) {spelling, sizeof spelling - 1, FRONT_T_##ID},
#define ALIAS(ID, spelling)   {spelling, sizeof spelling - 1, FRONT_T_##ID},
#include "front/tokens.def"
};

enum { FIRST_CAPACITY = 1024 };

/* Names are short, so a byte at a time will do. */
static uint32_t hash_text(const char *data, size_t len) {
    uint32_t hash = FRONT_NAME_HASH;
    for (size_t i = 0; i < len; i++) hash = qn__name_hash(hash, data[i]);
    return hash;
}

static void grow(front_names *names) {
    uint32_t cap = names->cap * 2;
    front_name **slots = QN__NEW_ARRAY(names->arena, front_name *, cap);
    for (uint32_t i = 0; i < names->cap; i++) {
        if (!names->slots[i]) continue;
        uint32_t slot = names->slots[i]->hash & (cap - 1);
        while (slots[slot]) slot = (slot + 1) & (cap - 1);
        slots[slot] = names->slots[i];
    }
    names->slots = slots;
    names->cap = cap;
}

static front_name *intern(front_names *names, const char *data, size_t len, uint32_t hash, bool copy) {
    hash ^= hash >> 15;
    uint32_t slot = hash & (names->cap - 1);
    for (front_name *name; (name = names->slots[slot]); slot = (slot + 1) & (names->cap - 1))
        if (name->hash == hash && name->len == len && !memcmp(name->data, data, len)) return name;
    front_name *name = QN__NEW(names->arena, front_name);
    name->data = copy ? qn__arena_strndup(names->arena, data, len) : data;
    name->len = (uint32_t)len;
    name->hash = hash;
    names->slots[slot] = name;
    if (++names->len * 2 > names->cap) grow(names);
    return name;
}

front_name *qn__name(front_names *names, const char *data, size_t len) {
    return intern(names, data, len, hash_text(data, len), true);
}

front_name *qn__name_hashed(front_names *names, const char *data, size_t len, uint32_t hash) {
    return intern(names, data, len, hash, true);
}

front_name *qn__name_static(front_names *names, const char *data, size_t len) {
    return intern(names, data, len, hash_text(data, len), false);
}

void qn__names_init(front_names *names, qn__arena *arena) {
    *names = (front_names){.arena = arena, .cap = FIRST_CAPACITY};
    names->slots = QN__NEW_ARRAY(arena, front_name *, FIRST_CAPACITY);
    for (size_t i = 0; i < QN__COUNT(keywords); i++)
        qn__name_static(names, keywords[i].text, keywords[i].len)->keyword = keywords[i].kind;
}

static const char *const kind_names[FRONT_T_COUNT] = {
    [FRONT_T_END] = "end of file",        [FRONT_T_IDENTIFIER] = "identifier",
    [FRONT_T_INT] = "integer literal",    [FRONT_T_FLOAT] = "floating literal",
    [FRONT_T_CHAR] = "character literal", [FRONT_T_STRING] = "string literal",
    [FRONT_T_PRAGMA] = "pragma",          [FRONT_T_NUMBER] = "number",
    [FRONT_T_OTHER] = "character",        [FRONT_T_PLACEMARKER] = "nothing",
    [FRONT_T_PARAMETER] = "parameter",
#define PUNCTUATOR(ID, spelling) [FRONT_T_##ID] = "'" spelling "'",
#define KEYWORD(ID, spelling)    [FRONT_T_##ID] = "'" spelling "'",
#include "front/tokens.def"
};

const char *qn__token_kind_name(front_token_kind kind) { return kind_names[kind]; }
