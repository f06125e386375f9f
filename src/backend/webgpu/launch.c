/* Launches: each part of one is a bind group and a dispatch. The parameter blocks of a submission lie one behind another in a
   uniform buffer, and are written together before it; the next submission begins at its front again. So launches like those
   before find their blocks written and their bind groups made. */
#include <stdio.h>
#include <string.h>

#include "backend/webgpu/webgpu.h"

/* Where a buffer is bound from: what is behind that counts as the kernel's offset. One that may be bound once only is
   bound from the first place that a parameter has in it. */
static uint64_t bound_from(const qn__gpu *gpu, const qn__command *launch, const qn__binding *binding) {
    uint64_t first = binding->offset;
    if (binding->memory->is_shared) return 0;
    for (uint32_t i = 0; gpu->dialect->refuses_aliases && i < launch->num_bindings; i++)
        if (launch->bindings[i].memory == binding->memory && launch->bindings[i].offset < first)
            first = launch->bindings[i].offset;
    return first / gpu->storage_alignment * gpu->storage_alignment;
}

/* Behind the last byte that a parameter has in it. */
static uint64_t bound_to(const qn__gpu *gpu, const qn__command *launch, const qn__binding *binding) {
    uint64_t last = binding->offset + binding->size;
    for (uint32_t i = 0; gpu->dialect->refuses_aliases && i < launch->num_bindings; i++) {
        const qn__binding *other = &launch->bindings[i];
        if (other->memory == binding->memory && other->offset + other->size > last)
            last = other->offset + other->size;
    }
    return last;
}

static qn_status bind(qn__gpu *gpu, const qn__command *launch, const qn__kernel_info *kernel, uint32_t n,
                      wg_binding *entry, char *why) {
    const uint32_t param = kernel->bindings[2 * n + 1];
    const qn__binding *binding = qn__wg_bound_of(launch, param);
    if (!binding) {
        entry->buffer = gpu->nothing[qn__wg_only_reads(kernel, n)];
        entry->size = 16;
        return QN_OK;
    }
    entry->buffer = binding->memory->buffer;
    entry->offset = bound_from(gpu, launch, binding);
    entry->size = binding->memory->room - entry->offset;
    if (entry->size <= gpu->max_binding) return QN_OK;
    entry->size = gpu->max_binding; /* a window, in which all has to be that was passed */
    const uint64_t wanted = bound_to(gpu, launch, binding) - entry->offset;
    if (wanted <= entry->size) return QN_OK;
    snprintf(
        why, QN__WHY,
        "kernel %.100s: parameter %u, %.100s, has %llu bytes; the device binds %llu at most: pass a view",
        kernel->name, (unsigned)param + 1, kernel->params[param].name, (unsigned long long)wanted,
        (unsigned long long)gpu->max_binding);
    return QN_ERROR_RANGE;
}

/* ---- rows ---- */

/* A launch of one dimension with more groups than the device has in x: each group in y stands for a row of them (QN__IMPLICIT_ROW).
   Groups of more than one work-item in y overhang: where they lie in y tells which of these are there. */
static bool has_rows(const qn__command *launch, const qn__kernel_info *kernel) {
    if (launch->global[1] > 1 || launch->global[2] > 1 || launch->local[1] > 1) return false;
    for (uint32_t i = 0; i < kernel->num_implicit; i++)
        if (kernel->implicit[i].kind == QN__IMPLICIT_ROW) return true;
    return false;
}

/* The least number of rows that are alike; 0: there is none near the least. */
static uint32_t rows_of(const qn__gpu *gpu, uint64_t groups) {
    enum { TRIES = 64 };
    const uint64_t most = gpu->max_groups[0], least = (groups + most - 1) / most;
    for (uint64_t rows = least; rows < least + TRIES && rows <= gpu->max_groups[1]; rows++)
        if (groups % rows == 0) return (uint32_t)rows;
    return 0;
}

/* Groups that the next part may have in x: all that are left where these are rows, else as many full ones as there are. */
static uint32_t most_groups(const qn__gpu *gpu, const qn__parts *parts) {
    enum { MOST_ITEMS = INT32_MAX }; /* as of any part */
    const uint64_t most = gpu->max_groups[0], local = parts->launch->local[0];
    const bool ends_apart = !parts->guarded && parts->launch->global[0] % local;
    const uint64_t left = parts->num_groups[0] - parts->at[0] - ends_apart;
    const uint64_t room = left < MOST_ITEMS / local ? left : MOST_ITEMS / local;
    if (room <= most) return (uint32_t)most;
    if (room == left && rows_of(gpu, left)) return (uint32_t)left;
    const uint64_t rows = room / most < gpu->max_groups[1] ? room / most : gpu->max_groups[1];
    return (uint32_t)(most * rows);
}

/* ---- parameter blocks ---- */

static void set_own(const qn__gpu *gpu, const qn__command *launch, const qn__kernel_info *kernel,
                    const qn__part *part, unsigned char *block) {
    const uint32_t rows = part->groups[0] > gpu->max_groups[0] ? rows_of(gpu, part->groups[0]) : 0;
    for (uint32_t i = 0; i < kernel->num_implicit; i++) {
        const qn__implicit *implicit = &kernel->implicit[i];
        const uint32_t row = rows ? part->groups[0] / rows * (implicit->dim ? 1 : part->local[0]) : 0;
        if (implicit->kind == QN__IMPLICIT_ROW) memcpy(block + implicit->offset, &row, sizeof row);
        if (implicit->kind != QN__IMPLICIT_BUFFER_OFFSET) continue;
        const qn__binding *binding = qn__wg_binding_of(launch, implicit->dim);
        const uint32_t offset = binding ? (uint32_t)(binding->offset - bound_from(gpu, launch, binding))
                                        : (uint32_t)QN__WGSL_NULL;
        memcpy(block + implicit->offset, &offset, sizeof offset);
    }
}

/* Where the block is in the buffer: where the last one is if it is the same. */
static uint32_t place_block(qn__gpu *gpu, const unsigned char *block, uint32_t size) {
    if (gpu->params_at && gpu->params_last + size <= gpu->params_at &&
        memcmp(gpu->blocks + gpu->params_last, block, size) == 0)
        return gpu->params_last;
    if (gpu->params_at + size > QN__WG_PARAMS) qn__wg_flush(gpu);
    const uint32_t at = gpu->params_at;
    gpu->params_at += (size + QN__WG_PARAM_ALIGN - 1) / QN__WG_PARAM_ALIGN * QN__WG_PARAM_ALIGN;
    gpu->params_last = at;
    if (memcmp(gpu->blocks + at, block, size) == 0) return at;
    memcpy(gpu->blocks + at, block, size);
    if (gpu->params_new > at) gpu->params_new = at;
    return at;
}

void qn__wg_put_params(qn__gpu *gpu) {
    if (gpu->params_new < gpu->params_at)
        gpu->api->wgpuQueueWriteBuffer(gpu->queue, gpu->params, gpu->params_new,
                                       gpu->blocks + gpu->params_new, gpu->params_at - gpu->params_new);
    gpu->params_at = 0;
    gpu->params_new = UINT32_MAX;
}

static qn_status put_params(qn__gpu *gpu, const qn__command *launch, const qn__kernel_info *kernel,
                            const qn__part *part, wg_binding *entry) {
    enum { USUAL = 512 };
    static const qn__implicit_addresses none = {0, 0};
    unsigned char small[USUAL], *block = small;
    if (kernel->params_size > USUAL) block = qn__allocate(gpu->services->allocator, kernel->params_size);
    if (!block) return QN_ERROR_OUT_OF_MEMORY;
    qn__params_fill(block, launch, kernel, part, &none);
    set_own(gpu, launch, kernel, part, block);
    *entry = (wg_binding){.binding = QN__WGSL_PARAMS,
                          .buffer = gpu->params,
                          .offset = place_block(gpu, block, kernel->params_size),
                          .size = kernel->params_size};
    if (block != small) qn__release(gpu->services->allocator, block);
    return QN_OK;
}

/* ---- parts ---- */

/* What a launch binds, and what tells it from others. */
typedef struct bound {
    wg_binding entries[QN__WG_BINDINGS + 1];
    wg_group is;
    bool is_own; /* with a buffer of this launch alone */
} bound;

static void add_bound(bound *b, uint64_t id) {
    const wg_binding *entry = &b->entries[b->is.count];
    b->is.at[b->is.count].id = id;
    b->is.at[b->is.count++].offset = entry->offset;
}

/* The buffers: those of the program and of parameter blocks are the only ones in their places, for a pipeline. */
static qn_status bind_all(qn__gpu *gpu, const qn__command *launch, const qn__part *part,
                          const wg_pipeline *pipeline, wg_object print, bound *b, char *why) {
    const qn__kernel_info *kernel = &launch->code->info->kernels[launch->kernel];
    qn_status status = QN_OK;
    if (kernel->params_size) {
        status = put_params(gpu, launch, kernel, part, &b->entries[0]);
        add_bound(b, 0);
    }
    for (uint32_t n = 0; n < kernel->num_bindings / 2 && !status; n++) {
        if ((pipeline->roots[n] & ~QN__WG_WRITES_TOO) != (int)n) continue;
        const uint32_t param = kernel->bindings[2 * n + 1];
        wg_binding *entry = &b->entries[b->is.count];
        *entry = (wg_binding){.binding = qn__wg_binding_number(kernel, n)};
        if (param != QN__WGSL_NO_PARAM) {
            const qn__binding *binding = qn__wg_bound_of(launch, param);
            b->is_own |= binding && binding->memory->is_shared;
            status = bind(gpu, launch, kernel, n, entry, why);
            add_bound(b, binding ? binding->memory->address : 0);
            continue;
        }
        const bool is_print = entry->binding == QN__WGSL_PRINT;
        b->is_own |= is_print;
        entry->buffer = is_print ? print : launch->code->constants;
        entry->size = is_print ? QN__PRINT_SIZE : launch->code->info->constants_size;
        add_bound(b, 0);
    }
    return status;
}

static wg_group *find_group(wg_pipeline *pipeline, const bound *b) {
    for (wg_group **link = &pipeline->groups; *link; link = &(*link)->next) {
        wg_group *found = *link;
        if (found->count != b->is.count || memcmp(found->at, b->is.at, found->count * sizeof *found->at) != 0)
            continue;
        *link = found->next;
        found->next = pipeline->groups;
        return pipeline->groups = found;
    }
    return NULL;
}

/* Another may get its handle. */
static void release_group(qn__gpu *gpu, wg_object group) {
    gpu->api->wgpuBindGroupRelease(group);
    if (gpu->group_set == group) gpu->group_set = NULL;
}

static void free_group(qn__gpu *gpu, wg_group *group) {
    release_group(gpu, group->group);
    qn__release(gpu->services->allocator, group);
}

void qn__wg_free_groups(qn__gpu *gpu, wg_pipeline *pipeline) {
    for (wg_group *next; pipeline->groups; pipeline->groups = next) {
        next = pipeline->groups->next;
        free_group(gpu, pipeline->groups);
    }
}

/* False: it is the caller's. The oldest goes where there are many. */
static bool keep_group(qn__gpu *gpu, wg_pipeline *pipeline, const bound *b, wg_object group) {
    wg_group *kept = b->is_own ? NULL : qn__allocate(gpu->services->allocator, sizeof *kept);
    uint32_t count = 1;
    if (!kept) return false;
    *kept = b->is;
    kept->group = group;
    kept->next = pipeline->groups;
    pipeline->groups = kept;
    for (wg_group **link = &kept->next; *link; link = &(*link)->next) {
        if (++count <= QN__WG_GROUPS) continue;
        free_group(gpu, *link);
        *link = NULL;
        break;
    }
    return true;
}

/* `is_own`: the caller releases it. */
static qn_status make_group(qn__gpu *gpu, const qn__command *launch, const qn__part *part,
                            wg_pipeline *pipeline, wg_object print, wg_object *group, bool *is_own,
                            char *why) {
    bound b;
    b.is.count = 0;
    b.is_own = false;
    const qn_status status = bind_all(gpu, launch, part, pipeline, print, &b, why);
    if (status) return status;
    const wg_group *found = b.is_own ? NULL : find_group(pipeline, &b);
    *is_own = false;
    if (found) {
        *group = found->group;
        return QN_OK;
    }
    const wg_group_desc desc = {.layout = pipeline->layout, .num_entries = b.is.count, .entries = b.entries};
    *group = gpu->api->wgpuDeviceCreateBindGroup(gpu->device, &desc);
    if (!*group) {
        snprintf(why, QN__WHY, "kernel %.100s: the device gives no bind group", launch->kernel_name);
        return QN_ERROR_DRIVER;
    }
    *is_own = !keep_group(gpu, pipeline, &b, *group);
    return QN_OK;
}

/* Words behind the variables, of a kernel that has __local parameters. */
static uint32_t dynamic_words(const qn__command *launch, const qn__kernel_info *kernel) {
    const uint64_t before = (kernel->static_local + QN__LOCAL_ALIGN - 1) / QN__LOCAL_ALIGN * QN__LOCAL_ALIGN;
    if (!kernel->num_local_units) return 0;
    return launch->local_memory > before ? (uint32_t)((launch->local_memory - before + 3) / 4) : 1;
}

static void dispatch(qn__gpu *gpu, wg_object pipeline, wg_object group, const uint32_t groups[3]) {
    if (gpu->pipeline_set != pipeline) gpu->api->wgpuComputePassEncoderSetPipeline(gpu->pass, pipeline);
    if (gpu->group_set != group || gpu->pipeline_set != pipeline)
        gpu->api->wgpuComputePassEncoderSetBindGroup(gpu->pass, 0, group, 0, NULL);
    gpu->pipeline_set = pipeline;
    gpu->group_set = group;
    const uint32_t rows = groups[0] > gpu->max_groups[0] ? rows_of(gpu, groups[0]) : 0;
    gpu->api->wgpuComputePassEncoderDispatchWorkgroups(gpu->pass, rows ? groups[0] / rows : groups[0],
                                                       rows ? rows : groups[1], groups[2]);
}

static qn_status launch_part(qn__gpu *gpu, const qn__command *launch, const qn__part *part, wg_object print,
                             char *why) {
    const qn__kernel_info *kernel = &launch->code->info->kernels[launch->kernel];
    wg_pipeline *pipeline = NULL, wanted = {.words = dynamic_words(launch, kernel)};
    wg_object group = NULL;
    memcpy(wanted.local, part->local, sizeof wanted.local);
    qn__wg_find_roots(gpu, launch, wanted.roots);
    bool is_own = false;
    qn_status status = qn__wg_pipeline((qn__code *)launch->code, launch->kernel, &wanted, &pipeline, why);
    if (!status) status = make_group(gpu, launch, part, pipeline, print, &group, &is_own, why);
    if (!status) status = qn__wg_encode(gpu, true, why);
    if (!status) dispatch(gpu, pipeline->pipeline, group, part->groups);
    if (is_own) release_group(gpu, group); /* the pass keeps it */
    return status;
}

/* ---- launches ---- */

static qn_status begin_print(qn__gpu *gpu, wg_object *print, char *why) {
    const uint32_t header[2] = {QN__PRINT_CAPACITY, 0};
    char message[QN__WHY];
    *print = qn__wg_buffer(gpu, WG_USE_STORAGE | WG_USE_COPY_FROM | WG_USE_COPY_TO, QN__PRINT_SIZE, message);
    if (!*print) {
        snprintf(why, QN__WHY, "no memory for what the kernel prints%s%.200s", message[0] ? ": " : "",
                 message);
        return QN_ERROR_DEVICE_MEMORY;
    }
    gpu->api->wgpuQueueWriteBuffer(gpu->queue, *print, 0, header, sizeof header); /* the rest is zero */
    return QN_OK;
}

qn_status qn__wg_launch_bound(qn__gpu *gpu, const qn__command *launch, char *why) {
    const qn__kernel_info *kernel = &launch->code->info->kernels[launch->kernel];
    wg_object print = NULL;
    qn__parts parts;
    qn__part part;
    qn_status status = QN_OK;
    if (kernel->uses_printf) status = begin_print(gpu, &print, why);
    qn__parts_begin(&parts, launch, kernel, gpu->max_groups);
    const bool in_rows = has_rows(launch, kernel);
    while (!status) {
        if (in_rows && !parts.done) parts.max_groups[0] = most_groups(gpu, &parts);
        if (!qn__parts_next(&parts, &part)) break;
        status = launch_part(gpu, launch, &part, print, why);
    }
    if (print && !status) status = qn__wg_read(gpu, print, 0, QN__PRINT_SIZE, NULL, launch->code->info, why);
    if (print) gpu->api->wgpuBufferRelease(print);
    return status;
}

qn_status qn__wg_launch(qn__gpu *gpu, const qn__command *launch, char *why) {
    const qn__kernel_info *kernel = &launch->code->info->kernels[launch->kernel];
    const uint32_t count = kernel->num_bindings / 2;
    if (count <= gpu->num_storage && count <= QN__WG_BINDINGS) return qn__wg_launch_bound(gpu, launch, why);
    if (count <= QN__WG_BINDINGS && launch->num_bindings) return qn__wg_launch_shared(gpu, launch, why);
    snprintf(why, QN__WHY, "kernel %.100s uses %u buffers; a kernel may use %u", kernel->name,
             (unsigned)count, (unsigned)QN__WG_BINDINGS);
    return QN_ERROR_UNSUPPORTED;
}
