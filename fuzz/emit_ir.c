/* libFuzzer target: IR text through the passes, the verifier after each, and each emitter. The first line may say how:
       ; LEVEL PASS-LACKS DEVICE-LACKS ARCH
   in hexadecimal: bits of pass/pass.h and of emit/emit.h, and an architecture of PTX. */
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
