/* Registers that are only moved into each other become one, in a finished PTX kernel. The emitter hands values over at
   jumps by moves; ptxas removes some of them, but leaves dozens in large loops and is misled by them about where
   loads may go. After Chaitin's coalescing: two registers joined by a move are one unless one is written while the
   other is still needed. Liveness is exact, over the basic blocks, and only for registers that moves copy; the moves
   of inner loops come first. Then a loop whose last lines leave it or go round,

       @!%p1 bra L3;  mov %r1, %r2;  bra L4;  L3:      becomes      mov %r1, %r2;  @%p1 bra L4;  L3:

   where what the moves write is not needed behind it.
   Only lines that matter are looked at: moves, labels, branches, ends and those that name a register that is copied. */
#include <string.h>

#include "emit/ptx/internal.h"

enum { MAX_COPIED = 4096 }; /* registers that moves copy: their interference is a square of bits */

/* Where a line names a register that moves copy. */
typedef struct reference {
    uint32_t operand, copy; /* its number among those that moves copy */
    bool is_def, is_use;    /* both: it is written where the line's predicate holds */
} reference;

typedef struct step { /* a line that matters */
    uint32_t line, first_ref, num_refs;
    uint32_t depth; /* of loops around it */
    uint8_t kind;   /* ptx_line_kind */
} step;

typedef struct block {
    uint32_t first, end, next, target; /* steps; next and target: blocks, or NONE */
    uint64_t *uses, *defs, *live_in;
} block;

typedef struct coalescer {
    qn__arena *arena;
    ptx_line *lines;
    size_t num_lines;
    ptx_operand *operands;
    QN__VEC(step) steps;
    QN__VEC(reference) refs;
    QN__VEC(block) blocks;
    uint32_t *copy_of[PTX_CLASS_COUNT]; /* by register: its number among those that moves copy, or NONE */
    uint32_t *member;                   /* by that number: the register */
    uint32_t num_copied, words;
    uint32_t *parent;                 /* union-find by that number */
    uint64_t *interference, *members; /* rows of bits */
    uint32_t *label_step;             /* by label */
} coalescer;

static const uint32_t NONE = UINT32_MAX;

/* ---- what matters ---- */

/* False where there is nothing to join, or too much. */
static bool number_copied(coalescer *c, const ptx_emitter *e) {
    uint32_t num_regs = 0;
    for (int cls = 0; cls < PTX_CLASS_COUNT; cls++) num_regs += e->num_registers[cls];
    c->member = qn__arena_take(c->arena, num_regs * sizeof *c->member);
    c->copy_of[0] = qn__arena_take(c->arena, num_regs * sizeof *c->member);
    memset(c->copy_of[0], 0xff, num_regs * sizeof *c->member);
    for (int cls = 1; cls < PTX_CLASS_COUNT; cls++)
        c->copy_of[cls] = c->copy_of[cls - 1] + e->num_registers[cls - 1];
    for (size_t i = 0; i < c->num_lines; i++) {
        const ptx_line *l = &c->lines[i];
        if (l->kind != PTX_LINE_MOVE) continue;
        for (uint32_t n = 0; n < 2; n++) {
            const ptx_operand *a = &c->operands[l->first_operand + n];
            uint32_t *copy = &c->copy_of[a->cls][a->reg];
            if (*copy != NONE) continue;
            *copy = c->num_copied;
            c->member[c->num_copied++] = a->reg;
        }
    }
    c->words = (c->num_copied + 63) / 64;
    return c->num_copied && c->num_copied <= MAX_COPIED;
}

static void take_refs(coalescer *c, const ptx_line *l) {
    const ptx_operand *first = c->operands + l->first_operand, *end = first + l->num_operands;
    for (const ptx_operand *a = first; a < end; a++) {
        const uint32_t copy = a->kind == PTX_REG ? c->copy_of[a->cls][a->reg] : NONE;
        if (copy == NONE) continue;
        const reference r = {(uint32_t)(a - c->operands), copy, a->is_def, !a->is_def || l->predicated};
        qn__vec_push(c->arena, &c->refs, r);
    }
}

static void take_steps(coalescer *c) {
    for (uint32_t i = 0; i < c->num_lines; i++) {
        const ptx_line *l = &c->lines[i];
        const uint32_t first = (uint32_t)c->refs.len;
        take_refs(c, l);
        if (l->kind == PTX_LINE_OTHER && c->refs.len == first) continue;
        const step s = {i, first, (uint32_t)c->refs.len - first, 0, l->kind};
        qn__vec_push(c->arena, &c->steps, s);
    }
}

/* ---- blocks and loops ---- */

static ptx_line *line_of(const coalescer *c, const step *s) { return &c->lines[s->line]; }

static uint32_t label_of(const coalescer *c, const step *s) {
    const ptx_line *l = line_of(c, s);
    return (uint32_t)c->operands[l->first_operand + l->num_operands - 1].bits;
}

/* Labels that no branch names go, too. */
static void find_labels(coalescer *c, uint32_t num_labels) {
    bool *wanted = QN__NEW_ARRAY(c->arena, bool, num_labels);
    c->label_step = QN__NEW_ARRAY(c->arena, uint32_t, num_labels);
    for (uint32_t i = 0; i < c->steps.len; i++) {
        const step *s = &c->steps.data[i];
        if (s->kind == PTX_LINE_LABEL) c->label_step[label_of(c, s)] = i;
        if (s->kind == PTX_LINE_BRANCH) wanted[label_of(c, s)] = true;
    }
    for (uint32_t i = 0; i < c->steps.len; i++) {
        step *s = &c->steps.data[i];
        if (s->kind != PTX_LINE_LABEL || wanted[label_of(c, s)]) continue;
        s->kind = PTX_LINE_OTHER;
        line_of(c, s)->dropped = true;
    }
}

static void mark_loops(coalescer *c) {
    int32_t *change = QN__NEW_ARRAY(c->arena, int32_t, c->steps.len + 1), depth = 0;
    for (uint32_t i = 0; i < c->steps.len; i++) {
        const step *s = &c->steps.data[i];
        if (s->kind != PTX_LINE_BRANCH || c->label_step[label_of(c, s)] > i) continue;
        change[c->label_step[label_of(c, s)]]++;
        change[i + 1]--;
    }
    for (size_t i = 0; i < c->steps.len; i++) c->steps.data[i].depth = (uint32_t)(depth += change[i]);
}

static bool ends_block(const step *s) { return s->kind == PTX_LINE_BRANCH || s->kind == PTX_LINE_END; }

static uint64_t *rows(const coalescer *c, size_t count) {
    return QN__NEW_ARRAY(c->arena, uint64_t, count * c->words);
}

static void make_blocks(coalescer *c) {
    uint32_t *block_at = QN__NEW_ARRAY(c->arena, uint32_t, c->steps.len);
    for (uint32_t i = 0; i < c->steps.len; i++) {
        const step *s = &c->steps.data[i];
        if (i == 0 || s->kind == PTX_LINE_LABEL || ends_block(s - 1))
            qn__vec_push(c->arena, &c->blocks, (block){.first = i, .next = NONE, .target = NONE});
        block_at[i] = (uint32_t)c->blocks.len - 1;
        qn__vec_last(&c->blocks).end = i + 1;
    }
    uint64_t *row = rows(c, 3 * c->blocks.len);
    for (uint32_t n = 0; n < c->blocks.len; n++) {
        block *b = &c->blocks.data[n];
        const step *last = &c->steps.data[b->end - 1];
        b->uses = row, b->defs = row + c->words, b->live_in = b->defs + c->words;
        row = b->live_in + c->words;
        if (last->kind == PTX_LINE_BRANCH) b->target = block_at[c->label_step[label_of(c, last)]];
        const bool falls = !ends_block(last) || line_of(c, last)->predicated;
        if (falls && n + 1 < c->blocks.len) b->next = n + 1;
    }
}

/* ---- liveness ---- */

static void set_bit(uint64_t *bits, uint32_t n) { bits[n / 64] |= UINT64_C(1) << n % 64; }
static void clear_bit(uint64_t *bits, uint32_t n) { bits[n / 64] &= ~(UINT64_C(1) << n % 64); }

/* Backwards over a line: what it writes is not needed before it, what it reads is. */
static void step_back(const coalescer *c, const step *s, uint64_t *live) {
    const reference *first = &c->refs.data[s->first_ref], *end = first + s->num_refs;
    for (const reference *r = first; r < end; r++)
        if (r->is_def) clear_bit(live, r->copy);
    for (const reference *r = first; r < end; r++)
        if (r->is_use) set_bit(live, r->copy);
}

static void measure_block(const coalescer *c, block *b) {
    for (uint32_t i = b->end; i-- > b->first;) {
        const step *s = &c->steps.data[i];
        for (uint32_t n = s->first_ref; n < s->first_ref + s->num_refs; n++)
            if (c->refs.data[n].is_def) set_bit(b->defs, c->refs.data[n].copy);
        step_back(c, s, b->uses);
    }
}

static void live_out(const coalescer *c, const block *b, uint64_t *live) {
    for (uint32_t w = 0; w < c->words; w++)
        live[w] = (b->next == NONE ? 0 : c->blocks.data[b->next].live_in[w]) |
                  (b->target == NONE ? 0 : c->blocks.data[b->target].live_in[w]);
}

static void find_liveness(coalescer *c) {
    uint64_t *live = rows(c, 1);
    for (size_t n = 0; n < c->blocks.len; n++) measure_block(c, &c->blocks.data[n]);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t n = c->blocks.len; n-- > 0;) {
            block *b = &c->blocks.data[n];
            live_out(c, b, live);
            for (uint32_t w = 0; w < c->words; w++) {
                const uint64_t in = b->uses[w] | (live[w] & ~b->defs[w]);
                changed |= in != b->live_in[w];
                b->live_in[w] = in;
            }
        }
    }
}

/* ---- joining ---- */

static uint64_t *row_of(uint64_t *rows, const coalescer *c, uint32_t n) {
    return rows + (size_t)n * c->words;
}

/* Writing `n` while these are live. The source of a move is the same value. */
static void interfere(coalescer *c, uint32_t n, const uint64_t *live, uint32_t same) {
    uint64_t *own = row_of(c->interference, c, n);
    const bool is_new = same != NONE && !(own[same / 64] >> same % 64 & 1);
    for (uint32_t w = 0; w < c->words; w++) own[w] |= live[w];
    if (is_new) clear_bit(own, same);
    clear_bit(own, n);
}

static void scan_line(coalescer *c, const step *s, const uint64_t *live) {
    const reference *first = &c->refs.data[s->first_ref], *end = first + s->num_refs;
    const uint32_t same = s->kind == PTX_LINE_MOVE ? first[1].copy : NONE;
    for (const reference *r = first; r < end; r++) {
        if (!r->is_def) continue;
        interfere(c, r->copy, live, same);
        for (const reference *other = first; other < end; other++) /* written together */
            if (other->is_def && other->copy != r->copy)
                set_bit(row_of(c->interference, c, r->copy), other->copy);
    }
}

static void find_interference(coalescer *c) {
    uint64_t *live = rows(c, 1);
    c->interference = rows(c, c->num_copied);
    c->members = rows(c, c->num_copied);
    c->parent = qn__arena_take(c->arena, c->num_copied * sizeof *c->parent);
    for (uint32_t n = 0; n < c->num_copied; n++) {
        c->parent[n] = n;
        set_bit(row_of(c->members, c, n), n);
    }
    for (size_t n = 0; n < c->blocks.len; n++) {
        const block *b = &c->blocks.data[n];
        live_out(c, b, live);
        for (uint32_t i = b->end; i-- > b->first;) {
            scan_line(c, &c->steps.data[i], live);
            step_back(c, &c->steps.data[i], live);
        }
    }
}

static uint32_t find(const coalescer *c, uint32_t n) {
    while (c->parent[n] != n) n = c->parent[n] = c->parent[c->parent[n]];
    return n;
}

/* The rows hold who is live where the register is written: each of two is asked for the other. */
static bool apart(const coalescer *c, uint32_t a, uint32_t b) {
    const uint64_t *ia = row_of(c->interference, c, a), *ib = row_of(c->interference, c, b);
    const uint64_t *ma = row_of(c->members, c, a), *mb = row_of(c->members, c, b);
    for (uint32_t w = 0; w < c->words; w++)
        if ((ia[w] & mb[w]) | (ib[w] & ma[w])) return true;
    return false;
}

static void join(coalescer *c, const step *move) {
    const reference *r = &c->refs.data[move->first_ref];
    const uint32_t a = find(c, r[0].copy), b = find(c, r[1].copy);
    if (a == b || apart(c, a, b)) return;
    c->parent[b] = a;
    for (uint32_t w = 0; w < c->words; w++) {
        row_of(c->interference, c, a)[w] |= row_of(c->interference, c, b)[w];
        row_of(c->members, c, a)[w] |= row_of(c->members, c, b)[w];
    }
}

static void join_all(coalescer *c) {
    QN__VEC(const step *) moves = {0};
    uint32_t deepest = 0;
    for (size_t i = 0; i < c->steps.len; i++) {
        const step *s = &c->steps.data[i];
        if (s->kind != PTX_LINE_MOVE) continue;
        qn__vec_push(c->arena, &moves, s);
        if (s->depth > deepest) deepest = s->depth;
    }
    for (uint32_t depth = deepest + 1; depth-- > 0;)
        for (size_t i = 0; i < moves.len; i++)
            if (moves.data[i]->depth == depth) join(c, moves.data[i]);
    for (size_t i = 0; i < moves.len; i++) {
        const reference *r = &c->refs.data[moves.data[i]->first_ref];
        line_of(c, moves.data[i])->dropped = find(c, r[0].copy) == find(c, r[1].copy);
    }
}

/* ---- branches back ---- */

/* Whether a register of the class of `n` is live where block `b` begins. */
static bool class_is_live(const coalescer *c, const block *b, uint32_t n) {
    const uint64_t *members = row_of(c->members, c, find(c, n));
    for (uint32_t w = 0; w < c->words; w++)
        if (members[w] & b->live_in[w]) return true;
    return false;
}

/* Whether all lines from that of one step to that of another are steps. */
static bool are_adjacent(const coalescer *c, size_t first, size_t last) {
    return c->steps.data[last].line - c->steps.data[first].line == last - first;
}

/* From step `i`, `@!%p bra OUT`: the step `bra HEAD` that goes back, with nothing but moves and labels between, and
   OUT behind it; 0 if there is none. */
static size_t branch_back(const coalescer *c, size_t i) {
    const step *steps = c->steps.data;
    size_t n = i + 1;
    while (n < c->steps.len && (steps[n].kind == PTX_LINE_MOVE || line_of(c, &steps[n])->dropped)) n++;
    if (n >= c->steps.len || steps[n].kind != PTX_LINE_BRANCH || line_of(c, &steps[n])->predicated ||
        c->label_step[label_of(c, &steps[n])] > n)
        return 0;
    const uint32_t end = c->label_step[label_of(c, &steps[i])];
    if (end <= n || !are_adjacent(c, i, end)) return 0;
    for (size_t between = n + 1; between < end; between++)
        if (steps[between].kind != PTX_LINE_LABEL) return 0;
    return n;
}

static const block *block_of_label(const coalescer *c, uint32_t label) {
    size_t low = 0, high = c->blocks.len;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (c->blocks.data[middle].first <= c->label_step[label])
            low = middle;
        else
            high = middle;
    }
    return &c->blocks.data[low];
}

/* The moves may run where the loop is left, too: nobody there, nor the branch itself, needs what they write. */
static bool moves_are_harmless(const coalescer *c, size_t from, size_t to, const step *out) {
    const block *behind = block_of_label(c, label_of(c, out));
    const uint32_t predicate = out->num_refs ? find(c, c->refs.data[out->first_ref].copy) : NONE;
    for (size_t n = from; n < to; n++) {
        const step *s = &c->steps.data[n];
        if (line_of(c, s)->dropped) continue;
        const uint32_t written = c->refs.data[s->first_ref].copy;
        if (find(c, written) == predicate || class_is_live(c, behind, written)) return false;
    }
    return true;
}

/* The line back gets the predicate, turned round. */
static void turn_branches(coalescer *c) {
    for (size_t i = 0; i < c->steps.len; i++) {
        const step *s = &c->steps.data[i];
        ptx_line *out = line_of(c, s);
        if (s->kind != PTX_LINE_BRANCH || !out->predicated) continue;
        const size_t n = branch_back(c, i);
        if (!n || !moves_are_harmless(c, i + 1, n, s)) continue;
        ptx_line *back = line_of(c, &c->steps.data[n]);
        const uint32_t head = label_of(c, &c->steps.data[n]);
        back->text = out->text[1] == '!' ? "@$ bra L#;" : "@!$ bra L#;";
        back->first_operand = out->first_operand;
        back->num_operands = out->num_operands;
        c->operands[out->first_operand + 1].bits = head;
        out->dropped = true;
    }
}

void qn__ptx_coalesce(ptx_emitter *e) {
    coalescer c = {
        .arena = e->arena, .lines = e->lines.data, .num_lines = e->lines.len, .operands = e->operands.data};
    if (!number_copied(&c, e)) return;
    take_steps(&c);
    find_labels(&c, e->next_label);
    mark_loops(&c);
    make_blocks(&c);
    find_liveness(&c);
    find_interference(&c);
    join_all(&c);
    turn_branches(&c);
    for (size_t n = 0; n < c.refs.len; n++)
        c.operands[c.refs.data[n].operand].reg = c.member[find(&c, c.refs.data[n].copy)];
}
