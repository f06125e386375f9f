/* A launch on the pool: rows of work-groups cut into pieces, each run by one worker with local and scratch
   memory of its own. */
#include <stdio.h>
#include <string.h>

#include "backend/common/common.h"
#include "backend/cpu/background.h"
#include "util/trap.h"

typedef struct run {
    qn__gpu *gpu;
    qn__cpu_worker *own; /* the calling thread's */
    struct qn__cpu_code_kernel *kernel;
    const qn__command *command;
    qn_cpu_launch launch;
    uint64_t pieces_x, piece; /* pieces in a row, work-groups in a piece */
    uint64_t local_size, scratch_size;
    const atomic_bool *ready; /* the function is there; NULL: it is or never comes */
    uint64_t stride; /* work-groups that are run before anybody looks whether the launch is cancelled */
    uint64_t step;   /* work-groups that are interpreted before the function is looked for again */
    qn__vm_bounds bounds;
    bool looks; /* see qn__cpu_memory_find; guarded by its lock */
    _Atomic(const char *) error;
    atomic_flag told; /* `why` has a message */
    char *why;
} run;

static unsigned char *aligned(unsigned char *p) {
    return p + (QN__CPU_ALIGN - (uintptr_t)p % QN__CPU_ALIGN) % QN__CPU_ALIGN;
}

/* Makes the worker's memory large enough; what is there is kept from launch to launch. */
static bool prepare_worker(run *r, qn__cpu_worker *worker) {
    if (worker->memory && worker->local_size >= r->local_size && worker->scratch_size >= r->scratch_size)
        return true;
    const qn__allocator *allocator = r->gpu->services->allocator;
    unsigned char *memory =
        qn__allocate(allocator, (size_t)(r->local_size + r->scratch_size + 2 * QN__CPU_ALIGN));
    if (!memory) return false;
    qn__release(allocator, worker->memory);
    worker->memory = memory;
    worker->local = aligned(memory);
    worker->scratch = aligned(worker->local + r->local_size);
    worker->local_size = r->local_size;
    worker->scratch_size = r->scratch_size;
    return true;
}

/* The first error is the launch's; those that follow are of other work-groups. These end at their next look: they may wait for
   the one that failed. */
static void tell(run *r, const char *error) {
    if (atomic_flag_test_and_set(&r->told)) return;
    snprintf(r->why, QN__WHY, "%s", error);
    atomic_store(&r->error, r->why);
    atomic_store(&r->launch.cancelled, 1);
}

static bool find_memory(void *user, uint64_t address, uint64_t *begin, uint64_t *size) {
    run *r = user;
    return qn__cpu_memory_find(r->gpu, &r->looks, address, begin, size);
}

/* ---- faults ---- */

typedef struct groups {
    qn_cpu_kernel *function;
    const run *run;
    const qn__cpu_worker *worker;
    uint64_t begin, end, y, z;
} groups;

static void call_function(void *user) {
    const groups *g = user;
    g->function(&g->run->launch, g->begin, g->end, g->y, g->z, g->worker->local, g->worker->scratch);
}

/* How far an address is from memory; 0: inside. */
static uint64_t apart(uint64_t address, uint64_t begin, uint64_t size) {
    if (address < begin) return begin - address;
    return address - begin < size ? 0 : address - begin - size + 1;
}

/* By the argument that is nearest to the address, of those that a program has named. */
static void describe_access(const run *r, const qn__trapped *what, char *text, size_t size) {
    enum { NULL_PAGES = 1 << 16 };
    const qn__command *command = r->command;
    const qn__kernel_info *info = &command->code->info->kernels[command->kernel];
    const bool is_null = !what->is_nowhere && what->address < NULL_PAGES;
    uint64_t least = UINT64_MAX;
    snprintf(text, size, "an access %s", is_null ? "by way of a null pointer" : "outside of all memory");
    for (uint32_t i = 0; i < info->num_params && !is_null && !what->is_nowhere; i++) {
        const qn__param_info *param = &info->params[i];
        uint64_t begin;
        if (param->kind != QN__PARAM_BUFFER || !command->extents[i]) continue;
        if (!strncmp(param->name, "qn__", 4)) continue; /* the library's own */
        memcpy(&begin, (const unsigned char *)command->args + param->offset, sizeof begin);
        const uint64_t distance = apart(what->address, begin, command->extents[i]);
        if (distance >= least) continue;
        least = distance;
        snprintf(text, size, "an access at byte %lld of the %llu of '%.100s'",
                 (long long)(what->address - begin), (unsigned long long)command->extents[i], param->name);
    }
}

static void tell_fault(run *r, const qn__trapped *what) {
    char text[QN__WHY], place[256] = "an arithmetic fault";
    if (!what->computes) describe_access(r, what, place, sizeof place);
    snprintf(text, sizeof text, "%s; a safe program, or the checker, tells the line", place);
    tell(r, text);
}

static bool run_function(run *r, groups *g) {
    qn__trapped what;
    if (!r->gpu->traps) {
        call_function(g);
        return true;
    }
    if (qn__trap(call_function, g, &what)) return true;
    tell_fault(r, &what);
    return false;
}

/* ---- work-groups ---- */

/* By the function, from the first group on for which it is there; up to that, interpreted. */
static void run_groups(run *r, const qn__cpu_worker *worker, uint64_t begin, uint64_t end, uint64_t y,
                       uint64_t z) {
    while (begin < end) {
        qn_cpu_kernel *function = atomic_load_explicit(&r->kernel->function, memory_order_acquire);
        if (atomic_load_explicit(&r->launch.cancelled, memory_order_relaxed)) return;
        if (function) {
            const uint64_t stop = end - begin > r->stride ? begin + r->stride : end;
            if (!run_function(r, &(groups){function, r, worker, begin, stop, y, z})) return;
            begin = stop;
            continue;
        }
        const uint64_t stop = r->ready && end - begin > r->step ? begin + r->step : end;
        char why[QN__VM_WHY];
        const char *error = qn__vm_run_until(r->kernel->program, &r->launch, begin, stop, y, z, worker->local,
                                             worker->scratch, r->ready, &r->bounds, why);
        if (error == qn__vm_left) continue;
        if (error) {
            tell(r, error);
            return;
        }
        begin = stop;
    }
}

static void run_piece(void *user, uint64_t index, unsigned worker_index) {
    run *r = user;
    if (atomic_load_explicit(&r->error, memory_order_relaxed) ||
        atomic_load_explicit(&r->launch.cancelled, memory_order_relaxed))
        return;
    qn__cpu_worker *worker = worker_index ? &r->gpu->workers[worker_index] : r->own;
    if (!prepare_worker(r, worker)) {
        atomic_store(&r->error, qn__host_out_of_memory);
        return;
    }
    uint64_t row = index / r->pieces_x, begin = index % r->pieces_x * r->piece, end = begin + r->piece;
    uint64_t y = row % r->launch.num_groups[1], z = row / r->launch.num_groups[1];
    if (end > r->launch.num_groups[0]) end = r->launch.num_groups[0];
    run_groups(r, worker, begin, end, y, z);
}

static uint64_t group_items(const qn__command *command) {
    return (uint64_t)command->local[0] * command->local[1] * command->local[2];
}

/* Bytes of scratch memory for a work-group of the launch, by the function and by the interpreter. */
static uint64_t function_scratch(const qn__command *command) {
    const qn__kernel_info *info = &command->code->info->kernels[command->kernel];
    return info->scratch_fixed + info->scratch_per_item * group_items(command);
}

static uint64_t program_scratch(const qn__command *command) {
    return qn__vm_scratch_size(command->code->kernels[command->kernel].program, group_items(command));
}

static bool is_compiled(const qn__command *command) {
    return atomic_load(&command->code->kernels[command->kernel].function) != NULL;
}

qn_status qn__cpu_check_memory(const qn__gpu *gpu, const qn__command *command, char *why) {
    const bool for_function = is_compiled(command) || command->code->background;
    const uint64_t size = for_function ? function_scratch(command) : program_scratch(command);
    const uint64_t most = gpu->memory / gpu->num_workers;
    if (size <= most) return QN_OK;
    snprintf(
        why, QN__WHY,
        "kernel %.100s: the private variables of a work-group of %llu take %llu bytes; of the machine's %llu "
        "each of %u threads has %llu",
        command->kernel_name, (unsigned long long)group_items(command), (unsigned long long)size,
        (unsigned long long)gpu->memory, gpu->num_workers, (unsigned long long)most);
    return QN_ERROR_OUT_OF_MEMORY;
}

static void set_launch(run *r, const qn__command *command, const qn_cpu_services *services) {
    qn_cpu_launch *launch = &r->launch;
    launch->work_dim = command->work_dim; /* the rest is zeros */
    launch->args = command->args;
    launch->services = services;
    for (int d = 0; d < 3; d++) {
        launch->global_size[d] = command->global[d];
        launch->global_offset[d] = command->offset[d];
        launch->local_size[d] = command->local[d];
        launch->num_groups[d] = (command->global[d] + command->local[d] - 1) / command->local[d];
    }
    r->bounds = (qn__vm_bounds){command->extents, find_memory, r};
    enum { STRIDE_ITEMS = 1 << 16 };
    r->stride = group_items(command) < STRIDE_ITEMS ? STRIDE_ITEMS / group_items(command) : 1;
    r->local_size = command->local_memory;
    r->scratch_size = function_scratch(command);
    if (is_compiled(command)) return;
    enum { STEP_ITEMS = 256 };
    const uint64_t size = program_scratch(command), items = group_items(command);
    if (size > r->scratch_size) r->scratch_size = size;
    r->ready = qn__cpu_background_ready(command->code);
    r->step = items < STEP_ITEMS ? STEP_ITEMS / items : 1;
}

/* About eight pieces a thread, of neighbouring work-groups in x. */
static uint64_t cut(run *r) {
    uint64_t rows = r->launch.num_groups[1] * r->launch.num_groups[2], groups = r->launch.num_groups[0];
    uint64_t wanted = (r->gpu->num_workers * 8u + rows - 1) / rows;
    r->piece = groups / (wanted ? wanted : 1);
    if (r->piece == 0) r->piece = 1;
    r->pieces_x = (groups + r->piece - 1) / r->piece;
    return r->pieces_x * rows;
}

/* The value of a %s argument is a host pointer here. */
static const char *print_string(void *user, uint64_t word) {
    (void)user;
    return (const char *)(uintptr_t)word;
}

/* What it and the host's callback hold is not to be left by a fault of theirs. */
static int32_t print(void *user, const char *format, const unsigned char *values, uint64_t size) {
    const bool paused = qn__trap_pause(true);
    const int32_t result = qn__print_call(user, format, values, size, print_string, NULL);
    qn__trap_pause(paused);
    return result;
}

/* Before a launch of code that is being compiled: what the interpreter could be long at may wait a little, and what it
   has no memory for waits until the function is there. */
static const char *settle(const qn__gpu *gpu, const qn__command *command) {
    char ignored[QN__WHY];
    qn__code *code = (qn__code *)command->code;
    if (!code->background || is_compiled(command)) return NULL;
    if (qn__vm_has_loops(code->kernels[command->kernel].program)) qn__cpu_background_grace(code);
    if (program_scratch(command) <= gpu->memory / gpu->num_workers) return NULL;
    qn__cpu_code_wait(code, QN_FOREVER, ignored);
    return is_compiled(command) ? NULL : qn__host_out_of_memory;
}

/* What the last launch tells of this one decides whether other threads are called at once. */
static void run_pieces(run *r, const qn__command *command, bool endless) {
    enum { ITEMS = 1024 };
    const double items = (double)command->global[0] * (double)command->global[1] * (double)command->global[2];
    const uint64_t known = atomic_load_explicit(&r->kernel->work, memory_order_relaxed);
    const bool is_short = known && (double)known * items < (double)ITEMS * QN__POOL_SHORT_NS;
    const bool compiled = is_compiled(command);
    const uint64_t took = qn__pool_run(r->gpu->pool, cut(r), run_piece, r,
                                       endless    ? QN__POOL_ENDLESS
                                       : is_short ? QN__POOL_SHORT
                                                  : QN__POOL_USUAL);
    if (compiled && items > 0)
        atomic_store_explicit(&r->kernel->work, (uint64_t)((double)took * ITEMS / items) + 1,
                              memory_order_relaxed);
}

const char *qn__cpu_run(qn__gpu *gpu, const qn__command *command, void *own, qn__host_running *running,
                        char *why) {
    qn_cpu_services services = {(void *)gpu->services, print};
    run r = {.gpu = gpu,
             .own = own,
             .kernel = &command->code->kernels[command->kernel],
             .command = command,
             .told = ATOMIC_FLAG_INIT,
             .why = why};
    const char *error = settle(gpu, command);
    if (error) return error;
    set_launch(&r, command, &services);
    const bool cancelled = qn__host_show(running, &r.launch.cancelled);
    if (!cancelled) run_pieces(&r, command, running->persistent);
    if (r.looks) qn__cpu_memory_leave(gpu);
    return qn__host_show(running, NULL) ? qn__host_cancelled : atomic_load(&r.error);
}
