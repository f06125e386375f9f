/* libFuzzer target: image files. The first byte chooses channels; the rest is the file. What is refused has a sentence; what is not has pixels, which are scaled. */
#include <stdlib.h>
#include <string.h>

#include "data/pixels.h"

static qn_context *context;

static void check(bool holds) {
    if (!holds) abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    check(qn_context_create(&(qn_context_desc){.disable_cache = true}, &context) == QN_OK);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint32_t channels[] = {0, 1, 3, 4};
    uint8_t small[4 * 7 * 5];
    pixels image;
    if (!size) return 0;
    const qn_status status =
        qn__pixels_decode(context, data + 1, size - 1, "memory", channels[data[0] % 4], &image);
    if (status) {
        check(status == QN_ERROR_ARGUMENT && strlen(qn_error_message(context)) > strlen("memory: "));
        return 0;
    }
    check(image.width && image.height && image.channels && image.channels <= 4);
    if ((uint64_t)image.width * image.height <= 1 << 20)
        check(qn__pixels_fit(context, &image, 7, 5, small) == QN_OK);
    qn__pixels_release(&image);
    return 0;
}
