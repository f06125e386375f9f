/* printf: a work-item's values are gathered for the host to print. */
#include <string.h>

#include "vm/internal.h"

/* Puts work-item i's arguments one after another as cpu_abi.h says; gives their bytes. */
static uint64_t gather(const qn__vm_frame *frame, const qn__vm_instr *instr, uint64_t i) {
    uint64_t at = 0;
    for (uint32_t k = 0; k < instr->ir->num_operands; k++) {
        ir_type type = instr->ir->operands[k]->type;
        unsigned size = qn__vm_lane_size(type);
        const unsigned char *value = qn__vm_slot(frame, instr->operands[k]);
        uint64_t aligned = (at + size - 1) & ~(uint64_t)(size - 1);
        memset(frame->print_area + at, 0, aligned - at);
        at = aligned;
        for (unsigned l = 0; l < type.lanes; l++, at += size)
            memcpy(frame->print_area + at, value + (l * frame->stride + i) * size, size);
    }
    return at;
}

/* Where the next conversion of a value ends, its letter, and the most characters of a string; NULL: there is no other. */
static const char *next_conversion(const char *at, char *letter, uint64_t *most) {
    do {
        at = strchr(at, '%');
        if (!at) return NULL;
        at += 1 + strspn(at + 1, "-+ #0123456789");
        *most = *at == '.' ? 0 : UINT64_MAX;
        if (*at == '.')
            for (at++; *at >= '0' && *at <= '9'; at++)
                *most = *most < UINT32_MAX ? *most * 10 + (uint64_t)(*at - '0') : *most;
        at += strspn(at, "v0123456789hlzjt");
        *letter = *at;
        at += *at != 0;
    } while (*letter == '%');
    return *letter ? at : NULL;
}

/* A string is read up to its end: that must come before its memory's. */
static bool may_print(qn__vm_frame *frame, const qn__vm_instr *instr, const char *format, uint64_t i) {
    char letter;
    uint64_t most;
    for (uint32_t k = 0; k < instr->ir->num_operands; k++) {
        format = next_conversion(format, &letter, &most);
        if (!format) return true;
        const uint64_t *values = qn__vm_slot(frame, instr->operands[k]);
        if (letter == 's' && !qn__vm_may_print(frame, instr, i, values[i], most)) return false;
    }
    return true;
}

void qn__vm_print(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const qn_cpu_services *services = frame->launch->services;
    int32_t *result = qn__vm_slot(frame, instr->result);
    const char *format = (const char *)(uintptr_t)instr->place;
    for (uint64_t i = 0, n = frame->items; i < n; i++) {
        if (!frame->active[i]) continue;
        result[i] = -1;
        if (!services || !services->print) continue;
        if (!may_print(frame, instr, format, i)) return;
        uint64_t size = gather(frame, instr, i);
        result[i] = services->print(services->user, format, frame->print_area, size);
    }
}
