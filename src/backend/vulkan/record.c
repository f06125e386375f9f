/* Commands into command buffers, for streams and for graphs alike. Commands of a stream run in order: a global
   memory barrier stands between two that touch the same memory, one of them writing ("Synchronization and
   Cache Control" in the specification); neighbours that do not may overlap. */
#include <stdio.h>
#include <string.h>

#include "backend/vulkan/vulkan.h"

enum { UPLOAD_ROOM = 16 << 10, TILE = 4096 };

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

void qn__vk_recorder_begin(qn__vk_recorder *r, qn__gpu *gpu, VkCommandBuffer commands, uint32_t stages) {
    *r = (qn__vk_recorder){
        .gpu = gpu, .commands = commands, .barrier = true, .before = QN__VK_WORK_STAGES, .stages = stages};
}

/* ---- what is done afterwards ---- */

/* Takes the memory over; on failure it is given back. */
static qn__vk_after *add_after(qn__vk_recorder *r, qn__memory *memory) {
    qn__vk_after *after = qn__allocate_zeroed(r->gpu->services->allocator, sizeof *after);
    if (!after) {
        qn__vk_release(r->gpu, memory);
        return NULL;
    }
    after->memory = memory;
    if (r->last)
        r->last->next = after;
    else
        r->first = after;
    r->last = after;
    return after;
}

static void finish(qn__gpu *gpu, const qn__vk_after *after, bool lost) {
    if (!after->memory || lost) return;
    const unsigned char *bytes = qn__vk_mapped(after->memory);
    if (after->host) memcpy(after->host, bytes, (size_t)after->size);
    if (after->print) qn__print_records(gpu->services, after->print->info, bytes, after->size);
}

void qn__vk_recorder_finish(qn__vk_recorder *r, bool lost) {
    for (qn__vk_after *after = r->first, *next; after; after = next) {
        next = after->next;
        finish(r->gpu, after, lost);
        qn__vk_release(r->gpu, after->memory);
        qn__release(r->gpu->services->allocator, after);
    }
    r->first = r->last = NULL;
    r->upload = NULL;
}

/* Room that the host writes and the device reads, for as long as the commands run; NULL: out of memory. */
static unsigned char *upload(qn__vk_recorder *r, uint64_t size, uint64_t *offset, char *why) {
    if (!r->upload || UPLOAD_ROOM - r->upload_at < size) {
        r->upload = NULL;
        const uint64_t room = size > UPLOAD_ROOM ? size : UPLOAD_ROOM;
        qn__memory *memory;
        if (qn__vk_allocate(r->gpu, QN__VK_UPLOAD_HEAP, room, &memory, why)) return NULL;
        if (!add_after(r, memory)) return NULL;
        r->upload = memory;
        r->upload_at = 0;
    }
    *offset = r->upload_at;
    r->upload_at += (size + 63) & ~(uint64_t)63;
    if (r->upload_at > UPLOAD_ROOM) r->upload_at = UPLOAD_ROOM;
    return qn__vk_mapped(r->upload) + *offset;
}

/* ---- order ---- */

enum {
    WRITES = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
    ACCESSES = WRITES | VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT
};

/* What commands of these stages do with memory. */
static uint32_t accesses_of(uint32_t stages) {
    enum { BY_KERNELS = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_SHADER_READ_BIT };
    return (stages & VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT ? BY_KERNELS : 0u) |
           (stages & VK_PIPELINE_STAGE_TRANSFER_BIT ? ACCESSES & ~(uint32_t)BY_KERNELS : 0u);
}

static void barrier(qn__vk_recorder *r) {
    VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                              .srcAccessMask = accesses_of(r->before) & WRITES,
                              .dstAccessMask = accesses_of(r->stages)};
    r->gpu->vk.CmdPipelineBarrier(r->commands, r->before, r->stages, 0, 1, &memory, 0, NULL, 0, NULL);
    r->before = r->stages;
    r->num_uses = 0;
    r->barrier = false;
}

static bool conflicts(const qn__vk_recorder *r, const qn__vk_use *use) {
    for (uint32_t i = 0; i < r->num_uses; i++)
        if (r->uses[i].memory == use->memory && (r->uses[i].writes || use->writes)) return true;
    return false;
}

/* Before a command that uses this memory. */
static void order(qn__vk_recorder *r, const qn__vk_use *uses, uint32_t count) {
    bool needed = r->barrier || r->num_uses + count > QN__VK_USES;
    for (uint32_t i = 0; i < count && !needed; i++) needed = conflicts(r, &uses[i]);
    if (needed) barrier(r);
    if (count > QN__VK_USES) {
        r->barrier = true; /* too many to remember: the next waits */
        return;
    }
    memcpy(&r->uses[r->num_uses], uses, count * sizeof *uses);
    r->num_uses += count;
}

void qn__vk_recorder_end(qn__vk_recorder *r) {
    if (!r->gpu->unified && !r->host_reads && !atomic_load(&r->gpu->host_looks)) return;
    VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                              .srcAccessMask = WRITES,
                              .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    r->gpu->vk.CmdPipelineBarrier(r->commands, QN__VK_WORK_STAGES, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &memory,
                                  0, NULL, 0, NULL);
}

/* ---- transfers ---- */

static void copy(qn__vk_recorder *r, const qn__memory *from, uint64_t from_at, const qn__memory *to,
                 uint64_t to_at, uint64_t size) {
    VkBufferCopy region = {from->offset + from_at, to->offset + to_at, size};
    r->gpu->vk.CmdCopyBuffer(r->commands, from->block->buffer, to->block->buffer, 1, &region);
}

qn_status qn__vk_record_copy(qn__vk_recorder *r, const qn__command *c) {
    qn__vk_use uses[] = {{c->from, false}, {c->to, true}};
    order(r, uses, 2);
    copy(r, c->from, c->from_offset, c->to, c->to_offset, c->size);
    return QN_OK;
}

uint64_t qn__vk_piece(const qn__command *command, uint64_t rest) {
    return command->host_pinned ? rest : least(rest, QN__VK_CHUNK);
}

/* The host's side of a transfer: pinned memory as it is, else staging memory that is given back afterwards. */
static qn__memory *host_side(qn__vk_recorder *r, const qn__command *c, uint64_t at, uint64_t size,
                             uint64_t *offset, qn__vk_after **after, char *why) {
    qn__memory *memory = NULL;
    *after = NULL;
    *offset = 0;
    if (c->host_pinned && (c->kind == QN__COMMAND_READ || c->host_stays))
        memory = qn__vk_find_pinned(r->gpu, (unsigned char *)c->host + at, size, offset);
    if (memory) return memory;
    if (qn__vk_allocate(r->gpu, QN__VK_HOST_HEAP, size, &memory, why)) return NULL;
    *after = add_after(r, memory);
    if (!*after) return NULL;
    r->staged += size;
    return memory;
}

qn_status qn__vk_record_write(qn__vk_recorder *r, const qn__command *c, uint64_t at, uint64_t size,
                              char *why) {
    uint64_t offset;
    qn__vk_after *after;
    qn__memory *from = host_side(r, c, at, size, &offset, &after, why);
    if (!from) return QN_ERROR_OUT_OF_MEMORY;
    if (after) memcpy(qn__vk_mapped(from), (const unsigned char *)c->host + at, (size_t)size);
    if (at == 0) {
        qn__vk_use uses[] = {{c->to, true}, {from, false}};
        order(r, uses, after ? 1 : 2);
    }
    copy(r, from, offset, c->to, c->to_offset + at, size);
    return QN_OK;
}

qn_status qn__vk_record_read(qn__vk_recorder *r, const qn__command *c, uint64_t at, uint64_t size,
                             char *why) {
    uint64_t offset;
    qn__vk_after *after;
    qn__memory *to = host_side(r, c, at, size, &offset, &after, why);
    if (!to) return QN_ERROR_OUT_OF_MEMORY;
    if (after) {
        after->host = (unsigned char *)c->host + at;
        after->size = size;
    }
    if (at == 0) {
        qn__vk_use uses[] = {{c->from, false}, {to, true}};
        order(r, uses, after ? 1 : 2);
    }
    copy(r, c->from, c->from_offset + at, to, offset, size);
    r->host_reads = true;
    return QN_OK;
}

/* A few bytes from the upload room. */
static qn_status put(qn__vk_recorder *r, const qn__memory *to, uint64_t at, const unsigned char *bytes,
                     uint64_t size, char *why) {
    uint64_t offset;
    unsigned char *room = size ? upload(r, size, &offset, why) : NULL;
    if (size && !room) return QN_ERROR_OUT_OF_MEMORY;
    if (!size) return QN_OK;
    memcpy(room, bytes, (size_t)size);
    copy(r, r->upload, offset, to, at, size);
    return QN_OK;
}

/* Patterns of up to 4 bytes: whole words by vkCmdFillBuffer, the odd bytes before and behind as copies. */
static qn_status fill_words(qn__vk_recorder *r, const qn__command *c, char *why) {
    unsigned char word[4];
    for (uint32_t i = 0; i < 4; i++) word[i] = c->pattern[i % c->pattern_size];
    uint64_t start = c->to->offset + c->to_offset, head = least((4 - start % 4) % 4, c->size);
    uint64_t tail = (c->size - head) % 4, middle = c->size - head - tail;
    qn_status status = put(r, c->to, c->to_offset, word + (4 - head) % 4, head, why);
    if (!status) status = put(r, c->to, c->to_offset + head + middle, word, tail, why);
    if (status || !middle) return status;
    uint32_t value;
    memcpy(&value, word, sizeof value);
    r->gpu->vk.CmdFillBuffer(r->commands, c->to->block->buffer, start + head, middle, value);
    return QN_OK;
}

/* Longer patterns: a tile of them is copied in, then what is there is doubled. */
static qn_status fill_tiles(qn__vk_recorder *r, const qn__command *c, char *why) {
    uint64_t offset, done = least(c->size, TILE);
    unsigned char *tile = upload(r, done, &offset, why);
    if (!tile) return QN_ERROR_OUT_OF_MEMORY;
    for (uint64_t i = 0; i < done; i += c->pattern_size) memcpy(tile + i, c->pattern, c->pattern_size);
    copy(r, r->upload, offset, c->to, c->to_offset, done);
    while (done < c->size) {
        uint64_t size = least(done, c->size - done);
        barrier(r);
        copy(r, c->to, c->to_offset, c->to, c->to_offset + done, size);
        done += size;
    }
    r->barrier = true;
    return QN_OK;
}

qn_status qn__vk_record_fill(qn__vk_recorder *r, const qn__command *c, char *why) {
    qn__vk_use use = {c->to, true};
    order(r, &use, 1);
    return c->pattern_size <= 4 ? fill_words(r, c, why) : fill_tiles(r, c, why);
}

void qn__vk_record_stamp(qn__vk_recorder *r, const qn__vk_stamp *stamp) {
    r->gpu->vk.CmdResetQueryPool(r->commands, stamp->pool, stamp->index, 1);
    r->gpu->vk.CmdWriteTimestamp(r->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, stamp->pool,
                                 stamp->index);
    r->barrier = true; /* what comes later starts later */
}

/* ---- launches ---- */

typedef struct launch {
    const qn__command *command;
    const qn__kernel_info *kernel;
    uint32_t key[QN__VK_MAX_KEY]; /* specialisation constants: local size, lengths of local arguments */
    uint32_t num_key;
    qn__implicit_addresses addresses;
    qn__memory *print,
        *print_host; /* the buffer, and where the host reads it: the same if memory is shared */
} launch;

/* The length of each __local argument: up to the next one, or to the end of the local memory. */
static qn_status local_lengths(launch *l, char *why) {
    const qn__kernel_info *kernel = l->kernel;
    uint64_t offsets[QN__VK_LOCAL_ARGS + 1];
    uint32_t count = 0;
    for (uint32_t i = 0; i < kernel->num_params; i++) {
        if (kernel->params[i].kind != QN__PARAM_LOCAL) continue;
        if (count == QN__VK_LOCAL_ARGS || count == kernel->num_local_units) {
            snprintf(why, QN__WHY, "kernel %s has more than %d local arguments", kernel->name, (int)count);
            return QN_ERROR_UNSUPPORTED;
        }
        memcpy(&offsets[count++], l->command->args + kernel->params[i].offset, sizeof offsets[0]);
    }
    offsets[count] = l->command->local_memory;
    l->num_key = 3 + count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t unit = kernel->local_units[i] ? kernel->local_units[i] : 1;
        uint64_t length = (offsets[i + 1] - offsets[i] + unit - 1) / unit;
        l->key[3 + i] = length ? (uint32_t)length : 1;
    }
    return QN_OK;
}

/* The print buffer: near the device, and a place for a copy of it unless the host sees it there. */
static qn_status prepare_print(qn__vk_recorder *r, launch *l, char *why) {
    if (!l->kernel->uses_printf) return QN_OK;
    const uint64_t size = QN__PRINT_SIZE;
    const uint32_t head[2] = {QN__PRINT_CAPACITY, 0};
    qn_status status = qn__vk_allocate(r->gpu, QN__VK_DEVICE_HEAP, size, &l->print, why);
    if (status) return status;
    qn__vk_after *after = add_after(r, l->print);
    if (!after) return QN_ERROR_OUT_OF_MEMORY;
    l->addresses.print = qn__vk_address(l->print);
    if (r->gpu->unified) {
        memcpy(qn__vk_mapped(l->print), head, sizeof head);
        l->print_host = l->print;
    } else {
        status = qn__vk_allocate(r->gpu, QN__VK_HOST_HEAP, size, &l->print_host, why);
        if (status) return status;
        after = add_after(r, l->print_host);
        if (!after) return QN_ERROR_OUT_OF_MEMORY;
        r->gpu->vk.CmdUpdateBuffer(r->commands, l->print->block->buffer, l->print->offset, sizeof head, head);
        r->barrier = true;
    }
    after->print = l->command->code;
    after->size = size;
    r->host_reads = true;
    return QN_OK;
}

static void fetch_print(qn__vk_recorder *r, const launch *l) {
    if (l->print == l->print_host) return;
    barrier(r);
    copy(r, l->print, 0, l->print_host, 0, QN__PRINT_SIZE);
}

static bool may_write(const qn__kernel_info *kernel, uint32_t param) {
    const qn__param_info *arg = param < kernel->num_params ? &kernel->params[param] : NULL;
    return !arg || arg->is_written;
}

static void order_launch(qn__vk_recorder *r, const launch *l) {
    const qn__command *c = l->command;
    qn__vk_use uses[QN__VK_USES];
    uint32_t count = 0;
    if (c->num_bindings > QN__VK_USES || l->print) r->barrier = true;
    for (uint32_t i = 0; i < c->num_bindings && count < QN__VK_USES; i++)
        uses[count++] = (qn__vk_use){c->bindings[i].memory, may_write(l->kernel, c->bindings[i].param)};
    order(r, uses, count);
    if (c->num_bindings > QN__VK_USES) r->barrier = true;
}

/* What is pushed stays for the commands that follow. */
static void push_bytes(qn__vk_recorder *r, const unsigned char *block, uint32_t size) {
    if (size <= r->pushed_size && memcmp(r->pushed, block, size) == 0) return;
    memcpy(r->pushed, block, size);
    if (r->pushed_size < size) r->pushed_size = size;
    r->gpu->vk.CmdPushConstants(r->commands, r->gpu->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, size, block);
}

/* Pushes the parameter block, or its address. */
static qn_status push(qn__vk_recorder *r, const launch *l, const qn__part *part, char *why) {
    _Alignas(16) unsigned char block[QN__MAX_PUSH_CONSTANTS] = {0};
    uint32_t size = l->kernel->params_size;
    if (size <= sizeof block)
        qn__params_fill(block, l->command, l->kernel, part, &l->addresses);
    else {
        uint64_t offset, address;
        unsigned char *room = upload(r, size, &offset, why);
        if (!room) return QN_ERROR_OUT_OF_MEMORY;
        qn__params_fill(room, l->command, l->kernel, part, &l->addresses);
        address = qn__vk_address(r->upload) + offset;
        memcpy(block, &address, sizeof address);
        size = sizeof address;
    }
    push_bytes(r, block, (size + 3) & ~3u);
    return QN_OK;
}

static qn_status get_pipeline(launch *l, const qn__part *part, VkPipeline *pipeline, char *why) {
    memcpy(l->key, part->local, sizeof part->local);
    return qn__vk_pipeline_get(l->command->code, l->command->kernel, l->key, l->num_key, pipeline, why);
}

static qn_status dispatch(qn__vk_recorder *r, launch *l, const qn__part *part, char *why) {
    VkPipeline pipeline;
    qn_status status = get_pipeline(l, part, &pipeline, why);
    if (!status) status = push(r, l, part, why);
    if (status) return status;
    if (pipeline != r->bound)
        r->gpu->vk.CmdBindPipeline(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    r->bound = pipeline;
    r->gpu->vk.CmdDispatch(r->commands, part->groups[0], part->groups[1], part->groups[2]);
    return QN_OK;
}

qn_status qn__vk_record_launch(qn__vk_recorder *r, const qn__command *command, char *why) {
    const qn__code *code = command->code;
    launch l = {.command = command, .kernel = &code->info->kernels[command->kernel]};
    if (code->constants) l.addresses.constants = qn__vk_address(code->constants);
    qn_status status = local_lengths(&l, why);
    qn__parts parts;
    qn__part part;
    VkPipeline pipeline;
    /* all that can fail comes first */
    qn__parts_begin(&parts, command, l.kernel, r->gpu->max_groups);
    while (!status && qn__parts_next(&parts, &part)) status = get_pipeline(&l, &part, &pipeline, why);
    if (!status) status = prepare_print(r, &l, why);
    if (status) return status;
    order_launch(r, &l);
    qn__parts_begin(&parts, command, l.kernel, r->gpu->max_groups);
    while (!status && qn__parts_next(&parts, &part)) status = dispatch(r, &l, &part, why);
    if (l.print) fetch_print(r, &l);
    qn__kernel_names_add(&r->kernels, command->kernel_name);
    return status;
}
