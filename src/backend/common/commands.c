/* Copies of commands, for graphs that are kept as a list of them. */
#include "backend/common/common.h"

qn_status qn__commands_copy(const qn__allocator *allocator, const qn__command *commands, size_t count,
                            qn__commands *out) {
    *out = (qn__commands){0};
    out->list = qn__allocate_zeroed(allocator, (count + 1) * sizeof *out->list);
    if (!out->list) return QN_ERROR_OUT_OF_MEMORY;
    for (; out->count < count; out->count++) {
        out->list[out->count] = qn__command_copy(allocator, &commands[out->count]);
        if (out->list[out->count]) continue;
        qn__commands_free(allocator, out);
        return QN_ERROR_OUT_OF_MEMORY;
    }
    return QN_OK;
}

void qn__commands_free(const qn__allocator *allocator, qn__commands *commands) {
    for (size_t i = 0; i < commands->count; i++) qn__release(allocator, commands->list[i]);
    qn__release(allocator, commands->list);
    *commands = (qn__commands){0};
}
