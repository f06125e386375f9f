/* Constants of targets whose text is like C; see cdata.h. */
#include "emit/cdata.h"

#include <string.h>

/* ---- literals ---- */

/* As %a of printf: 0x1.8p+1. `value` is finite and not negative. */
static void hex_float(char *at, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t mantissa = bits << 12;
    int exponent = (int)(bits >> 52);
    *at++ = '0';
    *at++ = 'x';
    *at++ = exponent ? '1' : '0';
    if (mantissa) *at++ = '.';
    for (uint64_t rest = mantissa; rest; rest <<= 4) *at++ = "0123456789abcdef"[rest >> 60];
    exponent = bits == 0 ? 0 : exponent ? exponent - 1023 : -1022;
    *at++ = 'p';
    *at++ = exponent < 0 ? '-' : '+';
    unsigned magnitude = (unsigned)(exponent < 0 ? -exponent : exponent), unit = 1;
    while (magnitude / unit >= 10) unit *= 10;
    for (; unit; unit /= 10) *at++ = (char)('0' + magnitude / unit % 10);
    *at = 0;
}

static void finite(qn__buf *out, double value, const char *suffix) {
    const bool negative = value < 0 || (value == 0 && 1 / value < 0);
    char digits[24];
    if (value >= -1e6 && value <= 1e6 && value == (double)(long)value) {
        long long magnitude = (long long)(value < 0 ? -value : value);
        qn__buf_printf(out, negative ? "(-%lld.0%s)" : "%lld.0%s", magnitude, suffix);
        return;
    }
    hex_float(digits, negative ? -value : value);
    qn__buf_printf(out, negative ? "(-%s%s)" : "%s%s", digits, suffix);
}

static double value_of(ir_kind kind, uint64_t bits) {
    union {
        uint32_t u;
        float f;
    } single = {.u = (uint32_t)bits};
    union {
        uint64_t u;
        double f;
    } twice = {.u = bits};
    return kind == IR_F16 ? qn__f16_to_double((uint16_t)bits) : kind == IR_F32 ? single.f : twice.f;
}

static void literal(qn__buf *out, const qn__c_literals *words, ir_kind kind, uint64_t bits, bool listed) {
    if (kind == IR_BOOL) {
        qn__buf_puts(out, words->truth[bits & 1]);
    } else if (!qn__ir_is_float(qn__ir_type(kind, 1)) || (kind == IR_F16 && words->f16_is_bits)) {
        words->integer(out, kind, bits, listed);
    } else {
        const double value = value_of(kind, bits);
        if (value - value != 0)
            words->not_finite(out, kind, value, bits);
        else
            finite(out, value, kind == IR_F64 ? "" : "f");
    }
}

void qn__c_literal(qn__buf *out, const qn__c_literals *words, ir_kind kind, uint64_t bits) {
    literal(out, words, kind, bits, false);
}

/* ---- objects ---- */

static void bytes(qn__buf *out, const uint8_t *data, uint64_t size) {
    for (uint64_t i = 0; i < size; i++) {
        if (i % 24 == 0) qn__buf_puts(out, "\n    ");
        qn__buf_putu(out, data[i]);
        qn__buf_putc(out, ',');
    }
}

static void numbers(qn__buf *out, const qn__c_objects *objects, const ir_global *global, ir_kind kind) {
    const unsigned size = qn__ir_bits(qn__ir_type(kind, 1)) / 8;
    for (uint64_t at = 0; at < global->size; at += size) {
        uint64_t word = 0;
        memcpy(&word, global->data + at, size); /* little-endian, as the data is */
        if (at / size % 8 == 0) qn__buf_puts(out, "\n    ");
        literal(out, objects->literals, kind, word, true);
        qn__buf_puts(out, ", ");
    }
}

static void plain(qn__buf *out, const qn__c_objects *objects, void *user, const ir_global *global,
                  uint32_t index) {
    const ir_kind kind = objects->element(user, global);
    const unsigned size = kind == IR_VOID ? 1 : qn__ir_bits(qn__ir_type(kind, 1)) / 8;
    const uint64_t count = global->size / size;
    if (objects->comments && qn__c_is_identifier(global->name))
        qn__buf_printf(out, "/* %s */\n", global->name);
    qn__buf_printf(out, "%s %s %s%u[%llu] __attribute__((aligned(%u))) = {", objects->storage,
                   kind == IR_VOID ? objects->byte : objects->type(user, kind), objects->name, index,
                   (unsigned long long)(count ? count : 1), global->align ? global->align : 1);
    if (kind == IR_VOID)
        bytes(out, global->data, global->size);
    else
        numbers(out, objects, global, kind);
    qn__buf_puts(out, count ? "\n};\n" : "0};\n");
}

/* A packed struct of runs of bytes and pointers. */
static void relocated(qn__buf *out, const qn__c_objects *words, const ir_global *global, uint32_t index) {
    uint64_t at = 0;
    qn__buf values;
    qn__buf_init(&values, out->arena);
    qn__buf_printf(out, "%s struct {", words->storage);
    for (size_t i = 0; i <= global->relocations.len; i++) {
        bool last = i == global->relocations.len;
        uint64_t next = last ? global->size : global->relocations.data[i].offset;
        if (next > at) {
            qn__buf_printf(out, " %s bytes%zu[%llu];", words->byte, i, (unsigned long long)(next - at));
            qn__buf_puts(&values, " {");
            bytes(&values, global->data + at, next - at);
            qn__buf_puts(&values, "},");
        }
        if (last) break;
        const ir_relocation *r = &global->relocations.data[i];
        qn__buf_printf(out, " %spointer%zu;", words->pointer, i);
        qn__buf_printf(&values, " (%s)&%s%u + %lld,", words->pointer, words->name, r->target,
                       (long long)r->addend);
        at = next + 8;
    }
    qn__buf_printf(out, " } __attribute__((packed, aligned(%u))) %s%u = {%s};\n",
                   global->align ? global->align : 8, words->name, index, values.data ? values.data : "");
}

static void reach(const ir_module *module, bool *used) {
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < module->globals.len; i++) {
            const ir_global *global = &module->globals.data[i];
            for (size_t r = 0; used[i] && r < global->relocations.len; r++) {
                const uint32_t target = global->relocations.data[r].target;
                more = more || !used[target];
                used[target] = true;
            }
        }
    }
}

void qn__c_constants(qn__buf *out, const qn__c_objects *objects, void *user, const ir_module *module,
                     bool *used) {
    reach(module, used);
    for (int relocations = 0; relocations < 2; relocations++) {
        for (uint32_t i = 0; i < module->globals.len; i++) {
            const ir_global *global = &module->globals.data[i];
            if (!used[i] || (global->relocations.len != 0) != relocations) continue;
            if (relocations)
                relocated(out, objects, global, i);
            else if (!objects->own || !objects->own(user, global, i))
                plain(out, objects, user, global, i);
        }
    }
}
