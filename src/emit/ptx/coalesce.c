/* Registers that are only moved into each other become one, in the text of a finished PTX kernel. The emitter
   hands values over at jumps by moves; ptxas removes some of them, but leaves dozens in large loops and is misled
   by them about where loads may go. After Chaitin's coalescing: two registers joined by a move are one unless one is
   written while the other is still needed. Liveness is exact, over the basic blocks, and only for registers that
   moves copy; the moves of inner loops come first. Then a loop whose last lines leave it or go round,

       @!%p1 bra L3;  mov %r1, %r2;  bra L4;  L3:      becomes      mov %r1, %r2;  @%p1 bra L4;  L3:

   where what the moves write is not needed behind it.
   What its lines read and write the emitter has noted while it wrote them. */
#include <string.h>

#include "emit/ptx/internal.h"

enum { MAX_COPIED = 4096 }; /* registers that moves copy: their interference is a square of bits */

typedef struct block {
    uint32_t first, end, next, target; /* lines; next and target: blocks, or NONE */
    uint64_t *uses, *defs, *live_in;
} block;

typedef struct coalescer {
    qn__arena *arena;
    const char *text;
    uint32_t size;
    ptx_line *lines; /* the emitter's notes */
    ptx_reference *refs;
    size_t num_lines;
    QN__VEC(block) blocks;
    uint32_t first_of[PTX_CLASS_COUNT], num_regs;
    uint32_t *copied; /* by register: its number among those that moves copy, or NONE */
    uint32_t *member; /* by that number: the register */
    uint32_t num_copied, words;
    QN__VEC(ptx_line *) moves;
    uint32_t *parent;                 /* union-find by that number */
    uint64_t *interference, *members; /* rows of bits */
    uint32_t *label_line;             /* by label: its line */
    uint32_t num_labels;
} coalescer;

static const uint32_t NONE = UINT32_MAX;

/* ---- the notes ---- */

/* Registers get dense numbers. */
static void take_notes(coalescer *c, const ptx_emitter *e) {
    for (int cls = 0; cls < PTX_CLASS_COUNT; cls++) {
        c->first_of[cls] = c->num_regs;
        c->num_regs += e->num_registers[cls];
    }
    for (size_t n = 0; n < e->refs.len; n++) c->refs[n].reg += c->first_of[c->refs[n].cls];
    for (size_t i = 0; i < c->num_lines; i++) {
        const ptx_line *l = &c->lines[i];
        const bool has_label = l->kind == PTX_LINE_LABEL || l->kind == PTX_LINE_BRANCH;
        if (has_label && l->label >= c->num_labels) c->num_labels = l->label + 1;
    }
}

/* ---- blocks and loops ---- */

static void number_copied(coalescer *c) {
    c->copied = QN__NEW_ARRAY(c->arena, uint32_t, c->num_regs + 1u);
    memset(c->copied, 0xff, (c->num_regs + 1u) * sizeof *c->copied);
    c->member = QN__NEW_ARRAY(c->arena, uint32_t, c->num_regs + 1u);
    for (size_t i = 0; i < c->num_lines; i++) {
        ptx_line *l = &c->lines[i];
        if (l->kind != PTX_LINE_MOVE) continue;
        qn__vec_push(c->arena, &c->moves, l);
        for (uint32_t n = 0; n < 2; n++) {
            uint32_t *number = &c->copied[c->refs[l->first_ref + n].reg];
            if (*number != NONE) continue;
            *number = c->num_copied;
            c->member[c->num_copied++] = c->refs[l->first_ref + n].reg;
        }
    }
    c->words = (c->num_copied + 63) / 64;
}

/* Forgets the registers that no move copies, but for branches' predicates. */
static void drop_others(coalescer *c) {
    uint32_t kept = 0;
    for (size_t i = 0; i < c->num_lines; i++) {
        ptx_line *l = &c->lines[i];
        const uint32_t first = l->first_ref, end = first + l->num_refs;
        l->first_ref = kept;
        for (uint32_t n = first; n < end; n++) {
            const ptx_reference r = c->refs[n];
            if (c->copied[r.reg] != NONE || l->kind == PTX_LINE_BRANCH) c->refs[kept++] = r;
        }
        l->num_refs = kept - l->first_ref;
    }
}

/* Labels that no branch names go, too. */
static void mark_loops(coalescer *c) {
    c->label_line = QN__NEW_ARRAY(c->arena, uint32_t, c->num_labels + 1u);
    for (size_t i = 0; i < c->num_lines; i++)
        if (c->lines[i].kind == PTX_LINE_LABEL) c->label_line[c->lines[i].label] = (uint32_t)i;
    bool *wanted = QN__NEW_ARRAY(c->arena, bool, c->num_labels + 1u);
    for (size_t i = 0; i < c->num_lines; i++)
        if (c->lines[i].kind == PTX_LINE_BRANCH) wanted[c->lines[i].label] = true;
    for (size_t i = 0; i < c->num_lines; i++) {
        ptx_line *l = &c->lines[i];
        if (l->kind != PTX_LINE_LABEL || wanted[l->label]) continue;
        l->kind = PTX_LINE_OTHER;
        l->dropped = true;
    }
    int32_t *change = QN__NEW_ARRAY(c->arena, int32_t, c->num_lines + 2);
    for (size_t i = 0; i < c->num_lines; i++) {
        const ptx_line *l = &c->lines[i];
        if (l->kind != PTX_LINE_BRANCH || c->label_line[l->label] > i) continue;
        change[c->label_line[l->label]]++;
        change[i + 1]--;
    }
    int32_t depth = 0;
    for (size_t i = 0; i < c->num_lines; i++) c->lines[i].depth = (uint32_t)(depth += change[i]);
}

static bool ends_block(const ptx_line *l) { return l->kind == PTX_LINE_BRANCH || l->kind == PTX_LINE_END; }

static uint64_t *row(const coalescer *c) { return QN__NEW_ARRAY(c->arena, uint64_t, c->words + 1u); }

static void make_blocks(coalescer *c) {
    uint32_t *block_at = QN__NEW_ARRAY(c->arena, uint32_t, c->num_lines + 2);
    for (uint32_t i = 0; i < c->num_lines; i++) {
        const bool first = i == 0 || c->lines[i].kind == PTX_LINE_LABEL || ends_block(&c->lines[i - 1]);
        if (first) {
            const block b = {
                .first = i, .next = NONE, .target = NONE, .uses = row(c), .defs = row(c), .live_in = row(c)};
            qn__vec_push(c->arena, &c->blocks, b);
        }
        block_at[i] = (uint32_t)c->blocks.len - 1;
        qn__vec_last(&c->blocks).end = i + 1;
    }
    for (uint32_t n = 0; n < c->blocks.len; n++) {
        block *b = &c->blocks.data[n];
        const ptx_line *last = &c->lines[b->end - 1];
        if (last->kind == PTX_LINE_BRANCH) b->target = block_at[c->label_line[last->label]];
        if ((!ends_block(last) || last->predicated) && n + 1 < c->blocks.len) b->next = n + 1;
    }
}

/* ---- liveness ---- */

static void set_bit(uint64_t *bits, uint32_t n) { bits[n / 64] |= UINT64_C(1) << n % 64; }
static void clear_bit(uint64_t *bits, uint32_t n) { bits[n / 64] &= ~(UINT64_C(1) << n % 64); }

/* Backwards over a line: what it writes is not needed before it, what it reads is. */
static void step_back(const coalescer *c, const ptx_line *l, uint64_t *live) {
    for (uint32_t n = 0; n < l->num_refs; n++) {
        const ptx_reference *r = &c->refs[l->first_ref + n];
        if (r->is_def && c->copied[r->reg] != NONE) clear_bit(live, c->copied[r->reg]);
    }
    for (uint32_t n = 0; n < l->num_refs; n++) {
        const ptx_reference *r = &c->refs[l->first_ref + n];
        if (!r->is_def && c->copied[r->reg] != NONE) set_bit(live, c->copied[r->reg]);
    }
}

static void measure_block(const coalescer *c, block *b) {
    for (uint32_t i = b->end; i-- > b->first;) {
        const ptx_line *l = &c->lines[i];
        for (uint32_t n = 0; n < l->num_refs; n++) {
            const ptx_reference *r = &c->refs[l->first_ref + n];
            if (r->is_def && c->copied[r->reg] != NONE) set_bit(b->defs, c->copied[r->reg]);
        }
        step_back(c, l, b->uses);
    }
}

static void live_out(const coalescer *c, const block *b, uint64_t *live) {
    for (uint32_t w = 0; w < c->words; w++)
        live[w] = (b->next == NONE ? 0 : c->blocks.data[b->next].live_in[w]) |
                  (b->target == NONE ? 0 : c->blocks.data[b->target].live_in[w]);
}

static void find_liveness(coalescer *c) {
    uint64_t *live = row(c);
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
    for (uint32_t w = 0; w < c->words; w++) {
        uint64_t bits = live[w];
        if (same != NONE && same / 64 == w) bits &= ~(UINT64_C(1) << same % 64);
        if (n / 64 == w) bits &= ~(UINT64_C(1) << n % 64);
        own[w] |= bits;
    }
}

static void scan_line(coalescer *c, const ptx_line *l, const uint64_t *live) {
    const uint32_t same = l->kind == PTX_LINE_MOVE ? c->copied[c->refs[l->first_ref + 1].reg] : NONE;
    for (uint32_t n = 0; n < l->num_refs; n++) {
        const ptx_reference *r = &c->refs[l->first_ref + n];
        if (!r->is_def || c->copied[r->reg] == NONE) continue;
        interfere(c, c->copied[r->reg], live, same);
        for (uint32_t m = 0; m < l->num_refs; m++) { /* written together */
            const ptx_reference *other = &c->refs[l->first_ref + m];
            if (m != n && other->is_def && c->copied[other->reg] != NONE && other->reg != r->reg)
                set_bit(row_of(c->interference, c, c->copied[r->reg]), c->copied[other->reg]);
        }
    }
}

static void find_interference(coalescer *c) {
    const size_t bits = (size_t)c->num_copied * c->words + 1;
    uint64_t *live = row(c);
    c->interference = QN__NEW_ARRAY(c->arena, uint64_t, bits);
    c->members = QN__NEW_ARRAY(c->arena, uint64_t, bits);
    c->parent = QN__NEW_ARRAY(c->arena, uint32_t, c->num_copied + 1u);
    for (uint32_t n = 0; n < c->num_copied; n++) {
        c->parent[n] = n;
        set_bit(row_of(c->members, c, n), n);
    }
    for (size_t n = 0; n < c->blocks.len; n++) {
        const block *b = &c->blocks.data[n];
        live_out(c, b, live);
        for (uint32_t i = b->end; i-- > b->first;) {
            scan_line(c, &c->lines[i], live);
            step_back(c, &c->lines[i], live);
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

static void join(coalescer *c, const ptx_line *l) {
    const ptx_reference *r = &c->refs[l->first_ref];
    const uint32_t a = find(c, c->copied[r[0].reg]), b = find(c, c->copied[r[1].reg]);
    if (a == b || apart(c, a, b)) return;
    c->parent[b] = a;
    for (uint32_t w = 0; w < c->words; w++) {
        row_of(c->interference, c, a)[w] |= row_of(c->interference, c, b)[w];
        row_of(c->members, c, a)[w] |= row_of(c->members, c, b)[w];
    }
}

static uint32_t representative(const coalescer *c, uint32_t reg) {
    return c->copied[reg] == NONE ? reg : c->member[find(c, c->copied[reg])];
}

static void join_all(coalescer *c) {
    uint32_t deepest = 0;
    for (size_t i = 0; i < c->moves.len; i++)
        if (c->moves.data[i]->depth > deepest) deepest = c->moves.data[i]->depth;
    for (uint32_t depth = deepest + 1; depth-- > 0;)
        for (size_t i = 0; i < c->moves.len; i++)
            if (c->moves.data[i]->depth == depth) join(c, c->moves.data[i]);
    for (size_t i = 0; i < c->moves.len; i++) {
        const ptx_reference *r = &c->refs[c->moves.data[i]->first_ref];
        c->moves.data[i]->dropped = representative(c, r[0].reg) == representative(c, r[1].reg);
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

/* From line `i`, `@!%p bra OUT`: the line `bra HEAD` that goes back, with nothing but moves and labels between, and
   OUT behind it; 0 if there is none. */
static size_t branch_back(const coalescer *c, size_t i) {
    const ptx_line *out = &c->lines[i];
    size_t n = i + 1;
    while (n < c->num_lines && (c->lines[n].kind == PTX_LINE_MOVE || c->lines[n].dropped)) n++;
    if (n >= c->num_lines || c->lines[n].kind != PTX_LINE_BRANCH || c->lines[n].predicated ||
        c->label_line[c->lines[n].label] > n)
        return 0;
    const uint32_t end = c->label_line[out->label];
    if (end <= n) return 0;
    for (size_t between = n + 1; between < end; between++)
        if (c->lines[between].kind != PTX_LINE_LABEL) return 0;
    return n;
}

static const block *block_of_label(const coalescer *c, uint32_t label) {
    size_t low = 0, high = c->blocks.len;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (c->blocks.data[middle].first <= c->label_line[label])
            low = middle;
        else
            high = middle;
    }
    return &c->blocks.data[low];
}

/* The moves may run where the loop is left, too: nobody there, nor the branch itself, needs what they write. */
static bool moves_are_harmless(const coalescer *c, size_t from, size_t to, const ptx_line *out) {
    const block *behind = block_of_label(c, out->label);
    const uint32_t predicate = representative(c, c->refs[out->first_ref].reg);
    for (size_t n = from; n < to; n++) {
        const ptx_line *l = &c->lines[n];
        if (l->dropped) continue;
        const uint32_t written = c->refs[l->first_ref].reg;
        if (representative(c, written) == predicate || class_is_live(c, behind, c->copied[written]))
            return false;
    }
    return true;
}

static void turn_branches(coalescer *c) {
    for (size_t i = 0; i < c->num_lines; i++) {
        ptx_line *out = &c->lines[i];
        if (out->kind != PTX_LINE_BRANCH || !out->predicated || out->num_refs != 1) continue;
        const size_t back = branch_back(c, i);
        if (!back || !moves_are_harmless(c, i + 1, back, out)) continue;
        out->dropped = true;
        c->lines[back].moved = true; /* printed with the opposite of that predicate */
        c->lines[back].first_ref = out->first_ref;
        c->lines[back].predicated = c->text[out->start + 2] != '!';
    }
}

/* ---- writing ---- */

/* What is copied from the old text is copied as late as can be: in long pieces. */
typedef struct writer {
    coalescer *c;
    qn__buf *out;
    uint32_t from; /* what stands before this in the old text is written */
} writer;

static void put_until(writer *w, uint32_t end) {
    if (end > w->from) qn__buf_append(w->out, w->c->text + w->from, end - w->from);
    w->from = end;
}

static void put_register(writer *w, const ptx_reference *r) {
    const coalescer *c = w->c;
    const uint32_t other = representative(c, r->reg);
    int cls = 0;
    while (cls + 1 < PTX_CLASS_COUNT && c->first_of[cls + 1] <= other) cls++;
    qn__buf_putc(w->out, '%');
    qn__buf_putc(w->out, "phrd"[cls]);
    qn__buf_putu(w->out, other - c->first_of[cls]);
}

static void put_line(writer *w, const ptx_line *l) {
    uint32_t done = NONE;
    for (uint32_t n = 0; n < l->num_refs; n++) {
        const ptx_reference *r = &w->c->refs[l->first_ref + n];
        if (r->place == done) continue; /* read and written */
        done = r->place;
        if (representative(w->c, r->reg) == r->reg) continue;
        put_until(w, r->place);
        put_register(w, r);
        w->from = r->place + r->length;
    }
}

static void put_branch_back(writer *w, const ptx_line *l) {
    put_until(w, l->start);
    qn__buf_puts(w->out, l->predicated ? "\t@!" : "\t@");
    put_register(w, &w->c->refs[l->first_ref]);
    qn__buf_printf(w->out, " bra L%u;\n", l->label);
    w->from = l->end;
}

static void put_all(coalescer *c, qn__buf *text) {
    writer w = {.c = c, .out = text};
    qn__buf_reserve(text, c->size + c->size / 2); /* and smaller kernels behind it */
    for (size_t i = 0; i < c->num_lines; i++) {
        const ptx_line *l = &c->lines[i];
        if (l->dropped) {
            put_until(&w, l->start);
            w.from = l->end;
        } else if (l->moved) {
            put_branch_back(&w, l);
        } else {
            put_line(&w, l);
        }
    }
    put_until(&w, c->size);
}

bool qn__ptx_coalesce(ptx_emitter *e, qn__buf *text) {
    if (!e->out.len || e->out.len > UINT32_MAX / 2 || e->options->debug) return false;
    coalescer c = {.arena = e->arena,
                   .text = e->out.data,
                   .size = (uint32_t)e->out.len,
                   .lines = e->lines.data,
                   .refs = e->refs.data,
                   .num_lines = e->lines.len};
    take_notes(&c, e);
    number_copied(&c);
    if (!c.num_copied || c.num_copied > MAX_COPIED) return false;
    drop_others(&c);
    mark_loops(&c);
    make_blocks(&c);
    find_liveness(&c);
    find_interference(&c);
    join_all(&c);
    turn_branches(&c);
    put_all(&c, text);
    return true;
}
