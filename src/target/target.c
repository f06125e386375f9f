/* The table of traits, by name and by place. */
#include "target/target.h"

#include <string.h>

static const struct {
    const char *name;
    qn__trait trait;
} traits[] = {
#define TRAIT(sense, name, readers, doc) {#sense "_" #name, QN__TRAIT(sense##_##name)},
#include "target/target.def"
};

enum { NUM_TRAITS = sizeof traits / sizeof *traits };

void qn__set_trait(qn__target *target, qn__trait trait, bool value) {
    if (trait) *((bool *)target + trait) = value;
}

void qn__target_add(qn__target *target, const qn__target *more) {
    for (size_t i = 0; i < NUM_TRAITS; i++)
        if (qn__has_trait(more, traits[i].trait)) qn__set_trait(target, traits[i].trait, true);
#define NUMBER(name, doc)                                                                                    \
    if (!target->name) target->name = more->name;
#include "target/target.def"
    for (uint32_t i = 0; i < more->num_shapes; i++) qn__target_add_shape(target, more->shapes[i]);
}

void qn__target_add_shape(qn__target *target, qn__unit_shape shape) {
    for (uint32_t i = 0; i < target->num_shapes; i++)
        if (memcmp(&target->shapes[i], &shape, sizeof shape) == 0) return;
    if (target->num_shapes < QN__UNIT_SHAPES) target->shapes[target->num_shapes++] = shape;
}

static bool is_name(qn__str given, const char *name) {
    size_t i = 0;
    while (i < given.len && name[i] && name[i] == (given.data[i] == '-' ? '_' : given.data[i])) i++;
    return i == given.len && !name[i];
}

qn__trait qn__trait_by_name(qn__str name) {
    for (size_t i = 0; i < NUM_TRAITS; i++)
        if (is_name(name, traits[i].name)) return traits[i].trait;
    return 0;
}

const qn__ability *qn__abilities(uint32_t *count) {
    static const qn__ability abilities[] = {
#define ABILITY_lacks(name) {#name, QN__TRAIT(lacks_##name), true},
#define ABILITY_has(name)   {#name, QN__TRAIT(has_##name), false},
#define ABILITY_wants(name)
#define ABILITY_tries(name)
#define TRAIT(sense, name, readers, doc) ABILITY_##sense(name)
#include "target/target.def"
    };
    *count = sizeof abilities / sizeof *abilities;
    return abilities;
}

const uint32_t *qn__target_number(const qn__target *target, qn__str name) {
#define NUMBER(number, doc)                                                                                  \
    if (is_name(name, #number)) return &target->number;
#include "target/target.def"
    return NULL;
}

const char *qn__target_name(qn__target_kind kind) {
    static const char *const names[QN__TARGET_COUNT] = {
#define TARGET(ID, name, emitter) name,
#include "target/target.def"
    };
    return kind < QN__TARGET_COUNT ? names[kind] : "?";
}

void qn__target_print(qn__buf *out, const qn__target *target) {
    qn__buf_printf(out, "%s", qn__target_name(target->kind));
#define NUMBER(name, doc) qn__buf_printf(out, " %u", (unsigned)target->name);
#include "target/target.def"
    for (size_t i = 0; i < NUM_TRAITS; i++)
        if (qn__has_trait(target, traits[i].trait)) qn__buf_printf(out, " %s", traits[i].name);
    static const char *const units[QN__UNITS] = {
#define UNIT(ID, name) name,
#include "target/units.def"
    };
    for (uint32_t i = 0; i < target->num_shapes; i++) {
        const qn__unit_shape *s = &target->shapes[i];
        qn__buf_printf(out, " %s*%s+%s:%ux%ux%u", units[s->a], units[s->b], units[s->sum], s->rows,
                       s->columns, s->k);
    }
}
