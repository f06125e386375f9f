/* libFuzzer target: IR text through the passes, the verifier after each, and each emitter. The first line may say how:
       ; LEVEL PASS-LACKS DEVICE-LACKS ARCH
   in hexadecimal: bits of pass/pass.h and of emit/emit.h, and an architecture of PTX.
   As bytes changed at random are hardly ever IR, half of the changes are of a word: to one of the same kind. */
#include <stdlib.h>
#include <string.h>

#include "emit/emit.h"
#include "pass/pass.h"

enum { BUDGET = 256 << 20, MAX_INSTRS = 20000 };

typedef struct input {
    const char *text;
    size_t size;
    int level;
    uint32_t pass_lacks;
    qn__emit_options options;
} input;

/* What an emitter counts on is gone by then. */
static const struct target {
    uint32_t lacks;
    void (*emit)(qn__arena *arena, ir_module *module, const qn__emit_options *options,
                 qn__emit_result *result);
} targets[] = {
    {0, qn__emit_c},
    {QN__LACKS_COLLECTIVES | QN__LACKS_PRINTF, qn__emit_ptx},
    {QN__LACKS_COLLECTIVES | QN__LACKS_PRINTF | QN__LACKS_LONG_VECTORS | QN__LACKS_FAR_JUMPS |
         QN__LACKS_LINEAR_SUB_GROUPS | QN__LACKS_DIVISION | QN__LACKS_F16_DIVISION,
     qn__emit_spirv},
    {QN__LACKS_COLLECTIVES | QN__LACKS_PRINTF | QN__LACKS_F16 | QN__LACKS_LINEAR_SUB_GROUPS, qn__emit_clc},
};

static void read_head(input *in) {
    char *at;
    in->level = 2;
    if (strncmp(in->text, "; ", 2) != 0) return;
    in->level = (int)(strtoul(in->text + 2, &at, 16) % 3);
    in->pass_lacks = (uint32_t)strtoul(at, &at, 16);
    in->options.device_lacks = (uint32_t)strtoul(at, &at, 16);
    in->options.arch = strtoul(at, &at, 16) & 1 ? 90 : 0;
}

static void go_through(qn__arena *arena, const input *in, const struct target *target) {
    const char *error = NULL;
    ir_module *module = qn__ir_parse(arena, in->text, in->size, &error);
    if (!module || qn__ir_verify(arena, module)) return;
    module->max_instrs = MAX_INSTRS;
    qn__pass_options options = {.level = in->level, .lacks = in->pass_lacks | target->lacks, .verify = true};
    error = qn__pass_run(module, &options);
    if (error && !strncmp(error, "internal error", 14)) abort();
    if (error) return;
    qn__emit_result result = {.text = NULL};
    target->emit(arena, module, &in->options, &result);
    if (!result.error && !result.text) abort();
}

/* ---- changes ---- */

typedef struct word {
    size_t at, length;
    char kind; /* '%' a value, 'i' a type, '0' a number, 'a' anything else */
} word;

static bool is_of_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '_' || c == '%' || c == '@' || c == '-';
}

static char kind_of(const char *at, size_t length) {
    if (*at == '%') return '%';
    if (*at >= '0' && *at <= '9') return '0';
    bool is_type = length > 1 && strchr("if", *at) && at[1] >= '0' && at[1] <= '9';
    return is_type || (length == 4 && !memcmp(at, "bool", 4)) ? 'i' : 'a';
}

/* The word at or behind `from`; without length: none. */
static word find_word(const char *text, size_t size, size_t from) {
    while (from < size && !is_of_word(text[from])) from++;
    word w = {.at = from};
    while (from + w.length < size && is_of_word(text[from + w.length])) w.length++;
    if (w.length) w.kind = kind_of(text + w.at, w.length);
    return w;
}

static uint32_t next_random(uint32_t *state) { /* xorshift32 (Marsaglia) */
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* A text to put in the place of `old`: another word of its kind in the text, an op's name, or a type. */
static qn__str choose(const char *text, size_t size, const word *old, uint32_t *random) {
    static const char *const types[] = {"i8",    "i16",   "i32",   "i64",  "f16",   "f32",    "f64",  "bool",
                                        "i32x4", "f32x4", "i64x2", "i8x3", "f64x8", "i16x16", "f16x2"};
    if (old->kind == 'i' && next_random(random) & 1)
        return qn__str_of(types[next_random(random) % (sizeof types / sizeof *types)]);
    if (old->kind == 'a' && next_random(random) & 1)
        return qn__str_of(qn__ir_ops[next_random(random) % IR_OP_COUNT].name);
    for (int i = 0; i < 16; i++) {
        const word other = find_word(text, size, next_random(random) % size);
        if (other.length && other.kind == old->kind) return (qn__str){text + other.at, other.length};
    }
    return (qn__str){text + old->at, old->length};
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    uint32_t random = seed * 2654435761u | 1;
    char *text = (char *)data, new_word[64];
    const word old = size ? find_word(text, size, next_random(&random) % size) : (word){.length = 0};
    if (!old.length || next_random(&random) & 1) return LLVMFuzzerMutate(data, size, max_size);
    const qn__str by = choose(text, size, &old, &random);
    if (by.len > sizeof new_word || size - old.length + by.len > max_size)
        return LLVMFuzzerMutate(data, size, max_size);
    memcpy(new_word, by.data, by.len);
    memmove(text + old.at + by.len, text + old.at + old.length, size - old.at - old.length);
    memcpy(text + old.at, new_word, by.len);
    return size - old.length + by.len;
}

/* ---- runs ---- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    if (!text) return 0;
    if (size) memcpy(text, data, size);
    text[size] = 0;
    input in = {.text = text, .size = size};
    read_head(&in);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        qn__arena arena;
        jmp_buf escape;
        qn__arena_init(&arena, NULL, BUDGET);
        arena.escape = &escape;
        if (!setjmp(escape)) go_through(&arena, &in, &targets[i]);
        qn__arena_free(&arena);
    }
    free(text);
    return 0;
}
