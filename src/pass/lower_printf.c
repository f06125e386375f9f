/* printf where the device has none: each call writes a record into the print buffer, as emit/gpu_abi.h says,
   whose address is one more argument of the kernel.

       %r = printf 3 %x   ->   used = atomic_load print[1]
                               %r = if used <= capacity { at = atomic add print[1], 16
                                      if at + 16 <= capacity { store size, 3, %x at it; yield 0 } else { -1 }
                                    } else { -1 }

   Once the buffer is full nothing more is added, so that the count cannot come round. A record that does not
   fit leaves a zero where its size would stand: the reader stops there. Values are written as 32-bit words
   (64-bit ones as they are), and floats become doubles with integer operations, because the device need have
   neither narrow stores nor doubles. A %s argument is the string's object and offset; where it cannot be
   told from the code which object that is, the address is compared with those of all strings. */
#include <string.h>

#include "pass/tools.h"

enum { MOST_STRINGS = 256, MOST_CHOICES = 6, WORD = 4, FIRST = 2 /* record's word */, NO_STRING = -1 };

/* Record under construction. */
typedef struct record {
    QN__VEC(ir_value *)
    words;       /* by 32-bit word; i64 and f64 in the first of their two; NULL: nothing there */
    uint64_t at; /* bytes so far */
} record;

typedef struct printer {
    qn__pass_context *context;
    ir_function *function;
    ir_builder builder;
    qn__rewrite rewrite;
    ir_value *buffer;
    const ir_instr *call;
    bool changed;
} printer;

static ir_value *word(printer *p, int64_t value) { return qn__ir_const_int(p->function, IR_I32, value); }
static ir_value *op2(printer *p, ir_op op, ir_value *a, ir_value *b) {
    return qn__ir_op2(&p->builder, op, a, b);
}
static ir_value *with(printer *p, ir_op op, ir_value *a, int64_t b) {
    return op2(p, op, a, qn__ir_const_int(p->function, (ir_kind)a->type.kind, b));
}
static ir_value *convert(printer *p, ir_op op, ir_value *value, ir_kind kind) {
    return qn__ir_convert(&p->builder, op, value, qn__ir_type(kind, 1));
}

/* ---- the format ---- */

/* The letter of the next conversion behind *at, with what it prints; 0 at the end. */
static char next_conversion(const char **at) {
    const char *percent = *at;
    while ((percent = strchr(percent, '%')) && percent[1] == '%') percent += 2;
    if (!percent) {
        *at += strlen(*at);
        return 0;
    }
    percent += 1 + strspn(percent + 1, "-+ #0123456789.vhlzjt");
    *at = *percent ? percent + 1 : percent;
    return *percent;
}

/* ---- values ---- */

static void put_bytes(printer *p, record *r, ir_value *value, unsigned size) {
    r->at = (r->at + size - 1) / size * size;
    const size_t n = (size_t)(r->at / WORD);
    while (r->words.len < (size_t)((r->at + size + WORD - 1) / WORD))
        qn__vec_push(p->context->scratch, &r->words, NULL);
    if (size < WORD) { /* shares its word */
        value = convert(p, IR_ZEXT, value, IR_I32);
        if (r->at % WORD) value = with(p, IR_SHL, value, (int64_t)(8 * (r->at % WORD)));
        if (r->words.data[n]) value = op2(p, IR_OR, r->words.data[n], value);
    }
    r->words.data[n] = value;
    r->at += size;
}

static void put_pair(printer *p, record *r, ir_value *low, ir_value *high) {
    r->at = (r->at + 7) / 8 * 8;
    put_bytes(p, r, low, WORD);
    put_bytes(p, r, high, WORD);
}

/* The bits of the double of the same value. A subnormal float is a normal double. */
static void put_double(printer *p, record *r, ir_value *value) {
    ir_value *bits = convert(p, IR_BITCAST, value, IR_I32);
    ir_value *exponent = with(p, IR_AND, with(p, IR_LSHR, bits, 23), 255);
    ir_value *fraction = with(p, IR_AND, bits, 0x7fffff);
    ir_value *low_exponent = with(p, IR_EQ, exponent, 0), *top_exponent = with(p, IR_EQ, exponent, 255);
    ir_value *shift = with(p, IR_SUB, qn__ir_op1(&p->builder, IR_CLZ, fraction), 8);
    ir_value *subnormal = with(p, IR_AND, op2(p, IR_SHL, fraction, shift), 0x7fffff);
    ir_value *wide = with(p, IR_ADD, exponent, 1023 - 127);
    wide = qn__ir_select(&p->builder, top_exponent, word(p, 2047), wide);
    ir_value *below = op2(p, IR_SUB, word(p, 1023 - 127 + 1), shift);
    ir_value *is_zero = with(p, IR_EQ, fraction, 0);
    below = qn__ir_select(&p->builder, is_zero, word(p, 0), below);
    wide = qn__ir_select(&p->builder, low_exponent, below, wide);
    fraction = qn__ir_select(&p->builder, low_exponent, subnormal, fraction);
    ir_value *high = with(p, IR_AND, bits, INT64_C(0x80000000)), *low = with(p, IR_SHL, fraction, 29);
    high = op2(p, IR_OR, high, with(p, IR_SHL, wide, 20));
    high = op2(p, IR_OR, high, with(p, IR_LSHR, fraction, 3));
    put_pair(p, r, low, high);
}

static void put_number(printer *p, record *r, ir_value *value) {
    const bool scalar = value->type.lanes == 1;
    for (unsigned lane = 0; lane < value->type.lanes; lane++) {
        ir_value *one = scalar ? value : qn__ir_extract(&p->builder, value, lane);
        const unsigned size = qn__ir_bits(one->type) / 8;
        if (one->type.kind == IR_F16) one = convert(p, IR_BITCAST, one, IR_I16);
        put_bytes(p, r, one, size);
    }
}

/* ---- strings ---- */

static bool is_string(const ir_global *global) {
    return global->size && global->relocations.len == 0 && memchr(global->data, 0, global->size);
}

/* Compares the address with those of all strings. */
static bool search_string(printer *p, ir_value *pointer, ir_value **object, ir_value **offset) {
    const ir_module *module = p->context->module;
    const ir_type type = qn__ir_pointer(IR_CONSTANT_SPACE);
    unsigned count = 0;
    ir_value *address = convert(p, IR_PTR2INT, pointer, IR_I64);
    *object = word(p, NO_STRING);
    *offset = word(p, 0);
    for (size_t n = 0; n < module->globals.len; n++) {
        if (!is_string(&module->globals.data[n])) continue;
        if (++count > MOST_STRINGS) return false;
        ir_instr *global = qn__ir_emit(&p->builder, IR_GLOBAL, NULL, 0, &type, 1);
        global->attr.index = (uint32_t)n;
        ir_value *from = convert(p, IR_PTR2INT, global->results[0], IR_I64);
        ir_value *distance = op2(p, IR_SUB, address, from);
        ir_value *inside = with(p, IR_ULT, distance, (int64_t)module->globals.data[n].size);
        *object = qn__ir_select(&p->builder, inside, word(p, (int64_t)n), *object);
        *offset = qn__ir_select(&p->builder, inside, convert(p, IR_TRUNC, distance, IR_I32), *offset);
    }
    return true;
}

/* The object and offset that a pointer leads to; `choices` bounds the selects on the way. */
static bool find_string(printer *p, ir_value *pointer, unsigned choices, ir_value **object,
                        ir_value **offset) {
    const ir_instr *def = pointer->def;
    if (qn__defined_by(pointer, IR_GLOBAL)) {
        *object = word(p, def->attr.index);
        *offset = word(p, 0);
        return true;
    }
    if (qn__defined_by(pointer, IR_PTR_ADD)) {
        if (!find_string(p, def->operands[0], choices, object, offset)) return false;
        *offset = op2(p, IR_ADD, *offset, convert(p, IR_TRUNC, def->operands[1], IR_I32));
        if (def->attr.offset) *offset = with(p, IR_ADD, *offset, def->attr.offset);
        return true;
    }
    if (qn__defined_by(pointer, IR_SELECT) && choices) {
        ir_value *objects[2], *offsets[2];
        for (unsigned n = 0; n < 2; n++)
            if (!find_string(p, def->operands[n + 1], choices - 1, &objects[n], &offsets[n])) return false;
        *object = qn__ir_select(&p->builder, def->operands[0], objects[0], objects[1]);
        *offset = qn__ir_select(&p->builder, def->operands[0], offsets[0], offsets[1]);
        return true;
    }
    return pointer->type.space == IR_CONSTANT_SPACE && search_string(p, pointer, object, offset);
}

static void put_string(printer *p, record *r, ir_value *pointer) {
    ir_value *object, *offset;
    if (find_string(p, pointer, MOST_CHOICES, &object, &offset))
        put_pair(p, r, offset, object);
    else
        qn__pass_refuse(p->context, p->call->loc,
                        "printf: the string for %s is not a string of this program");
}

/* ---- one call ---- */

/* What a scalar was before its promotion to double, where that was a float. */
static ir_value *before_promotion(printer *p, ir_value *value) {
    if (value->type.kind != IR_F64 || value->type.lanes != 1 || !qn__defined_by(value, IR_FCONVERT))
        return value;
    ir_value *from = value->def->operands[0];
    return from->type.kind == IR_F16 ? convert(p, IR_FCONVERT, from, IR_F32) : from;
}

static void put_values(printer *p, record *r, const ir_instr *call) {
    const ir_global *global = &p->context->module->globals.data[call->attr.index];
    const char *format = qn__arena_strndup(p->context->scratch, (const char *)global->data, global->size);
    for (uint32_t n = 0; n < call->num_operands && !p->context->error; n++) {
        const char letter = next_conversion(&format);
        ir_value *value = before_promotion(p, call->operands[n]);
        if (value->type.kind == IR_PTR && letter == 's')
            put_string(p, r, value);
        else if (value->type.kind == IR_PTR)
            put_bytes(p, r, convert(p, IR_PTR2INT, value, IR_I64), 8);
        else if (value->type.kind == IR_F32 && value->type.lanes == 1)
            put_double(p, r, value);
        else
            put_number(p, r, value);
    }
}

static ir_value *atomic(printer *p, ir_op op, ir_value *const *operands, uint32_t count) {
    const ir_type type = qn__ir_type(IR_I32, 1);
    ir_instr *made = qn__ir_emit(&p->builder, op, operands, count, &type, 1);
    made->attr.align = WORD;
    made->attr.offset = WORD;
    made->attr.order = IR_RELAXED;
    made->attr.scope = IR_SCOPE_DEVICE;
    if (op == IR_ATOMIC_RMW) made->attr.combine = IR_COMBINE_ADD;
    return made->results[0];
}

static ir_value *add_size(printer *p, int64_t size) {
    return atomic(p, IR_ATOMIC_RMW, (ir_value *[]){p->buffer, word(p, size)}, 2);
}

static void store_word(printer *p, ir_value *pointer, int64_t offset, ir_value *value, uint32_t align) {
    qn__ir_store(&p->builder, pointer, value, align, 0)->attr.offset = offset;
}

static void store_record(printer *p, const record *r, ir_value *pointer, int64_t size) {
    store_word(p, pointer, FIRST * WORD, word(p, size), 8);
    store_word(p, pointer, (FIRST + 1) * WORD, word(p, p->call->attr.index), WORD);
    for (size_t n = 0; n < r->words.len; n++) {
        if (!r->words.data[n]) continue;
        store_word(p, pointer, (int64_t)(n + FIRST + 2) * WORD, r->words.data[n], n % 2 ? WORD : 2 * WORD);
    }
}

static void yield(printer *p, ir_value *value) { qn__ir_yield(&p->builder, &value, 1); }

/* Behind the reservation: writes the record, or the zero that ends the buffer. */
static void fill_reserved(printer *p, const record *r, int64_t size, ir_value *at, ir_value *capacity) {
    const ir_type type = qn__ir_type(IR_I32, 1);
    ir_value *pointer = qn__ir_ptr_add(&p->builder, p->buffer, convert(p, IR_ZEXT, at, IR_I64));
    ir_instr *fits = qn__ir_if(&p->builder, op2(p, IR_ULE, with(p, IR_ADD, at, size), capacity), &type, 1);
    ir_region *here = p->builder.region;
    qn__ir_at_end(&p->builder, fits->regions[0]);
    store_record(p, r, pointer, size);
    yield(p, word(p, 0));
    qn__ir_at_end(&p->builder, fits->regions[1]);
    ir_instr *last = qn__ir_if(&p->builder, op2(p, IR_ULT, at, capacity), NULL, 0);
    qn__ir_at_end(&p->builder, last->regions[0]);
    store_word(p, pointer, FIRST * WORD, word(p, 0), 8);
    qn__ir_yield(&p->builder, NULL, 0);
    qn__ir_at_end(&p->builder, last->regions[1]);
    qn__ir_yield(&p->builder, NULL, 0);
    qn__ir_at_end(&p->builder, fits->regions[1]);
    yield(p, word(p, -1));
    qn__ir_at_end(&p->builder, here);
    yield(p, fits->results[0]);
}

static void lower(printer *p, ir_instr *call) {
    const ir_type type = qn__ir_type(IR_I32, 1);
    record r = {.at = 0};
    p->call = call;
    qn__ir_at(&p->builder, call);
    put_values(p, &r, call);
    if (p->context->error) return;
    const int64_t size = (int64_t)((r.at + 7) / 8 * 8 + 2 * WORD);

    ir_value *capacity = qn__ir_load(&p->builder, p->buffer, type, 8, 0);
    ir_value *used = atomic(p, IR_ATOMIC_LOAD, (ir_value *[]){p->buffer}, 1);
    ir_instr *open = qn__ir_if(&p->builder, op2(p, IR_ULE, used, capacity), &type, 1);
    qn__ir_at_end(&p->builder, open->regions[0]);
    fill_reserved(p, &r, size, add_size(p, size), capacity);
    qn__ir_at_end(&p->builder, open->regions[1]);
    yield(p, word(p, -1));
    qn__rewrite_set(&p->rewrite, call->results[0], open->results[0]);
    qn__ir_unlink(call);
    p->changed = true;
}

/* ---- all of them ---- */

static ir_value *print_argument(ir_function *function) {
    ir_value *value = qn__ir_arg_add(function, qn__ir_pointer(IR_GLOBAL_SPACE), "print");
    ir_arg *arg = &qn__vec_last(&function->args);
    arg->arg_kind = IR_ARG_PRINT;
    arg->size = arg->align = 8;
    arg->name = "print";
    return value;
}

static void visit(printer *p, ir_region *region) {
    for (ir_instr *i = region->first, *next; i && !p->context->error; i = next) {
        next = i->next;
        qn__rewrite_operands(&p->rewrite, i);
        for (uint32_t r = 0; r < i->num_regions; r++) visit(p, i->regions[r]);
        if (i->op != IR_PRINTF) continue;
        if (!p->buffer) p->buffer = print_argument(p->function);
        p->builder = (ir_builder){.function = p->function};
        lower(p, i);
    }
}

/* The promotions that nothing uses any more would still need doubles. */
static void remove_promotions(ir_region *region, const uint32_t *uses) {
    for (ir_instr *i = region->first, *next; i; i = next) {
        next = i->next;
        for (uint32_t r = 0; r < i->num_regions; r++) remove_promotions(i->regions[r], uses);
        if (i->op == IR_FCONVERT && i->results[0]->type.kind == IR_F64 && !uses[i->results[0]->id])
            qn__ir_unlink(i);
    }
}

bool qn__pass_lower_printf(qn__pass_context *context) {
    printer p = {.context = context, .function = context->function};
    if (!qn__has_op(context->function, IR_PRINTF, IR_PRINTF)) return false;
    visit(&p, context->function->body);
    if (p.changed && !context->error)
        remove_promotions(context->function->body, qn__ir_count_uses(context->scratch, context->function));
    return p.changed;
}
