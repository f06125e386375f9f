/* What code needs of a device. It is not what the compiler was told that the device has, but what the code makes use of:
   where the same code comes out for a device that lacks something, it is not needed. The compiler is asked for many
   things at once, and for parts of them only where the code changes, so that few compiles tell. */
#include "runtime/qnb.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ABILITIES = 96 };

typedef struct search {
    qn__target *target;
    qn__qnb_compile *compile;
    void *user;
    qn__hash128 code; /* for the target as it is */
    const qn__ability *abilities;
    uint32_t num;
    uint8_t rows[MAX_ABILITIES]; /* abilities that the target has and that are asked about */
    bool needed[MAX_ABILITIES];  /* by the index in `rows` */
} search;

/* What makes code faster where it is there, and is done otherwise by the device itself where not. */
static bool is_speed(const char *name) {
    return strcmp(name, "fast_fma32") == 0 || strcmp(name, "fast_fma64") == 0;
}

static void list_abilities(search *s) {
    uint32_t count;
    s->abilities = qn__abilities(&count);
    for (uint32_t i = 0; i < count && s->num < MAX_ABILITIES; i++)
        if (qn__is_able(s->target, &s->abilities[i]) && !is_speed(s->abilities[i].name))
            s->rows[s->num++] = (uint8_t)i;
}

static void set_range(const search *s, qn__target *target, uint32_t first, uint32_t count, bool able) {
    for (uint32_t i = first; i < first + count; i++) qn__set_able(target, &s->abilities[s->rows[i]], able);
}

/* Whether anything of a range is needed; notes what. */
static bool find_needed(search *s, uint32_t first, uint32_t count) {
    qn__target without = *s->target;
    qn__hash128 code = {0};
    if (count == 0) return false;
    set_range(s, &without, first, count, false);
    if (s->compile(s->user, &without, &code) && code.a == s->code.a && code.b == s->code.b) return false;
    const bool left = count > 1 && find_needed(s, first, count / 2);
    const bool right = count > 1 && find_needed(s, first + count / 2, count - count / 2);
    if (!left && !right) /* one, or several that only matter together */
        for (uint32_t i = first; i < first + count; i++) s->needed[i] = true;
    return true;
}

static void put_words(qn__buf *out, search *s) {
    const qn__target *target = s->target;
    for (uint32_t i = 0; i < s->num; i++)
        if (s->needed[i]) qn__buf_printf(out, "%s%s", out->len ? " " : "", s->abilities[s->rows[i]].name);
    if (target->lacks_sub_groups) return;
    qn__target other = *target;
    qn__hash128 code = {0};
    other.sub_group_size = target->sub_group_size == 16 ? 32 : 16;
    if (s->compile(s->user, &other, &code) && code.a == s->code.a && code.b == s->code.b) return;
    qn__buf_printf(out, "%ssub_group_size=%u", out->len ? " " : "", (unsigned)target->sub_group_size);
}

const char *qn__qnb_needs(qn__arena *arena, const qn__target *target, qn__qnb_compile *compile, void *user) {
    qn__target copy = *target;
    search *s = QN__NEW(arena, search);
    *s = (search){.target = &copy, .compile = compile, .user = user};
    qn__buf out;
    qn__buf_init(&out, arena);
    qn__buf_puts(&out, "");
    if (!compile(user, target, &s->code)) return "";
    list_abilities(s);
    find_needed(s, 0, s->num);
    put_words(&out, s);
    return qn__arena_strndup(arena, out.data, out.len);
}

/* Without a range, if that compiles; else without parts of it. */
static void reduce_range(search *s, uint32_t first, uint32_t count) {
    qn__target without = *s->target;
    qn__hash128 code;
    if (count == 0) return;
    set_range(s, &without, first, count, false);
    if (s->compile(s->user, &without, &code)) {
        *s->target = without;
    } else if (count > 1) {
        reduce_range(s, first, count / 2);
        reduce_range(s, first + count / 2, count - count / 2);
    }
}

void qn__qnb_reduce(qn__target *target, const char *const *words, qn__qnb_compile *compile, void *user) {
    search s = {.target = target, .compile = compile, .user = user};
    uint32_t count;
    s.abilities = qn__abilities(&count);
    for (; *words; words++)
        for (uint32_t i = 0; i < count && s.num < MAX_ABILITIES; i++)
            if (strcmp(s.abilities[i].name, *words) == 0 && qn__is_able(target, &s.abilities[i]))
                s.rows[s.num++] = (uint8_t)i;
    reduce_range(&s, 0, s.num);
}

/* ---- whether a device has it ---- */

static bool has_ability(const qn__target *device, qn__str word) {
    uint32_t count;
    const qn__ability *abilities = qn__abilities(&count);
    for (uint32_t i = 0; i < count; i++)
        if (strlen(abilities[i].name) == word.len && memcmp(abilities[i].name, word.data, word.len) == 0)
            return qn__is_able(device, &abilities[i]);
    return false; /* a later version's */
}

/* "arch>=90" and "sub_group_size=32": a device with 0 has no limit, or any size. */
static bool has_word(const qn__target *device, qn__str word) {
    const char *equals = memchr(word.data, '=', word.len);
    if (!equals) return has_ability(device, word);
    const bool at_least = equals > word.data && equals[-1] == '>';
    const qn__str name = {word.data, (size_t)(equals - word.data) - at_least};
    const uint32_t *number = qn__target_number(device, name);
    const unsigned long wanted = strtoul(equals + 1, NULL, 10);
    return number && (*number == 0 || (at_least ? *number >= wanted : *number == wanted));
}

/* The next word; false at the end. */
static bool next_word(const char **at, qn__str *word) {
    while (**at == ' ') ++*at;
    *word = (qn__str){*at, strcspn(*at, " ")};
    *at += word->len;
    return word->len > 0;
}

bool qn__qnb_has(const qn__target *device, const char *needs, qn__str *missing) {
    qn__str word;
    while (next_word(&needs, &word)) {
        if (has_word(device, word)) continue;
        if (missing) *missing = word;
        return false;
    }
    return true;
}

uint32_t qn__qnb_num_needs(const char *needs) {
    uint32_t count = 0;
    qn__str word;
    while (next_word(&needs, &word)) count++;
    return count;
}
