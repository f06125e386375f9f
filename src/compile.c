/* The compiler's stages in a row; see compile.h. An escape from the arena (out of memory, over budget) ends
   up in qn__compile, which turns it into a status; nothing but the arena is held while the stages run. */
#include "compile.h"

#include <string.h>

#include "emit/emit.h"
#include "front/frozen.h"
#include "front/lower/lower.h"
#include "front/parse/parse.h"
#include "pass/pass.h"
#include "util/file.h"
#include "wgsl/wgsl.h"

static const size_t DEFAULT_MEMORY = (size_t)1 << 31;
enum { DEFAULT_INSTRS = 4 << 20 };

static const qn__emitter *const emitters[QN__TARGET_COUNT] = {
#define TARGET(ID, name, emitter) &emitter,
#include "target/target.def"
};

/* What can be tried on a device by the option -qn-tune=WORD,..., to see what it likes: traits that a word sets and
   clears. */
static const struct tuning {
    const char *word;
    qn__trait on[2], off[2];
} tunings[] = {
    {"four-iterations", {QN__TRAIT(wants_unrolled)}, {0}},
    {"one-iteration", {0}, {QN__TRAIT(wants_unrolled)}},
    {"end-tests", {QN__TRAIT(wants_end_tests)}, {0}},
    {"head-tests", {0}, {QN__TRAIT(wants_end_tests), QN__TRAIT(wants_large_end_tests)}},
    {"scalar-memory", {0}, {QN__TRAIT(wants_vector_memory)}},
    {"hint-unroll", {QN__TRAIT(tries_unroll_hints)}, {0}},
    {"hint-loops", {QN__TRAIT(tries_loop_hints)}, {0}},
    {"loose-fma", {QN__TRAIT(tries_loose_fma)}, {0}},
    {"exact-fma", {QN__TRAIT(tries_exact_fma)}, {0}},
    {"loose-division", {0}, {QN__TRAIT(lacks_division)}}, /* the driver's quotients and roots as they are */
    {"no-float-modes", {QN__TRAIT(lacks_float_controls)}, {QN__TRAIT(has_denormals), QN__TRAIT(has_nearest)}},
    {"hidden-sums", {QN__TRAIT(lacks_exact_sums), QN__TRAIT(lacks_exact_choices)}, {0}},
    {"bare-sums", {0}, {QN__TRAIT(lacks_exact_sums), QN__TRAIT(lacks_exact_choices)}},
    {"glsl-memory", {QN__TRAIT(tries_glsl_memory)}, {0}},
    {"no-looks", {QN__TRAIT(tries_no_looks)}, {0}},
    {"pairs", {QN__TRAIT(wants_words)}, {QN__TRAIT(wants_wide_addresses)}}, /* addresses of two words */
    {"plain-copies", {0}, {QN__TRAIT(has_async_copies)}},                   /* loads and stores */
    {"swap-shifts", {0}, {QN__TRAIT(lacks_byte_swaps)}},
    {"swap-words", {QN__TRAIT(lacks_byte_swaps)}, {0}},
    {"bare-differences", {0}, {QN__TRAIT(lacks_long_differences)}},
    {"plain-constants", {0}, {QN__TRAIT(lacks_constant_division)}}, /* integers are divided by them */
    {"bare-division", {0}, {QN__TRAIT(lacks_zero_divisors), QN__TRAIT(lacks_division_overflow)}},
};

_Static_assert((int)QN__MAX_SOURCE == (int)FRONT_MAX_SOURCE_BYTES, "one limit");

typedef struct compile {
    const qn__compile_request *request;
    qn__compile_result *result;
    qn__arena *arena;
    front_options options;
    front_sources sources;
    front_diag diag;
    QN__VEC(qn__compile_dependency) dependencies;
    qn__buf dump;
    const ast_unit *unit;
    ir_module *module;
    const char *problem; /* with the request itself */
    uint64_t stage_start;
    qn__target target; /* the request's, complete and tuned */
} compile;

/* ---- small things ---- */

const char *qn__compile_stage_name(qn__compile_stage stage) {
    static const char *const names[QN__STAGE_COUNT] = {"preprocess", "parse", "lower", "passes", "emit"};
    return stage < QN__STAGE_COUNT ? names[stage] : "?";
}

const char *qn__compile_status_name(qn__compile_status status) {
    static const char *const names[] = {"done",      "source error",  "bad option",    "not supported",
                                        "too large", "out of memory", "internal error"};
    return status < QN__COUNT(names) ? names[status] : "?";
}

static void begin_stage(compile *c) { c->stage_start = qn__now_ns(); }

static void end_stage(compile *c, qn__compile_stage stage) {
    c->result->stage_ns[stage] += qn__now_ns() - c->stage_start;
}

static bool fail(compile *c, qn__compile_status status) {
    c->result->status = status;
    return false;
}

/* ---- sources ---- */

qn__compile_source qn__compile_source_at(const qn__compile_request *request, size_t index) {
    const qn__compile_source first = {request->name, request->source, request->size};
    qn__compile_source source = index ? request->more[index - 1] : first;
    if (!source.name) source.name = request->language == QN__WGSL ? "kernel.wgsl" : "kernel.cl";
    if (!source.size) source.size = strlen(source.text);
    return source;
}

static bool is_header(const qn__compile_header *header, const char *path) {
    size_t path_len = strlen(path), name_len = strlen(header->name);
    if (path_len < name_len || strcmp(path + path_len - name_len, header->name) != 0) return false;
    return path_len == name_len || path[path_len - name_len - 1] == '/';
}

static bool read_disk(compile *c, const char *path, qn__str *text) {
    if (!qn__source_read(path, c->arena, text)) return false;
    if (!text->data) return true; /* too large */
    const qn__compile_dependency dependency = {qn__arena_strdup(c->arena, path),
                                               qn__hash_128(text->data, text->len)};
    qn__vec_push(c->arena, &c->dependencies, dependency);
    return true;
}

static bool read_file(void *user, const char *path, qn__arena *arena, qn__str *text) {
    compile *c = user;
    (void)arena;
    for (size_t i = 0; i < c->request->num_headers; i++) {
        const qn__compile_header *header = &c->request->headers[i];
        if (!is_header(header, path)) continue;
        *text = (qn__str){header->text, header->size};
        return true;
    }
    return !c->request->no_files && read_disk(c, path, text);
}

/* ---- stages ---- */

void qn__compile_target(qn__target *target) {
    const qn__emitter *emitter = emitters[target->kind];
    qn__target_add(target, &emitter->base);
    if (emitter->complete) emitter->complete(target);
}

static const char *unknown_tuning(compile *c, const char *word, size_t length) {
    qn__buf out;
    qn__buf_init(&out, c->arena);
    qn__buf_printf(&out, "the option '-qn-tune' knows no '%.40s', but",
                   qn__arena_strndup(c->arena, word, length));
    for (size_t i = 0; i < QN__COUNT(tunings); i++)
        qn__buf_printf(&out, "%s%s", i ? ", " : " ", tunings[i].word);
    return out.data;
}

/* -qn-tune; returns NULL, or a message on what is wrong. */
static const char *tune(compile *c) {
    for (const char *at = c->options.tune; at && *at;) {
        const size_t length = strcspn(at, ",");
        const struct tuning *found = NULL;
        for (size_t i = 0; i < QN__COUNT(tunings) && !found; i++)
            if (strlen(tunings[i].word) == length && !strncmp(tunings[i].word, at, length))
                found = &tunings[i];
        if (!found) return unknown_tuning(c, at, length);
        for (size_t i = 0; i < QN__COUNT(found->off); i++) qn__set_trait(&c->target, found->off[i], false);
        for (size_t i = 0; i < QN__COUNT(found->on); i++) qn__set_trait(&c->target, found->on[i], true);
        at += length + (at[length] == ',');
    }
    return NULL;
}

static bool read_options(compile *c) {
    const qn__compile_request *request = c->request;
    c->options.numbers = request->language == QN__WGSL;
    const char *problem = qn__options_parse(c->arena, request->options, &c->options);
    c->target = request->target;
    if (!request->target_complete) qn__compile_target(&c->target);
    for (size_t i = 0; !problem && i < request->num_defines; i++)
        problem =
            qn__options_define(c->arena, request->defines[i].name, request->defines[i].value, &c->options);
    if (!problem) problem = tune(c);
    for (size_t i = 0; i < request->num_include_dirs; i++)
        qn__vec_push(c->arena, &c->options.include_dirs, request->include_dirs[i]);
    c->options.debug |= request->debug;
    c->diag.no_warnings = c->options.no_warnings;
    c->diag.warnings_are_errors = c->options.warnings_are_errors;
    if (c->options.soft_f64 && c->target.lacks_f64) {
        c->target.wants_soft_f64 = true;
        c->target.lacks_f64 = false; /* to the front end */
    }
    const char *dump = request->dump;
    bool is_pass = dump && *dump && strcmp(dump, "all") != 0 && strcmp(dump, "lower") != 0;
    if (!problem && is_pass && !qn__pass_exists(dump))
        problem = qn__arena_printf(c->arena, "there is no pass '%s' to show the IR after", dump);
    c->problem = problem;
    return problem ? fail(c, QN__COMPILE_BAD_OPTION) : true;
}

/* Macros and names are the file's own. False: nothing more can be told of the program. */
static bool parse_file(compile *c, front_context *context, const qn__compile_source *file) {
    front_names *names = QN__NEW(c->arena, front_names);
    front_source *main = qn__source_add(&c->sources, file->name, (qn__str){file->text, file->size});
    if (!main) {
        qn__diag_error(&c->diag, FRONT_NO_LOC, "the program has more than %d files", FRONT_MAX_SOURCES);
        return false;
    }
    qn__names_init(names, c->arena);
    const front_pp_config config = {.arena = c->arena,
                                    .sources = &c->sources,
                                    .diag = &c->diag,
                                    .names = names,
                                    .options = &c->options,
                                    .target = c->target};
    begin_stage(c);
    const front_tokens tokens = qn__pp_run(&config, main);
    end_stage(c, QN__STAGE_PREPROCESS);
    if (c->diag.stopped) return false;
    begin_stage(c);
    qn__parse_file(context, tokens);
    end_stage(c, QN__STAGE_PARSE);
    return !c->diag.stopped;
}

static front_context context_of(compile *c) {
    front_context context = {.arena = c->arena,
                             .sources = &c->sources,
                             .diag = &c->diag,
                             .options = &c->options,
                             .target = c->target,
                             .frozen = &qn__frozen_library};
    qn__front_context_init(&context);
    return context;
}

static ast_unit *parse(compile *c, front_context *context) {
    for (size_t i = 0; i <= c->request->num_more; i++) {
        const qn__compile_source file = qn__compile_source_at(c->request, i);
        if (!parse_file(c, context, &file)) return NULL;
    }
    begin_stage(c);
    ast_unit *unit = qn__parse_end(context);
    end_stage(c, QN__STAGE_PARSE);
    return unit;
}

/* A module is one file. */
static wgsl_module *parse_wgsl(compile *c) {
    const qn__compile_source file = qn__compile_source_at(c->request, 0);
    if (c->request->num_more) {
        qn__diag_error(&c->diag, FRONT_NO_LOC, "a WGSL module is one file; this program has %zu",
                       c->request->num_more + 1);
        return NULL;
    }
    begin_stage(c);
    const front_source *main = qn__source_add(&c->sources, file.name, (qn__str){file.text, file.size});
    if (main && main->is_too_large) qn__diag_error(&c->diag, FRONT_NO_LOC, "the file is larger than 64 MiB");
    wgsl_module *module = main && !main->is_too_large ? qn__wf_parse(c->arena, main, &c->diag) : NULL;
    end_stage(c, QN__STAGE_PARSE);
    return module;
}

static uint32_t max_instrs(const compile *c) {
    return c->request->max_instrs ? c->request->max_instrs : DEFAULT_INSTRS;
}

/* For who shows lines of them when the kernels run. A text that `#line` gives other numbers is left out. */
static void keep_texts(compile *c) {
    ir_module *module = c->module;
    for (size_t i = 0; i < module->files.len; i++) qn__vec_push(c->arena, &module->texts, (qn__str){"", 0});
    for (size_t i = 0; i < c->sources.list.len; i++) {
        const front_source *source = c->sources.list.data[i];
        if (source->marks.len || source->name >= module->texts.len) continue;
        module->texts.data[source->name] =
            (qn__str){qn__arena_copy(c->arena, source->text.data, source->text.len), source->text.len};
    }
}

/* A header is one under its own name only: what a program includes by another way to it is the program's. */
static void mark_uncounted(compile *c) {
    for (size_t h = 0; h < c->request->num_uncounted_headers; h++)
        for (size_t i = 0; i < c->sources.list.len; i++)
            if (strcmp(c->sources.list.data[i]->path, c->request->headers[h].name) == 0)
                c->sources.list.data[i]->is_uncounted = true;
}

static bool run_front(compile *c) {
    front_context context = context_of(c);
    const bool is_wgsl = c->request->language == QN__WGSL;
    wgsl_module *module = is_wgsl ? parse_wgsl(c) : NULL;
    ast_unit *unit = is_wgsl ? context.unit : parse(c, &context);
    /* A WGSL module is looked at as far as it was read. */
    if (unit && !is_wgsl && c->target.wants_soft_f64) qn__parse_soft_f64(&context);
    const bool is_read = is_wgsl ? module && !c->diag.stopped : unit && !c->diag.errors;
    if (!is_read) return fail(c, QN__COMPILE_SOURCE_ERROR);
    lower_config config = {.arena = c->arena,
                           .sources = &c->sources,
                           .diag = &c->diag,
                           .options = &c->options,
                           .target = c->target,
                           .frozen = &qn__frozen_library,
                           .max_instrs = max_instrs(c)};
    mark_uncounted(c);
    begin_stage(c);
    c->module = is_wgsl ? qn__wf_lower(&config, &context, module) : qn__lower(&config, unit);
    end_stage(c, QN__STAGE_LOWER);
    c->unit = unit;
    if (c->target.wants_soft_f64) c->target.lacks_f64 = true;
    if (c->target.wants_checks && !c->diag.errors) keep_texts(c);
    return c->diag.errors ? fail(c, QN__COMPILE_SOURCE_ERROR) : true;
}

static void dump_pass(void *user, const char *pass, const ir_module *module) {
    compile *c = user;
    bool all = !strcmp(c->request->dump, "all");
    if (!all && strcmp(c->request->dump, pass) != 0) return;
    if (!all) qn__buf_init(&c->dump, c->arena); /* a pass that runs again replaces what it dumped */
    if (all) qn__buf_printf(&c->dump, "; after %s\n", pass);
    qn__ir_print(&c->dump, module);
}

/* A verifier's or pass's message; the passes begin those that are their own fault with "internal error". */
static bool pass_failure(compile *c, const char *message, bool unsupported) {
    bool is_internal = !strncmp(message, "internal error", 14);
    qn__diag_error(&c->diag, FRONT_NO_LOC, "%s", message);
    if (unsupported) return fail(c, QN__COMPILE_UNSUPPORTED);
    return fail(c, is_internal ? QN__COMPILE_INTERNAL : QN__COMPILE_TOO_LARGE);
}

static bool run_passes(compile *c) {
    const qn__compile_request *request = c->request;
    bool wants_passes = request->dump && *request->dump, unsupported = false;
    int level = c->options.opt_disable ? 0 : request->level;
    /* Passes go around what such a device's compiler gets wrong; they see it in values only, which level 0 leaves in variables. */
    if (level == 0 && (c->target.lacks_loop_results || c->target.lacks_byte_swaps)) level = 1;
    qn__pass_options options = {.level = level,
                                .target = c->target,
                                .fast_math = c->options.fast_relaxed_math,
                                .safe = request->safe,
                                .loop_budget = request->loop_budget,
                                .dump = wants_passes ? dump_pass : NULL,
                                .user = c,
                                .unsupported = &unsupported,
                                .verify = request->verify};
    if (request->verify) {
        const char *broken = qn__ir_verify(c->arena, c->module);
        if (broken)
            return pass_failure(c, qn__arena_printf(c->arena, "internal error after lower: %s", broken),
                                false);
    }
    begin_stage(c);
    const char *problem = qn__pass_run(c->module, &options);
    end_stage(c, QN__STAGE_PASSES);
    if (problem) return pass_failure(c, problem, unsupported);
    c->result->module = c->module;
    if (request->dump && !*request->dump) qn__ir_print(&c->dump, c->module);
    return true;
}

/* ---- emitting ---- */

/* Of its source's kernels, whatever the target does with them. */
static bool check_args(compile *c) {
    for (size_t i = 0; i < c->module->functions.len; i++) {
        const ir_function *function = c->module->functions.data[i];
        if (!function->is_kernel || qn__args_size(function) <= QN__MAX_ARGS_SIZE) continue;
        qn__diag_error(&c->diag, FRONT_NO_LOC, "the arguments of kernel '%s' take more than %d bytes",
                       function->name, (int)QN__MAX_ARGS_SIZE);
        return fail(c, QN__COMPILE_TOO_LARGE);
    }
    return true;
}

typedef struct private_memory {
    uint64_t size;
    const ir_instr *largest;
} private_memory;

static void visit_variable(ir_instr *instr, void *user) {
    private_memory *memory = user;
    if (instr->op != IR_VAR) return;
    const uint64_t align = instr->attr.var->align ? instr->attr.var->align : 1;
    memory->size = (memory->size + align - 1) / align * align + instr->attr.var->size;
    if (!memory->largest || instr->attr.var->size > memory->largest->attr.var->size) memory->largest = instr;
}

/* What a kernel's private variables take once the passes have made values of those that can be. */
static bool check_private(compile *c) {
    const uint64_t most = c->target.private_bytes;
    for (size_t i = 0; most && i < c->module->functions.len; i++) {
        const ir_function *function = c->module->functions.data[i];
        private_memory memory = {0};
        if (function->is_kernel) qn__ir_walk(function->body, visit_variable, &memory);
        if (memory.size <= most) continue;
        const ir_loc loc = memory.largest->loc;
        qn__diag_error(
            &c->diag, FRONT_NO_LOC,
            "the private variables of kernel '%s' take %llu bytes; a work-item on this device has %llu "
            "(%s:%u)",
            function->name, (unsigned long long)memory.size, (unsigned long long)most,
            c->module->files.data[loc.file], (unsigned)loc.line);
        return fail(c, QN__COMPILE_UNSUPPORTED);
    }
    return true;
}

static void take_refused(compile *c) {
    const ast_unit *unit = c->unit;
    const uint32_t count = (uint32_t)unit->refused.len;
    qn__refusal *refused = QN__NEW_ARRAY(c->arena, qn__refusal, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const ast_refusal *from = &unit->refused.data[i];
        const ir_loc loc = qn__source_resolve(&c->sources, from->loc);
        refused[i] = (qn__refusal){
            from->kernel,
            qn__arena_printf(c->arena, "%s:%u: kernel '%s' uses '%s': quern has no images or samplers",
                             c->sources.names.data[loc.file], (unsigned)loc.line, from->kernel, from->what)};
    }
    c->result->info.refused = refused;
    c->result->info.num_refused = count;
}

/* The state's first bytes, up to the last that is not zero. */
static void take_state(compile *c) {
    const ast_unit *unit = c->unit;
    qn__code_info *info = &c->result->info;
    info->total_state = unit->state_size;
    for (size_t i = 0; i < unit->state.len; i++) {
        const ast_decl *decl = unit->state.data[i];
        uint64_t used = decl->data ? decl->type->size : 0;
        while (used && !decl->data[used - 1]) used--;
        if (used) info->state_size = decl->state_offset + used; /* offsets rise */
    }
    uint8_t *bytes = qn__arena_alloc(c->arena, (size_t)info->state_size + 1);
    for (size_t i = 0; i < unit->state.len; i++) {
        const ast_decl *decl = unit->state.data[i];
        if (!decl->data || decl->state_offset >= info->state_size) continue;
        const uint64_t room = info->state_size - decl->state_offset;
        memcpy(bytes + decl->state_offset, decl->data,
               (size_t)(decl->type->size < room ? decl->type->size : room));
    }
    info->state = bytes;
}

static bool run_emit(compile *c) {
    qn__emit_options options = {
        .source_name = c->request->name, .debug = c->options.debug, .target = c->target};
    qn__emit_result emitted = {0};
    begin_stage(c);
    emitters[c->target.kind]->emit(c->arena, c->module, &options, &emitted);
    end_stage(c, QN__STAGE_EMIT);
    if (emitted.error) {
        const ir_loc loc = emitted.error_loc;
        const char *file =
            loc.line && loc.file < c->module->files.len ? c->module->files.data[loc.file] : NULL;
        qn__diag_error(&c->diag, FRONT_NO_LOC, file ? "%s (%s:%u)" : "%s", emitted.error, file,
                       (unsigned)loc.line);
        return fail(c, QN__COMPILE_UNSUPPORTED);
    }
    c->result->text = emitted.text;
    c->result->text_size = emitted.size;
    c->result->info = emitted.info;
    qn__describe_strings(c->arena, &c->result->info, c->module);
    qn__describe_sites(c->arena, &c->result->info, c->module);
    take_refused(c);
    take_state(c);
    return true;
}

/* ---- all of it ---- */

static void run(compile *c) {
    qn__diag_init(&c->diag, c->arena, &c->sources);
    qn__sources_init(&c->sources, c->arena, read_file, c);
    qn__buf_init(&c->dump, c->arena);
    bool done =
        read_options(c) && run_front(c) && run_passes(c) && check_args(c) && check_private(c) && run_emit(c);
    if (!done && c->result->status == QN__COMPILE_OK) fail(c, QN__COMPILE_INTERNAL);
    qn__compile_result *result = c->result;
    qn__buf log;
    qn__buf_init(&log, c->arena);
    qn__diag_print(&c->diag, &log);
    result->log = c->problem ? c->problem : log.len ? log.data : "";
    if (done && c->request->dump && !c->dump.len)
        qn__buf_printf(&c->dump, "; %s changed nothing\n", c->request->dump);
    result->dump = c->dump.len ? c->dump.data : "";
    result->errors = c->diag.errors;
    result->warnings = c->diag.warnings;
    result->dependencies = c->dependencies.data;
    result->num_dependencies = c->dependencies.len;
}

/* After an escape nothing more may be allocated. */
static void escaped(qn__compile_result *result, int reason) {
    bool no_memory = reason == QN__ESCAPE_MEMORY;
    result->status = no_memory ? QN__COMPILE_OUT_OF_MEMORY : QN__COMPILE_TOO_LARGE;
    result->log = no_memory ? "out of memory while compiling\n" : "the program is too large to compile\n";
    result->dump = "";
    result->errors = 1;
    result->module = NULL;
    result->info = (qn__code_info){0};
    result->text = NULL;
    result->text_size = 0;
    result->num_dependencies = 0;
}

static void read_ir(compile *c) {
    const qn__compile_request *request = c->request;
    qn__compile_result *result = c->result;
    const char *error = NULL;
    const size_t size = request->size ? request->size : strlen(request->source);
    c->module = qn__ir_parse(c->arena, request->source, size, &error);
    if (c->module) error = qn__ir_verify(c->arena, c->module);
    result->module = error ? NULL : c->module;
    if (!error) return;
    result->log = error;
    result->errors = 1;
    fail(c, QN__COMPILE_SOURCE_ERROR);
}

/* Does `work` in the result's arena. */
static qn__compile_status run_in_arena(const qn__compile_request *request, qn__compile_result *result,
                                       void (*work)(compile *)) {
    jmp_buf escape;
    *result = (qn__compile_result){.log = "", .dump = ""};
    if (request->allocator) result->allocator = *request->allocator;
    qn__arena_init(&result->arena, &result->allocator,
                   request->memory_budget ? request->memory_budget : DEFAULT_MEMORY);
    result->arena.store = request->store;
    result->arena.escape = &escape;
    const int reason = setjmp(escape);
    if (reason) {
        escaped(result, reason);
    } else {
        compile *c = QN__NEW(&result->arena, compile);
        c->request = request;
        c->result = result;
        c->arena = &result->arena;
        work(c);
    }
    result->arena.escape = NULL;
    return result->status;
}

qn__compile_status qn__compile(const qn__compile_request *request, qn__compile_result *result) {
    return run_in_arena(request, result, run);
}

qn__compile_status qn__compile_read_ir(const qn__compile_request *request, qn__compile_result *result) {
    return run_in_arena(request, result, read_ir);
}

void qn__compile_free(qn__compile_result *result) {
    qn__arena_free(&result->arena);
    *result = (qn__compile_result){.log = "", .dump = ""};
}
