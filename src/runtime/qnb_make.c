/* Makes a .qnb: the program is compiled for each target that is asked for, as devices of that kind have it in common, or
   as one that is there has it. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/qnb.h"
#include "util/folder.h"
#include "util/vec.h"

/* The least that a driver gives a work-item: NVIDIA's for Vulkan. */
enum { PORTABLE_PRIVATE = 15 << 10, MAX_BINARY = 256 << 20 };

typedef struct maker {
    qn_context *context;
    qn__compile_request request; /* the program's; its target is set for each entry */
    qn__compile_result result;   /* of the compile at hand */
    qn__arena arena, scratch;
    QN__VEC(qn__qnb_entry) entries;
    QN__VEC(const char *) archs, machines; /* of PTX; of processors */
    qn__buf log;
    char *data; /* an object, and at last the file; the allocator's */
    size_t size;
    bool no_memory;         /* a compile has failed for that, so that what it was to tell is not known */
    uint32_t least_kernels; /* while a target is reduced: with fewer it is another program */
} maker;

/* ---- compiling ---- */

static bool compile(maker *m, const qn__target *target) {
    qn__compile_free(&m->result);
    m->request.target = *target;
    m->request.target_complete = true;
    m->request.dump = target->kind == QN__TARGET_IR ? "" : NULL;
    return qn__compile(&m->request, &m->result) == QN__COMPILE_OK;
}

/* The code of the compile at hand; of the IR its text. */
static qn__str code_of(const maker *m) {
    return m->request.dump ? qn__str_of(m->result.dump) : (qn__str){m->result.text, m->result.text_size};
}

static qn__buf info_of(qn__arena *arena, const maker *m) {
    qn__buf info;
    qn__buf_init(&info, arena);
    qn__put_code_info(&info, &m->result.info);
    return info;
}

static bool hash_for(void *user, const qn__target *target, qn__hash128 *code) {
    maker *m = user;
    if (!compile(m, target)) {
        m->no_memory |= m->result.status == QN__COMPILE_OUT_OF_MEMORY;
        return false;
    }
    if (m->result.info.num_kernels < m->least_kernels) return false;
    qn__arena_reset(&m->scratch);
    const qn__str text = code_of(m);
    const qn__buf info = info_of(&m->scratch, m);
    const qn__hash128 parts[2] = {qn__hash_128(text.data, text.len), qn__hash_128(info.data, info.len)};
    *code = qn__hash_128(parts, sizeof parts);
    return true;
}

static qn_status failed(const maker *m, const qn__target *target) {
    const qn_status status = qn__compile_failure(m->context, &m->result);
    if (status != QN_ERROR_UNSUPPORTED) return status;
    return qn__fail(m->context, status, "for the target %s: %.900s", qn__target_name(target->kind),
                    m->result.log);
}

/* Warnings are the same for most targets: each text once. */
static void add_log(maker *m) {
    if (m->result.log[0] && !strstr(m->log.data, m->result.log)) qn__buf_puts(&m->log, m->result.log);
}

/* ---- entries ---- */

/* PTX names its architecture itself where none is asked for. */
static const char *ptx_arch(const char *text) {
    static const char word[] = ".target sm_";
    const char *at = strstr(text, word);
    return at ? at + sizeof word - 1 : "0";
}

static const char *all_needs(maker *m, const qn__target *target, const char *abilities) {
    const char *end = abilities[0] ? " " : "";
    if (target->kind == QN__TARGET_PTX)
        return qn__arena_printf(&m->arena, "arch>=%d%s%s", atoi(ptx_arch(m->result.text)), end, abilities);
    if (target->kind == QN__TARGET_C || target->kind == QN__TARGET_IR ||
        target->private_bytes <= PORTABLE_PRIVATE)
        return abilities;
    return qn__arena_printf(&m->arena, "private_bytes>=%u%s%s", (unsigned)target->private_bytes, end,
                            abilities);
}

static bool is_there(const maker *m, const qn__qnb_entry *entry) {
    for (size_t i = 0; i < m->entries.len; i++) {
        const qn__qnb_entry *other = &m->entries.data[i];
        if (other->kind == entry->kind && other->text_size == entry->text_size &&
            !strcmp(other->needs, entry->needs) && !strcmp(other->machine, entry->machine) &&
            memcmp(other->text, entry->text, entry->text_size) == 0 && other->info_size == entry->info_size &&
            memcmp(other->info, entry->info, entry->info_size) == 0)
            return true;
    }
    return false;
}

/* Code for a target, complete, as text; *made gets what is in the file then. */
static qn_status make_entry(maker *m, const qn__target *target, qn__qnb_entry *made) {
    if (!compile(m, target)) return failed(m, target);
    const char *abilities = "";
    const bool same_everywhere = target->kind == QN__TARGET_C || target->kind == QN__TARGET_IR;
    if (!same_everywhere) abilities = qn__qnb_needs(&m->arena, target, hash_for, m);
    if (!same_everywhere && !compile(m, target)) return failed(m, target);
    add_log(m);
    const qn__str code = code_of(m);
    const qn__buf info = info_of(&m->arena, m);
    *made = (qn__qnb_entry){.kind = target->kind,
                            .needs = all_needs(m, target, abilities),
                            .machine = "",
                            .log = qn__arena_strdup(&m->arena, m->result.log),
                            .info = info.data,
                            .info_size = info.len,
                            .text = qn__arena_strndup(&m->arena, code.data, code.len),
                            .text_size = code.len};
    return QN_OK;
}

static qn_status add_entry(maker *m, const qn__target *target, qn__qnb_entry *made) {
    const qn_status status = make_entry(m, target, made);
    if (!status && !is_there(m, made)) qn__vec_push(&m->arena, &m->entries, *made);
    return status;
}

/* ---- what devices of a kind have in common ---- */

/* What drivers get wrong or need not promise is done without, on all devices. */
static const struct {
    qn__target_kind kind;
    const char *words[11];
} avoided[] = {
    {QN__TARGET_SPIRV,
     {"loop_results", "exact_zeros", "byte_swaps", "cut_signs", "long_differences", "long_signs",
      "float_controls", "denormal_compares", "denormals", "nearest", "matrices"}},
    {QN__TARGET_CLC, {"float_atomic_add", "unrolled_barriers"}},
    {QN__TARGET_WGSL, {"exact_sums", "exact_choices", "division", "f32_denormals", "loop_results"}},
};

/* What devices differ in. f64 stands last: an fma without exact_fma is made of it, and more devices have it. */
static const char *const spirv_varies[] = {"dot4",       "f16",       "i8",          "i16",
                                           "i64",        "storage_8", "storage_16",  "sub_group_shuffle",
                                           "sub_groups", "exact_fma", "i64_atomics", "float_atomic_add",
                                           "f64",        NULL};
static const char *const clc_varies[] = {"sub_group_shuffle", "sub_groups", "i64_atomics", "f64", NULL};
static const char *const wgsl_varies[] = {"f16_conversions", "lasting_code", "exact_fma", "sub_groups", NULL};

static const char *const *varies_of(qn__target_kind kind) {
    return kind == QN__TARGET_SPIRV ? spirv_varies : kind == QN__TARGET_WGSL ? wgsl_varies : clc_varies;
}

static void avoid(qn__target *target, const char *word) {
    uint32_t count;
    const qn__ability *abilities = qn__abilities(&count);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(abilities[i].name, word) == 0) qn__set_able(target, &abilities[i], false);
}

static void avoid_all(qn__target *target) {
    for (size_t i = 0; i < QN__COUNT(avoided); i++)
        for (size_t k = 0; avoided[i].kind == target->kind && k < QN__COUNT(avoided[i].words); k++)
            if (avoided[i].words[k]) avoid(target, avoided[i].words[k]);
}

/* In as little private memory as any driver gives, if that does. */
static void limit_private(maker *m, qn__target *target) {
    qn__target small = *target;
    small.private_bytes = PORTABLE_PRIVATE;
    if (compile(m, &small)) *target = small;
}

/* Sub-groups of other sizes, where nothing else can do what they do. */
static qn_status add_sizes(maker *m, qn__target target) {
    static const uint32_t sizes[] = {4, 8, 16, 64, 128};
    qn_status status = QN_OK;
    qn__qnb_entry made;
    for (size_t i = 0; i < QN__COUNT(sizes) && !status; i++) {
        target.sub_group_size = sizes[i];
        status = add_entry(m, &target, &made);
    }
    return status;
}

/* With all done without that can be, and at least so many kernels. */
static qn_status add_bare(maker *m, qn__target target, uint32_t least_kernels) {
    qn__qnb_entry made;
    m->least_kernels = least_kernels;
    qn__qnb_reduce(&target, varies_of(target.kind), hash_for, m);
    m->least_kernels = 0;
    const qn_status status = add_entry(m, &target, &made);
    return !status && strstr(made.needs, "sub_group_size=") ? add_sizes(m, target) : status;
}

/* Two or three entries: for devices that have what desktop GPUs have, and for all, with all done without that can be; a
   source may leave out kernels where a device lacks something, and then for those, too. */
static qn_status add_portable(maker *m, qn__target_kind kind) {
    qn__qnb_entry made;
    qn__target full = {.kind = kind,
                       .sub_group_size = 32,
                       .wants_unrolled = true,
                       .wants_wide_addresses = true,
                       .has_f16_conversions = kind == QN__TARGET_WGSL,
                       .wants_one_buffer_type = kind == QN__TARGET_WGSL};
    qn__target bare = {.kind = kind,
                       .sub_group_size = 32,
                       .wants_unrolled = true,
                       .wants_one_buffer_type = kind == QN__TARGET_WGSL};
    qn__compile_target(&full);
    avoid_all(&full);
    limit_private(m, &full);
    qn_status status = add_entry(m, &full, &made);
    if (status || !made.needs[0]) return status;
    const uint32_t num_kernels = m->result.info.num_kernels;
    bare.private_bytes = full.private_bytes;
    qn__compile_target(&bare);
    avoid_all(&bare);
    status = add_bare(m, bare, num_kernels);
    return status ? status : add_bare(m, bare, 0);
}

static qn_status add_ptx(maker *m) {
    qn__qnb_entry made;
    qn_status status = QN_OK;
    for (size_t i = 0; i < m->archs.len || i == 0; i++) {
        qn__target target = {.kind = QN__TARGET_PTX, .sub_group_size = 32};
        if (m->archs.len) status = qn__find_arch(m->context, m->archs.data[i], &target.arch);
        if (status) return status;
        qn__compile_target(&target);
        status = add_entry(m, &target, &made);
        if (status) return status;
    }
    return status;
}

/* ---- the processor ---- */

static qn_status get_cpu(maker *m, qn__target_kind kind, qn_device **cpu, qn__target *target) {
    const qn_status status = qn_device_get(m->context, "cpu", cpu);
    if (status) return status;
    *target = (qn__target){.kind = kind, .sub_group_size = (*cpu)->target.sub_group_size};
    qn__compile_target(target);
    return QN_OK;
}

/* The machine code in m->data, made of a text. */
static void add_binary(maker *m, const qn__qnb_entry *text, const char *machine, size_t size) {
    qn__qnb_entry entry = *text;
    entry.text = "";
    entry.text_size = 0;
    entry.machine = qn__arena_strdup(&m->arena, machine);
    entry.binary = qn__arena_copy(&m->arena, m->data, size);
    entry.binary_size = size;
    qn__release(&m->context->allocator, m->data);
    m->data = NULL;
    if (!is_there(m, &entry)) qn__vec_push(&m->arena, &m->entries, entry);
}

/* What is compiled for a machine of that name; NULL: for the least. */
static qn_status add_object(maker *m, const qn_device *cpu, const qn__qnb_entry *text, const char *name) {
    char why[QN__WHY] = "";
    const qn_backend *backend = cpu->backend;
    const char *machine = backend->find_machine(cpu->gpu, name, why);
    if (!machine) return qn__fail(m->context, QN_ERROR_ARGUMENT, "%s", why);
    const qn__code_source source = {.text = text->text,
                                    .text_size = (size_t)text->text_size,
                                    .info = &m->result.info,
                                    .machine = machine};
    size_t size = 0;
    const qn_status status = backend->code_object(cpu->gpu, &source, &m->data, &size, why);
    if (status) return qn__fail(m->context, status, "for the target c, %.80s: %s", machine, why);
    add_binary(m, text, machine, size);
    return QN_OK;
}

static qn_status add_c(maker *m) {
    qn_device *cpu;
    qn__target target;
    qn__qnb_entry made;
    qn_status status = get_cpu(m, QN__TARGET_C, &cpu, &target);
    if (!status) status = add_entry(m, &target, &made);
    if (!status && m->result.info.num_kernels) status = add_object(m, cpu, &made, NULL);
    for (size_t i = 0; !status && m->result.info.num_kernels && i < m->machines.len; i++)
        status = add_object(m, cpu, &made, m->machines.data[i]);
    return status;
}

static qn_status add_ir(maker *m) {
    qn_device *cpu;
    qn__target target;
    qn__qnb_entry made;
    const qn_status status = get_cpu(m, QN__TARGET_IR, &cpu, &target);
    return status ? status : add_entry(m, &target, &made);
}

/* ---- devices that are there ---- */

/* What the driver makes of the text, as the backend keeps it in the disk cache: here, in a file of its own. */
static qn_status make_binary(maker *m, const qn_device *device, const qn__qnb_entry *text, size_t *size,
                             char *why) {
    const qn_backend *backend = device->backend;
    qn__work_folder work;
    char path[PATH_MAX + 16];
    qn__code *code = NULL;
    int error = qn__work_folder_make(&work, NULL);
    if (error) {
        snprintf(why, QN__WHY, "no folder for its code: %s", strerror(error));
        return QN_ERROR_IO;
    }
    snprintf(path, sizeof path, "%s/code", work.path);
    const qn__code_source source = {.text = text->text,
                                    .text_size = (size_t)text->text_size,
                                    .info = &m->result.info,
                                    .binary_path = path};
    const qn_status status = backend->code_load(device->gpu, &source, &code, why);
    if (!status) backend->code_unload(device->gpu, code);
    if (!status) error = qn__private_read(&m->context->allocator, path, MAX_BINARY, &m->data, size);
    qn__work_folder_remove(&work);
    if (error) snprintf(why, QN__WHY, "its driver gives no machine code");
    return status ? status : error ? QN_ERROR_UNSUPPORTED : QN_OK;
}

static qn_status add_machine_code(maker *m, const qn_device *device, const qn__qnb_entry *text) {
    char why[QN__WHY] = "";
    size_t size = 0;
    const qn_backend *backend = device->backend;
    const char *machine = backend->find_machine ? backend->find_machine(device->gpu, "native", why)
                                                : backend->cache_key(device->gpu);
    const qn_status status = make_binary(m, device, text, &size, why);
    if (status) return qn__fail(m->context, status, "for the device %s: %s", device->name, why);
    add_binary(m, text, machine, size);
    return QN_OK;
}

/* Text that fits it exactly, and machine code. */
static qn_status add_device(maker *m, const char *name) {
    qn_device *device;
    qn__qnb_entry made;
    qn_status status = qn_device_get(m->context, name, &device);
    if (status) return status;
    const qn__target target = device->target;
    if (target.kind == QN__TARGET_IR) return add_entry(m, &target, &made);
    status = add_entry(m, &target, &made);
    if (status || m->result.info.num_kernels == 0) return status;
    return device->backend->code_object ? add_object(m, device, &made, "native")
                                        : add_machine_code(m, device, &made);
}

/* ---- what the caller asks for ---- */

/* The words of a list with commas, or what `visit` says of the first that is wrong. */
static qn_status each_word(maker *m, const char *list, qn_status (*visit)(maker *m, const char *word)) {
    qn_status status = QN_OK;
    while (list && *list && !status) {
        const size_t length = strcspn(list, ",");
        status = visit(m, qn__arena_strndup(&m->arena, list, length));
        list += length + (list[length] == ',');
    }
    return status;
}

/* CUDA's begin so; all else is a processor. */
static qn_status take_arch(maker *m, const char *word) {
    uint32_t ignored;
    if (strncmp(word, "sm_", 3) != 0) {
        qn__vec_push(&m->arena, &m->machines, word);
        return QN_OK;
    }
    qn__vec_push(&m->arena, &m->archs, word);
    return qn__find_arch(m->context, word, &ignored);
}

static qn_status add_target(maker *m, const char *word) {
    qn__target_kind kind;
    const qn_status status = qn__find_target(m->context, word, &kind);
    if (status) return status;
    switch (kind) {
    case QN__TARGET_PTX: return add_ptx(m);
    case QN__TARGET_C: return add_c(m);
    case QN__TARGET_IR: return add_ir(m);
    default: return add_portable(m, kind);
    }
}

/* Whether the list with commas has the word. */
static bool lists(const char *list, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && strncmp(at, word, length) == 0) return true;
    return false;
}

/* What is asked for and would not be made. */
static qn_status check_archs(const maker *m, const char *targets) {
    const char *separator = targets[0] ? ": " : "";
    if (m->archs.len && !lists(targets, "ptx"))
        return qn__fail(m->context, QN_ERROR_ARGUMENT,
                        "'%.100s' is an architecture of ptx, which is not among the targets%s%.100s",
                        m->archs.data[0], separator, targets);
    if (m->machines.len && !lists(targets, "c"))
        return qn__fail(m->context, QN_ERROR_ARGUMENT,
                        "'%.100s' is a processor, and c is not among the targets%s%.100s",
                        m->machines.data[0], separator, targets);
    return QN_OK;
}

static qn_status write_file(maker *m) {
    qn__buf out;
    qn__buf_init(&out, &m->arena);
    qn__qnb_begin(&out, (uint32_t)m->entries.len);
    for (size_t i = 0; i < m->entries.len; i++) qn__qnb_add(&out, &m->entries.data[i]);
    qn__qnb_end(&out);
    m->data = qn__allocate(&m->context->allocator, out.len);
    if (!m->data) return qn__fail_memory(m->context, out.len);
    memcpy(m->data, out.data, out.len);
    m->size = out.len;
    return QN_OK;
}

static qn_status make(maker *m, const qn_pack_desc *desc) {
    qn__buf_init(&m->log, &m->arena);
    qn__buf_puts(&m->log, "");
    qn_status status = each_word(m, desc->archs, take_arch);
    const char *targets = desc->targets ? desc->targets : desc->devices ? "" : "ptx,spirv,clc,c,ir";
    if (!status) status = check_archs(m, targets);
    if (!status) status = each_word(m, targets, add_target);
    if (!status) status = each_word(m, desc->devices, add_device);
    if (!status && m->no_memory)
        status = qn__fail(m->context, QN_ERROR_OUT_OF_MEMORY, "qn_program_pack: out of host memory");
    return status ? status : write_file(m);
}

/* In arenas of its own, which escape to here. */
static qn_status make_guarded(maker *m, const qn_pack_desc *desc, char **log) {
    jmp_buf escape;
    qn__arena_init(&m->arena, &m->context->allocator, 0);
    qn__arena_init(&m->scratch, &m->context->allocator, 0);
    m->arena.escape = m->scratch.escape = &escape;
    qn_status status;
    if (setjmp(escape) == 0)
        status = make(m, desc);
    else
        status = qn__fail(m->context, QN_ERROR_OUT_OF_MEMORY, "qn_program_pack: out of host memory");
    if (log && m->log.data && !status) {
        *log = qn__allocate(&m->context->allocator, m->log.len + 1);
        if (*log) memcpy(*log, m->log.data, m->log.len + 1);
    }
    qn__compile_free(&m->result);
    qn__arena_free(&m->scratch);
    qn__arena_free(&m->arena);
    return status;
}

static qn_status pack(qn_context *context, const qn_pack_desc *desc, const qn__compile_request *request,
                      char **data, size_t *size, char **log) {
    maker *m = qn__allocate_zeroed(&context->allocator, sizeof *m);
    if (!m) return qn__fail_memory(context, sizeof *m);
    m->context = context;
    m->request = *request;
    const qn_status status = make_guarded(m, desc, log);
    if (status)
        qn__release(&context->allocator, m->data);
    else
        *data = m->data;
    *size = m->size;
    qn__release(&context->allocator, m);
    return status;
}

qn_status qn_program_pack(qn_context *context, const qn_pack_desc *given, char **data, size_t *size,
                          char **log) {
    static const char function[] = "qn_program_pack";
    if (log) *log = NULL;
    if (data) *data = NULL;
    qn_status status = qn__check(context, QN__OBJECT_CONTEXT, function, "context");
    if (status) return status;
    if (!given) return qn__fail_null(context, function, "desc");
    if (!data) return qn__fail_null(context, function, "data");
    if (!size) return qn__fail_null(context, function, "size");
    *size = 0;
    qn_pack_desc desc;
    QN__READ(context, qn_pack_desc, &desc, given);
    if (!desc.program) return qn__fail_null(context, function, "desc->program");
    qn_program_desc program;
    QN__READ(context, qn_program_desc, &program, desc.program);
    qn__program_input input;
    status = qn__program_request(context, &program, function, &input);
    if (!status && input.qnb)
        status = qn__fail(context, QN_ERROR_ARGUMENT, "%s: '%.300s' is packed already", function,
                          program.path ? program.path : "desc->program->binary");
    if (!status) status = pack(context, &desc, &input.request, data, size, log);
    qn__program_input_free(context, &input);
    return status;
}
