/* A launch on the pool: rows of work-groups cut into pieces, each run by one worker with local and scratch
   memory of its own. */
#include <stdio.h>
#include <string.h>

#include "backend/common/common.h"
#include "backend/cpu/cpu.h"

typedef struct run {
    qn__gpu *gpu;
    qn__cpu_worker *own; /* the calling thread's */
    const struct qn__cpu_code_kernel *kernel;
    qn_cpu_launch launch;
    uint64_t pieces_x, piece; /* pieces in a row, work-groups in a piece */
    uint64_t local_size, scratch_size;
    _Atomic(const char *) error;
} run;

const char qn__cpu_out_of_memory[] = "out of memory for a work-group";

static unsigned char *align64(unsigned char *p) { return p + (64 - (uintptr_t)p % 64) % 64; }

/* Makes the worker's memory large enough; what is there is kept from launch to launch. */
static bool prepare_worker(run *r, qn__cpu_worker *worker) {
    if (worker->memory && worker->local_size >= r->local_size && worker->scratch_size >= r->scratch_size)
        return true;
    const qn__allocator *allocator = r->gpu->services->allocator;
    uint64_t local = (r->local_size + 63) & ~(uint64_t)63;
    unsigned char *memory = qn__allocate(allocator, (size_t)(local + r->scratch_size + 192));
    if (!memory) return false;
    qn__release(allocator, worker->memory);
    worker->memory = memory;
    worker->local = align64(memory);
    worker->scratch = align64(worker->local + local);
    worker->local_size = r->local_size;
    worker->scratch_size = r->scratch_size;
    return true;
}

static void run_piece(void *user, uint64_t index, unsigned worker_index) {
    run *r = user;
    if (atomic_load_explicit(&r->error, memory_order_relaxed)) return;
    qn__cpu_worker *worker = worker_index ? &r->gpu->workers[worker_index] : r->own;
    if (!prepare_worker(r, worker)) {
        atomic_store(&r->error, qn__cpu_out_of_memory);
        return;
    }
    uint64_t row = index / r->pieces_x, begin = index % r->pieces_x * r->piece, end = begin + r->piece;
    uint64_t y = row % r->launch.num_groups[1], z = row / r->launch.num_groups[1];
    if (end > r->launch.num_groups[0]) end = r->launch.num_groups[0];
    if (r->kernel->function) {
        r->kernel->function(&r->launch, begin, end, y, z, worker->local, worker->scratch);
        return;
    }
    const char *error =
        qn__vm_run(r->kernel->program, &r->launch, begin, end, y, z, worker->local, worker->scratch, 0);
    if (error) atomic_store(&r->error, error);
}

static uint64_t group_items(const qn__command *command) {
    return (uint64_t)command->local[0] * command->local[1] * command->local[2];
}

/* Bytes of scratch memory for a work-group of the launch. */
static uint64_t scratch_size(const qn__command *command) {
    const struct qn__cpu_code_kernel *kernel = &command->code->kernels[command->kernel];
    const qn__kernel_info *info = &command->code->info->kernels[command->kernel];
    if (kernel->function) return info->scratch_fixed + info->scratch_per_item * group_items(command);
    return qn__vm_scratch_size(kernel->program, group_items(command));
}

qn_status qn__cpu_check_memory(const qn__gpu *gpu, const qn__command *command, char *why) {
    const uint64_t size = scratch_size(command), most = gpu->memory / gpu->num_workers;
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
    *launch = (qn_cpu_launch){.work_dim = command->work_dim, .args = command->args, .services = services};
    for (int d = 0; d < 3; d++) {
        launch->global_size[d] = command->global[d];
        launch->global_offset[d] = command->offset[d];
        launch->local_size[d] = command->local[d];
        launch->num_groups[d] = (command->global[d] + command->local[d] - 1) / command->local[d];
    }
    r->local_size = command->local_memory;
    r->scratch_size = scratch_size(command);
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

static int32_t print(void *user, const char *format, const unsigned char *values, uint64_t size) {
    return qn__print_call(user, format, values, size, print_string, NULL);
}

const char *qn__cpu_run(qn__gpu *gpu, const qn__command *command, qn__cpu_worker *own) {
    qn_cpu_services services = {(void *)gpu->services, print};
    run r = {.gpu = gpu, .own = own, .kernel = &command->code->kernels[command->kernel]};
    set_launch(&r, command, &services);
    qn__pool_run(gpu->pool, cut(&r), run_piece, &r);
    return atomic_load(&r.error);
}
