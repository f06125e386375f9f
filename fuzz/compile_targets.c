/* libFuzzer target: source text through the whole compiler to each target, with the verifier after every pass, and what
   the interpreter makes of the module. A kernel file is an input as it is. Its first line may say how it is compiled:
       //~ LEVEL LACKS WITHOUT ARCH OPTIONS
   where the first four are hexadecimal: the level, bits of device_lacks and without (compile.h), and an architecture. */
#include <stdlib.h>
#include <string.h>

#include "compile.h"
#include "emit/emit.h"
#include "ir/ir.h"
#include "vm/vm.h"

enum { BUDGET = 256 << 20, MAX_INSTRS = 20000, MAX_OPTIONS = 256 };

static const uint32_t archs[] = {0, 60, 61, 70, 75, 80, 86, 90, 100, 120};
static const uint32_t sub_group_sizes[] = {0, 8, 16, 64};

/* SPIR-V twice: as the first line says, and for a device that has what that one lacks and lacks what it has. */
enum { POOR = ((QN__NO_FLOAT_CONTROLS << 1) - 1) | QN__NO_LOOP_RESULTS | QN__FOLDS_ZEROS };
static const struct run {
    qn__compile_target target;
    uint32_t flips; /* bits of device_lacks */
} runs[] = {{QN__TARGET_IR, 0},    {QN__TARGET_C, 0},        {QN__TARGET_PTX, 0},
            {QN__TARGET_SPIRV, 0}, {QN__TARGET_SPIRV, POOR}, {QN__TARGET_CLC, 0}};

/* Fills the request from the first line, the options of which are copied to `options`. */
static void read_head(const char *text, qn__compile_request *request, char *options) {
    char *at;
    request->level = 2;
    if (strncmp(text, "//~", 3) != 0) return;
    request->level = (int)(strtoul(text + 3, &at, 16) % 3);
    request->device_lacks = (uint32_t)strtoul(at, &at, 16);
    request->without = (uint32_t)strtoul(at, &at, 16);
    const unsigned long arch = strtoul(at, &at, 16);
    request->arch = archs[arch % (sizeof archs / sizeof *archs)];
    request->sub_group_size = sub_group_sizes[arch / 16 % (sizeof sub_group_sizes / sizeof *sub_group_sizes)];
    size_t length = strcspn(at, "\n");
    if (length >= MAX_OPTIONS) length = MAX_OPTIONS - 1;
    memcpy(options, at, length);
    options[length] = 0;
    request->options = options;
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
    read_head(text, &request, options);
    const uint32_t device_lacks = request.device_lacks;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        qn__compile_result result;
        request.target = runs[i].target;
        request.device_lacks = device_lacks ^ runs[i].flips;
        const qn__compile_status status = qn__compile(&request, &result);
        if (status == QN__COMPILE_INTERNAL) abort();
        if (status == QN__COMPILE_OK && request.target == QN__TARGET_IR) prepare_kernels(&result);
        qn__compile_free(&result);
        if (status == QN__COMPILE_SOURCE_ERROR || status == QN__COMPILE_BAD_OPTION) break;
    }
    free(text);
    return 0;
}
