/* Adjacent scalar accesses as one of a vector, for targets that ask for it (GPUs): two or four loads, or
   stores, of one type and base with constant offsets that follow each other, aligned as the vector must be.
   Loads move up to the first of them, stores down to the last; so nothing between may write, or for stores
   touch at all, memory of that space.

       %a = load %p align 8; %b = load offset 4 %p   ->   %v = load f32x2 align 8 %p; %a = extract 0 ...

   Runs of accesses are found inside one region, between constructs. */
#include <stdlib.h>
#include <string.h>

#include "pass/tools.h"

enum { MAX_RUN = 64 };

typedef struct vectorizer {
    qn__pass_context *context;
    ir_function *function;
    qn__rewrite rewrite;
    ir_instr *run[MAX_RUN]; /* accesses of one kind and space that may change places */
    unsigned length;
    bool changed;
} vectorizer;

static ir_type type_of(const ir_instr *access) {
    return access->op == IR_LOAD ? access->results[0]->type : access->operands[1]->type;
}

static bool candidate(const vectorizer *v, const ir_instr *i) {
    if ((i->op != IR_LOAD && i->op != IR_STORE) || (i->flags & IR_VOLATILE)) return false;
    const ir_type type = type_of(i);
    if (type.kind == IR_I64 && v->context->options->target.lacks_i64) return false;
    return type.lanes == 1 && type.kind != IR_PTR;
}

static bool same_stream(const ir_instr *a, const ir_instr *b) {
    return a->operands[0] == b->operands[0] && qn__ir_same(type_of(a), type_of(b)) &&
           ((a->flags ^ b->flags) & IR_READONLY) == 0;
}

/* By base, type and offset. */
static int by_place(const void *left, const void *right) {
    const ir_instr *a = *(ir_instr *const *)left, *b = *(ir_instr *const *)right;
    if (a->operands[0] != b->operands[0]) return a->operands[0]->id < b->operands[0]->id ? -1 : 1;
    if (type_of(a).kind != type_of(b).kind) return type_of(a).kind < type_of(b).kind ? -1 : 1;
    if (a->flags != b->flags) return a->flags < b->flags ? -1 : 1;
    return a->attr.offset < b->attr.offset ? -1 : a->attr.offset > b->attr.offset;
}

/* mark: position in the region, of accesses. */
static ir_instr *outermost(ir_instr *const *group, unsigned count, bool first) {
    ir_instr *found = group[0];
    for (unsigned i = 1; i < count; i++)
        if ((group[i]->mark < found->mark) == first) found = group[i];
    return found;
}

static void join_loads(vectorizer *v, ir_instr *const *group, unsigned count) {
    ir_builder builder = {.function = v->function};
    qn__ir_at(&builder, outermost(group, count, true));
    const ir_type type = qn__ir_with_lanes(type_of(group[0]), count);
    ir_value *vector =
        qn__ir_load(&builder, group[0]->operands[0], type, group[0]->attr.align, group[0]->flags);
    vector->def->attr.offset = group[0]->attr.offset;
    for (unsigned i = 0; i < count; i++)
        qn__rewrite_set(&v->rewrite, group[i]->results[0], qn__ir_extract(&builder, vector, i));
    for (unsigned i = 0; i < count; i++) qn__ir_unlink(group[i]);
}

static void join_stores(vectorizer *v, ir_instr *const *group, unsigned count) {
    ir_builder builder = {.function = v->function};
    ir_value *lanes[4];
    qn__ir_at(&builder, outermost(group, count, false));
    for (unsigned i = 0; i < count; i++) lanes[i] = qn__rewrite_get(group[i]->operands[1]);
    ir_value *vector = qn__ir_vector(&builder, lanes, count);
    qn__ir_store(&builder, group[0]->operands[0], vector, group[0]->attr.align, group[0]->flags)
        ->attr.offset = group[0]->attr.offset;
    for (unsigned i = 0; i < count; i++) qn__ir_unlink(group[i]);
}

/* Four if they fit, else two, from the sorted run's front. */
static unsigned group_at(vectorizer *v, unsigned from) {
    ir_instr *first = v->run[from];
    const uint32_t bytes = qn__ir_bits(type_of(first)) / 8;
    for (unsigned count = 4; count >= 2; count -= 2) {
        if (from + count > v->length || bytes * count > 16 || first->attr.align < bytes * count) continue;
        bool fits = true;
        for (unsigned i = 1; i < count && fits; i++)
            fits = same_stream(first, v->run[from + i]) &&
                   v->run[from + i]->attr.offset == first->attr.offset + (int64_t)(i * bytes);
        if (fits) return count;
    }
    return 1;
}

static void flush(vectorizer *v) {
    if (v->length > 1) qsort(v->run, v->length, sizeof *v->run, by_place);
    for (unsigned at = 0; at < v->length;) {
        const unsigned count = group_at(v, at);
        if (count > 1) {
            if (v->run[at]->op == IR_LOAD)
                join_loads(v, v->run + at, count);
            else
                join_stores(v, v->run + at, count);
            v->changed = true;
        }
        at += count;
    }
    v->length = 0;
}

/* Whether the run must end before this instruction. */
static bool ends_run(const vectorizer *v, const ir_instr *i) {
    if (!v->length) return false;
    const ir_instr *first = v->run[0];
    const uint32_t space = 1u << first->operands[0]->type.space;
    if (i->num_regions || qn__ir_is_jump(i)) return true;
    if (candidate(v, i) &&
        (i->op != first->op || i->operands[0]->type.space != first->operands[0]->type.space))
        return (i->op == IR_STORE || first->op == IR_STORE) &&
               i->operands[0]->type.space == first->operands[0]->type.space;
    if (candidate(v, i)) return false;
    if (qn__instr_effects(i) & (space | QN__MARK_SYNC)) return true;
    return first->op == IR_STORE &&
           (qn__effects(i) == IR_EFFECT_READ || qn__effects(i) == IR_EFFECT_READWRITE);
}

static bool joins_run(const vectorizer *v, const ir_instr *i) {
    if (!candidate(v, i)) return false;
    if (!v->length) return true;
    return v->length < MAX_RUN && i->op == v->run[0]->op &&
           i->operands[0]->type.space == v->run[0]->operands[0]->type.space;
}

/* Stores of one run must not overlap each other otherwise than by adjacency: those of other bases may. */
static bool may_overlap(const vectorizer *v, const ir_instr *i) {
    if (i->op != IR_STORE || !v->length) return false;
    const int64_t low = i->attr.offset, high = low + qn__ir_bits(type_of(i)) / 8;
    for (unsigned n = 0; n < v->length; n++) {
        const ir_instr *other = v->run[n];
        const int64_t start = other->attr.offset, end = start + qn__ir_bits(type_of(other)) / 8;
        if (other->operands[0] != i->operands[0] || (low < end && start < high)) return true;
    }
    return false;
}

static void visit(vectorizer *v, ir_region *region) {
    uint32_t position = 0;
    for (ir_instr *i = region->first, *next; i; i = next) {
        next = i->next;
        if (!v->length && i->op != IR_LOAD && i->op != IR_STORE && !i->num_regions) continue;
        i->mark = position++;
        if (ends_run(v, i) || (joins_run(v, i) && may_overlap(v, i)) ||
            (candidate(v, i) && v->length == MAX_RUN))
            flush(v);
        for (uint32_t r = 0; r < i->num_regions; r++) visit(v, i->regions[r]);
        if (joins_run(v, i)) v->run[v->length++] = i;
    }
    flush(v);
}

static void replace_all(vectorizer *v, ir_region *region) {
    for (ir_instr *i = region->first; i; i = i->next) {
        qn__rewrite_operands(&v->rewrite, i);
        for (uint32_t r = 0; r < i->num_regions; r++) replace_all(v, i->regions[r]);
    }
}

bool qn__pass_memvec(qn__pass_context *context) {
    vectorizer v = {.context = context, .function = context->function};
    visit(&v, context->function->body);
    if (v.changed) replace_all(&v, context->function->body);
    return v.changed;
}
