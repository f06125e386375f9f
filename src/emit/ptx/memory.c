/* Memory of the PTX target: addresses, loads, stores, copies. A vector is moved in the largest pieces that its
   alignment allows, up to 16 bytes; small elements travel as words where they fill some; what is aligned less
   than its element goes in parts. */
#include "emit/ptx/internal.h"

static const char *const spaces[IR_SPACE_COUNT] = {[IR_PRIVATE] = "local",
                                                   [IR_GLOBAL_SPACE] = "global",
                                                   [IR_CONSTANT_SPACE] = "global",
                                                   [IR_LOCAL_SPACE] = "shared",
                                                   [IR_PARAM_SPACE] = "param"};

/* ---- addresses ---- */

static ptx_operand add_address(ptx_emitter *e, ptx_operand a, ptx_operand b) {
    bool wide = a.cls == PTX_B64;
    return qn__ptx_op2(e, wide ? "add.s64" : "add.s32", a.cls, a, b);
}

ptx_place qn__ptx_place(ptx_emitter *e, const ir_value *pointer, int64_t offset) {
    ptx_place place = {spaces[pointer->type.space], qn__ptx_use_pointer(e, pointer), offset};
    ptx_operand *base = &place.base;
    if (base->kind == PTX_INT) *base = qn__ptx_in_register(e, *base);
    if (base->kind == PTX_REG) {
        place.offset += (int64_t)base->bits;
        base->bits = 0;
    } else if ((int64_t)base->bits + offset >= 0) {
        base->bits += (uint64_t)offset;
        place.offset = 0;
    } else {
        *base = qn__ptx_in_register(e, *base);
    }
    if (place.offset > INT32_MAX - 256 || place.offset < INT32_MIN) {
        *base = add_address(e, *base, qn__ptx_int((ptx_class)base->cls, (uint64_t)place.offset));
        place.offset = 0;
    }
    return place;
}

/* A constant part waits, as far as an access can take it. */
static void ptr_add(ptx_emitter *e, const ir_instr *instr) {
    ptx_operand base = qn__ptx_use_pointer(e, instr->operands[0]);
    ptx_operand bytes = qn__ptx_use(e, instr->operands[1], 0);
    int64_t offset = instr->attr.offset;
    if (qn__ptx_is_near(instr->results[0])) bytes = qn__ptx_low(e, bytes);
    if (bytes.kind == PTX_INT) offset += base.cls == PTX_B64 ? (int64_t)bytes.bits : (int32_t)bytes.bits;
    if (base.kind == PTX_INT || (base.kind == PTX_SYMBOL && bytes.kind == PTX_REG))
        base = qn__ptx_in_register(e, base);
    offset += (int64_t)base.bits;
    base.bits = 0;
    if (bytes.kind == PTX_REG) base = add_address(e, base, bytes);
    bool fits = offset > INT32_MIN / 4 && offset < INT32_MAX / 4;
    if (base.kind == PTX_SYMBOL && (offset < 0 || !fits)) base = qn__ptx_in_register(e, base);
    if (fits)
        base.bits = (uint64_t)offset;
    else
        base = add_address(e, base, qn__ptx_int((ptx_class)base.cls, (uint64_t)offset));
    qn__ptx_define(e, instr->results[0], 0, base);
}

static bool address_of(ptx_emitter *e, const ir_instr *instr) {
    ptx_operand a;
    uint32_t index = instr->attr.index;
    switch (instr->op) {
    case IR_VAR: {
        const ir_var *var = instr->attr.var;
        uint64_t align = var->align ? var->align : 1;
        if (!e->depot_size && e->compares_near) e->depot_size = PTX_FIRST_ADDRESS;
        e->depot_size = (e->depot_size + align - 1) / align * align;
        a = qn__ptx_address(PTX_DEPOT, PTX_B32, e->depot_size);
        e->depot_size += var->size;
        if (e->depot_align < align) e->depot_align = (uint32_t)align;
        break;
    }
    case IR_LOCAL:
        a = e->locals;
        a.bits = e->local_offset[index];
        break;
    case IR_GLOBAL:
        e->global_used[index] = true;
        a = qn__ptx_address((ptx_symbol)(PTX_FIRST_GLOBAL + index), PTX_B64, 0);
        break;
    default: return false;
    }
    qn__ptx_define(e, instr->results[0], 0, a);
    return true;
}

/* ---- pieces ---- */

/* How many of `count` elements of `size` bytes, `at` bytes behind what is aligned to `align`, go at once. */
static unsigned piece(unsigned count, unsigned size, unsigned at, unsigned align) {
    for (unsigned n = 4; n > 1; n /= 2)
        if (n <= count && n * size <= 16 && n * size <= align && at % (n * size) == 0) return n;
    return 1;
}

static void access(ptx_emitter *e, const char *op, const char *type, const ptx_place *place, int64_t at,
                   ptx_operand *lanes, unsigned count, bool is_store) {
    int64_t offset = place->offset + at;
    ptx_operand base = place->base;
    if (base.kind == PTX_SYMBOL) {
        base.bits += (uint64_t)offset;
        offset = 0;
    }
    if (is_store && count == 1)
        qn__ptx(e, "~.~.~ [$+#], $;", op, place->space, type, base, offset, lanes[0]);
    else if (is_store && count == 2)
        qn__ptx(e, "~.~.v2.~ [$+#], {$, $};", op, place->space, type, base, offset, lanes[0], lanes[1]);
    else if (is_store)
        qn__ptx(e, "~.~.v4.~ [$+#], {$, $, $, $};", op, place->space, type, base, offset, lanes[0], lanes[1],
                lanes[2], lanes[3]);
    else if (count == 1)
        qn__ptx(e, "~.~.~ =, [$+#];", op, place->space, type, lanes[0], base, offset);
    else if (count == 2)
        qn__ptx(e, "~.~.v2.~ {=, =}, [$+#];", op, place->space, type, lanes[0], lanes[1], base, offset);
    else
        qn__ptx(e, "~.~.v4.~ {=, =, =, =}, [$+#];", op, place->space, type, lanes[0], lanes[1], lanes[2],
                lanes[3], base, offset);
}

static const char *const unit_types[] = {[1] = "b8", [2] = "b16", [4] = "b32", [8] = "b64"};

static unsigned element_size(ir_type type) { return qn__ir_bits(type) / 8; }

static bool is_global(const ir_value *pointer) {
    return pointer->type.space == IR_GLOBAL_SPACE || pointer->type.space == IR_CONSTANT_SPACE;
}

/* PTX has ld.volatile and st.volatile for memory that others may see. Private memory is nobody else's. */
static bool is_volatile(const ir_instr *instr) {
    unsigned space = instr->operands[0]->type.space;
    return (instr->flags & IR_VOLATILE) && space != IR_PARAM_SPACE && space != IR_PRIVATE;
}

/* "ld.global.nc" has its cache behind the space. */
static const char *load_space(const ptx_emitter *e, const ir_instr *instr, const char *space) {
    const ir_value *pointer = instr->operands[0];
    bool constant = pointer->type.space == IR_CONSTANT_SPACE || (instr->flags & IR_READONLY) ||
                    (e->read_only && e->read_only[pointer->id]);
    return is_global(pointer) && constant && !is_volatile(instr) ? "global.nc" : space;
}

/* Small elements that fill words. */
/* One word only where it is a word to others, too. */
static bool goes_as_words(const ptx_emitter *e, const ir_value *value, unsigned align) {
    const unsigned size = element_size(value->type), total = value->type.lanes * size;
    const bool is_word = e->words[value->id] || e->flags[value->id] & PTX_USED_WORDS;
    return size < 4 && total % (is_word ? 4 : 8) == 0 && align >= 4;
}

static unsigned align_of(const ir_instr *instr, ir_type type) {
    unsigned natural = element_size(type) * (type.lanes == 3 ? 4 : type.lanes);
    unsigned align = instr->attr.align ? instr->attr.align : natural;
    return align > 16 ? 16 : align;
}

/* ---- loads ---- */

static bool wants_sign(const ptx_emitter *e, const ir_value *value) {
    return (e->flags[value->id] & (PTX_USED_SEXT | PTX_USED_ZEXT)) == PTX_USED_SEXT;
}

static ptx_class memory_class(ir_type type) {
    unsigned size = element_size(type);
    return type.kind == IR_F16 ? PTX_B16 : size == 8 ? PTX_B64 : PTX_B32;
}

static ptx_operand split_word(ptx_emitter *e, ptx_operand word, unsigned part, unsigned width, bool sign) {
    ptx_operand from = qn__ptx_int(PTX_B32, part * width);
    ptx_operand r =
        qn__ptx_op3(e, sign ? "bfe.s32" : "bfe.u32", PTX_B32, word, from, qn__ptx_int(PTX_B32, width));
    r.extended = sign ? PTX_SIGN_EXTENDED : PTX_ZERO_EXTENDED;
    return r;
}

static void load_words(ptx_emitter *e, const ir_instr *instr, const char *op, const ptx_place *place,
                       unsigned align) {
    const ir_value *result = instr->results[0];
    const unsigned width = qn__ir_bits(result->type), each = 32 / width;
    const unsigned count = result->type.lanes / each;
    ptx_operand words[8];
    for (unsigned i = 0, n; i < count; i += n) {
        n = piece(count - i, 4, i * 4, align);
        for (unsigned k = 0; k < n; k++) words[i + k] = qn__ptx_new(e, PTX_B32);
        access(e, op, "b32", place, i * 4, words + i, n, false);
    }
    qn__ptx_keep_words(e, result, words, count);
    for (unsigned lane = 0; lane < result->type.lanes; lane += 2) {
        ptx_operand word = words[lane / each];
        if (result->type.kind == IR_F16) {
            ptx_operand low = qn__ptx_new(e, PTX_B16), high = qn__ptx_new(e, PTX_B16);
            qn__ptx(e, "mov.b32 {=, =}, $;", low, high, word);
            qn__ptx_define(e, result, lane, low);
            qn__ptx_define(e, result, lane + 1, high);
            continue;
        }
        bool sign = wants_sign(e, result);
        for (unsigned k = lane; k < lane + 2; k++)
            qn__ptx_define(e, result, k, split_word(e, word, k % each, width, sign));
    }
}

/* An element out of parts of `unit` bytes, lowest first. */
static ptx_operand load_in_parts(ptx_emitter *e, const char *op, const ptx_place *place, int64_t at,
                                 unsigned size, unsigned unit) {
    static const char *const names[] = {[1] = "u8", [2] = "u16", [4] = "u32"};
    ptx_operand halves[2], r;
    for (unsigned half = 0; half * 4 < size; half++) {
        unsigned bytes = size - half * 4 < 4 ? size - half * 4 : 4;
        for (unsigned i = 0; i < bytes; i += unit) {
            r = qn__ptx_new(e, PTX_B32);
            access(e, op, names[unit], place, at + half * 4 + i, &r, 1, false);
            if (i) {
                r = qn__ptx_op2(e, "shl.b32", PTX_B32, r, qn__ptx_int(PTX_B32, i * 8));
                r = qn__ptx_op2(e, "or.b32", PTX_B32, r, halves[half]);
            }
            halves[half] = r;
        }
    }
    if (size < 8) return halves[0];
    r = qn__ptx_new(e, PTX_B64);
    qn__ptx(e, "mov.b64 =, {$, $};", r, halves[0], halves[1]);
    return r;
}

static void load(ptx_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    const ir_type type = result->type;
    const unsigned size = element_size(type), align = align_of(instr, type);
    ptx_place place = qn__ptx_place(e, instr->operands[0], instr->attr.offset);
    const char *op = is_volatile(instr) ? "ld.volatile" : "ld";
    place.space = load_space(e, instr, place.space);
    if (goes_as_words(e, result, align)) {
        load_words(e, instr, op, &place, align);
        return;
    }
    bool narrow = type.kind == IR_I8 || type.kind == IR_I16, sign = narrow && wants_sign(e, result);
    const char *name = unit_types[size];
    if (narrow) name = size == 1 ? sign ? "s8" : "u8" : sign ? "s16" : "u16";
    for (unsigned i = 0, n; i < type.lanes; i += n) {
        ptx_operand lanes[4];
        n = 1;
        if (align < size) {
            ptx_operand r = load_in_parts(e, op, &place, (int64_t)i * size, size, align);
            qn__ptx_define(e, result, i, type.kind == IR_F16 ? qn__ptx_op1(e, "cvt.u16.u32", PTX_B16, r) : r);
            continue;
        }
        n = piece(type.lanes - i, size, i * size, align);
        for (unsigned k = 0; k < n; k++) {
            lanes[k] = qn__ptx_new(e, memory_class(type));
            if (narrow) lanes[k].extended = sign ? PTX_SIGN_EXTENDED : PTX_ZERO_EXTENDED;
        }
        access(e, op, name, &place, (int64_t)i * size, lanes, n, false);
        for (unsigned k = 0; k < n; k++) qn__ptx_define(e, result, i + k, lanes[k]);
    }
}

/* ---- stores ---- */

static void store_in_parts(ptx_emitter *e, const char *op, const ptx_place *place, int64_t at,
                           ptx_operand value, unsigned size, unsigned unit) {
    ptx_operand halves[2] = {value, value};
    value = qn__ptx_in_register(e, value);
    if (value.cls == PTX_B16) halves[0] = qn__ptx_op1(e, "cvt.u32.u16", PTX_B32, value);
    if (value.cls == PTX_B64) {
        halves[0] = qn__ptx_new(e, PTX_B32);
        halves[1] = qn__ptx_new(e, PTX_B32);
        qn__ptx(e, "mov.b64 {=, =}, $;", halves[0], halves[1], value);
    }
    for (unsigned i = 0; i < size; i += unit) {
        ptx_operand part = halves[i / 4];
        if (i % 4) part = qn__ptx_op2(e, "shr.u32", PTX_B32, part, qn__ptx_int(PTX_B32, i % 4 * 8));
        access(e, op, unit_types[unit], place, at + i, &part, 1, true);
    }
}

static void store_words(ptx_emitter *e, const ir_value *value, const char *op, const ptx_place *place,
                        unsigned align) {
    const unsigned count = value->type.lanes * element_size(value->type) / 4;
    ptx_operand words[8];
    for (unsigned i = 0; i < count; i++) words[i] = qn__ptx_word(e, value, i);
    for (unsigned i = 0, n; i < count; i += n) {
        n = piece(count - i, 4, i * 4, align);
        access(e, op, "b32", place, i * 4, words + i, n, true);
    }
}

static void store(ptx_emitter *e, const ir_instr *instr) {
    const ir_value *value = instr->operands[1];
    const ir_type type = value->type;
    const unsigned size = element_size(type), align = align_of(instr, type);
    ptx_place place = qn__ptx_place(e, instr->operands[0], instr->attr.offset);
    const char *op = is_volatile(instr) ? "st.volatile" : "st";
    if (goes_as_words(e, value, align)) {
        store_words(e, value, op, &place, align);
        return;
    }
    for (unsigned i = 0, n; i < type.lanes; i += n) {
        ptx_operand lanes[4];
        n = align < size ? 1 : piece(type.lanes - i, size, i * size, align);
        for (unsigned k = 0; k < n; k++) {
            lanes[k] = qn__ptx_use(e, value, i + k);
            if (lanes[k].kind == PTX_SYMBOL) lanes[k] = qn__ptx_in_register(e, lanes[k]);
            if (type.kind == IR_PTR && lanes[k].cls == PTX_B32)
                lanes[k] = qn__ptx_op1(e, "cvt.u64.u32", PTX_B64, lanes[k]);
        }
        if (align < size)
            store_in_parts(e, op, &place, (int64_t)i * size, lanes[0], size, align);
        else
            access(e, op, unit_types[size], &place, (int64_t)i * size, lanes, n, true);
    }
}

/* ---- copies ---- */

/* `count` units from and to places, each unit in one access of `size` bytes. */
static void copy_units(ptx_emitter *e, const ptx_place *to, const ptx_place *from, int64_t at, uint64_t count,
                       unsigned size) {
    ptx_operand lanes[2];
    unsigned pair = size == 16 ? 2 : 1, element = size / pair;
    for (uint64_t i = 0; i < count; i++, at += size) {
        for (unsigned k = 0; k < pair; k++) lanes[k] = qn__ptx_new(e, element == 8 ? PTX_B64 : PTX_B32);
        access(e, "ld", unit_types[element], from, at, lanes, pair, false);
        access(e, "st", unit_types[element], to, at, lanes, pair, true);
    }
}

enum { MAX_COPY_UNITS = 32 };

static ptx_operand moving(ptx_emitter *e, const ptx_place *place) {
    ptx_operand at = qn__ptx_new(e, (ptx_class)place->base.cls);
    qn__ptx_move(e, at, place->base);
    return at;
}

static void advance(ptx_emitter *e, ptx_operand at, unsigned bytes) {
    qn__ptx(e, "~ =, $, #;", at.cls == PTX_B64 ? "add.s64" : "add.s32", at, at, (int64_t)bytes);
}

static void copy(ptx_emitter *e, const ir_instr *instr) {
    ptx_place to = qn__ptx_place(e, instr->operands[0], 0), from = qn__ptx_place(e, instr->operands[1], 0);
    uint64_t size = instr->attr.size;
    unsigned unit = instr->attr.align >= 16 ? 16 : instr->attr.align ? instr->attr.align : 1;
    uint64_t count = size / unit;
    if (count > MAX_COPY_UNITS) {
        uint64_t rounds = count / 8;
        ptx_operand left = qn__ptx_new(e, PTX_B64), more = qn__ptx_new(e, PTX_PRED);
        uint32_t head = e->next_label++;
        to.base = moving(e, &to);
        from.base = moving(e, &from);
        qn__ptx_move(e, left, qn__ptx_int(PTX_B64, rounds));
        qn__ptx_label(e, head);
        copy_units(e, &to, &from, 0, 8, unit);
        advance(e, to.base, 8 * unit);
        advance(e, from.base, 8 * unit);
        qn__ptx(e, "add.s64 =, $, -1;", left, left);
        qn__ptx(e, "setp.ne.s64 =, $, 0;", more, left);
        qn__ptx(e, "@$ bra L#;", more, (int64_t)head);
        size -= rounds * 8 * unit;
        count = size / unit;
    }
    copy_units(e, &to, &from, 0, count, unit);
    int64_t at = (int64_t)(count * unit);
    for (unsigned u = unit / 2; u; u /= 2) {
        if (!(size & u)) continue;
        copy_units(e, &to, &from, at, 1, u);
        at += u;
    }
}

enum { LINE = 128, MAX_LINES = 8 };

static void prefetch(ptx_emitter *e, const ir_instr *instr) {
    if (!is_global(instr->operands[0])) return;
    ptx_place place = qn__ptx_place(e, instr->operands[0], instr->attr.offset);
    uint64_t lines = (instr->attr.size + LINE - 1) / LINE;
    ptx_operand base = qn__ptx_in_register(e, place.base);
    for (uint64_t i = 0; i < lines && i < MAX_LINES; i++)
        qn__ptx(e, "prefetch.global.L2 [$+#];", base, place.offset + (int64_t)i * LINE);
}

bool qn__ptx_memory(ptx_emitter *e, const ir_instr *instr) {
    switch (instr->op) {
    case IR_VAR:
    case IR_LOCAL:
    case IR_GLOBAL: return address_of(e, instr);
    case IR_PTR_ADD: ptr_add(e, instr); return true;
    case IR_LOAD: load(e, instr); return true;
    case IR_STORE: store(e, instr); return true;
    case IR_COPY: copy(e, instr); return true;
    case IR_PREFETCH: prefetch(e, instr); return true;
    default: return false;
    }
}
