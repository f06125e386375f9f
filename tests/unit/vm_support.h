/* Runs kernels given as IR text on the VM, for the vm_*.c tests. */
#ifndef VM_SUPPORT_H
#define VM_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"
#include "vm/vm.h"

/* One kernel and how to launch it; sizes of 0 are 1. */
typedef struct vm_launch {
    const char *text;
    uint64_t global[3], offset[3], local[3];
    const void *args; /* the argument block */
    uint32_t sub_group_size;
    uint64_t local_bytes; /* for __local arguments, after the static ones */
    uint64_t max_steps;
    const qn_cpu_services *services;
} vm_launch;

static inline ir_function *vm_parse(qn__arena *arena, const char *text) {
    const char *error = NULL;
    ir_module *module = qn__ir_parse(arena, text, strlen(text), &error);
    if (!module) fail_msg("%s\n%s", error, text);
    error = qn__ir_verify(arena, module);
    if (error) fail_msg("%s\n%s", error, text);
    return module->functions.data[0];
}

static inline qn_cpu_launch vm_describe(const vm_launch *l) {
    qn_cpu_launch launch = {.work_dim = 1, .args = l->args, .services = l->services};
    for (unsigned d = 0; d < 3; d++) {
        if (l->global[d] > 1) launch.work_dim = d + 1;
        launch.global_size[d] = l->global[d] ? l->global[d] : 1;
        launch.global_offset[d] = l->offset[d];
        launch.local_size[d] = l->local[d] ? l->local[d] : 1;
        launch.num_groups[d] = (launch.global_size[d] + launch.local_size[d] - 1) / launch.local_size[d];
    }
    return launch;
}

static inline unsigned char *vm_allocate(uint64_t size) {
    unsigned char *memory = aligned_alloc(QN__CPU_ALIGN, (size / QN__CPU_ALIGN + 1) * QN__CPU_ALIGN);
    assert_non_null(memory);
    memset(memory, 0xa5, (size + 64) / 64 * 64); /* nothing may rely on zeroed scratch */
    return memory;
}

/* Runs all work-groups; gives the VM's message, or NULL. */
static inline const char *vm_run(const vm_launch *l) {
    qn__arena arena;
    jmp_buf escape;
    qn__arena_init(&arena, NULL, 0);
    if (setjmp(escape)) fail_msg("out of memory");
    arena.escape = &escape;
    const char *error = NULL;
    qn__vm_program *program = qn__vm_prepare(&arena, vm_parse(&arena, l->text), l->sub_group_size, &error);
    if (!program) fail_msg("%s", error);
    qn_cpu_launch launch = vm_describe(l);
    uint64_t items = launch.local_size[0] * launch.local_size[1] * launch.local_size[2];
    unsigned char *scratch = vm_allocate(qn__vm_scratch_size(program, items));
    unsigned char *local = vm_allocate(qn__vm_static_local(program) + l->local_bytes);
    for (uint64_t z = 0; z < launch.num_groups[2] && !error; z++)
        for (uint64_t y = 0; y < launch.num_groups[1] && !error; y++)
            error = qn__vm_run(program, &launch, 0, launch.num_groups[0], y, z, local, scratch, l->max_steps);
    free(scratch);
    free(local);
    qn__arena_free(&arena);
    return error;
}

static inline void vm_ok(const vm_launch *l) {
    const char *error = vm_run(l);
    if (error) fail_msg("%s\n%s", error, l->text);
}

#endif
