/* libFuzzer target: IR text through the passes, the verifier after each, and each emitter. The first line may say how:
       ; LEVEL TRAITS ARCH
   in hexadecimal: a bit for each of the list of traits below, and an architecture of PTX.
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
    qn__emit_options options;
} input;

/* What is tried beside what an emitter counts on. */
static const qn__trait traits[] = {
    QN__TRAIT(lacks_fast_fma32),
    QN__TRAIT(lacks_f16),
    QN__TRAIT(lacks_long_vectors),
    QN__TRAIT(wants_vector_memory),
    QN__TRAIT(lacks_far_jumps),
    QN__TRAIT(lacks_collectives),
    QN__TRAIT(lacks_sub_groups),
    QN__TRAIT(lacks_linear_sub_groups),
    QN__TRAIT(wants_offsets),
    QN__TRAIT(wants_narrow),
    QN__TRAIT(wants_end_tests),
    QN__TRAIT(wants_unrolled),
    QN__TRAIT(lacks_unrolled_barriers),
    QN__TRAIT(lacks_i64),
    QN__TRAIT(lacks_i8),
    QN__TRAIT(lacks_i16),
    QN__TRAIT(wants_large_unrolled),
    QN__TRAIT(wants_large_end_tests),
    QN__TRAIT(wants_even_unrolled),
    QN__TRAIT(lacks_denormal_compares),
    QN__TRAIT(has_denormals),
    QN__TRAIT(lacks_division),
    QN__TRAIT(lacks_f16_division),
    QN__TRAIT(lacks_zero_divisors),
    QN__TRAIT(lacks_division_overflow),
    QN__TRAIT(lacks_byte_swaps),
    QN__TRAIT(has_dot4),
    QN__TRAIT(lacks_f64),
    QN__TRAIT(lacks_storage_8),
    QN__TRAIT(lacks_storage_16),
    QN__TRAIT(lacks_exact_fma),
    QN__TRAIT(lacks_loop_results),
    QN__TRAIT(lacks_constant_division),
};

static const qn__emitter *const emitters[] = {&qn__emitter_c, &qn__emitter_ptx, &qn__emitter_spirv,
                                              &qn__emitter_clc};

static void read_head(input *in) {
    char *at;
    in->level = 2;
    if (strncmp(in->text, "; ", 2) != 0) return;
    in->level = (int)(strtoul(in->text + 2, &at, 16) % 3);
    const unsigned long bits = strtoul(at, &at, 16);
    for (size_t i = 0; i < sizeof traits / sizeof *traits; i++)
        qn__set_trait(&in->options.target, traits[i], bits >> i & 1);
    in->options.target.arch = strtoul(at, &at, 16) & 1 ? 90 : 0;
}

static void go_through(qn__arena *arena, const input *in, const qn__emitter *emitter) {
    const char *error = NULL;
    ir_module *module = qn__ir_parse(arena, in->text, in->size, &error);
    if (!module || qn__ir_verify(arena, module)) return;
    module->max_instrs = MAX_INSTRS;
    qn__emit_options emit_options = in->options;
    qn__target_add(&emit_options.target, &emitter->base);
    qn__pass_options options = {.level = in->level, .target = emit_options.target, .verify = true};
    error = qn__pass_run(module, &options);
    if (error && !strncmp(error, "internal error", 14)) abort();
    if (error) return;
    qn__emit_result result = {.text = NULL};
    emitter->emit(arena, module, &emit_options, &result);
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
    for (size_t i = 0; i < sizeof emitters / sizeof *emitters; i++) {
        qn__arena arena;
        jmp_buf escape;
        qn__arena_init(&arena, NULL, BUDGET);
        arena.escape = &escape;
        if (!setjmp(escape)) go_through(&arena, &in, emitters[i]);
        qn__arena_free(&arena);
    }
    free(text);
    return 0;
}
