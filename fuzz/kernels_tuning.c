/* libFuzzer target: the text of a tuning. The first line is right where the input is not empty; what is not a tuning has a
   message with its line. */
#include <quern/kernels.h>
#include <stdlib.h>
#include <string.h>

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char head[] = QN_TUNING_HEAD "\n";
    char *text = calloc(size + sizeof head, 1);
    check(text != NULL);
    if (size) memcpy(text, head, sizeof head - 1);
    if (size) memcpy(text + sizeof head - 1, data, size);
    qn_kernels *kernels = NULL;
    const qn_status status = qn_kernels_create(device, &(qn_kernels_desc){.tuning = text}, &kernels);
    check(status == QN_OK ? kernels != NULL : status == QN_ERROR_ARGUMENT && kernels == NULL);
    if (status) check(strstr(qn_error_message(context), "tuning, line ") != NULL);
    qn_kernels_destroy(kernels);
    free(text);
    return 0;
}
