/* A program packed for several targets, for `compile -o NAME.qnb` and `embed`. */
#include <string.h>

#include "options.h"
#include "tool.h"

int program_pack(program_options *o, const char *targets, const char *archs, const char *devices,
                 unsigned char **data, size_t *size) {
    qn_context *context;
    qn_program_desc program = {0};
    const qn_pack_desc desc = {.program = &program, .targets = targets, .archs = archs, .devices = devices};
    char *packed = NULL, *log = NULL;
    *data = NULL;
    qn_status status = qn_context_create(NULL, &context);
    if (status) return tool_fail(TOOL_RUN_FAILED, "%s", qn_status_text(status));
    int result = TOOL_RUN_FAILED;
    if (program_options_fill(o, &program)) {
        status = qn_program_pack(context, &desc, &packed, size, &log);
        result = status == QN_OK ? TOOL_OK : tool_fail_status(context, status);
        if (status == QN_ERROR_ARGUMENT) result = TOOL_USAGE;
    }
    if (!result && log) fputs(log, stderr);
    if (!result) {
        *data = tool_alloc(*size);
        memcpy(*data, packed, *size);
    }
    qn_text_free(context, packed);
    qn_text_free(context, log);
    qn_context_destroy(context);
    return result;
}
