/* libFuzzer target: source text through the whole compiler to each target, with the verifier after every pass, and what
   the interpreter makes of the module. A kernel file is an input as it is. Its first line may say how it is compiled:
       //~ LEVEL TRAITS ARCH OPTIONS
   where the first three are hexadecimal: the level, a bit for each of the list of traits below, and an architecture. A
   line "//~file" begins another file of the program. */
#include <stdlib.h>
#include <string.h>

#include "compile.h"
#include "ir/ir.h"
#include "vm/vm.h"

enum { BUDGET = 256 << 20, MAX_INSTRS = 20000, MAX_OPTIONS = 256, MAX_MORE = 4 };

static const uint32_t archs[] = {0, 60, 61, 70, 75, 80, 86, 90, 100, 120};
static const uint32_t sub_group_sizes[] = {0, 8, 16, 64};

/* What devices may say of themselves, a bit each. */
static const qn__trait traits[] = {
    QN__TRAIT(lacks_f16),
    QN__TRAIT(lacks_f64),
    QN__TRAIT(lacks_i8),
    QN__TRAIT(lacks_i16),
    QN__TRAIT(lacks_i64),
    QN__TRAIT(lacks_storage_8),
    QN__TRAIT(lacks_storage_16),
    QN__TRAIT(lacks_i64_atomics),
    QN__TRAIT(lacks_float_atomic_add),
    QN__TRAIT(lacks_sub_groups),
    QN__TRAIT(lacks_sub_group_shuffle),
    QN__TRAIT(lacks_unrolled_barriers),
    QN__TRAIT(lacks_exact_fma),
    QN__TRAIT(lacks_float_controls),
    QN__TRAIT(lacks_loop_results),
    QN__TRAIT(lacks_exact_zeros),
    QN__TRAIT(has_denormals),
    QN__TRAIT(has_nearest),
    QN__TRAIT(wants_wide_addresses),
    QN__TRAIT(lacks_denormal_compares),
    QN__TRAIT(lacks_large_params),
    QN__TRAIT(wants_unrolled),
    QN__TRAIT(lacks_byte_swaps),
    QN__TRAIT(lacks_fast_fma32),
    QN__TRAIT(lacks_fast_fma64),
    QN__TRAIT(tries_loose_fma),
    QN__TRAIT(tries_exact_fma),
    QN__TRAIT(tries_unroll_hints),
    QN__TRAIT(tries_loop_hints),
    QN__TRAIT(tries_glsl_memory),
    QN__TRAIT(has_dot4),
};

/* SPIR-V twice: as the first line says, and for a device that has what that one lacks and lacks what it has. */
enum { POOR = 0x8fffd }; /* all that is lacked above but doubles; and comparisons of denormal numbers */
static const struct run {
    qn__target_kind target;
    uint32_t flips; /* bits of traits */
} runs[] = {{QN__TARGET_IR, 0},    {QN__TARGET_C, 0},        {QN__TARGET_PTX, 0},
            {QN__TARGET_SPIRV, 0}, {QN__TARGET_SPIRV, POOR}, {QN__TARGET_CLC, 0}};

static void flip(qn__target *target, uint32_t bits) {
    for (size_t i = 0; i < sizeof traits / sizeof *traits; i++)
        if (bits >> i & 1) qn__set_trait(target, traits[i], !qn__has_trait(target, traits[i]));
}

/* Fills the request from the first line, the options of which are copied to `options`. */
static void read_head(const char *text, qn__compile_request *request, char *options) {
    char *at;
    request->level = 2;
    request->target.arch = 90;
    if (strncmp(text, "//~", 3) != 0) return;
    request->level = (int)(strtoul(text + 3, &at, 16) % 3);
    flip(&request->target, (uint32_t)strtoul(at, &at, 16));
    const unsigned long arch = strtoul(at, &at, 16);
    request->target.arch = archs[arch % (sizeof archs / sizeof *archs)];
    request->target.sub_group_size =
        sub_group_sizes[arch / 16 % (sizeof sub_group_sizes / sizeof *sub_group_sizes)];
    size_t length = strcspn(at, "\n");
    if (length >= MAX_OPTIONS) length = MAX_OPTIONS - 1;
    memcpy(options, at, length);
    options[length] = 0;
    request->options = options;
}

/* Ends each file's text, and gives how many there are behind the first. */
static size_t split(char *text, qn__compile_source more[MAX_MORE]) {
    static const char line[] = "\n//~file\n";
    size_t count = 0;
    for (char *at = text; count < MAX_MORE && (at = strstr(at, line)); at++) {
        at[0] = 0;
        more[count++] = (qn__compile_source){.text = at + 1};
    }
    return count;
}

static void prepare_kernels(qn__compile_result *result) {
    jmp_buf escape;
    result->arena.escape = &escape;
    if (setjmp(escape)) return;
    for (size_t i = 0; i < result->module->functions.len; i++) {
        const char *error = NULL;
        if (!qn__vm_prepare(&result->arena, result->module->functions.data[i], 32, &error) && !error) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1), options[MAX_OPTIONS];
    if (!text) return 0;
    if (size) memcpy(text, data, size);
    text[size] = 0;
    qn__compile_request request = {
        .source = text, .no_files = true, .verify = true, .memory_budget = BUDGET, .max_instrs = MAX_INSTRS};
    qn__compile_source more[MAX_MORE];
    read_head(text, &request, options);
    request.more = more;
    request.num_more = split(text, more);
    const qn__target target = request.target;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        qn__compile_result result;
        request.target = target;
        request.target.kind = runs[i].target;
        flip(&request.target, runs[i].flips);
        const qn__compile_status status = qn__compile(&request, &result);
        if (status == QN__COMPILE_INTERNAL) abort();
        if (status == QN__COMPILE_OK && request.target.kind == QN__TARGET_IR) prepare_kernels(&result);
        qn__compile_free(&result);
        if (status == QN__COMPILE_SOURCE_ERROR || status == QN__COMPILE_BAD_OPTION) break;
    }
    free(text);
    return 0;
}
