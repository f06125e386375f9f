/* Plans: what calls decided, by a hash of what it depends on. The table has a fixed size, in sets of a few; a full set gives
   up its oldest plan. So shapes that change without end cost time, not memory. */
#include <string.h>

#include "kernels/op.h"

enum { SETS = 1024, WAYS = 4 };

/* The plan, and behind it the key's words. */
typedef struct kept {
    const qn__op *op;
    uint64_t hash;
    uint32_t num_words;
    uint64_t data[];
} kept;

struct qn__plan_set {
    kept *ways[WAYS];
    uint32_t oldest;
};

void qn__key_add(qn__key *key, uint64_t word) {
    if (key->count < QN__KEY_WORDS) key->words[key->count] = word;
    key->count++;
}

void qn__key_add_array(qn__key *key, const qn_array *array) {
    qn__key_add(key, (uint64_t)array->type << 32 | array->rank);
    for (uint32_t d = 0; d < array->rank; d++) {
        qn__key_add(key, array->sizes[d]);
        qn__key_add(key, (uint64_t)array->strides[d]);
    }
}

static uint64_t hash_of(const qn__op *op, const qn__key *key) {
    uint64_t hash = (uint64_t)(uintptr_t)op;
    for (uint32_t i = 0; i < key->count; i++) {
        hash = (hash ^ key->words[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return hash;
}

static size_t plan_words(const qn__op *op) { return (op->plan_size + 7) / 8; }

static kept *find(const qn__plan_set *set, const qn__op *op, const qn__key *key, uint64_t hash) {
    for (int i = 0; i < WAYS; i++) {
        kept *k = set->ways[i];
        if (k && k->hash == hash && k->op == op && k->num_words == key->count &&
            memcmp(k->data + plan_words(op), key->words, key->count * sizeof *key->words) == 0)
            return k;
    }
    return NULL;
}

static bool get(qn_kernels *kernels, const qn__op *op, const qn__key *key, uint64_t hash, void *plan) {
    pthread_mutex_lock(&kernels->plan_lock);
    const kept *k = kernels->plans ? find(&kernels->plans[hash % SETS], op, key, hash) : NULL;
    if (k) memcpy(plan, k->data, op->plan_size);
    pthread_mutex_unlock(&kernels->plan_lock);
    return k != NULL;
}

/* Without memory the plan is made again at the next call: no failure. */
static void keep(qn_kernels *kernels, const qn__op *op, const qn__key *key, uint64_t hash, const void *plan) {
    const qn_allocator *a = &kernels->allocator;
    kept *k = a->allocate(a->user, sizeof *k + (plan_words(op) + key->count) * sizeof *k->data);
    if (!k) return;
    *k = (kept){.op = op, .hash = hash, .num_words = key->count};
    memcpy(k->data, plan, op->plan_size);
    memcpy(k->data + plan_words(op), key->words, key->count * sizeof *key->words);
    pthread_mutex_lock(&kernels->plan_lock);
    if (!kernels->plans) {
        kernels->plans = a->allocate(a->user, SETS * sizeof *kernels->plans);
        if (kernels->plans) memset(kernels->plans, 0, SETS * sizeof *kernels->plans);
    }
    kept *gone = k;
    qn__plan_set *set = kernels->plans ? &kernels->plans[hash % SETS] : NULL;
    if (set && !find(set, op, key, hash)) {
        gone = set->ways[set->oldest];
        set->ways[set->oldest] = k;
        set->oldest = (set->oldest + 1) % WAYS;
    }
    pthread_mutex_unlock(&kernels->plan_lock);
    qn__op_release(kernels, gone);
}

qn_status qn__plan_get(qn_kernels *kernels, const qn__op *op, const qn__key *key, const void *request,
                       void *plan) {
    if (key->count > QN__KEY_WORDS)
        return qn__op_fail(kernels, QN_ERROR_INTERNAL, "%s: the key has %u words", op->name, key->count);
    const uint64_t hash = hash_of(op, key);
    if (get(kernels, op, key, hash, plan)) return QN_OK;
    memset(plan, 0, op->plan_size);
    const qn_status status = op->make(kernels, request, plan);
    if (!status) keep(kernels, op, key, hash, plan);
    return status;
}

void qn__plans_free(qn_kernels *kernels) {
    for (int s = 0; kernels->plans && s < SETS; s++)
        for (int i = 0; i < WAYS; i++) qn__op_release(kernels, kernels->plans[s].ways[i]);
    qn__op_release(kernels, kernels->plans);
    kernels->plans = NULL;
}
