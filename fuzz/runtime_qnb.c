/* libFuzzer target: a program to ship that is damaged though its checksum is right. The input is what stands between the
   first bytes and the checksum. What can be read is described, and loaded by the device that computes nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/qnb.h"

static qn_context *context;
static qn_device *device;

static void check(bool holds) {
    if (!holds) abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    check(qn_context_create(&(qn_context_desc){.disable_cache = true}, &context) == QN_OK);
    check(qn_device_get(context, "null", &device) == QN_OK);
    return 0;
}

/* Everything that a program says of itself. */
static void look_at(qn_program *program) {
    size_t length = strlen(qn_program_log(program));
    for (uint32_t i = 0; i < qn_program_kernel_count(program); i++) {
        qn_kernel *kernel = NULL;
        qn_kernel_info info;
        if (qn_kernel_create(program, qn_program_kernel_name(program, i), &kernel)) continue;
        check(qn_kernel_get_info(kernel, &info) == QN_OK);
        length += strlen(info.name);
        for (uint32_t p = 0; p < info.num_params; p++) {
            qn_param_info param;
            check(qn_kernel_get_param(kernel, p, &param) == QN_OK);
            length += strlen(param.name) + strlen(param.type_name);
        }
        qn_launch(NULL, kernel, QN_RANGE(1), QN_NO_ARGS);
        qn_kernel_destroy(kernel);
    }
    check(length < SIZE_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char magic[8] = {'\x8f', 'q', 'n', 'b', '\r', '\n', '\x1a', '\n'};
    const size_t whole = sizeof magic + size + 8;
    char *file = malloc(whole), *json = NULL;
    check(file != NULL);
    memcpy(file, magic, sizeof magic);
    if (size) memcpy(file + sizeof magic, data, size);
    const uint64_t sum = qn__hash(file, whole - 8, 0);
    memcpy(file + whole - 8, &sum, 8);
    if (qn__qnb_reflect(context, file, whole, "fuzz.qnb", &json) == QN_OK) check(json != NULL);
    qn_text_free(context, json);
    qn_program *program = NULL;
    const qn_program_desc desc = {.binary = file, .binary_size = whole};
    const qn_status status = qn_program_create(device, &desc, &program);
    check(status == QN_OK || qn_error_message(context)[0]);
    memset(file, 0, whole); /* the program has its own copy */
    if (!status) look_at(program);
    qn_program_destroy(program);
    free(file);
    return 0;
}
