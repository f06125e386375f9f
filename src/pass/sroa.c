/* Scalar replacement of private aggregates: an array or struct that is accessed at constant places only is
   split into one variable for each piece, which mem2reg then turns into values.

       %v = var s (8 bytes)                      %a = var s.0 (4 bytes), %b = var s.4 (4 bytes)
       store %v, 1.0                             store %a, 1.0
       %p = ptr_add %v + 4; store %p, 2    ->    store %b, 2
       %x = load %v                              %x = load %a

   Accesses that overlap form one piece. A piece is a vector of the smallest element accessed in it, if some
   access covers it all: parts of it are then lanes. Otherwise it is cut at its elements. Copies between split
   objects, and between them and memory, become loads and stores of the pieces; for that, each side of a copy
   is cut as the other is, and a copy to or from memory cuts also what nobody accesses. An object with any
   other use, or whose accesses fit no such form, stays as it is. After SROA of Jambor, and LLVM's. */
#include <stdlib.h>
#include <string.h>

#include "pass/tools.h"

enum { MAX_PIECES = 512, MAX_ROUNDS = 8, MANY = 16 };

typedef struct range {
    uint32_t offset, size;
    ir_type type;
} range;

/* One new variable: lanes of `type`. */
typedef struct piece {
    uint32_t offset, size;
    ir_type type;
    ir_value *var;
} piece;

typedef struct object {
    ir_instr *var;
    bool rejected, copied;
    QN__VEC(range) ranges; /* distinct */
    qn__map64 known;       /* of ranges, once there are many: present */
    QN__VEC(piece) pieces; /* by offset */
} object;

typedef struct place {
    uint32_t object; /* number + 1; 0: not known */
    int64_t offset;
} place;

typedef struct splitter {
    qn__pass_context *context;
    qn__arena *arena;
    ir_function *function;
    QN__VEC(place) places; /* by mark of the VAR or PTR_ADD, which is one more; 0: not known */
    QN__VEC(object) objects;
    QN__VEC(ir_instr *) copies;
    qn__rewrite rewrite;
} splitter;

static place place_of(const splitter *s, const ir_value *pointer) {
    const ir_instr *def = qn__private_pointer(pointer);
    const bool is_known = def && (def->op == IR_VAR || def->op == IR_PTR_ADD) && def->mark;
    return is_known ? s->places.data[def->mark - 1] : (place){0, 0};
}

static void note_place(splitter *s, ir_instr *instr, place p) {
    qn__vec_push(s->arena, &s->places, p);
    instr->mark = (uint32_t)s->places.len;
}

static object *object_at(splitter *s, place p) {
    if (!p.object) return NULL;
    object *o = &s->objects.data[p.object - 1];
    return o->rejected ? NULL : o;
}

static uint32_t bytes_of(ir_type type) { return qn__ir_bits(type) / 8 * type.lanes; }

/* ---- finding accesses ---- */

static uint64_t range_key(const range *r) {
    return (uint64_t)r->offset << 24 | (uint64_t)r->type.kind << 16 | (uint64_t)r->type.lanes << 8 |
           r->type.space;
}

static bool is_known(const object *o, const range *r) {
    if (o->ranges.len >= MANY) return qn__map64_has(&o->known, range_key(r));
    for (size_t n = 0; n < o->ranges.len; n++)
        if (range_key(&o->ranges.data[n]) == range_key(r)) return true;
    return false;
}

/* Returns whether it is new. */
static bool add_range(splitter *s, object *o, uint32_t offset, ir_type type) {
    const range r = {offset, bytes_of(type), type};
    if (is_known(o, &r)) return false;
    qn__vec_push(s->arena, &o->ranges, r);
    const size_t count = o->ranges.len;
    for (size_t n = count == MANY ? 0 : count - 1; n < count && count >= MANY; n++)
        qn__map64_set(s->arena, &o->known, range_key(&o->ranges.data[n]), NULL);
    if (count > 4 * MAX_PIECES) o->rejected = true;
    return true;
}

static void note_access(splitter *s, object *o, const ir_instr *access, int64_t offset, ir_type type) {
    const int64_t at = offset + access->attr.offset;
    if ((access->flags & IR_VOLATILE) || at < 0 || (uint64_t)at + bytes_of(type) > o->var->attr.var->size)
        o->rejected = true;
    else
        add_range(s, o, (uint32_t)at, type);
}

static void note_use(splitter *s, ir_instr *instr, uint32_t index, place p) {
    object *o = &s->objects.data[p.object - 1];
    if (instr->op == IR_PTR_ADD && index == 0 && qn__ir_is_const(instr->operands[1])) {
        const int64_t step = (int64_t)instr->operands[1]->bits[0], size = (int64_t)o->var->attr.var->size;
        if (step >= -size && step <= size && instr->attr.offset >= -size && instr->attr.offset <= size)
            note_place(s, instr, (place){p.object, p.offset + step + instr->attr.offset});
        else
            o->rejected = true;
    } else if (instr->op == IR_LOAD) {
        note_access(s, o, instr, p.offset, instr->results[0]->type);
    } else if (instr->op == IR_STORE && index == 0) {
        note_access(s, o, instr, p.offset, instr->operands[1]->type);
    } else if (instr->op == IR_COPY && !(instr->flags & IR_VOLATILE)) {
        o->copied = true;
        if (p.offset < 0 || (uint64_t)p.offset + instr->attr.size > o->var->attr.var->size)
            o->rejected = true;
    } else {
        o->rejected = true;
    }
}

static void collect(splitter *s, ir_region *region) {
    for (ir_instr *i = region->first; i; i = i->next) {
        if (i->op == IR_VAR) {
            qn__vec_push(s->arena, &s->objects,
                         (object){.var = i, .rejected = i->attr.var->size > UINT32_MAX / 2});
            note_place(s, i, (place){(uint32_t)s->objects.len, 0});
        } else if (i->op == IR_PTR_ADD) {
            i->mark = 0;
        }
        bool copies = false;
        for (uint32_t o = 0; o < i->num_operands; o++) {
            const place p = place_of(s, i->operands[o]);
            if (!p.object) continue;
            note_use(s, i, o, p);
            copies = i->op == IR_COPY;
        }
        if (copies) qn__vec_push(s->arena, &s->copies, i);
        for (uint32_t r = 0; r < i->num_regions; r++) collect(s, i->regions[r]);
    }
}

/* ---- copies cut both sides alike ---- */

typedef struct copy_sides {
    object *to, *from; /* NULL: memory */
    uint32_t to_offset, from_offset, size;
} copy_sides;

static copy_sides sides_of(splitter *s, const ir_instr *copy) {
    const place to = place_of(s, copy->operands[0]), from = place_of(s, copy->operands[1]);
    return (copy_sides){object_at(s, to), object_at(s, from), (uint32_t)to.offset, (uint32_t)from.offset,
                        (uint32_t)copy->attr.size};
}

/* Ranges of `a` inside the copied part, given to `b`; one that is cut by the part's border spoils both. */
static bool share_ranges(splitter *s, object *a, uint32_t a_offset, object *b, uint32_t b_offset,
                         uint32_t size) {
    bool changed = false;
    for (size_t n = 0; n < a->ranges.len && !a->rejected; n++) {
        const range r = a->ranges.data[n];
        const uint64_t end = (uint64_t)r.offset + r.size, copied_end = (uint64_t)a_offset + size;
        if (end <= a_offset || r.offset >= copied_end) continue;
        if (r.offset < a_offset || end > copied_end) {
            a->rejected = true;
            if (b) b->rejected = true;
            return true;
        }
        if (b && add_range(s, b, r.offset - a_offset + b_offset, r.type)) changed = true;
    }
    return changed;
}

static bool share_all(splitter *s) {
    bool changed = false;
    for (size_t n = 0; n < s->copies.len; n++) {
        const copy_sides c = sides_of(s, s->copies.data[n]);
        if (c.to && share_ranges(s, c.to, c.to_offset, c.from, c.from_offset, c.size)) changed = true;
        if (c.from && !c.from->rejected && share_ranges(s, c.from, c.from_offset, c.to, c.to_offset, c.size))
            changed = true;
    }
    return changed;
}

static void fill_gap(splitter *s, object *o, uint32_t from, uint32_t to) {
    while (from < to && !o->rejected) {
        const uint32_t room = to - from;
        const ir_kind kind = from % 4 == 0 && room >= 4   ? IR_I32
                             : from % 2 == 0 && room >= 2 ? IR_I16
                                                          : IR_I8;
        add_range(s, o, from, qn__ir_type(kind, 1));
        from += bytes_of(qn__ir_type(kind, 1));
    }
}

static int by_offset(const void *a, const void *b) {
    const range *x = a, *y = b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    if (x->type.lanes != y->type.lanes) return x->type.lanes < y->type.lanes ? -1 : 1;
    if (x->type.kind != y->type.kind)
        return x->type.kind < y->type.kind ? 1 : -1; /* floats before integers */
    return (int)x->type.space - (int)y->type.space;
}

static void sort_ranges(object *o) {
    if (o->ranges.len > 1) qsort(o->ranges.data, o->ranges.len, sizeof *o->ranges.data, by_offset);
}

/* What no access touches of a part copied from or to memory. */
static bool fill_gaps(splitter *s, object *o, uint32_t offset, uint32_t size) {
    sort_ranges(o);
    const size_t count = o->ranges.len;
    uint32_t at = offset;
    for (size_t n = 0; n < count; n++) {
        const range r = o->ranges.data[n];
        if (r.offset + r.size <= at || r.offset >= offset + size) continue;
        if (r.offset > at) fill_gap(s, o, at, r.offset);
        at = r.offset + r.size;
    }
    if (at < offset + size) fill_gap(s, o, at, offset + size);
    return o->ranges.len != count;
}

static bool settle_copies(splitter *s) {
    for (unsigned round = 0; round < MAX_ROUNDS; round++) {
        bool changed = share_all(s);
        for (size_t n = 0; n < s->copies.len && !changed; n++) {
            const copy_sides c = sides_of(s, s->copies.data[n]);
            if (c.to && !c.from && fill_gaps(s, c.to, c.to_offset, c.size)) changed = true;
            if (c.from && !c.to && fill_gaps(s, c.from, c.from_offset, c.size)) changed = true;
        }
        if (!changed) return true;
    }
    return false;
}

/* ---- pieces ---- */

static bool valid_lanes(uint32_t lanes) { return lanes >= 1 && (lanes <= 4 || lanes == 8 || lanes == 16); }

/* Ranges [first, end) overlap in a chain and cover [offset, offset + size). */
static bool cut_cluster(splitter *s, object *o, size_t first, size_t end, uint32_t offset, uint32_t size) {
    const range *ranges = o->ranges.data;
    ir_type element = qn__ir_element(ranges[first].type);
    bool covered = false;
    for (size_t n = first; n < end; n++) {
        const ir_type e = qn__ir_element(ranges[n].type);
        if (bytes_of(e) < bytes_of(element)) element = e;
        covered = covered || ranges[n].size == size;
    }
    const uint32_t bytes = bytes_of(element);
    for (size_t n = first; n < end; n++) {
        if ((ranges[n].offset - offset) % bytes || !valid_lanes(ranges[n].size / bytes)) return false;
        const bool pointer = ranges[n].type.kind == IR_PTR;
        if ((pointer || element.kind == IR_PTR) && !qn__ir_same(ranges[n].type, element)) return false;
        if (!covered && bytes_of(qn__ir_element(ranges[n].type)) != bytes) return false;
    }
    if (covered) {
        if (!valid_lanes(size / bytes)) return false;
        qn__vec_push(s->arena, &o->pieces,
                     (piece){offset, size, qn__ir_with_lanes(element, size / bytes), NULL});
        return true;
    }
    for (uint32_t at = 0; at < size; at += bytes)
        qn__vec_push(s->arena, &o->pieces, (piece){offset + at, bytes, element, NULL});
    return true;
}

static bool cut_object(splitter *s, object *o) {
    sort_ranges(o);
    o->pieces.len = 0;
    for (size_t first = 0, end; first < o->ranges.len; first = end) {
        const uint32_t offset = o->ranges.data[first].offset;
        uint32_t limit = offset + o->ranges.data[first].size;
        for (end = first + 1; end < o->ranges.len && o->ranges.data[end].offset < limit; end++) {
            const uint32_t other = o->ranges.data[end].offset + o->ranges.data[end].size;
            if (other > limit) limit = other;
        }
        if (!cut_cluster(s, o, first, end, offset, limit - offset) || o->pieces.len > MAX_PIECES)
            return false;
    }
    return true;
}

/* mem2reg can take it as it is, or it is not used at all. */
static bool is_simple(const object *o) {
    if (o->copied) return false;
    if (!o->ranges.len) return true;
    for (size_t n = 0; n < o->ranges.len; n++) {
        const range *r = &o->ranges.data[n];
        if (r->offset || r->size != o->ranges.data[0].size) return false;
        if ((r->type.kind == IR_PTR) != (o->ranges.data[0].type.kind == IR_PTR)) return false;
    }
    return true;
}

static bool same_pieces(const object *a, uint32_t a_offset, const object *b, uint32_t b_offset,
                        uint32_t size) {
    size_t m = 0;
    while (m < b->pieces.len && b->pieces.data[m].offset < b_offset) m++;
    for (size_t n = 0; n < a->pieces.len; n++) {
        const piece *p = &a->pieces.data[n];
        if (p->offset < a_offset || p->offset >= a_offset + size) continue;
        if (m >= b->pieces.len) return false;
        const piece *q = &b->pieces.data[m++];
        if (p->offset - a_offset != q->offset - b_offset || !qn__ir_same(p->type, q->type)) return false;
    }
    return m >= b->pieces.len || b->pieces.data[m].offset >= b_offset + size;
}

/* Rejecting one object turns its copies into copies of memory, so the plan is made again. */
static bool plan(splitter *s) {
    for (unsigned round = 0; round < MAX_ROUNDS; round++) {
        bool good = settle_copies(s);
        for (size_t n = 0; n < s->objects.len; n++) {
            object *o = &s->objects.data[n];
            if (o->rejected || cut_object(s, o)) continue;
            o->rejected = true;
            if (o->copied) good = false;
        }
        for (size_t n = 0; n < s->copies.len; n++) {
            const copy_sides c = sides_of(s, s->copies.data[n]);
            if (!c.to || !c.from || same_pieces(c.to, c.to_offset, c.from, c.from_offset, c.size)) continue;
            c.to->rejected = c.from->rejected = true;
            good = false;
        }
        if (good) return true;
    }
    return false;
}

/* ---- rewriting ---- */

static piece *piece_at(object *o, uint32_t offset) {
    size_t low = 0, high = o->pieces.len;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (o->pieces.data[middle].offset <= offset)
            low = middle;
        else
            high = middle;
    }
    return &o->pieces.data[low];
}

static ir_value *cast(ir_builder *b, ir_value *value, ir_type type) {
    return qn__ir_convert(b, IR_BITCAST, value, type);
}

static ir_value *load_piece(ir_builder *b, const piece *p) { return qn__ir_load(b, p->var, p->type, 0, 0); }

static ir_value *read_object(ir_builder *b, object *o, uint32_t offset, ir_type type) {
    const piece *p = piece_at(o, offset);
    const uint32_t size = bytes_of(type);
    if (offset + size > p->offset + p->size) { /* over several scalars */
        ir_value *lanes[16];
        for (unsigned i = 0; i < type.lanes; i++)
            lanes[i] = read_object(b, o, offset + i * (size / type.lanes), qn__ir_element(type));
        return qn__ir_vector(b, lanes, type.lanes);
    }
    ir_value *whole = load_piece(b, p);
    if (size == p->size) return cast(b, whole, type);
    const uint32_t bytes = bytes_of(qn__ir_element(p->type)), first = (offset - p->offset) / bytes;
    if (size == bytes) return cast(b, qn__ir_extract(b, whole, first), type);
    uint8_t lanes[16] = {0};
    for (unsigned i = 0; i < size / bytes; i++) lanes[i] = (uint8_t)(first + i);
    return cast(b, qn__ir_shuffle(b, whole, qn__ir_undef(b->function, whole->type), lanes, size / bytes),
                type);
}

/* The piece's lanes [first, first + count) replaced by those of `part`. */
static ir_value *blend(ir_builder *b, ir_value *whole, ir_value *part, unsigned first, unsigned count) {
    const unsigned all = whole->type.lanes;
    uint8_t widen[16], choose[16];
    for (unsigned i = 0; i < all; i++) {
        widen[i] = i < count ? (uint8_t)i : 255;
        choose[i] = (uint8_t)(i >= first && i < first + count ? all + i - first : i);
    }
    ir_value *wide = qn__ir_shuffle(b, part, qn__ir_undef(b->function, part->type), widen, all);
    return qn__ir_shuffle(b, whole, wide, choose, all);
}

static void write_object(ir_builder *b, object *o, uint32_t offset, ir_value *value) {
    const piece *p = piece_at(o, offset);
    const uint32_t size = bytes_of(value->type);
    if (offset + size > p->offset + p->size) {
        for (unsigned i = 0; i < value->type.lanes; i++)
            write_object(b, o, offset + i * (size / value->type.lanes), qn__ir_extract(b, value, i));
        return;
    }
    const ir_type element = qn__ir_element(p->type);
    const uint32_t bytes = bytes_of(element), first = (offset - p->offset) / bytes, count = size / bytes;
    ir_value *part = cast(b, value, qn__ir_with_lanes(element, count));
    if (size != p->size) {
        ir_value *whole = load_piece(b, p);
        part = count == 1 ? qn__ir_insert(b, whole, part, first) : blend(b, whole, part, first, count);
    }
    qn__ir_store(b, p->var, part, 0, 0);
}

/* What is known of the alignment `offset` bytes behind an address. */
static uint32_t align_at(uint32_t align, uint32_t offset) {
    while (align > 1 && offset % align) align /= 2;
    return align;
}

static void expand_copy(splitter *s, ir_instr *copy) {
    const copy_sides c = sides_of(s, copy);
    object *cut = c.to ? c.to : c.from;
    const uint32_t base = c.to ? c.to_offset : c.from_offset;
    ir_builder b = {.function = s->function};
    qn__ir_at(&b, copy);
    for (size_t n = 0; n < cut->pieces.len; n++) {
        const piece *p = &cut->pieces.data[n];
        if (p->offset < base || p->offset >= base + c.size) continue;
        const uint32_t at = p->offset - base, align = align_at(copy->attr.align, at);
        if (c.to && c.from) {
            write_object(&b, c.to, p->offset, read_object(&b, c.from, at + c.from_offset, p->type));
        } else if (c.to) {
            ir_value *value = qn__ir_load(&b, copy->operands[1], p->type, align, 0);
            value->def->attr.offset = at;
            write_object(&b, c.to, p->offset, value);
        } else {
            qn__ir_store(&b, copy->operands[0], load_piece(&b, p), align, 0)->attr.offset = at;
        }
    }
    qn__ir_unlink(copy);
}

static void rewrite_use(splitter *s, ir_instr *i, object *o, int64_t offset) {
    const uint32_t at = (uint32_t)(offset + i->attr.offset);
    ir_builder b = {.function = s->function};
    qn__ir_at(&b, i);
    if (i->op == IR_LOAD)
        qn__rewrite_set(&s->rewrite, i->results[0], read_object(&b, o, at, i->results[0]->type));
    else if (i->op == IR_STORE)
        write_object(&b, o, at, i->operands[1]);
    qn__ir_unlink(i); /* address arithmetic, too */
}

static void rewrite(splitter *s, ir_region *region) {
    for (ir_instr *i = region->first, *next; i; i = next) {
        next = i->next;
        qn__rewrite_operands(&s->rewrite, i);
        const place p = i->num_operands ? place_of(s, i->operands[0]) : (place){0, 0};
        object *o = object_at(s, p);
        if (i->op == IR_COPY && (o || object_at(s, place_of(s, i->operands[1]))))
            expand_copy(s, i);
        else if (o)
            rewrite_use(s, i, o, p.offset);
        for (uint32_t r = 0; r < i->num_regions; r++) rewrite(s, i->regions[r]);
    }
}

static bool make_variables(splitter *s) {
    bool any = false;
    for (size_t n = 0; n < s->objects.len; n++) {
        object *o = &s->objects.data[n];
        if (o->rejected) continue;
        any = true;
        ir_builder b = {.function = s->function};
        qn__ir_at(&b, o->var);
        for (size_t m = 0; m < o->pieces.len; m++) {
            piece *p = &o->pieces.data[m];
            const uint32_t size = qn__ir_memory_size(p->type);
            p->var =
                qn__ir_variable(&b, (ir_var){.name = o->var->attr.var->name, .size = size, .align = size});
        }
    }
    return any;
}

bool qn__pass_sroa(qn__pass_context *context) {
    ir_function *function = context->function;
    if (!qn__has_variables(function)) return false;
    splitter s = {.context = context, .arena = context->scratch, .function = function};
    collect(&s, function->body);
    bool any = false;
    for (size_t n = 0; n < s.objects.len; n++) {
        if (is_simple(&s.objects.data[n])) s.objects.data[n].rejected = true;
        any = any || !s.objects.data[n].rejected;
    }
    if (!any || !plan(&s) || !make_variables(&s)) return false;
    rewrite(&s, function->body);
    for (size_t n = 0; n < s.objects.len; n++)
        if (!s.objects.data[n].rejected) qn__ir_unlink(s.objects.data[n].var);
    return true;
}
