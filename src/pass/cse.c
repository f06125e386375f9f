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
    const ir_value **twins; /* by value id, while two ifs are compared */
    uint32_t versions[IR_SPACE_COUNT], last_version;
    bool changed;
} numbering;

/* ---- keys ---- */

typedef struct key {
    ir_op op;
    ir_type type;
    uint32_t num_operands;
    ir_value *const *operands;
    uint64_t attr[2];
    uint32_t version; /* loads */
    uint16_t flags;   /* those that make a difference to the value */
    bool commutes;
} key;

/* What an op's key takes besides its operands. A load's alignment makes no difference. */
enum {
    KEY_ATTRS = IR_ATTR_LANE | IR_ATTR_LANES | IR_ATTR_INDEX | IR_ATTR_OFFSET | IR_ATTR_ROUNDING | IR_ATTR_DIM
};

static inline void key_attr(const ir_instr *instr, key *k) {
    switch (qn__ir_ops[instr->op].has & KEY_ATTRS) {
    case IR_ATTR_LANE: k->attr[0] = instr->attr.lanes[0]; break;
    case IR_ATTR_LANES: memcpy(k->attr, instr->attr.lanes, instr->results[0]->type.lanes); break;
    case IR_ATTR_INDEX: k->attr[0] = instr->attr.index; break;
    case IR_ATTR_OFFSET: k->attr[0] = (uint64_t)instr->attr.offset; break;
    case IR_ATTR_ROUNDING: k->attr[0] = instr->attr.rounding; break;
    case IR_ATTR_DIM: k->attr[0] = instr->attr.dim; break;
    default: break;
    }
}

/* A store's key is that of the load it answers. */
static inline void make_key(const numbering *n, const ir_instr *instr, key *k) {
    const bool store = instr->op == IR_STORE;
    k->op = store ? IR_LOAD : (ir_op)instr->op;
    k->type = store ? instr->operands[1]->type : instr->results[0]->type;
    k->num_operands = store ? 1 : instr->num_operands;
    k->operands = instr->operands;
    k->attr[0] = k->attr[1] = 0;
    k->commutes = qn__ir_commutes(k->op);
    key_attr(instr, k);
    const bool changes = k->op == IR_LOAD && !(instr->flags & IR_READONLY);
    k->version = changes ? n->versions[instr->operands[0]->type.space] : 0;
    k->flags = k->op == IR_LOAD ? 0 : instr->flags & (IR_CONTRACT | IR_FAST);
}

static inline uint32_t hash_key(const key *k) {
    uint64_t hash =
        (uint64_t)k->op << 32 | (uint64_t)k->type.kind << 16 | (uint64_t)k->type.lanes << 8 | k->type.space;
    hash = (hash ^ k->attr[0]) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ k->attr[1] ^ k->version ^ (uint64_t)k->flags << 40) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t i = 0;
    if (k->commutes) { /* its first two in either order */
        const uint64_t a = k->operands[0]->id, b = k->operands[1]->id;
        hash = (hash ^ hash >> 29 ^ (a + b) ^ (a ^ b) << 32) * UINT64_C(0x9e3779b97f4a7c15);
        i = 2;
    }
    for (; i < k->num_operands; i++)
        hash = (hash ^ hash >> 29 ^ k->operands[i]->id) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash ^ hash >> 32);
}

static bool same_operands(const key *a, const key *b) {
    uint32_t i = 0;
    if (a->commutes && a->operands[0] == b->operands[1] && a->operands[1] == b->operands[0]) i = 2;
    for (; i < a->num_operands; i++)
        if (a->operands[i] != b->operands[i]) return false;
    return true;
}

static bool same_key(const key *a, const key *b) {
    return a->op == b->op && qn__ir_same(a->type, b->type) && a->num_operands == b->num_operands &&
           a->version == b->version && a->flags == b->flags && a->attr[0] == b->attr[0] &&
           a->attr[1] == b->attr[1] && same_operands(a, b);
}

/* ---- the table ---- */

static inline const entry *entry_at(const numbering *n, uint32_t index) {
    return index ? &n->entries.data[index - 1] : NULL;
}

static const entry *find(const numbering *n, const key *k, uint32_t hash) {
    for (const entry *e = entry_at(n, n->buckets[hash & n->bucket_mask]); e; e = entry_at(n, e->next)) {
        if (e->hash != hash || e->instr->op == IR_IF) continue;
        key other;
        make_key(n, e->instr, &other);
        other.version = e->version;
        if (same_key(k, &other)) return e;
    }
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

/* True where the instruction went because its value was known. */
static bool merge(numbering *n, ir_instr *instr) {
    key k;
    make_key(n, instr, &k);
    const uint32_t hash = hash_key(&k);
    const entry *found = find(n, &k, hash);
    if (!found) {
        enter(n, instr, instr->results[0], hash, k.version);
        return false;
    }
    if (found->value->value_kind == IR_VALUE_RESULT && k.op != IR_LOAD)
        found->value->def->flags &= instr->flags;
    qn__rewrite_set(&n->rewrite, instr->results[0], found->value);
    qn__ir_unlink(instr);
    return n->changed = true;
}

/* ---- ifs ---- */

/* Two ifs without effects on one condition, whose regions do the same, give the same: the sine and the cosine of one
   angle reduce it in the same way. Walks both; values of the first have those of the second as their twins. */
static bool same_value(const numbering *n, const ir_value *a, const ir_value *b) {
    return (n->twins[a->id] ? n->twins[a->id] : a) == b;
}

static bool make_twins(numbering *n, ir_value *const *a, ir_value *const *b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!qn__ir_same(a[i]->type, b[i]->type)) return false;
        n->twins[a[i]->id] = b[i];
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
    key k = {.op = (ir_op)a->op}, l = k;
    key_attr(a, &k);
    key_attr(b, &l);
    return k.attr[0] == l.attr[0] && k.attr[1] == l.attr[1];
}

static bool same_instr(numbering *n, const ir_instr *a, const ir_instr *b, bool memory_changed) {
    if (a->op != b->op || a->flags != b->flags || a->num_operands != b->num_operands ||
        a->num_results != b->num_results || a->num_regions != b->num_regions)
        return false;
    for (uint32_t i = 0; i < a->num_operands; i++)
        if (!same_value(n, a->operands[i], b->operands[i])) return false;
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
    const size_t count = (size_t)n->context->function->num_values + 1;
    if (!n->twins) n->twins = QN__NEW_ARRAY(n->context->scratch, const ir_value *, count);
    const entry *e = entry_at(n, n->buckets[hash & n->bucket_mask]);
    for (; e && tries < TRIES; e = entry_at(n, e->next)) {
        if (e->hash != hash || e->instr->op != IR_IF) continue;
        tries++;
        if (!same_instr(n, e->instr, instr, e->version != n->last_version)) continue;
        qn__rewrite_results(&n->rewrite, instr, e->instr->results);
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
    key k;
    make_key(n, instr, &k);
    for (ir_instr *i = region->first; can_merge(i) && reach < REACH; i = i->next, reach++) {
        qn__rewrite_operands(&n->rewrite, i);
        key other;
        make_key(n, i, &other);
        if (same_key(&k, &other)) return i;
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
        if (can_merge(i) && merge(n, i)) continue;
        if (!qn__ir_is_construct(i)) {
            const uint32_t effects = qn__instr_effects(i) & QN__MARK_SPACES;
            if (effects) clobber(n, effects);
            if (i->op == IR_STORE && !(i->flags & IR_VOLATILE)) {
                key k;
                make_key(n, i, &k);
                enter(n, i, i->operands[1], hash_key(&k), k.version);
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
