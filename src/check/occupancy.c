/* How many sub-groups a multiprocessor of a named architecture can keep at a time, as far as work-groups and their local
   memory tell. Registers do too, which the driver's compiler knows and the interpreter does not. The numbers are those of the table
   "Technical Specifications per Compute Capability" of NVIDIA's CUDA C++ Programming Guide. */
#include "check/profile.h"

#include <stdio.h>
#include <string.h>

enum { LANES = 32, HALF = 50 };

struct qn__check_arch {
    const char *name;
    uint32_t sub_groups, groups; /* at a time on a multiprocessor */
    uint32_t local_memory;       /* bytes of it */
    uint32_t reserved;           /* bytes that each work-group takes beside its own */
};

static const qn__check_arch archs[] = {
    {"sm_70", 64, 32, 96 << 10, 0},     {"sm_75", 32, 16, 64 << 10, 0},
    {"sm_80", 64, 32, 164 << 10, 1024}, {"sm_86", 48, 16, 100 << 10, 1024},
    {"sm_87", 48, 16, 164 << 10, 1024}, {"sm_89", 48, 24, 100 << 10, 1024},
    {"sm_90", 64, 32, 228 << 10, 1024}, {"sm_100", 64, 32, 228 << 10, 1024},
};

const qn__check_arch *qn__check_arch_find(const char *name, char *known, size_t size) {
    size_t length = 0;
    for (size_t i = 0; i < QN__COUNT(archs); i++) {
        if (strcmp(archs[i].name, name) == 0) return &archs[i];
        if (length < size)
            length += (size_t)snprintf(known + length, size - length, "%s%s", i ? ", " : "", archs[i].name);
    }
    return NULL;
}

typedef struct limit {
    uint64_t groups;
    const char *what;
} limit;

static void lower(limit *l, uint64_t groups, const char *what) {
    if (groups < l->groups) *l = (limit){groups, what};
}

void qn__check_occupancy_report(qn__check_run_state *r, uint64_t local_memory) {
    const qn__check_arch *arch = r->checker->arch;
    const uint64_t *local = r->launch->local_size;
    const uint64_t items = local[0] * local[1] * local[2], teams = (items + LANES - 1) / LANES;
    if (!arch || !teams) return;
    limit l = {arch->groups, "it takes no more work-groups"};
    lower(&l, arch->sub_groups / teams, "it has no more");
    if (local_memory)
        lower(&l, arch->local_memory / (local_memory + arch->reserved), "local memory is used up");
    const uint64_t resident = l.groups * items, most = (uint64_t)arch->sub_groups * LANES;
    if (resident * 100 >= most * HALF) return;
    const qn__check_group *group = &r->groups.data[0];
    qn__check_stand_in s;
    ir_instr at = {.op = IR_RETURN, .loc = r->program->vm->kernel->loc};
    qn__check_stand_in_for(&s, r, group->id, (const uint64_t[3]){0, 0, 0});
    const qn__check_report found = {.kind = QN_FINDING_OCCUPANCY, .frame = &s.frame, .instr = &at};
    QN__CHECK_REPORT(
        r->checker, &found,
        "work-groups of %llu work-items with %llu bytes of local memory: a multiprocessor of %s keeps %llu "
        "of its %llu work-items at a time (%llu %%) at most, since %s; registers are not looked at",
        (unsigned long long)items, (unsigned long long)local_memory, arch->name, (unsigned long long)resident,
        (unsigned long long)most, (unsigned long long)(resident * 100 / most), l.what);
}
