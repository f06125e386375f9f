/* Common subexpressions by global value numbering: the same op on the same values gives the same value.
   Structured scopes make the table a stack of undo records: what a region computes is forgotten at its end,
   what was computed before it is visible inside. Loads take part, keyed also by a version of the memory of
   their address space that changes with every write, so a load after a store to the same place takes the
   stored value.

       %a = add %x, %y             %a = add %x, %y
       store %p, %a          ->    store %p, %a
       %b = add %y, %x             use %a, %a
       %c = load %p
       use %b, %c

   What both arms of an `if` begin with stands in front of it, once. */
#include <string.h>

#include "pass/tools.h"
#include "util/hash.h"

typedef struct entry {
    const ir_instr *instr; /* the first such instruction; a store for the load it answers */
    ir_value *value;
    uint32_t hash, version;
    uint32_t next; /* in the bucket: index + 1, or 0 */
} entry;

typedef struct numbering {
    qn__pass_context *context;
    qn__rewrite rewrite;
    uint32_t *buckets; /* index of the newest entry + 1, or 0 */
    uint32_t bucket_mask;
    QN__VEC(entry) entries; /* a stack: what a region enters goes at its end */
    QN__VEC(ir_value *)
    twins; /* of an `if` that is compared with an earlier one: what gives what is known there */
    uint32_t versions[IR_SPACE_COUNT], last_version;
    bool changed;
} numbering;

/* ---- keys ---- */

/* Flags that make a difference to the value, but for a load's; and what else an instruction is known by. A load's
   alignment makes no difference. */
enum {
    KEY_FLAGS = IR_CONTRACT | IR_FAST,
    KEY_ATTRS = IR_ATTR_LANE | IR_ATTR_LANES | IR_ATTR_INDEX | IR_ATTR_OFFSET | IR_ATTR_ROUNDING | IR_ATTR_DIM
};

static uint64_t key_attr(const ir_instr *instr) {
    uint64_t lanes = 0;
    switch (qn__ir_ops[instr->op].has & KEY_ATTRS) {
    case IR_ATTR_LANE: return instr->attr.lanes[0];
    case IR_ATTR_LANES: { /* the first few */
        const unsigned count = instr->results[0]->type.lanes;
        memcpy(&lanes, instr->attr.lanes, count < sizeof lanes ? count : sizeof lanes);
        return lanes;
    }
    case IR_ATTR_INDEX: return instr->attr.index;
    case IR_ATTR_OFFSET: return (uint64_t)instr->attr.offset;
    case IR_ATTR_ROUNDING: return instr->attr.rounding;
    case IR_ATTR_DIM: return instr->attr.dim;
    default: return 0;
    }
}

static bool same_attrs(const ir_instr *a, const ir_instr *b) {
    return (qn__ir_ops[b->op].has & KEY_ATTRS) == IR_ATTR_LANES
               ? memcmp(a->attr.lanes, b->attr.lanes, b->results[0]->type.lanes) == 0
               : key_attr(a) == key_attr(b);
}

static bool same_operands(ir_value *const *a, ir_value *const *b, uint32_t count, bool commutes) {
    uint32_t i = 0;
    if (commutes && a[0] == b[1] && a[1] == b[0]) i = 2;
    for (; i < count; i++)
        if (a[i] != b[i]) return false;
    return true;
}

/* Whether `b` gives what `a` gives, in memory of one version: a store gives what a load of its place does. */
static bool gives_same(const ir_instr *a, const ir_instr *b) {
    const bool load = b->op == IR_LOAD;
    if (a->op != b->op && !(load && a->op == IR_STORE)) return false;
    if (!load && (a->num_operands != b->num_operands || (a->flags ^ b->flags) & KEY_FLAGS)) return false;
    const ir_value *given = a->op == IR_STORE ? a->operands[1] : a->results[0];
    return qn__ir_same(given->type, b->results[0]->type) && same_attrs(a, b) &&
           same_operands(a->operands, b->operands, load ? 1 : b->num_operands, qn__ir_commutes(b->op));
}

/* Of the memory that a load reads, or a store writes; 0: it never changes. */
static inline uint32_t version_of(const numbering *n, const ir_instr *instr) {
    if (instr->op != IR_LOAD && instr->op != IR_STORE) return 0;
    return instr->flags & IR_READONLY ? 0 : n->versions[instr->operands[0]->type.space];
}

/* A store's is that of the load it answers. */
static inline uint32_t hash_of(const ir_instr *instr, uint32_t version) {
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    const uint32_t has = qn__ir_ops[instr->op].has;
    const bool store = instr->op == IR_STORE;
    const uint32_t count = store ? 1 : instr->num_operands;
    uint64_t hash = (uint64_t)(store ? IR_LOAD : instr->op) << 32 | version;
    if (has & KEY_ATTRS) hash = (hash + key_attr(instr)) * factor;
    uint32_t i = 0;
    if (has & IR_COMMUTES) { /* its first two in either order */
        const uint64_t a = instr->operands[0]->id, b = instr->operands[1]->id;
        hash = (hash + a + b) * factor + (a ^ b);
        i = 2;
    }
    for (; i < count; i++) hash = (hash + instr->operands[i]->id) * factor;
    return (uint32_t)(hash >> 32);
}

/* ---- the table ---- */

static inline const entry *entry_at(const numbering *n, uint32_t index) {
    return index ? &n->entries.data[index - 1] : NULL;
}

static const entry *find(const numbering *n, const ir_instr *instr, uint32_t hash, uint32_t version) {
    for (const entry *e = entry_at(n, n->buckets[hash & n->bucket_mask]); e; e = entry_at(n, e->next))
        if (e->hash == hash && e->version == version && gives_same(e->instr, instr)) return e;
    return NULL;
}

static void enter(numbering *n, const ir_instr *instr, ir_value *value, uint32_t hash, uint32_t version) {
    uint32_t *bucket = &n->buckets[hash & n->bucket_mask];
    const entry e = {instr, value, hash, version, *bucket};
    qn__vec_push(n->context->scratch, &n->entries, e);
    *bucket = (uint32_t)n->entries.len;
}

static void forget(numbering *n, size_t mark) {
    while (n->entries.len > mark) {
        const entry *e = &qn__vec_pop(&n->entries);
        n->buckets[e->hash & n->bucket_mask] = e->next;
    }
}

/* ---- merging ---- */

static void clobber(numbering *n, uint32_t spaces) {
    n->last_version++;
    for (unsigned s = 0; s < IR_SPACE_COUNT; s++)
        if (spaces >> s & 1) n->versions[s] = n->last_version;
}

static bool can_merge(const ir_instr *instr) {
    if (instr->num_results != 1) return false;
    return qn__effects(instr) <= IR_EFFECT_QUERY || (instr->op == IR_LOAD && !(instr->flags & IR_VOLATILE));
}

/* The instruction goes where its value is known. */
static void merge(numbering *n, ir_instr *instr) {
    const uint32_t version = version_of(n, instr), hash = hash_of(instr, version);
    const entry *found = find(n, instr, hash, version);
    if (!found) {
        enter(n, instr, instr->results[0], hash, version);
        return;
    }
    if (found->value->value_kind == IR_VALUE_RESULT && instr->op != IR_LOAD)
        found->value->def->flags &= instr->flags;
    qn__rewrite_set(&n->rewrite, instr->results[0], found->value);
    qn__ir_unlink(instr);
    n->changed = true;
}

/* ---- ifs ---- */

/* Two ifs without effects on one condition, whose regions do the same, give the same: the sine and the cosine of one
   angle reduce it in the same way. Walks both; values of the second are replaced by those of the first, for good if all
   is the same. */
static bool same_value(const ir_value *a, const ir_value *b) { return (b->instead ? b->instead : b) == a; }

static void forget_twins(numbering *n) {
    while (n->twins.len) qn__vec_pop(&n->twins)->instead = NULL;
}

static bool make_twins(numbering *n, ir_value *const *a, ir_value *const *b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!qn__ir_same(a[i]->type, b[i]->type)) return false;
        b[i]->instead = a[i];
        qn__vec_push(n->context->scratch, &n->twins, b[i]);
    }
    return true;
}

static bool same_target(const ir_instr *a, const ir_instr *b) {
    const ir_instr *to_a = qn__ir_jump_target(a), *to_b = qn__ir_jump_target(b);
    if (!to_a || !to_b) return false;
    const ir_instr *x = a->parent->owner, *y = b->parent->owner;
    for (; x && y && x != to_a; y = y->parent->owner) x = x->parent->owner;
    return x == to_a && y == to_b;
}

static bool same_region(numbering *n, const ir_region *a, const ir_region *b, bool memory_changed);

static bool same_plain(const ir_instr *a, const ir_instr *b, bool memory_changed) {
    if (!can_merge(a) || !can_merge(b)) return false;
    if (a->op == IR_LOAD && memory_changed && !(a->flags & IR_READONLY)) return false;
    return same_attrs(a, b);
}

static bool same_instr(numbering *n, const ir_instr *a, const ir_instr *b, bool memory_changed) {
    if (a->op != b->op || a->flags != b->flags || a->num_operands != b->num_operands ||
        a->num_results != b->num_results || a->num_regions != b->num_regions)
        return false;
    for (uint32_t i = 0; i < a->num_operands; i++)
        if (!same_value(a->operands[i], b->operands[i])) return false;
    if (qn__ir_is_jump(a)) return same_target(a, b);
    if (!qn__ir_is_construct(a)) {
        if (!same_plain(a, b, memory_changed)) return false;
    } else if (a->op == IR_LOOP && a->attr.unroll != b->attr.unroll) {
        return false;
    }
    for (uint32_t r = 0; r < a->num_regions; r++)
        if (!same_region(n, a->regions[r], b->regions[r], memory_changed)) return false;
    return make_twins(n, a->results, b->results, a->num_results);
}

static bool same_region(numbering *n, const ir_region *a, const ir_region *b, bool memory_changed) {
    if (a->num_params != b->num_params || !make_twins(n, a->params, b->params, a->num_params)) return false;
    const ir_instr *i = a->first, *j = b->first;
    for (; i && j; i = i->next, j = j->next)
        if (!same_instr(n, i, j, memory_changed)) return false;
    return !i && !j;
}

static uint32_t hash_if(const ir_instr *instr) {
    const ir_type type = instr->results[0]->type;
    uint64_t hash = (uint64_t)instr->operands[0]->id << 32 | (uint64_t)type.kind << 8 | type.lanes;
    hash = (hash ^ (uint64_t)instr->num_results << 16) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash ^ hash >> 32);
}

/* Called when what the regions hold has been merged as far as it can be. */
static void merge_if(numbering *n, ir_instr *instr) {
    enum { TRIES = 4 };
    const uint32_t hash = hash_if(instr);
    unsigned tries = 0;
    const entry *e = entry_at(n, n->buckets[hash & n->bucket_mask]);
    for (; e && tries < TRIES; e = entry_at(n, e->next)) {
        if (e->hash != hash || e->instr->op != IR_IF) continue;
        tries++;
        if (!same_instr(n, e->instr, instr, e->version != n->last_version)) {
            forget_twins(n);
            continue;
        }
        n->twins.len = 0;
        n->rewrite.any = true;
        qn__ir_unlink(instr);
        n->changed = true;
        return;
    }
    enter(n, instr, NULL, hash, n->last_version);
}

/* ---- what both arms of an `if` begin with ---- */

enum { REACH = 16 };

static bool is_inside(const ir_instr *instr, const ir_region *region) {
    for (uint32_t i = 0; i < instr->num_operands; i++)
        if (instr->operands[i]->value_kind == IR_VALUE_RESULT && instr->operands[i]->def->parent == region)
            return true;
    return false;
}

/* The instruction of the region's beginning that does the same. */
static ir_instr *find_twin(numbering *n, ir_region *region, const ir_instr *instr) {
    unsigned reach = 0;
    for (ir_instr *i = region->first; can_merge(i) && reach < REACH; i = i->next, reach++) {
        qn__rewrite_operands(&n->rewrite, i);
        if (gives_same(instr, i) && version_of(n, instr) == version_of(n, i)) return i;
    }
    return NULL;
}

/* Moves it in front of the `if`: one of two loads is left, and an arm that did no more than load becomes empty. */
static void hoist(numbering *n, ir_instr *branch) {
    unsigned reach = 0;
    for (ir_instr *i = branch->regions[0]->first, *next; can_merge(i) && reach < REACH; i = next, reach++) {
        next = i->next;
        qn__rewrite_operands(&n->rewrite, i);
        ir_instr *twin = is_inside(i, branch->regions[0]) ? NULL : find_twin(n, branch->regions[1], i);
        if (!twin) continue;
        i->flags &= twin->flags;
        if (i->op == IR_LOAD && twin->attr.align < i->attr.align) i->attr.align = twin->attr.align;
        qn__ir_unlink(twin);
        qn__ir_unlink(i);
        qn__ir_insert_before(i, branch);
        n->changed = true;
        merge(n, i);
        qn__rewrite_set(&n->rewrite, twin->results[0], qn__rewrite_get(i->results[0]));
    }
}

/* ---- the walk ---- */

static void visit(numbering *n, ir_region *region) {
    const size_t mark = n->entries.len;
    for (ir_instr *i = region->first, *next; i; i = next) {
        next = i->next;
        qn__rewrite_operands(&n->rewrite, i);
        if (can_merge(i)) {
            merge(n, i);
            continue;
        }
        if (!i->num_regions) {
            const uint32_t effects = qn__instr_effects(i) & QN__MARK_SPACES;
            if (effects) clobber(n, effects);
            if (i->op == IR_STORE && !(i->flags & IR_VOLATILE)) {
                const uint32_t version = version_of(n, i);
                enter(n, i, i->operands[1], hash_of(i, version), version);
            }
            continue;
        }
        if (i->op == IR_IF) hoist(n, i);
        const uint32_t effects = i->mark & QN__MARK_SPACES;
        if (effects && i->op == IR_LOOP) clobber(n, effects); /* by earlier iterations */
        uint32_t before[IR_SPACE_COUNT];
        memcpy(before, n->versions, sizeof before);
        for (uint32_t r = 0; r < i->num_regions; r++) {
            memcpy(n->versions, before, sizeof before);
            visit(n, i->regions[r]);
        }
        if (effects) clobber(n, effects);
        if (i->op == IR_IF && i->num_results && !i->mark) merge_if(n, i);
    }
    forget(n, mark);
}

bool qn__pass_cse(qn__pass_context *context) {
    ir_function *function = context->function;
    numbering n = {.context = context, .last_version = 1};
    uint32_t buckets = 64;
    while (buckets < function->num_values / 2 && buckets < (1u << 20)) buckets *= 2;
    n.buckets = QN__NEW_ARRAY(context->scratch, uint32_t, buckets);
    qn__vec_reserve(context->scratch, &n.entries, function->num_values / 2 + 16);
    n.bucket_mask = buckets - 1;
    for (unsigned s = 0; s < IR_SPACE_COUNT; s++) n.versions[s] = 1;
    qn__mark_effects(function->body);
    visit(&n, function->body);
    return n.changed;
}
