/* Launches of kernels with more buffers than the device binds: what they are given is copied into one buffer, to which all
   parameters are bound, each with its offset (alias.c has the text for that), and what they may have written is copied back. */
#include <stdio.h>

#include "backend/webgpu/webgpu.h"

/* What a launch has of one memory. */
typedef struct piece {
    qn__memory *memory;
    uint64_t from, to, place; /* in the memory; in the shared buffer */
    bool is_written;
} piece;

typedef struct share {
    qn__gpu *gpu;
    const qn__command *launch;
    piece *pieces;
    qn__binding *bindings; /* in the shared buffer */
    uint32_t num_pieces;
    qn__memory memory; /* the shared buffer */
} share;

static bool may_write(const qn__kernel_info *kernel, uint32_t param) {
    for (uint32_t n = 0; n < kernel->num_bindings / 2; n++)
        if (kernel->bindings[2 * n + 1] == param) return !qn__wg_only_reads(kernel, n);
    return false;
}

static piece *piece_of(share *s, qn__memory *memory) {
    for (uint32_t i = 0; i < s->num_pieces; i++)
        if (s->pieces[i].memory == memory) return &s->pieces[i];
    s->pieces[s->num_pieces] = (piece){.memory = memory, .from = UINT64_MAX};
    return &s->pieces[s->num_pieces++];
}

/* Places keep the alignment that a buffer's begin has. */
static void lay_out(share *s) {
    enum { ALIGN = 256, WORD = 4 };
    const qn__kernel_info *kernel = &s->launch->code->info->kernels[s->launch->kernel];
    for (uint32_t i = 0; i < s->launch->num_bindings; i++) {
        const qn__binding *binding = &s->launch->bindings[i];
        piece *p = piece_of(s, binding->memory);
        const uint64_t from = binding->offset / ALIGN * ALIGN,
                       to = (binding->offset + binding->size + WORD - 1) / WORD * WORD;
        if (from < p->from) p->from = from;
        if (to > p->to) p->to = to;
        p->is_written |= may_write(kernel, binding->param);
    }
    for (uint32_t i = 0; i < s->num_pieces; i++) {
        s->pieces[i].place = s->memory.room;
        s->memory.room += (s->pieces[i].to - s->pieces[i].from + ALIGN - 1) / ALIGN * ALIGN;
    }
    for (uint32_t i = 0; i < s->launch->num_bindings; i++) {
        const qn__binding *binding = &s->launch->bindings[i];
        const piece *p = piece_of(s, binding->memory);
        s->bindings[i] = *binding;
        s->bindings[i].memory = &s->memory;
        s->bindings[i].offset = binding->offset - p->from + p->place;
    }
}

static qn_status make_buffer(share *s, char *why) {
    const qn__gpu *gpu = s->gpu;
    const qn__kernel_info *kernel = &s->launch->code->info->kernels[s->launch->kernel];
    const uint64_t most = gpu->max_binding < UINT32_MAX ? gpu->max_binding : UINT32_MAX;
    char message[QN__WHY] = "";
    if (s->memory.room <= most)
        s->memory.buffer = qn__wg_buffer(s->gpu, WG_USE_STORAGE | WG_USE_COPY_FROM | WG_USE_COPY_TO,
                                         s->memory.room, message);
    if (s->memory.buffer) return QN_OK;
    snprintf(
        why, QN__WHY,
        "kernel %.100s uses %u buffers, and the device binds %u: they share one, for which %llu bytes are "
        "too many (%llu at most)%s%.100s",
        kernel->name, (unsigned)kernel->num_bindings / 2, (unsigned)gpu->num_storage,
        (unsigned long long)s->memory.room, (unsigned long long)most, *message ? ": " : "", message);
    return s->memory.room <= most ? QN_ERROR_DEVICE_MEMORY : QN_ERROR_RANGE;
}

static qn_status copy(const share *s, bool back, char *why) {
    const qn_status status = qn__wg_encode(s->gpu, false, why);
    for (uint32_t i = 0; i < s->num_pieces && !status; i++) {
        const piece *p = &s->pieces[i];
        const wg_object own = p->memory->buffer, shared = s->memory.buffer;
        if (p->from == p->to || (back && !p->is_written)) continue;
        s->gpu->api->wgpuCommandEncoderCopyBufferToBuffer(s->gpu->encoder, back ? shared : own,
                                                          back ? p->place : p->from, back ? own : shared,
                                                          back ? p->from : p->place, p->to - p->from);
    }
    return status;
}

static qn_status run(share *s, char *why) {
    qn__command own = *s->launch;
    lay_out(s);
    own.bindings = s->bindings;
    qn_status status = make_buffer(s, why);
    if (status) return status;
    status = copy(s, false, why);
    if (!status) status = qn__wg_launch_bound(s->gpu, &own, why);
    if (!status) status = copy(s, true, why);
    s->gpu->api->wgpuBufferRelease(s->memory.buffer); /* what is encoded keeps it */
    return status;
}

qn_status qn__wg_launch_shared(qn__gpu *gpu, const qn__command *launch, char *why) {
    const qn__allocator *allocator = gpu->services->allocator;
    share s = {.gpu = gpu, .launch = launch, .memory.is_shared = true};
    s.pieces = qn__allocate(allocator, launch->num_bindings * sizeof *s.pieces);
    s.bindings = qn__allocate(allocator, launch->num_bindings * sizeof *s.bindings);
    const qn_status status = s.pieces && s.bindings ? run(&s, why) : QN_ERROR_OUT_OF_MEMORY;
    qn__release(allocator, s.pieces);
    qn__release(allocator, s.bindings);
    return status;
}
