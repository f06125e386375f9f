/* Plans: the launches that make some values, kept by the key of the graph's structure, and what runs them. A graph met again costs a
   walk, a look-up and its launches. The table has a fixed size, in sets of a few; a full set gives up its oldest plan. */
#include <math.h>
#include <string.h>

#include "tensor/plan.h"

enum { SETS = 512, WAYS = 4 };

typedef struct plan {
    uint64_t hash;
    size_t num_words;
    uint64_t *key;
    qn__step *steps;
    size_t num_steps;
    /* For each node of the walk: whether it gets memory, and the last step that needs it where nobody asked for it. */
    struct slot {
        bool stored, asked, takes_over;
        uint32_t last_use;
    } * slots;
    size_t num_slots;
} plan;

struct qn__plans {
    struct {
        plan *ways[WAYS];
        uint32_t oldest;
    } sets[SETS];
    /* Used again and again. */
    qn__walk walk;
    qn__demand demand;
    qn__storage **storages;
    size_t storage_room;
};

static void free_steps(qn_tensors *tensors, qn__step *steps, size_t count) {
    for (size_t i = 0; steps && i < count; i++) {
        qn__tensors_release(tensors, steps[i].numbers);
        qn__tensors_release(tensors, steps[i].arguments);
        qn__tensors_release(tensors, steps[i].arrays);
        qn__tensors_release(tensors, steps[i].epilogue);
        qn__tensors_release(tensors, steps[i].fuses);
    }
    qn__tensors_release(tensors, steps);
}

static void free_plan(qn_tensors *tensors, plan *p) {
    if (!p) return;
    free_steps(tensors, p->steps, p->num_steps);
    qn__tensors_release(tensors, p->key);
    qn__tensors_release(tensors, p->slots);
    qn__tensors_release(tensors, p);
}

void qn__plan_set_free(qn_tensors *tensors) {
    qn__plans *plans = tensors->plans;
    if (!plans) return;
    for (int s = 0; s < SETS; s++)
        for (int w = 0; w < WAYS; w++) free_plan(tensors, plans->sets[s].ways[w]);
    qn__walk_end(&plans->walk);
    qn__demand_free(&plans->demand);
    qn__tensors_release(tensors, plans->storages);
    qn__tensors_release(tensors, plans);
    tensors->plans = NULL;
}

/* ---- making ---- */

/* The groups of a launch, at this place of the order, as few steps. */
static qn_status make_launch(qn__schedule *s, size_t at, size_t count, plan *p) {
    if (!s->groups[s->order[at]].call)
        return qn__kernels_make(s, s->order + at, count, p->steps, &p->num_steps);
    return qn__call_make(s, s->order[at], &p->steps[p->num_steps++]);
}

static void note_uses(plan *p, uint32_t number) {
    const qn__step *step = &p->steps[number];
    for (uint32_t a = 0; a < step->num_arguments; a++)
        if (step->arguments[a].kind == QN__BUFFER && step->arguments[a].node != QN__NONE)
            p->slots[step->arguments[a].node].last_use = number;
}

static qn_status make_steps(qn__schedule *s, plan *p) {
    p->steps = qn__tensors_allocate(s->tensors, (s->num_groups + 1) * sizeof *p->steps);
    p->num_slots = s->walk->count;
    p->slots = qn__tensors_allocate(s->tensors, (p->num_slots + 1) * sizeof *p->slots);
    if (!p->steps || !p->slots) return QN_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < p->num_slots; i++) {
        p->slots[i].stored = s->items[i].stored && s->items[i].group != QN__NONE;
        p->slots[i].asked = s->items[i].asked;
        p->slots[i].takes_over = s->items[i].takes_over;
    }
    for (size_t at = 0, count; at < s->num_groups; at += count) {
        const size_t first = p->num_steps;
        count = qn__launch_size(s, at);
        const qn_status status = make_launch(s, at, count, p);
        if (status) return status;
        for (size_t i = first; i < p->num_steps; i++) note_uses(p, (uint32_t)i);
    }
    return QN_OK;
}

static qn_status make_plan(qn_tensors *tensors, const qn__walk *walk, qn__node *const *asked,
                           qn__node *const *replaced, size_t count, plan **out) {
    plan *p = qn__tensors_allocate(tensors, sizeof *p);
    if (!p) return QN_ERROR_OUT_OF_MEMORY;
    p->hash = walk->hash;
    p->num_words = walk->num_words;
    p->key = qn__tensors_allocate(tensors, walk->num_words * sizeof *p->key + 1);
    qn__schedule s = {.demand = tensors->plans->demand};
    qn_status status = p->key ? QN_OK : QN_ERROR_OUT_OF_MEMORY;
    if (!status) memcpy(p->key, walk->key, walk->num_words * sizeof *p->key);
    if (!status) status = qn__schedule_make(tensors, walk, asked, replaced, count, &s);
    if (!status && replaced) status = qn__replacements_find(&s, asked, replaced, count);
    if (!status) status = make_steps(&s, p);
    qn__demand_clear(&s.demand);
    tensors->plans->demand = s.demand;
    qn__schedule_free(&s);
    if (status) {
        free_plan(tensors, p);
        return status;
    }
    tensors->stats.plans++;
    *out = p;
    return QN_OK;
}

static qn_status find_plan(qn_tensors *tensors, const qn__walk *walk, qn__node *const *asked,
                           qn__node *const *replaced, size_t count, const plan **out) {
    const uint64_t set = walk->hash % SETS;
    for (int w = 0; w < WAYS; w++) {
        const plan *p = tensors->plans->sets[set].ways[w];
        if (!p || p->hash != walk->hash || p->num_words != walk->num_words ||
            memcmp(p->key, walk->key, walk->num_words * sizeof *p->key) != 0)
            continue;
        tensors->stats.plan_hits++;
        *out = p;
        return QN_OK;
    }
    plan *made;
    const qn_status status = make_plan(tensors, walk, asked, replaced, count, &made);
    if (status) return status;
    plan **place = &tensors->plans->sets[set].ways[tensors->plans->sets[set].oldest];
    tensors->plans->sets[set].oldest = (tensors->plans->sets[set].oldest + 1) % WAYS;
    free_plan(tensors, *place);
    *place = made;
    *out = made;
    return QN_OK;
}

/* Walks from the asked nodes to the plan for them. */
static qn_status get_plan(qn_tensors *tensors, qn__node *const *asked, qn__node *const *replaced,
                          size_t count, const plan **out) {
    if (!tensors->plans) tensors->plans = qn__tensors_allocate(tensors, sizeof *tensors->plans);
    if (!tensors->plans) return QN_ERROR_OUT_OF_MEMORY;
    qn__walk *walk = &tensors->plans->walk;
    qn_status status = qn__walk_from(tensors, asked, count, walk);
    if (!status && replaced) status = qn__walk_replace(walk, replaced, count);
    return status ? status : find_plan(tensors, walk, asked, replaced, count, out);
}

/* ---- running ---- */

typedef struct encoded {
    unsigned char bytes[8];
} encoded;

/* The memory of a node; none where it has no elements, or needs none. */
static qn_arg buffer_of(const qn_tensors *tensors, const qn__node *node, uint32_t number) {
    const qn__storage *s = node->realised ? node->storage : tensors->plans->storages[number];
    return s ? qn_arg_buffer(s->buffer) : qn_arg_null();
}

/* A constant as kernels take it. */
static qn_arg constant(const qn__node *node, encoded *at) {
    const qn__element_info *e = qn__element_of(qn__value_type((qn_element)node->type));
    if (e->class == QN__FLOAT && e->size == 4) {
        const float f = (float)node->number.d;
        memcpy(at->bytes, &f, 4);
    } else if (e->size == 8) {
        memcpy(at->bytes, &node->number, 8);
    } else {
        const uint32_t word = (uint32_t)node->number.u;
        const uint16_t half = (uint16_t)word;
        const uint8_t byte = (uint8_t)word;
        memcpy(at->bytes,
               e->size == 4   ? (const void *)&word
               : e->size == 2 ? (const void *)&half
                              : &byte,
               e->size);
    }
    return qn_arg_bytes(at->bytes, e->size);
}

/* A factor of qn_matmul_desc, where 0 stands for 1: the least number there is makes 0 of sums in f32, and next to nothing of those in f64. */
static double factor_of(const qn__walk *walk, uint32_t node) {
    const double factor = node == QN__NONE ? 1 : walk->nodes[node]->number.d;
    return factor == 0 ? copysign(4.9406564584124654e-324, factor) : factor;
}

static qn__finish finish_of(const qn__walk *walk, const qn__epilogue *e, const qn_array *reads) {
    return (qn__finish){.alpha = factor_of(walk, e->alpha),
                        .scale = factor_of(walk, e->scale),
                        .activation = e->activation,
                        .bias = reads[0],
                        .residual = reads[1]};
}

static qn_status call(qn_tensors *tensors, const qn__walk *walk, const qn__step *step) {
    qn_array arrays[QN__SOURCES + QN__RESULTS + QN__EPILOGUE_READS];
    const qn__node *node = walk->nodes[step->call];
    for (uint32_t a = 0; a < step->num_arguments; a++) {
        const uint32_t i = step->arguments[a].node;
        arrays[a] = step->arrays[a];
        if (i != QN__NONE) arrays[a].buffer = buffer_of(tensors, walk->nodes[i], i).value.buffer;
    }
    tensors->stats.launches++;
    const qn_array *results = arrays + node->num_sources;
    if (!step->epilogue) return qn__call_run(tensors, node, arrays, results, NULL);
    const qn__finish finish = finish_of(walk, step->epilogue, results + QN__RESULTS);
    return qn__call_run(tensors, node, arrays, results, &finish);
}

static qn_status launch(qn_tensors *tensors, const qn__walk *walk, const qn__step *step) {
    if (step->call != QN__NONE) return call(tensors, walk, step);
    qn_arg args[QN__ARGUMENTS];
    encoded constants[QN__ARGUMENTS];
    for (uint32_t a = 0; a < step->num_arguments; a++) {
        const qn__argument *from = &step->arguments[a];
        const qn__node *node = walk->nodes[from->node];
        if (from->kind == QN__NUMBERS)
            args[a] = qn_arg_bytes(step->numbers, step->numbers_size);
        else if (from->kind == QN__CONSTANT)
            args[a] = constant(node, &constants[a]);
        else
            args[a] = buffer_of(tensors, node, from->node);
    }
    tensors->stats.launches++;
    return qn_launch(tensors->stream, step->kernel, &step->range, args, step->num_arguments);
}

/* Memory for what a step writes and does not have it yet. */
static qn_status make_storages(qn_tensors *tensors, const qn__walk *walk, const plan *p,
                               const qn__step *step) {
    for (uint32_t a = 0; a < step->num_arguments; a++) {
        const uint32_t i = step->arguments[a].node;
        if (step->arguments[a].kind != QN__BUFFER || i == QN__NONE) continue;
        const qn__node *node = walk->nodes[i];
        if (!p->slots[i].stored || tensors->plans->storages[i]) continue;
        const uint64_t bytes = qn__node_count(node) * qn_element_size((qn_element)node->type);
        const qn_status status = qn__storage_create(tensors, bytes, &tensors->plans->storages[i]);
        if (status) return status;
    }
    return QN_OK;
}

/* Gives up what no later step needs. */
static void end_storages(qn_tensors *tensors, const plan *p, uint32_t step) {
    const qn__step *s = &p->steps[step];
    for (uint32_t a = 0; a < s->num_arguments; a++) {
        const uint32_t i = s->arguments[a].node;
        if (s->arguments[a].kind != QN__BUFFER || i == QN__NONE) continue;
        qn__storage **storage = &tensors->plans->storages[i];
        if (p->slots[i].asked || p->slots[i].last_use != step) continue;
        qn__storage_release(tensors, *storage);
        *storage = NULL;
    }
}

static qn_status make_room(qn_tensors *tensors, const qn__walk *walk) {
    qn__plans *plans = tensors->plans;
    if (plans->storage_room < walk->count) {
        qn__tensors_release(tensors, plans->storages);
        plans->storages = qn__tensors_allocate(tensors, walk->room * sizeof *plans->storages);
        plans->storage_room = plans->storages ? walk->room : 0;
        if (!plans->storages) return QN_ERROR_OUT_OF_MEMORY;
    }
    memset(plans->storages, 0, walk->count * sizeof *plans->storages);
    return QN_OK;
}

static void take_over(qn_tensors *tensors, const plan *p, qn__node *const *asked, qn__node *const *replaced,
                      size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!replaced[i] || !p->slots[asked[i]->index].takes_over) continue;
        qn__storage_retain(replaced[i]->storage);
        tensors->plans->storages[asked[i]->index] = replaced[i]->storage;
    }
}

static qn_status run(qn_tensors *tensors, const qn__walk *walk, const plan *p) {
    const qn__plans *plans = tensors->plans;
    qn_status status = QN_OK;
    for (uint32_t i = 0; i < p->num_steps && !status; i++) {
        status = make_storages(tensors, walk, p, &p->steps[i]);
        if (!status) status = launch(tensors, walk, &p->steps[i]);
        if (!status) end_storages(tensors, p, i);
    }
    for (size_t i = 0; i < walk->count; i++) {
        if (!status && p->slots[i].asked && !walk->nodes[i]->realised) {
            qn__node_set_value(walk->nodes[i], plans->storages[i], 0, NULL);
        } else {
            qn__storage_release(tensors, plans->storages[i]);
        }
    }
    return status;
}

/* What the steps make for each other alone, from its first use to its last one. */
static size_t list_pieces(const qn__walk *walk, const plan *p, qn__piece *pieces, uint32_t *numbers) {
    size_t count = 0;
    for (uint32_t s = 0; s < p->num_steps; s++)
        for (uint32_t a = 0; a < p->steps[s].num_arguments; a++) {
            const uint32_t i = p->steps[s].arguments[a].node;
            if (p->steps[s].arguments[a].kind != QN__BUFFER || i == QN__NONE) continue;
            if (!p->slots[i].stored || p->slots[i].asked) continue;
            if (!numbers[i]) {
                const qn__node *node = walk->nodes[i];
                const uint64_t bytes = qn__node_count(node) * qn_element_size((qn_element)node->type),
                               steps = bytes / QN__STORAGE_STEP + (bytes % QN__STORAGE_STEP || !bytes);
                pieces[count] = (qn__piece){.bytes = steps * QN__STORAGE_STEP, .first = s, .node = i};
                numbers[i] = (uint32_t)++count;
            }
            pieces[numbers[i] - 1].last = s;
        }
    return count;
}

/* The memory that all of them share, unless no buffer can be so large. */
static qn_status make_parts(qn_tensors *tensors, const qn__piece *pieces, size_t count, uint64_t bytes,
                            qn__storage **memory) {
    *memory = NULL;
    if (!count || bytes > tensors->info.max_buffer) return QN_OK;
    qn_status status = qn__storage_create(tensors, bytes, memory);
    for (size_t i = 0; i < count && !status; i++)
        status = qn__storage_part(tensors, *memory, pieces[i].offset, pieces[i].bytes,
                                  &tensors->plans->storages[pieces[i].node]);
    for (size_t i = 0; i < count && status; i++)
        qn__storage_release(tensors, tensors->plans->storages[pieces[i].node]);
    return status;
}

static qn_status lay_out(qn_tensors *tensors, const qn__walk *walk, const plan *p, qn__storage **memory) {
    qn__piece *pieces = qn__tensors_allocate(tensors, (walk->count + 1) * sizeof *pieces);
    uint32_t *numbers = qn__tensors_allocate(tensors, (walk->count + 1) * sizeof *numbers);
    qn_status status = pieces && numbers ? QN_OK : QN_ERROR_OUT_OF_MEMORY;
    uint64_t bytes = 0;
    const size_t count = status ? 0 : list_pieces(walk, p, pieces, numbers);
    if (!status) status = qn__pieces_place(tensors, pieces, count, &bytes);
    if (!status) status = make_parts(tensors, pieces, count, bytes, memory);
    qn__tensors_release(tensors, pieces);
    qn__tensors_release(tensors, numbers);
    return status;
}

qn_status qn__plan_record(qn_tensors *tensors, qn__node *const *asked, qn__node *const *replaced,
                          size_t count, qn__storage **memory) {
    const plan *p;
    qn_status status = get_plan(tensors, asked, replaced, count, &p);
    if (!status) status = make_room(tensors, &tensors->plans->walk);
    if (status) return status;
    take_over(tensors, p, asked, replaced, count);
    status = lay_out(tensors, &tensors->plans->walk, p, memory);
    return status ? status : run(tensors, &tensors->plans->walk, p);
}

qn_status qn__plan_run(qn_tensors *tensors, qn__node *const *asked, qn__node *const *replaced, size_t count) {
    if (tensors->recording)
        return qn__tensors_fail(
            tensors, QN_ERROR_STATE,
            "a value is asked for in the function of a step, which has none yet: make it an output");
    const plan *p;
    qn_status status = get_plan(tensors, asked, replaced, count, &p);
    if (!status) status = make_room(tensors, &tensors->plans->walk);
    if (status) return status;
    if (replaced) take_over(tensors, p, asked, replaced, count);
    return run(tensors, &tensors->plans->walk, p);
}

qn_status qn__plan_prepare(qn_tensors *tensors, qn__node *const *asked, qn__node *const *replaced,
                           size_t count) {
    const plan *p;
    return get_plan(tensors, asked, replaced, count, &p);
}

qn_status qn__plan_visit(qn_tensors *tensors, qn__node *const *asked, size_t count, qn__plan_visitor *visitor,
                         void *user) {
    const plan *p;
    const qn_status status = get_plan(tensors, asked, NULL, count, &p);
    return status ? status : visitor(user, &tensors->plans->walk, p->steps, p->num_steps);
}
