/* Loads a .qnb: the part that the device makes most of, and where its driver refuses that, the next. */
#include <stdio.h>
#include <string.h>

#include "runtime/qnb.h"
#include "util/file.h"

/* How well an entry suits a device: 0: not at all. */
enum { RANK_IR = 1, RANK_TEXT = 1 << 8, RANK_BINARY = 1 << 28 };

typedef struct loader {
    qn_program *program;
    const char *name; /* of the file, for messages */
    bool use_cache;
    qn__arena arena; /* of what is known of the file */
    qn__qnb qnb;
    bool *tried; /* one an entry */
} loader;

/* ---- the choice ---- */

static uint32_t runs_binary(const qn_device *device, const char *machine) {
    const qn_backend *backend = device->backend;
    if (backend->runs_binary) return backend->runs_binary(device->gpu, machine);
    return strcmp(machine, backend->cache_key(device->gpu)) == 0;
}

/* Kinds of devices whose code is C take the IR as well: they have an interpreter. */
static bool interprets(const qn_device *device) {
    return device->target.kind == QN__TARGET_C || device->target.kind == QN__TARGET_IR;
}

/* The backend that makes the binaries of a target. */
static bool is_of_target(const qn_device *device, qn__target_kind kind) {
    return device->target.kind == kind || (kind == QN__TARGET_C && device->backend->kind == QN_DEVICE_CPU);
}

static uint32_t arch_of(const char *needs) {
    unsigned arch = 0;
    return sscanf(needs, "arch>=%u", &arch) == 1 && arch < 4096 ? arch : 0;
}

static uint32_t rank_of(const qn_device *device, const qn__qnb_entry *entry) {
    const qn__target *target = &device->target;
    if (entry->kind == QN__TARGET_IR) return interprets(device) ? RANK_IR : 0;
    if (!is_of_target(device, entry->kind)) return 0;
    if (entry->machine[0]) {
        const uint32_t fit = entry->binary_size ? runs_binary(device, entry->machine) : 0;
        return fit ? RANK_BINARY + fit : 0;
    }
    if (target->kind != entry->kind || !qn__qnb_has(target, entry->needs, NULL)) return 0;
    const uint32_t needs = qn__qnb_num_needs(entry->needs);
    return RANK_TEXT + arch_of(entry->needs) * RANK_TEXT + (needs < RANK_TEXT ? needs : RANK_TEXT - 1);
}

static const qn__qnb_entry *choose(const loader *l) {
    const qn__qnb_entry *best = NULL;
    uint32_t best_rank = 0;
    for (uint32_t i = 0; i < l->qnb.num_entries; i++) {
        const uint32_t rank = l->tried[i] ? 0 : rank_of(l->program->device, &l->qnb.entries[i]);
        if (rank <= best_rank) continue;
        best_rank = rank;
        best = &l->qnb.entries[i];
    }
    return best;
}

/* "ptx (arch>=90)", "c for x86-64-v3", "spirv (f64, which it lacks)" */
static void describe(qn__buf *out, const qn_device *device, const qn__qnb_entry *entry) {
    qn__str missing;
    const char *word = qn__target_name(entry->kind);
    if (entry->machine[0])
        qn__buf_printf(out, "%s for %.60s", word, entry->machine);
    else if (entry->kind == device->target.kind && !qn__qnb_has(&device->target, entry->needs, &missing))
        qn__buf_printf(out, "%s (needs %.*s)", word, QN__STR_PRINTF(missing));
    else
        qn__buf_puts(out, word);
}

static qn_status nothing_fits(loader *l) {
    const qn_device *device = l->program->device;
    const qn__target *target = &device->target;
    qn__buf list;
    qn__buf_init(&list, &l->arena);
    qn__buf_puts(&list, l->qnb.num_entries ? "" : "nothing that this library knows");
    for (uint32_t i = 0; i < l->qnb.num_entries && list.len < 600; i++) {
        if (i) qn__buf_puts(&list, ", ");
        describe(&list, device, &l->qnb.entries[i]);
    }
    char arch[32] = "";
    if (target->arch) snprintf(arch, sizeof arch, " of arch %u", (unsigned)target->arch);
    return qn__fail(l->program->object.context, QN_ERROR_UNSUPPORTED,
                    "%s has nothing for %s, which takes %s%s; it has %s", l->name, device->name,
                    qn__target_name(target->kind), arch, list.data);
}

/* ---- loading ---- */

/* The program's own copy: it outlives the file. */
static qn_status keep_entry(loader *l, qn__qnb_entry *entry) {
    qn_program *program = l->program;
    const qn__allocator *allocator = &program->object.context->allocator;
    const size_t log = strlen(entry->log) + 1, info = (size_t)entry->info_size + 1,
                 text = (size_t)entry->text_size + 1;
    char *memory = qn__allocate(allocator, log + info + text);
    if (!memory) return qn__fail_memory(program->object.context, log + info + text);
    program->memory = memory;
    entry->log = memcpy(memory, entry->log, log);
    entry->info = memcpy(memory + log, entry->info, info);
    entry->text = memcpy(memory + log + info, entry->text, text);
    program->log = entry->log;
    const char *wrong = qn__qnb_info(&program->arena, &l->qnb, entry, &program->info);
    return wrong ? qn__fail(program->object.context, QN_ERROR_IO, "%s %s", l->name, wrong) : QN_OK;
}

/* The file's IR as a module, with its description; both live as long as the program. */
static qn_status read_ir(loader *l, const qn__qnb_entry *entry, qn__compile_result **result, char *why) {
    qn_program *program = l->program;
    qn_context *context = program->object.context;
    *result = qn__allocate_zeroed(&context->allocator, sizeof **result);
    if (!*result) {
        snprintf(why, QN__WHY, "out of host memory");
        return QN_ERROR_OUT_OF_MEMORY;
    }
    const qn__compile_request request = {.allocator = &context->allocator,
                                         .store = &context->store,
                                         .source = entry->text,
                                         .size = (size_t)entry->text_size};
    if (entry->text_size && qn__compile_read_ir(&request, *result) == QN__COMPILE_OK) return QN_OK;
    snprintf(why, QN__WHY, "the IR of %.200s: %.200s", l->name,
             entry->text_size ? (*result)->log : "it is empty");
    return (*result)->status == QN__COMPILE_OUT_OF_MEMORY ? QN_ERROR_OUT_OF_MEMORY : QN_ERROR_IO;
}

static const struct ir_module *find_ir(loader *l, char *why) {
    for (uint32_t i = 0; i < l->qnb.num_entries; i++) {
        const qn__qnb_entry *entry = &l->qnb.entries[i];
        if (entry->kind != QN__TARGET_IR) continue;
        qn__code_info info;
        const char *wrong = qn__qnb_info(&l->program->arena, &l->qnb, entry, &info);
        if (wrong) snprintf(why, QN__WHY, "%.200s %.100s", l->name, wrong);
        if (wrong || read_ir(l, entry, &l->program->interpreted, why)) return NULL;
        l->program->info = info;
        return l->program->interpreted->module;
    }
    snprintf(why, QN__WHY, "the C compiler does not compile it, and %.200s has no IR to interpret", l->name);
    return NULL;
}

/* Where the C compiler gives up. The backend waits for it: no escape may lead past it. */
static const struct ir_module *get_module(void *user, char *why) {
    loader *l = user;
    jmp_buf escape, *const outer = l->program->arena.escape;
    const struct ir_module *module = NULL;
    l->program->arena.escape = &escape;
    if (setjmp(escape) == 0)
        module = find_ir(l, why);
    else
        snprintf(why, QN__WHY, "out of host memory");
    l->program->arena.escape = outer;
    return module;
}

static qn_status load_ir(loader *l, qn__qnb_entry *entry) {
    char why[QN__WHY] = "";
    const qn_status status = read_ir(l, entry, &l->program->result, why);
    if (status) return qn__fail(l->program->object.context, status, "%s", why);
    return qn__program_load(
        l->program, &(qn__code_source){.module = l->program->result->module, .info = &l->program->info});
}

static qn_status load_binary(loader *l, const qn__qnb_entry *entry) {
    const qn__code_source source = {.info = &l->program->info,
                                    .binary = entry->binary,
                                    .binary_size = (size_t)entry->binary_size,
                                    .machine = entry->machine};
    const qn_status status = qn__program_load(l->program, &source);
    const qn_backend *backend = l->program->device->backend;
    l->program->times.from_cache =
        !status && !(backend->code_compiled && backend->code_compiled(l->program->code));
    return status;
}

/* As from source, the driver's code is kept in the disk cache. */
static bool make_key(const loader *l, const qn__qnb_entry *entry, qn__cache_key *key, char *path,
                     size_t size) {
    qn_device *device = l->program->device;
    qn_context *context = device->object.context;
    const qn__compile_request request = {.source = entry->text,
                                         .size = (size_t)entry->text_size,
                                         .name = ".qnb",
                                         .options = entry->needs,
                                         .target = device->target};
    return l->use_cache && qn__cache_usable(context) && qn__cache_key_make(context, device, &request, key) &&
           qn__cache_code_path(device, key->hash, path, size);
}

static qn_status load_text(loader *l, const qn__qnb_entry *entry, const qn__cache_key *key,
                           const char *path) {
    qn_program *program = l->program;
    const qn_status status =
        qn__program_load(program, &(qn__code_source){.text = entry->text,
                                                     .text_size = (size_t)entry->text_size,
                                                     .info = &program->info,
                                                     .binary_path = key ? path : NULL,
                                                     .get_module = get_module,
                                                     .get_module_user = l});
    const qn__compile_result made = {.log = program->log, .info = program->info};
    if (!status && key && !program->interpreted) qn__cache_store(program->object.context, key, &made, path);
    return status;
}

static qn_status load_kept(loader *l, qn__qnb_entry entry, const qn__cache_key *key, const char *path) {
    qn_program *program = l->program;
    qn__arena_init(&program->arena, &program->object.context->allocator, 0);
    program->arena.escape = l->arena.escape;
    qn_status status = keep_entry(l, &entry);
    if (!status && entry.kind == QN__TARGET_IR)
        status = load_ir(l, &entry);
    else if (!status)
        status = entry.machine[0] ? load_binary(l, &entry) : load_text(l, &entry, key, path);
    program->arena.escape = NULL;
    return status;
}

static qn_status load_entry(loader *l, const qn__qnb_entry *entry) {
    qn__cache_key key = {0};
    char path[4096];
    const qn__code_source cached = {.get_module = get_module, .get_module_user = l};
    const bool is_text = entry->kind != QN__TARGET_IR && !entry->machine[0];
    const bool has_key = is_text && make_key(l, entry, &key, path, sizeof path);
    qn_status status = QN_OK;
    if (!has_key || !qn__program_load_cached(l->program, &key, cached))
        status = load_kept(l, *entry, has_key ? &key : NULL, path);
    qn__release(&l->program->object.context->allocator, key.text);
    return status;
}

/* What an entry that was not to be loaded has left. */
static void forget(qn_program *program) {
    const qn__allocator *allocator = &program->object.context->allocator;
    if (program->result) qn__compile_free(program->result);
    if (program->interpreted) qn__compile_free(program->interpreted);
    qn__release(allocator, program->result);
    qn__release(allocator, program->interpreted);
    program->result = program->interpreted = NULL;
    qn__cache_forget(program);
}

/* Memory and lost devices are no matter of the entry. */
static bool is_refusal(qn_status status) {
    return status != QN_ERROR_OUT_OF_MEMORY && status != QN_ERROR_DEVICE_MEMORY &&
           status != QN_ERROR_DEVICE_LOST;
}

static qn_status log_loaded(const loader *l, const qn__qnb_entry *entry) {
    const bool is_binary = entry->machine[0] != 0;
    qn__log(l->program->object.context, QN_LOG_DEBUG, "%s: %s: its %s%s%.80s, %s, loaded in %.2f ms",
            l->program->device->name, l->name, qn__target_name(entry->kind), is_binary ? " for " : "",
            entry->machine, l->program->times.from_cache ? "compiled before" : "compiled by the driver",
            (double)l->program->times.driver_ns / 1e6);
    return QN_OK;
}

static qn_status load_best(loader *l) {
    qn_program *program = l->program;
    qn_context *context = program->object.context;
    const qn__qnb_entry *entry = choose(l);
    if (!entry) return nothing_fits(l);
    for (;;) {
        const qn_status status = load_entry(l, entry);
        if (!status) return log_loaded(l, entry);
        forget(program);
        l->tried[entry - l->qnb.entries] = true;
        const char *word = qn__target_name(entry->kind);
        entry = choose(l);
        if (!entry || !is_refusal(status)) return status;
        qn__log(context, QN_LOG_WARNING, "%s: its code for %s cannot be used: %s", l->name, word,
                qn_error_message(context));
    }
}

static qn_status open_file(loader *l, const void *data, size_t size) {
    const char *wrong = qn__qnb_read(&l->arena, data, size, &l->qnb);
    l->tried = QN__NEW_ARRAY(&l->arena, bool, (size_t)l->qnb.num_entries + 1);
    return wrong ? qn__fail(l->program->object.context, QN_ERROR_IO, "%s %s", l->name, wrong) : QN_OK;
}

static qn_status load_guarded(loader *l, const void *data, size_t size) {
    qn_context *context = l->program->object.context;
    jmp_buf escape;
    qn__arena_init(&l->arena, &context->allocator, 0);
    l->arena.escape = &escape;
    if (setjmp(escape))
        return qn__fail(context, QN_ERROR_OUT_OF_MEMORY, "out of host memory for %s", l->name);
    const uint64_t start = qn__now_ns();
    qn_status status = open_file(l, data, size);
    if (!status) status = load_best(l);
    if (status) return status;
    const uint64_t all = qn__now_ns() - start, driver = l->program->times.driver_ns;
    l->program->times.compile_ns = all > driver ? all - driver : 0;
    return qn__program_create_state(l->program);
}

static const char *name_or(const char *name) { return name ? name : "the packed program"; }

qn_status qn__qnb_load(qn_program *program, const void *data, size_t size, const char *name, bool use_cache) {
    loader l = {.program = program, .name = name_or(name), .use_cache = use_cache};
    const qn_status status = load_guarded(&l, data, size);
    qn__arena_free(&l.arena);
    program->arena.escape = NULL;
    return status;
}

/* ---- reflection ---- */

static const char *put_file(qn__arena *arena, const void *data, size_t size, qn__buf *out) {
    qn__qnb qnb;
    qn__code_info info = {0};
    const char *wrong = qn__qnb_read(arena, data, size, &qnb);
    if (!wrong && qnb.num_entries) wrong = qn__qnb_info(arena, &qnb, &qnb.entries[0], &info);
    if (wrong) return wrong;
    qn__put_reflection(out, &info);
    qn__buf_puts(out, ", \"made_by\": ");
    qn__put_json(out, qnb.version);
    qn__buf_puts(out, ", \"entries\": [");
    for (uint32_t i = 0; i < qnb.num_entries; i++) {
        const qn__qnb_entry *entry = &qnb.entries[i];
        qn__buf_printf(out, "%s{\"target\": ", i ? ",\n    " : "\n    ");
        qn__put_json(out, qn__target_name(entry->kind));
        qn__buf_puts(out, ", \"needs\": ");
        qn__put_json(out, entry->needs);
        qn__buf_puts(out, ", \"machine\": ");
        qn__put_json(out, entry->machine);
        qn__buf_printf(out, ", \"text_size\": %llu, \"binary_size\": %llu}",
                       (unsigned long long)entry->text_size, (unsigned long long)entry->binary_size);
    }
    qn__buf_puts(out, "]}\n");
    return NULL;
}

static qn_status reflect_guarded(qn_context *context, loader *l, const void *data, size_t size, char **text) {
    jmp_buf escape;
    qn__arena_init(&l->arena, &context->allocator, 0);
    l->arena.escape = &escape;
    if (setjmp(escape)) return qn__fail_memory(context, size);
    qn__buf out;
    qn__buf_init(&out, &l->arena);
    const char *wrong = put_file(&l->arena, data, size, &out);
    if (wrong) return qn__fail(context, QN_ERROR_IO, "%s %s", l->name, wrong);
    *text = qn__allocate(&context->allocator, out.len + 1);
    if (!*text) return qn__fail_memory(context, out.len + 1);
    memcpy(*text, out.data, out.len + 1);
    return QN_OK;
}

qn_status qn__qnb_reflect(qn_context *context, const void *data, size_t size, const char *name, char **text) {
    loader l = {.name = name_or(name)};
    *text = NULL;
    const qn_status status = reflect_guarded(context, &l, data, size, text);
    qn__arena_free(&l.arena);
    return status;
}
