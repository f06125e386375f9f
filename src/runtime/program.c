/* Programs: from the disk cache if it is there, else compiled; and translation without a device. */
#include "runtime/qnb.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "runtime/trace.h"
#include "util/file.h"

static qn_status read_file(qn_context *context, const char *path, const char *function, char **memory,
                           size_t *size) {
    int error = qn__file_read(&context->allocator, path, QN__MAX_SOURCE, memory, size);
    if (!error) return QN_OK;
    if (error == EFBIG)
        return qn__fail(context, QN_ERROR_COMPILE, "%s: '%.500s' has more than %d MiB", function, path,
                        QN__MAX_SOURCE >> 20);
    return qn__fail(context, QN_ERROR_IO, "%s: cannot read '%.500s': %s", function, path, strerror(error));
}

/* An array of `count` items; NULL with a message when there is no memory, or none for so many. */
static void *new_array(qn_context *context, size_t count, size_t item) {
    void *array = count <= SIZE_MAX / item ? qn__allocate_zeroed(&context->allocator, count * item) : NULL;
    if (!array) qn__fail_memory(context, count <= SIZE_MAX / item ? count * item : SIZE_MAX);
    return array;
}

static qn_status take_headers(qn_context *context, const qn_program_desc *desc, const char *function,
                              qn__program_input *input) {
    if (!desc->num_headers) return QN_OK;
    input->headers = new_array(context, desc->num_headers, sizeof *input->headers);
    if (!input->headers) return QN_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < desc->num_headers; i++) {
        if (!desc->headers[i].name || !desc->headers[i].text)
            return qn__fail_null(context, function, "a header's name or text");
        input->headers[i] =
            (qn__compile_header){desc->headers[i].name, desc->headers[i].text, strlen(desc->headers[i].text)};
    }
    return QN_OK;
}

static qn_status take_defines(qn_context *context, const qn_program_desc *desc, const char *function,
                              qn__program_input *input) {
    if (!desc->num_defines) return QN_OK;
    input->defines = new_array(context, desc->num_defines, sizeof *input->defines);
    if (!input->defines) return QN_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < desc->num_defines; i++) {
        if (!desc->defines[i].name) return qn__fail_null(context, function, "the name of a define");
        input->defines[i] = (qn__compile_define){desc->defines[i].name, desc->defines[i].value};
    }
    return QN_OK;
}

/* A packed program, given or read: what says how to compile is of no use with it. */
/* A file's ending says that it is WGSL, as it does in the tool. */
static qn__language language_of(const qn_program_desc *desc) {
    const size_t length = desc->path ? strlen(desc->path) : 0;
    const bool is_named = length > 5 && strcmp(desc->path + length - 5, ".wgsl") == 0;
    return is_named ? QN__WGSL : (qn__language)desc->language;
}

static qn_status take_packed(qn_context *context, const qn_program_desc *desc, const char *function,
                             const void *data, size_t size, qn__program_input *input) {
    input->qnb = data;
    input->qnb_size = size;
    const char *what = desc->source        ? "source"
                       : desc->num_sources ? "sources"
                       : desc->options     ? "options"
                       : desc->num_headers ? "headers"
                       : desc->num_defines ? "defines"
                       : desc->debug       ? "debug"
                       : desc->language    ? "language"
                       : desc->opt_level   ? "opt_level"
                       : desc->safe        ? "safe"
                       : desc->loop_budget ? "loop_budget"
                                           : NULL;
    if (!what) return QN_OK;
    return qn__fail(context, QN_ERROR_ARGUMENT, "%s: %s with a packed program, which is compiled already",
                    function, what);
}

static qn_status take_source(qn_context *context, const qn_source *source, const char *function,
                             char **memory, qn__compile_source *file) {
    *file = (qn__compile_source){source->path, source->text, source->size};
    if (file->text) return QN_OK;
    const qn_status status = read_file(context, source->path, function, memory, &file->size);
    file->text = *memory;
    return status;
}

static qn_status take_first(qn_context *context, const qn_source *source, const char *function,
                            qn__program_input *input) {
    qn__compile_source file;
    const qn_status status = take_source(context, source, function, &input->file, &file);
    input->request.name = file.name;
    input->request.source = file.text;
    input->request.size = file.size;
    return status;
}

static qn_status take_more(qn_context *context, const qn_source *sources, size_t count, const char *function,
                           qn__program_input *input) {
    if (!count) return QN_OK;
    input->more_files = new_array(context, count, sizeof *input->more_files);
    input->more = input->more_files ? new_array(context, count, sizeof *input->more) : NULL;
    if (!input->more) return QN_ERROR_OUT_OF_MEMORY;
    input->num_more = count;
    qn_status status = QN_OK;
    for (size_t i = 0; i < count && !status; i++)
        status = take_source(context, &sources[i], function, &input->more_files[i], &input->more[i]);
    input->request.more = input->more;
    input->request.num_more = count;
    return status;
}

static bool is_packed(const char *file, size_t size) { return file && qn__qnb_is(file, size); }

static qn_status take_sources(qn_context *context, const qn_program_desc *desc, const char *function,
                              qn__program_input *input) {
    const qn_source *sources = desc->sources, *packed = NULL;
    if (desc->num_sources > SIZE_MAX / sizeof *sources) return qn__fail_memory(context, SIZE_MAX);
    for (size_t i = 0; i < desc->num_sources; i++)
        if (!sources[i].text && !sources[i].path)
            return qn__fail(context, QN_ERROR_NULL, "%s: text and path of sources[%zu] are NULL", function,
                            i);
    qn_status status = take_first(context, sources, function, input);
    if (!status) status = take_more(context, sources + 1, desc->num_sources - 1, function, input);
    if (status) return status;
    if (is_packed(input->file, input->request.size)) packed = &sources[0];
    for (size_t i = 0; i < input->num_more && !packed; i++)
        if (is_packed(input->more_files[i], input->more[i].size)) packed = &sources[i + 1];
    if (!packed) return QN_OK;
    return qn__fail(context, QN_ERROR_ARGUMENT,
                    "%s: '%.500s' is a packed program, which is no file of another", function, packed->path);
}

/* Several files, or one, which may be packed. */
static qn_status take_program(qn_context *context, const qn_program_desc *desc, const char *function,
                              qn__program_input *input) {
    const qn_source single = {desc->source, desc->source_size, desc->path};
    const bool is_single = desc->source || desc->path;
    if (is_single && desc->num_sources)
        return qn__fail(context, QN_ERROR_ARGUMENT,
                        "%s: a program's files are in sources, or it is one file in source or path; not both",
                        function);
    if (!is_single && !desc->num_sources)
        return qn__fail(context, QN_ERROR_NULL, "%s: source, path, sources and binary are NULL", function);
    if (!is_single && !desc->sources) return qn__fail_null(context, function, "sources");
    if (!is_single) return take_sources(context, desc, function, input);
    const qn_status status = take_first(context, &single, function, input);
    if (status || !is_packed(input->file, input->request.size)) return status;
    return take_packed(context, desc, function, input->file, input->request.size, input);
}

static int level_of(const qn_program_desc *desc) {
    if (desc->debug || desc->opt_level < 0) return 0;
    return desc->opt_level ? desc->opt_level : 2;
}

qn_status qn__program_request(qn_context *context, const qn_program_desc *desc, const char *function,
                              qn__program_input *input) {
    *input = (qn__program_input){0};
    if (desc->binary) return take_packed(context, desc, function, desc->binary, desc->binary_size, input);
    if (desc->num_headers && !desc->headers) return qn__fail_null(context, function, "headers");
    if (desc->num_defines && !desc->defines) return qn__fail_null(context, function, "defines");
    if (desc->opt_level < -1 || desc->opt_level > 2)
        return qn__fail(context, QN_ERROR_ARGUMENT, "%s: opt_level %d is not -1 (none), 0 (full), 1 or 2",
                        function, desc->opt_level);
    if (desc->loop_budget && !desc->safe)
        return qn__fail(context, QN_ERROR_ARGUMENT,
                        "%s: loop_budget %u is for safe programs: set safe as well", function,
                        (unsigned)desc->loop_budget);
    if (desc->num_uncounted_headers > desc->num_headers)
        return qn__fail(context, QN_ERROR_ARGUMENT, "%s: num_uncounted_headers is %zu, and num_headers %zu",
                        function, desc->num_uncounted_headers, desc->num_headers);
    if ((unsigned)desc->language >= QN__LANGUAGES)
        return qn__fail(context, QN_ERROR_ARGUMENT, "%s: language %d is neither OpenCL C (0) nor WGSL (1)",
                        function, (int)desc->language);
    qn_status status = take_program(context, desc, function, input);
    if (status || input->qnb) return status;
    status = take_headers(context, desc, function, input);
    if (!status) status = take_defines(context, desc, function, input);
    qn__compile_request *request = &input->request;
    request->allocator = &context->allocator;
    request->store = &context->store;
    request->options = desc->options;
    request->defines = input->defines;
    request->num_defines = desc->num_defines;
    request->headers = input->headers;
    request->num_headers = desc->num_headers;
    request->num_uncounted_headers = desc->num_uncounted_headers;
    request->level = level_of(desc);
    request->debug = desc->debug;
    request->safe = desc->safe;
    request->loop_budget = desc->loop_budget;
    request->language = language_of(desc);
    return status;
}

void qn__program_input_free(qn_context *context, qn__program_input *input) {
    for (size_t i = 0; i < input->num_more; i++) qn__release(&context->allocator, input->more_files[i]);
    qn__release(&context->allocator, input->file);
    qn__release(&context->allocator, input->more_files);
    qn__release(&context->allocator, input->more);
    qn__release(&context->allocator, input->headers);
    qn__release(&context->allocator, input->defines);
}

qn_status qn__compile_failure(qn_context *context, const qn__compile_result *result) {
    switch (result->status) {
    case QN__COMPILE_OK: return QN_OK;
    case QN__COMPILE_SOURCE_ERROR: return qn__fail_text(context, QN_ERROR_COMPILE, result->log);
    case QN__COMPILE_BAD_OPTION: return qn__fail_text(context, QN_ERROR_ARGUMENT, result->log);
    case QN__COMPILE_UNSUPPORTED: return qn__fail_text(context, QN_ERROR_UNSUPPORTED, result->log);
    case QN__COMPILE_TOO_LARGE:
        return qn__fail_text(context, QN_ERROR_COMPILE,
                             result->log && result->log[0] ? result->log
                                                           : "the program is too large to compile");
    case QN__COMPILE_OUT_OF_MEMORY:
        return qn__fail(context, QN_ERROR_OUT_OF_MEMORY, "out of host memory while compiling");
    case QN__COMPILE_INTERNAL: break;
    }
    return qn__fail_text(context, QN_ERROR_INTERNAL, result->log);
}

/* ---- loading ---- */

typedef struct module_request {
    qn_program *program;
    const qn__compile_request *request;
} module_request;

static const struct ir_module *get_module(void *user, char *why) {
    const module_request *wanted = user;
    const qn__allocator *allocator = &wanted->program->object.context->allocator;
    qn__compile_result *result = qn__allocate_zeroed(allocator, sizeof *result);
    if (!result) {
        snprintf(why, QN__WHY, "out of host memory");
        return NULL;
    }
    wanted->program->interpreted = result;
    qn__compile_request request = *wanted->request;
    request.target.kind = QN__TARGET_IR;
    if (qn__compile(&request, result) == QN__COMPILE_OK) {
        wanted->program->info = result->info; /* local variables may take more room than in the text */
        return result->module;
    }
    snprintf(why, QN__WHY, "compiling for the interpreter: %.400s", result->log);
    return NULL;
}

qn_status qn__program_load(qn_program *program, const qn__code_source *source) {
    qn_device *device = program->device;
    char why[QN__WHY] = "";
    uint64_t start = qn__now_ns();
    qn_status status = device->backend->code_load(device->gpu, source, &program->code, why);
    const uint64_t end = qn__now_ns();
    program->times.driver_ns = end - start;
    qn__trace_host(program->object.context, "compile", "load code", device->name, start, end);
    if (status) program->code = NULL;
    return status ? qn__fail(program->object.context, status, "%s: %s", device->name, qn__reason(why, status))
                  : QN_OK;
}

qn_status qn__program_create_state(qn_program *program) {
    qn_context *context = program->object.context;
    const size_t size = (size_t)program->info.total_state, initial = (size_t)program->info.state_size;
    if (!size) return QN_OK;
    if (initial > size) return qn__fail(context, QN_ERROR_INTERNAL, "more initial values than variables");
    uint8_t *bytes = initial ? qn__allocate_zeroed(&context->allocator, size) : NULL;
    if (initial && !bytes) return qn__fail_memory(context, size);
    if (bytes) memcpy(bytes, program->info.state, initial);
    const qn_buffer_desc desc = {.size = size, .data = bytes, .label = "program-scope variables"};
    const qn_status status = qn_buffer_create(program->device, &desc, &program->state);
    qn__release(&context->allocator, bytes);
    return status;
}

/* What it takes to write the cache entry when the backend has the code, which may be after qn_program_create. */
struct qn__late_entry {
    qn_program *program;
    qn__cache_key key; /* the text is behind the path */
    char path[];
};

static void store_late(void *user) {
    const struct qn__late_entry *late = user;
    qn__cache_store(late->program->object.context, &late->key, late->program->result, late->path);
}

static bool keep_entry(qn_program *program, const qn__cache_key *key, const char *path) {
    const size_t length = strlen(path) + 1;
    struct qn__late_entry *late =
        qn__allocate_zeroed(&program->object.context->allocator, sizeof *late + length + key->size + 1);
    if (!late) return false;
    late->program = program;
    late->key = *key;
    late->key.text = memcpy(late->path + length, key->text, key->size);
    memcpy(late->path, path, length);
    program->late = late;
    return true;
}

enum { LABEL = 256 };

/* What the log and a trace call the program. */
static const char *label_of(const qn__compile_request *request, char label[LABEL]) {
    if (!request->num_more) return request->name;
    const qn__compile_source first = qn__compile_source_at(request, 0);
    snprintf(label, LABEL, "%.200s and %zu more", first.name, request->num_more);
    return label;
}

static qn_status compile(qn_program *program, qn__program_input *input, const qn__cache_key *key) {
    qn_context *context = program->object.context;
    qn__compile_result *result = qn__allocate_zeroed(&context->allocator, sizeof *result);
    if (!result) return qn__fail_memory(context, sizeof *result);
    program->result = result;
    uint64_t start = qn__now_ns();
    qn__compile(&input->request, result);
    const uint64_t end = qn__now_ns();
    program->times.compile_ns = end - start;
    char label[LABEL];
    qn__trace_host(context, "compile", "compile", label_of(&input->request, label), start, end);
    qn_status status = qn__compile_failure(context, result);
    if (status) return status;
    program->log = result->log;
    program->info = result->info;
    char path[4096];
    qn__hash128 code = key ? key->hash : (qn__hash128){0};
    for (size_t i = 0; i < result->num_dependencies; i++)
        code = qn__cache_code_name(code, result->dependencies[i].hash);
    bool cached = key && result->text && qn__cache_code_path(program->device, code, path, sizeof path);
    cached = cached && keep_entry(program, key, path);
    module_request wanted = {program, &input->request};
    const qn__code_source source = {.text = result->text,
                                    .text_size = result->text_size,
                                    .module = result->module,
                                    .info = &program->info,
                                    .binary_path = cached ? path : NULL,
                                    .background = !context->desc.cpu_compile_first,
                                    .stored = store_late,
                                    .stored_user = program->late,
                                    .debug = input->request.debug,
                                    .quick = input->request.level == 0,
                                    .get_module = get_module,
                                    .get_module_user = &wanted};
    status = qn__program_load(program, &source);
    if (!status && cached) qn__cache_store(context, key, result, path);
    return status;
}

bool qn__program_load_cached(qn_program *program, const qn__cache_key *key, qn__code_source source) {
    qn_context *context = program->object.context;
    char path[4096];
    source.info = &program->info;
    source.binary_path = path;
    uint64_t start = qn__now_ns();
    bool found = qn__cache_load(program, key, path, sizeof path);
    const uint64_t end = qn__now_ns();
    program->times.compile_ns = end - start;
    qn__trace_host(context, "compile", found ? "cache hit" : "cache miss", program->device->name, start, end);
    bool loaded = found && qn__program_load(program, &source) == QN_OK;
    atomic_fetch_add(loaded ? &context->cache_hits : &context->cache_misses, 1);
    const qn_backend *backend = program->device->backend;
    bool compiled = loaded && backend->code_compiled && backend->code_compiled(program->code);
    program->times.from_cache = loaded && !compiled;
    if (!loaded) qn__cache_forget(program);
    return loaded;
}

static void log_build(const qn_program *program, const char *name, const char *cache) {
    const qn_program_times *times = &program->times;
    qn__log(program->object.context, QN_LOG_DEBUG, "%s: %s: cache %s, %s in %.2f ms, code loaded in %.2f ms",
            program->device->name, name ? name : "a program", cache, times->from_cache ? "read" : "compiled",
            (double)times->compile_ns / 1e6, (double)times->driver_ns / 1e6);
}

static qn_status build(qn_program *program, qn__program_input *input, bool use_cache) {
    qn_context *context = program->object.context;
    qn__cache_key key = {0};
    bool cached = use_cache && qn__cache_usable(context) &&
                  qn__cache_key_make(context, program->device, &input->request, &key);
    module_request wanted = {program, &input->request};
    const qn__code_source source = {
        .debug = input->request.debug, .get_module = get_module, .get_module_user = &wanted};
    const bool hit = cached && qn__program_load_cached(program, &key, source);
    qn_status status = hit ? QN_OK : compile(program, input, cached ? &key : NULL);
    char label[LABEL];
    if (!status) log_build(program, label_of(&input->request, label), cached ? hit ? "hit" : "miss" : "off");
    if (!status) status = qn__program_create_state(program);
    if (!status) status = qn__faults_create(program);
    qn__release(&context->allocator, key.text);
    return status;
}

/* A driver that ends loops says nothing; a budget below that does. */
static void limit_loops(const qn_device *device, qn__compile_request *request) {
    const uint64_t limit = device->info.loop_limit;
    if (limit && request->loop_budget >= limit) request->loop_budget = (uint32_t)limit - 1;
}

qn_status qn_program_create(qn_device *device, const qn_program_desc *desc, qn_program **out) {
    static const char function[] = "qn_program_create";
    if (out) *out = NULL;
    qn_status status = qn__check(device, QN__OBJECT_DEVICE, function, "device");
    if (status) return status;
    qn_context *context = device->object.context;
    if (!desc) return qn__fail_null(context, function, "desc");
    if (!out) return qn__fail_null(context, function, "program");
    status = qn__device_ready(device);
    if (status) return status;
    qn_program_desc wanted;
    QN__READ(context, qn_program_desc, &wanted, desc);
    qn__program_input input;
    status = qn__program_request(context, &wanted, function, &input);
    qn_program *program = status ? NULL : qn__object_new(context, QN__OBJECT_PROGRAM);
    if (!status && !program) status = QN_ERROR_OUT_OF_MEMORY;
    if (!status) {
        program->device = device;
        input.request.target = device->target;
        limit_loops(device, &input.request);
        status = input.qnb
                     ? qn__qnb_load(program, input.qnb, input.qnb_size, wanted.path, !wanted.disable_cache)
                     : build(program, &input, !wanted.disable_cache);
    }
    qn__program_input_free(context, &input);
    if (!status)
        *out = program;
    else if (program)
        qn__object_destroy(&program->object, QN__OBJECT_PROGRAM);
    return status;
}

void qn_program_destroy(qn_program *program) {
    qn__handle_destroy(program, QN__OBJECT_PROGRAM, "qn_program_destroy", "program");
}

void qn__program_finalise(qn_program *program) {
    const qn__allocator *allocator = &program->object.context->allocator;
    if (program->code) program->device->backend->code_unload(program->device->gpu, program->code);
    if (program->state) qn_buffer_destroy(program->state);
    if (program->faults) qn__faults_destroy(program);
    if (program->result) qn__compile_free(program->result);
    if (program->interpreted) qn__compile_free(program->interpreted);
    qn__release(allocator, program->result);
    qn__release(allocator, program->interpreted);
    qn__release(allocator, program->late);
    qn__cache_forget(program);
}

const char *qn_program_log(const qn_program *program) {
    if (qn__check(program, QN__OBJECT_PROGRAM, "qn_program_log", "program")) return "";
    return program->log ? program->log : "";
}

uint32_t qn_program_kernel_count(const qn_program *program) {
    if (qn__check(program, QN__OBJECT_PROGRAM, "qn_program_kernel_count", "program")) return 0;
    return qn__source_kernels(&program->info);
}

const char *qn_program_kernel_name(const qn_program *program, uint32_t index) {
    if (qn__check(program, QN__OBJECT_PROGRAM, "qn_program_kernel_name", "program")) return NULL;
    return index < qn__source_kernels(&program->info) ? program->info.kernels[index].name : NULL;
}

qn_status qn_program_wait(qn_program *program, uint64_t timeout_ns) {
    qn_status status = qn__check(program, QN__OBJECT_PROGRAM, "qn_program_wait", "program");
    if (status) return status;
    qn_context *context = program->object.context;
    const qn_backend *backend = program->device->backend;
    char why[QN__WHY] = "";
    if (!backend->code_wait) return QN_OK;
    const uint64_t start = qn__now_ns();
    status = backend->code_wait(program->code, timeout_ns, why);
    pthread_mutex_lock(&context->lock);
    program->times.driver_ns += qn__now_ns() - start;
    pthread_mutex_unlock(&context->lock);
    if (status == QN_ERROR_TIMEOUT)
        return qn__fail(context, status, "qn_program_wait: the C compiler is not done in %.12g ms",
                        (double)timeout_ns / 1e6);
    return status ? qn__fail(context, status, "%s: %s", program->device->name, why) : QN_OK;
}

qn_status qn_program_get_times(const qn_program *program, qn_program_times *times) {
    qn_status status = qn__check(program, QN__OBJECT_PROGRAM, "qn_program_get_times", "program");
    if (status) return status;
    if (!times) return qn__fail_null(program->object.context, "qn_program_get_times", "times");
    qn_context *context = program->object.context;
    pthread_mutex_lock(&context->lock);
    const qn_program_times taken = program->times;
    pthread_mutex_unlock(&context->lock);
    QN__WRITE(context, qn_program_times, times, &taken);
    return QN_OK;
}
