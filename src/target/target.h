/* One description of what code is made for: the target language and what the device can do. The backend fills it, the
   compiler adds the target's own traits, and every room reads the same one. The traits stand in target.def. A zeroed
   qn__target is the IR, for a device that has everything. */
#ifndef QN__TARGET_H
#define QN__TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/str.h"

typedef enum qn__target_kind {
#define TARGET(ID, name, emitter) QN__TARGET_##ID,
#include "target/target.def"
    QN__TARGET_COUNT
} qn__target_kind;

/* Elements of matrix fragments, by the names that ir/matrices.def and the public qn_type have for them: what an entry of
   qn__target's list is made of. */
typedef enum qn__unit {
#define UNIT(ID, name) QN__UNIT_##ID,
#include "target/units.def"
    QN__UNITS
} qn__unit;

/* A product that a device's matrix units do: of a, rows x k, and b, k x columns, added to `sum`. */
typedef struct qn__unit_shape {
    uint8_t a, b, sum; /* qn__unit */
    uint8_t rows, columns, k;
} qn__unit_shape;
enum { QN__UNIT_SHAPES = 64 };

typedef struct qn__target {
    qn__target_kind kind;
#define NUMBER(name, doc)                uint32_t name;
#define TRAIT(sense, name, readers, doc) bool sense##_##name;
#include "target/target.def"
    uint32_t num_shapes; /* with has_matrices; PTX's are those of mma.def */
    qn__unit_shape shapes[QN__UNIT_SHAPES];
} qn__target;

/* A trait as a value, for tables: its place in qn__target. 0: none. */
typedef uint16_t qn__trait;
#define QN__TRAIT(field) ((qn__trait)offsetof(qn__target, field))

static inline bool qn__has_trait(const qn__target *target, qn__trait trait) {
    return trait && *((const bool *)target + trait);
}
void qn__set_trait(qn__target *target, qn__trait trait, bool value);

/* The traits that tell what a device can do: the rows with `lacks` and `has`. */
typedef struct qn__ability {
    const char *name; /* without the sense: "i8" */
    qn__trait trait;
    bool lacks; /* the trait tells that it is not there */
} qn__ability;
const qn__ability *qn__abilities(uint32_t *count);
static inline bool qn__is_able(const qn__target *target, const qn__ability *ability) {
    return qn__has_trait(target, ability->trait) != ability->lacks;
}
static inline void qn__set_able(qn__target *target, const qn__ability *ability, bool able) {
    qn__set_trait(target, ability->trait, able != ability->lacks);
}
/* The field of that name (NUMBER) if there is one; else NULL. */
const uint32_t *qn__target_number(const qn__target *target, qn__str name);

/* The traits of `more` on top of those of `target`, and its numbers where `target` says none. */
void qn__target_add(qn__target *target, const qn__target *more);
/* "lacks_i64"; '-' stands for '_'. 0: there is none of that name. */
qn__trait qn__trait_by_name(qn__str name);
/* One more shape, unless it is known or there is no room. */
void qn__target_add_shape(qn__target *target, qn__unit_shape shape);
const char *qn__target_name(qn__target_kind kind); /* "spirv" */
/* All of it as text, for keys. */
void qn__target_print(qn__buf *out, const qn__target *target);

#endif
