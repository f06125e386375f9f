/* Memory in WGSL: pointers as offsets, loads, stores, copies. Memory consists of words; what is narrower is taken out of
   one, and put in by atomics where others may store beside it. */
#include "emit/wgsl/internal.h"

/* ---- places ---- */

static unsigned shift_of(const wgsl_class *class) {
    return class->step == 16 ? 4 : class->step == 4 ? 2 : class->step == 2 ? 1 : 0;
}

const char *qn__wgsl_address(wgsl_emitter *e, const ir_value *pointer) {
    if (pointer->value_kind >= IR_VALUE_CONST)
        return qn__wgsl_literal(e, IR_I32, pointer->value_kind == IR_VALUE_CONST ? pointer->bits[0] : 0);
    const wgsl_class *class = qn__wgsl_class(e, pointer);
    const char *offset = qn__wgsl_low(e, pointer);
    if (class && class->step > 1) offset = qn__wgsl_text(e, "(%s << %uu)", offset, shift_of(class));
    return qn__wgsl_text(e, "(%s + %uu)", offset, (unsigned)(class ? class->base : WGSL_BASE));
}

static const char *moved(wgsl_emitter *e, const char *offset, int64_t by) {
    if (!by) return offset;
    return qn__wgsl_text(e, "%s %c %uu", offset, by < 0 ? '-' : '+', (uint32_t)(by < 0 ? -by : by));
}

wgsl_place qn__wgsl_place(wgsl_emitter *e, const ir_value *pointer, int64_t bytes) {
    static const wgsl_class nowhere = {.step = 1, .kind = IR_I32};
    const wgsl_class *class = qn__wgsl_class(e, pointer);
    if (!class || !class->num_objects) {
        qn__wgsl_error(
            e, pointer->value_kind >= IR_VALUE_CONST
                   ? "a null pointer is followed"
                   : "WGSL has no addresses: it does not show which parameter this pointer comes from");
        return (wgsl_place){.class = &nowhere, .offset = "0u"};
    }
    wgsl_place place = {.class = class, .offset = qn__wgsl_low(e, pointer), .bytes = bytes};
    if (qn__wgsl_is_tagged(e, pointer)) place.tag = qn__wgsl_text(e, "%s.y", qn__wgsl_name(e, pointer));
    return place;
}

const char *qn__wgsl_index(wgsl_emitter *e, const wgsl_place *place, int64_t more) {
    const int64_t bytes = place->bytes + more;
    if (place->class->step > 1) return moved(e, place->offset, bytes / place->class->step);
    return qn__wgsl_text(e, bytes ? "(%s) >> 2u" : "%s >> 2u", moved(e, place->offset, bytes));
}

/* ---- elements ---- */

const char *qn__wgsl_element_type(wgsl_emitter *e, const wgsl_class *class) {
    if (class->halves) return qn__wgsl_half_type(e, qn__ir_type(IR_F16, 1));
    return class->atomic ? "atomic<u32>" : class->kind == IR_F32 ? "f32" : "u32";
}

static bool is_several(const wgsl_class *class) {
    return class->num_objects > 1 && (class->space == IR_GLOBAL_SPACE || class->space == IR_CONSTANT_SPACE);
}

const char *qn__wgsl_element(wgsl_emitter *e, const wgsl_class *class, uint32_t object, const char *index) {
    if (class->space == IR_PARAM_SPACE) {
        e->uses_params = true;
        return qn__wgsl_text(e, "params_of_%s[(%s) >> 2u][(%s) & 3u]", e->symbol, index, index);
    }
    const bool is_buffer = class->space == IR_GLOBAL_SPACE || class->space == IR_CONSTANT_SPACE;
    e->objects.data[object].is_used = true;
    const char *name = is_buffer ? e->objects.data[object].name : class->name;
    if (class->quads) return qn__wgsl_text(e, "%s[(%s) >> 2u][(%s) & 3u]", name, index, index);
    return qn__wgsl_text(e, "%s[%s]", name, index);
}

/* Vectors from one place on differ in a constant that a device's accesses may have. */
static const char *index_of_quad(wgsl_emitter *e, const wgsl_place *place) {
    if (place->class->step == 16) return qn__wgsl_index(e, place, 0);
    if (place->class->step != 4 || place->bytes % 16)
        return qn__wgsl_text(e, "(%s) >> 2u", qn__wgsl_index(e, place, 0));
    const char *first = qn__wgsl_text(e, "(bitcast<i32>(%s) >> 2u)", place->offset);
    if (!place->bytes) return first;
    return qn__wgsl_text(e, "%s %c %u", first, place->bytes < 0 ? '-' : '+',
                         (unsigned)((place->bytes < 0 ? -place->bytes : place->bytes) / 16));
}

/* Four at once; NULL: the class is not made of vectors, or the access is not one's. */
static const char *quad(wgsl_emitter *e, const wgsl_place *place, ir_type type, uint32_t align) {
    if (!place->class->quads || !qn__wgsl_is_quad(type, align)) return NULL;
    const wgsl_class *class = place->class;
    wgsl_object *object = &e->objects.data[class->object];
    object->is_used = true;
    const char *name = class->space == IR_LOCAL_SPACE ? class->name : object->name;
    return qn__wgsl_text(e, "%s[%s]", name, index_of_quad(e, place));
}

/* Its type, where values of another are meant. */
static const char *as_type(wgsl_emitter *e, const wgsl_class *class, ir_type type, const char *text,
                           bool back) {
    if ((type.kind == IR_F32) == (class->kind == IR_F32)) return text;
    return qn__wgsl_text(
        e, (type.kind == IR_F32) != back ? "bitcast<vec4<f32>>(%s)" : "bitcast<vec4<u32>>(%s)", text);
}

static unsigned class_number(const wgsl_emitter *e, const wgsl_class *class) {
    return (unsigned)(class - e->classes.data);
}

/* A function that does with one of several buffers what `pattern` says: %s is the element. */
static const char *chooser(wgsl_emitter *e, const wgsl_class *class, const char *what, const char *result,
                           const char *more, const char *pattern) {
    const char *name = qn__wgsl_text(e, "%s_%u_of_%s", what, class_number(e, class), e->symbol);
    if (!qn__wgsl_need(e, name)) return name;
    qn__buf_printf(&e->helpers, "fn %s(which: u32, i: u32%s)%s%s {\n    switch which {\n", name, more,
                   *result ? " -> " : "", result);
    uint32_t left = class->num_objects;
    for (uint32_t i = 0; i < e->objects.len; i++) {
        const wgsl_object *object = &e->objects.data[i];
        if (&e->classes.data[object->class_index] != class) continue;
        if (--left)
            qn__buf_printf(&e->helpers, "        case %uu: { ", (unsigned)object->offset);
        else
            qn__buf_puts(&e->helpers, "        default: { ");
        qn__buf_printf(&e->helpers, pattern, qn__wgsl_element(e, class, i, "i"));
        qn__buf_puts(&e->helpers, " }\n");
    }
    qn__buf_puts(&e->helpers, "    }\n}\n");
    return name;
}

/* The word, or the float of a class of those, at an index. */
static const char *read_element(wgsl_emitter *e, const wgsl_place *place, const char *index) {
    const wgsl_class *class = place->class;
    if (is_several(class)) {
        const char *name =
            chooser(e, class, "load", "u32", "", class->atomic ? "return atomicLoad(&%s);" : "return %s;");
        return qn__wgsl_text(e, "%s(%s, %s)", name, place->tag, index);
    }
    const char *element = qn__wgsl_element(e, class, class->object, index);
    return class->atomic ? qn__wgsl_text(e, "atomicLoad(&%s)", element) : element;
}

static void write_element(wgsl_emitter *e, const wgsl_place *place, const char *index, const char *value) {
    const wgsl_class *class = place->class;
    if (is_several(class)) {
        const char *name = chooser(e, class, "store", "", ", value: u32",
                                   class->atomic ? "atomicStore(&%s, value);" : "%s = value;");
        qn__wgsl_line(e, "%s(%s, %s, %s);", name, place->tag, index, value);
        return;
    }
    const char *element = qn__wgsl_element(e, class, class->object, index);
    qn__wgsl_line(e, class->atomic ? "atomicStore(&%s, %s);" : "%s = %s;", element, value);
}

/* Some bits of a word: and, then or. */
static void write_bits(wgsl_emitter *e, const wgsl_place *place, const char *index, const char *mask,
                       const char *bits) {
    const wgsl_class *class = place->class;
    if (is_several(class)) {
        const char *name = chooser(e, class, "store_bits", "", ", mask: u32, bits: u32",
                                   "atomicAnd(&%1$s, ~mask); atomicOr(&%1$s, bits);");
        qn__wgsl_line(e, "%s(%s, %s, %s, %s);", name, place->tag, index, mask, bits);
        return;
    }
    const char *element = qn__wgsl_element(e, class, class->object, index);
    if (class->atomic) {
        qn__wgsl_line(e, "atomicAnd(&%s, ~%s);", element, mask);
        qn__wgsl_line(e, "atomicOr(&%s, %s);", element, bits);
    } else {
        qn__wgsl_line(e, "%s = (%s & ~%s) | (%s);", element, element, mask, bits);
    }
}

/* ---- numbers of any size ---- */

/* `size` bytes, 1 or 2, within a word. */
static const char *read_narrow(wgsl_emitter *e, const wgsl_place *place, int64_t more, unsigned size) {
    const char *at = qn__wgsl_let(e, moved(e, place->offset, place->bytes + more));
    const char *word = read_element(e, place, qn__wgsl_text(e, "%s >> 2u", at));
    return qn__wgsl_text(e, "((%s >> ((%s & 3u) << 3u)) & 0x%xu)", word, at, size == 1 ? 0xffu : 0xffffu);
}

static void write_narrow(wgsl_emitter *e, const wgsl_place *place, int64_t more, unsigned size,
                         const char *value) {
    const char *at = qn__wgsl_let(e, moved(e, place->offset, place->bytes + more));
    const char *by = qn__wgsl_let(e, qn__wgsl_text(e, "(%s & 3u) << 3u", at));
    write_bits(e, place, qn__wgsl_text(e, "%s >> 2u", at),
               qn__wgsl_text(e, "(0x%xu << %s)", size == 1 ? 0xffu : 0xffffu, by),
               qn__wgsl_text(e, "%s << %s", value, by));
}

/* A word of a number with `size` bytes there, which lies at multiples of `unit`. */
static const char *read_word(wgsl_emitter *e, const wgsl_place *place, int64_t more, unsigned size,
                             unsigned unit) {
    if (size == 4 && unit >= 4) return read_element(e, place, qn__wgsl_index(e, place, more));
    if (unit >= size) return read_narrow(e, place, more, size);
    const char *word = NULL;
    for (unsigned i = 0; i < size; i += unit) {
        const char *part = qn__wgsl_let(e, read_narrow(e, place, more + i, unit));
        word = word ? qn__wgsl_text(e, "%s | (%s << %uu)", word, part, 8 * i) : part;
    }
    return qn__wgsl_text(e, "(%s)", word);
}

static void write_word(wgsl_emitter *e, const wgsl_place *place, int64_t more, unsigned size, unsigned unit,
                       const char *value) {
    if (size == 4 && unit >= 4) {
        write_element(e, place, qn__wgsl_index(e, place, more), value);
    } else if (unit >= size) {
        write_narrow(e, place, more, size, value);
    } else {
        for (unsigned i = 0; i < size; i += unit)
            write_narrow(
                e, place, more + i, unit,
                qn__wgsl_text(e, "((%s >> %uu) & 0x%xu)", value, 8 * i, unit == 1 ? 0xffu : 0xffffu));
    }
}

/* ---- loads and stores ---- */

static unsigned unit_of(const ir_instr *instr, unsigned size) {
    const unsigned align = instr->attr.align ? instr->attr.align : size;
    return align >= 4 ? 4 : align;
}

/* A scalar of 32 bits from the word, or float, that a class gives, and back. */
static const char *from_element(wgsl_emitter *e, ir_kind kind, bool is_float, const char *text) {
    if ((kind == IR_F32) == is_float) return text;
    return qn__wgsl_text(e, kind == IR_F32 ? "bitcast<f32>(%s)" : "bitcast<u32>(%s)", text);
}

static const char *load_lane(wgsl_emitter *e, const ir_instr *instr, const wgsl_place *place, ir_kind kind,
                             int64_t more) {
    const unsigned size = qn__ir_bits(qn__ir_type(kind, 1)) / 8, unit = unit_of(instr, size);
    if (place->class->halves) return read_element(e, place, qn__wgsl_index(e, place, more));
    if (size == 8) {
        const char *low = read_word(e, place, more, 4, unit);
        if (kind == IR_I64 && qn__wgsl_is_low(e, instr->results[0])) return low;
        return qn__wgsl_text(e, "vec2<u32>(%s, %s)", low, read_word(e, place, more + 4, 4, unit));
    }
    return from_element(e, kind, place->class->kind == IR_F32, read_word(e, place, more, size, unit));
}

/* A pointer in memory is an address as a number and the buffer's place. */
static const char *as_pointer(wgsl_emitter *e, const ir_value *result, const char *low, const char *high) {
    const wgsl_class *class = qn__wgsl_class(e, result);
    const char *offset = qn__wgsl_text(e, "%s - %uu", low, (unsigned)(class ? class->base : WGSL_BASE));
    if (class && class->halves) offset = qn__wgsl_text(e, "(%s) >> 1u", offset);
    return qn__wgsl_is_tagged(e, result) ? qn__wgsl_text(e, "vec2<u32>(%s, %s)", offset, high) : offset;
}

/* Narrow lanes of whole words. */
static bool is_packed(const ir_instr *instr, const wgsl_place *place, ir_type type) {
    const unsigned size = qn__ir_bits(type) / 8;
    return size < 4 && !place->class->halves && type.lanes > 1 && size * type.lanes % 4 == 0 &&
           instr->attr.align >= 4;
}

static const char *lane_of_words(wgsl_emitter *e, const char *const *words, unsigned lane, unsigned size) {
    const unsigned at = lane * size;
    return qn__wgsl_text(e, "(%s >> %uu) & 0x%xu", words[at / 4], 8 * (at % 4), size == 1 ? 0xffu : 0xffffu);
}

static void load_vector(wgsl_emitter *e, const ir_instr *instr, const wgsl_place *place) {
    const ir_type type = instr->results[0]->type;
    const unsigned size = qn__ir_bits(type) / 8;
    const char *words[8] = {NULL}, *all = quad(e, place, type, instr->attr.align);
    qn__buf text;
    if (all) {
        qn__wgsl_define(e, instr->results[0], as_type(e, place->class, type, all, false));
        return;
    }
    qn__buf_init(&text, e->arena);
    qn__buf_printf(&text, "%s(", qn__wgsl_value_type(e, instr->results[0]));
    for (unsigned i = 0; is_packed(instr, place, type) && i < size * type.lanes / 4; i++)
        words[i] = qn__wgsl_let(e, read_word(e, place, 4 * (int64_t)i, 4, 4));
    for (unsigned i = 0; i < type.lanes; i++)
        qn__buf_printf(&text, "%s%s", i ? ", " : "",
                       words[0] ? lane_of_words(e, words, i, size)
                                : load_lane(e, instr, place, (ir_kind)type.kind, (int64_t)i * size));
    qn__buf_putc(&text, ')');
    qn__wgsl_define(e, instr->results[0], text.data);
}

static void load(wgsl_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    const wgsl_place place = qn__wgsl_place(e, instr->operands[0], instr->attr.offset);
    if (result->type.lanes > 1) {
        load_vector(e, instr, &place);
    } else if (result->type.kind == IR_PTR) {
        const char *low = read_word(e, &place, 0, 4, unit_of(instr, 8)),
                   *high = read_word(e, &place, 4, 4, unit_of(instr, 8));
        qn__wgsl_define(e, result, as_pointer(e, result, low, high));
    } else {
        qn__wgsl_define(e, result, load_lane(e, instr, &place, (ir_kind)result->type.kind, 0));
    }
}

static const char *high_word(wgsl_emitter *e, const ir_value *value) {
    if (value->value_kind >= IR_VALUE_CONST)
        return qn__wgsl_text(e, "%uu",
                             value->value_kind == IR_VALUE_CONST ? (uint32_t)(value->bits[0] >> 32) : 0);
    if (value->type.kind == IR_PTR && !qn__wgsl_is_tagged(e, value)) return "0u";
    return qn__wgsl_text(e, "%s.y", qn__wgsl_name(e, value));
}

static const char *lane_of_value(wgsl_emitter *e, const ir_value *value, unsigned lane) {
    if (qn__ir_is_const(value)) return qn__wgsl_literal(e, (ir_kind)value->type.kind, value->bits[lane]);
    const char *text = qn__wgsl_use(e, value);
    return value->type.lanes == 1 ? text : qn__wgsl_text(e, "%s[%u]", text, lane);
}

static void store_lane(wgsl_emitter *e, const ir_instr *instr, const wgsl_place *place, unsigned lane) {
    const ir_value *value = instr->operands[1];
    const ir_kind kind = (ir_kind)value->type.kind;
    const unsigned size = qn__ir_bits(value->type) / 8, unit = unit_of(instr, size);
    const int64_t more = (int64_t)lane * size;
    if (place->class->halves) {
        const bool is_known = value->value_kind >= IR_VALUE_CONST;
        write_element(e, place, qn__wgsl_index(e, place, more),
                      is_known ? qn__wgsl_half_constant(e, value, lane) : lane_of_value(e, value, lane));
        return;
    }
    if (size == 8) {
        const char *low = kind == IR_PTR ? qn__wgsl_address(e, value) : qn__wgsl_low(e, value);
        write_word(e, place, more, 4, unit, low);
        write_word(e, place, more + 4, 4, unit, high_word(e, value));
        return;
    }
    const char *text = lane_of_value(e, value, lane);
    const bool is_float = place->class->kind == IR_F32;
    if (size == 4 && (kind == IR_F32) != is_float)
        text = qn__wgsl_text(e, is_float ? "bitcast<f32>(%s)" : "bitcast<u32>(%s)", text);
    if (size < 4 || unit < 4) text = qn__wgsl_let(e, text);
    write_word(e, place, more, size, unit, text);
}

static void store(wgsl_emitter *e, const ir_instr *instr) {
    const ir_value *value = instr->operands[1];
    const ir_type type = value->type;
    const unsigned size = qn__ir_bits(type) / 8;
    const wgsl_place place = qn__wgsl_place(e, instr->operands[0], instr->attr.offset);
    const char *all = quad(e, &place, type, instr->attr.align);
    if (all) {
        qn__wgsl_line(e, "%s = %s;", all, as_type(e, place.class, type, qn__wgsl_use(e, value), true));
        return;
    }
    if (!is_packed(instr, &place, type)) {
        for (unsigned i = 0; i < type.lanes; i++) store_lane(e, instr, &place, i);
        return;
    }
    for (unsigned first = 0, per = 4 / size; first < type.lanes; first += per) {
        const char *word = lane_of_value(e, value, first);
        for (unsigned i = 1; i < per; i++)
            word =
                qn__wgsl_text(e, "%s | (%s << %uu)", word, lane_of_value(e, value, first + i), 8 * size * i);
        write_word(e, &place, (int64_t)first * size, 4, 4, qn__wgsl_text(e, "(%s)", word));
    }
}

/* ---- copies ---- */

static void copy_unit(wgsl_emitter *e, const wgsl_place *to, const wgsl_place *from, int64_t at,
                      unsigned unit) {
    const char *word = read_word(e, from, at, unit, unit);
    if (unit == 4 && (from->class->kind == IR_F32) != (to->class->kind == IR_F32))
        word = qn__wgsl_text(e, to->class->kind == IR_F32 ? "bitcast<f32>(%s)" : "bitcast<u32>(%s)", word);
    write_word(e, to, at, unit, unit, qn__wgsl_let(e, word));
}

static void copy(wgsl_emitter *e, const ir_instr *instr) {
    enum { WRITTEN_OUT = 8 };
    const bool words = instr->attr.align >= 4 && instr->attr.size % 4 == 0;
    const unsigned unit = words ? 4 : 1;
    const uint64_t count = instr->attr.size / unit;
    wgsl_place to = qn__wgsl_place(e, instr->operands[0], 0), from = qn__wgsl_place(e, instr->operands[1], 0);
    if (count <= WRITTEN_OUT) {
        for (uint64_t i = 0; i < count; i++) copy_unit(e, &to, &from, (int64_t)(i * unit), unit);
        return;
    }
    const char *i = qn__wgsl_text(e, "i%u", e->num_temps++);
    qn__wgsl_open(e, "for (var %s = 0u; %s < %lluu; %s += %uu) {", i, i, (unsigned long long)instr->attr.size,
                  i, unit);
    to.offset = qn__wgsl_text(e, to.class->step == 4 ? "%s + (%s >> 2u)" : "%s + %s", to.offset, i);
    from.offset = qn__wgsl_text(e, from.class->step == 4 ? "%s + (%s >> 2u)" : "%s + %s", from.offset, i);
    copy_unit(e, &to, &from, 0, unit);
    qn__wgsl_close(e, "}");
}

/* ---- pointers ---- */

static void define_pointer(wgsl_emitter *e, const ir_value *result, const char *offset, const ir_value *of) {
    const char *tag = qn__wgsl_is_tagged(e, result) ? high_word(e, of) : NULL;
    qn__wgsl_define(e, result, tag ? qn__wgsl_text(e, "vec2<u32>(%s, %s)", offset, tag) : offset);
}

static void pointer_add(wgsl_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0], *pointer = instr->operands[0];
    const wgsl_class *class = qn__wgsl_class(e, result);
    const uint32_t step = class ? class->step : 1;
    qn__sum sum = {.constant = instr->attr.offset};
    qn__linear(instr->operands[1], 1, true, &sum);
    const char *text = pointer->value_kind >= IR_VALUE_CONST && !qn__wgsl_is_tagged(e, result)
                           ? qn__wgsl_use_as(e, pointer, result)
                       : pointer->value_kind >= IR_VALUE_CONST ? "0u"
                                                               : qn__wgsl_low(e, pointer);
    for (unsigned i = 0; i < sum.count; i++) {
        const qn__term *term = &sum.terms[i];
        const char *value =
            term->value->type.kind == IR_I64 ? qn__wgsl_low(e, term->value) : qn__wgsl_use(e, term->value);
        const uint32_t scale = (uint32_t)(term->scale / (int64_t)step);
        text = qn__wgsl_text(e, scale == 1 ? "%s + %s" : "%s + %s * %uu", text, value, scale);
    }
    define_pointer(e, result, moved(e, text, sum.constant / (int64_t)step), pointer);
}

static bool is_first_local(const wgsl_emitter *e, int32_t arg) {
    for (int32_t i = 0; i < arg; i++)
        if (e->kernel->args.data[i].arg_kind == IR_ARG_LOCAL) return false;
    return true;
}

/* The pointer to a whole object: a number known here, but of parameters, whose places the launch tells. __local parameters
   lie behind the variables of their class, as they lie behind all of the kernel's in the block. */
static const char *object_offset(wgsl_emitter *e, const wgsl_object *object) {
    const wgsl_class *class = &e->classes.data[object->class_index];
    const unsigned kind = object->arg < 0 ? IR_ARG_PRINT : e->kernel->args.data[object->arg].arg_kind;
    const bool is_buffer = class->space == IR_GLOBAL_SPACE || class->space == IR_CONSTANT_SPACE;
    const char *begin;
    if (kind == IR_ARG_BUFFER) {
        begin = qn__wgsl_param(e, qn__wgsl_implicit(e, QN__IMPLICIT_BUFFER_OFFSET, (uint32_t)object->arg));
    } else if (kind == IR_ARG_LOCAL && is_first_local(e, object->arg)) { /* right behind the variables */
        return qn__wgsl_text(e, "%uu", (uint32_t)(class->size / class->step));
    } else if (kind == IR_ARG_LOCAL) {
        const uint32_t before =
            (uint32_t)((e->static_local + QN__LOCAL_ALIGN - 1) / QN__LOCAL_ALIGN * QN__LOCAL_ALIGN);
        begin = qn__wgsl_text(
            e, "(%s)", moved(e, qn__wgsl_param(e, (uint32_t)object->offset), (int64_t) class->size - before));
    } else {
        return qn__wgsl_text(e, "%uu", is_buffer ? 0 : (uint32_t)object->offset / class->step);
    }
    return class->step > 1 ? qn__wgsl_text(e, "%s >> %uu", begin, shift_of(class)) : begin;
}

static void define_object(wgsl_emitter *e, const ir_value *value) {
    if (!e->uses[value->id]) return;
    const wgsl_object *object = &e->objects.data[e->object_of[value->id] - 1];
    const char *offset = object_offset(e, object);
    const unsigned tag = (unsigned)object->offset;
    const bool is_passed = object->arg >= 0 && e->kernel->args.data[object->arg].arg_kind == IR_ARG_BUFFER;
    if (qn__wgsl_is_tagged(e, value) && tag && is_passed) /* there is one null pointer */
        offset = qn__wgsl_text(
            e, "vec2<u32>(%s, select(%uu, 0u, %s == %uu))", offset, tag,
            qn__wgsl_param(e, qn__wgsl_implicit(e, QN__IMPLICIT_BUFFER_OFFSET, (uint32_t)object->arg)),
            (uint32_t)QN__WGSL_NULL);
    else if (qn__wgsl_is_tagged(e, value))
        offset = qn__wgsl_text(e, "vec2<u32>(%s, %uu)", offset, tag);
    qn__wgsl_line(e, "let %s = %s;", qn__wgsl_name(e, value), offset);
}

static void define_global(wgsl_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    const wgsl_class *class = qn__wgsl_class(e, result);
    const uint32_t offset = (uint32_t)e->constants[instr->attr.index] / class->step;
    qn__wgsl_define(e, result,
                    qn__wgsl_text(e, qn__wgsl_is_tagged(e, result) ? "vec2<u32>(%uu, 0u)" : "%uu", offset));
}

static void pointer_to_int(wgsl_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0], *pointer = instr->operands[0];
    const char *low = qn__wgsl_address(e, pointer);
    const bool wide = !qn__wgsl_is_low(e, result);
    qn__wgsl_define(e, result,
                    wide ? qn__wgsl_text(e, "vec2<u32>(%s, %s)", low, high_word(e, pointer)) : low);
}

static void int_to_pointer(wgsl_emitter *e, const ir_instr *instr) {
    const ir_value *from = instr->operands[0];
    qn__wgsl_define(e, instr->results[0],
                    as_pointer(e, instr->results[0], qn__wgsl_low(e, from), high_word(e, from)));
}

/* ---- variables ---- */

/* The arrays of private memory, and arguments that point to memory. */
void qn__wgsl_variables(wgsl_emitter *e) {
    for (uint32_t c = 0; c < e->classes.len; c++) {
        wgsl_class *class = &e->classes.data[c];
        if (class->space != IR_PRIVATE) continue;
        class->name = qn__wgsl_text(e, "memory%u", c);
        qn__wgsl_line(e, "var %s: array<%s, %llu>;", class->name, qn__wgsl_element_type(e, class),
                      (unsigned long long)(class->size ? class->size / (class->halves ? 2 : 4) : 1));
    }
    for (size_t i = 0; i < e->kernel->args.len; i++) {
        const ir_value *value = e->kernel->args.data[i].value;
        if (e->object_of[value->id]) define_object(e, value);
    }
    for (const ir_instr *i = e->kernel->body->first; i && i->op == IR_VAR; i = i->next)
        define_object(e, i->results[0]);
}

bool qn__wgsl_memory(wgsl_emitter *e, const ir_instr *instr) {
    switch (instr->op) {
    case IR_LOCAL: define_object(e, instr->results[0]); return true;
    case IR_GLOBAL: define_global(e, instr); return true;
    case IR_INT2PTR: int_to_pointer(e, instr); return true;
    case IR_PTR2INT: pointer_to_int(e, instr); return true;
    case IR_PTR_ADD: pointer_add(e, instr); return true;
    case IR_LOAD: load(e, instr); return true;
    case IR_STORE: store(e, instr); return true;
    case IR_COPY: copy(e, instr); return true;
    case IR_FENCE: /* accesses that others could see are atomic */
    case IR_PREFETCH: return true;
    default: return false;
    }
}
