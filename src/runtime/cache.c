/* The disk cache. An entry is named by a 128-bit hash of its key and holds the whole key, so that a collision
   is a miss; a checksum over everything makes a damaged file a miss. Files are written beside and renamed, so
   processes need no lock. When the directory grows over its limit the entries used longest ago go. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fingerprint.h" /* generated: QN__FINGERPRINT */
#include "runtime/entry.h"
#include "runtime/program.h"
#include "util/file.h"
#include "util/folder.h"

#define ENTRY_MAGIC "quern cache 3\n"

enum { MAX_ENTRY = 256 << 20 };

/* ---- the key ---- */

static void put_text(qn__buf *out, const char *text) {
    qn__buf_puts(out, text ? text : "");
    qn__buf_putc(out, 0);
}

static void write_key(qn__buf *out, const qn_device *device, const qn__compile_request *request) {
    put_text(out, qn_version());
    put_text(out, QN__FINGERPRINT);
    put_text(out, device->backend->name);
    put_text(out, device->backend->cache_key(device->gpu));
    put_text(out, request->options);
    qn__target_print(out, &request->target);
    qn__buf_printf(out, " %d %d %d %u %zu %d", request->level, request->debug, request->safe,
                   (unsigned)request->loop_budget, request->num_uncounted_headers, (int)request->language);
    qn__buf_putc(out, 0);
    for (size_t i = 0; i < request->num_defines; i++) {
        put_text(out, request->defines[i].name);
        put_text(out, request->defines[i].value ? request->defines[i].value : "1");
    }
    qn__buf_putc(out, 0); /* no name is empty */
    for (size_t i = 0; i < request->num_headers; i++) {
        put_text(out, request->headers[i].name);
        put_text(out, request->headers[i].text);
    }
    qn__buf_putc(out, 0);
    for (size_t i = 0; i <= request->num_more; i++) {
        const qn__compile_source file = qn__compile_source_at(request, i);
        put_text(out, file.name);
        qn__buf_printf(out, "%zu ", file.size);
        qn__buf_append(out, file.text, file.size);
    }
}

bool qn__cache_key_make(qn_context *context, const qn_device *device, const qn__compile_request *request,
                        qn__cache_key *key) {
    qn__arena arena;
    jmp_buf escape;
    qn__arena_init(&arena, &context->allocator, 0);
    arena.escape = &escape;
    bool made = false;
    if (setjmp(escape) == 0) {
        qn__buf text;
        qn__buf_init(&text, &arena);
        write_key(&text, device, request);
        char *copy = qn__allocate(&context->allocator, text.len);
        if (copy) {
            memcpy(copy, text.data, text.len);
            *key = (qn__cache_key){qn__hash_128(copy, text.len), copy, text.len};
            made = true;
        }
    }
    qn__arena_free(&arena);
    return made;
}

qn__hash128 qn__cache_code_name(qn__hash128 name, qn__hash128 included) {
    const uint64_t words[] = {name.a, name.b, included.a, included.b};
    return qn__hash_128(words, sizeof words);
}

bool qn__cache_path(qn_context *context, qn__hash128 name, const char *extension, char *out, size_t size) {
    if (!context->cache_dir[0]) return false;
    int length = snprintf(out, size, "%s/%016llx%016llx%s", context->cache_dir, (unsigned long long)name.a,
                          (unsigned long long)name.b, extension);
    return length > 0 && (size_t)length < size;
}

bool qn__cache_usable(qn_context *context) {
    int folder;
    if (!context->cache_dir[0]) return false;
    const int error = qn__folder_open(context->cache_dir, true, &folder);
    if (!error) {
        qn__folder_close(folder);
        return true;
    }
    char why[512];
    qn__folder_explain(context->cache_dir, error, why, sizeof why);
    const bool told = atomic_exchange(&context->cache_refused, true);
    qn__log(context, told ? QN_LOG_INFO : QN_LOG_WARNING, "the disk cache is not used: %s", why);
    return false;
}

bool qn__cache_code_path(const qn_device *device, qn__hash128 name, char *out, size_t size) {
    const char *extension = device->backend->code_extension;
    return qn__cache_path(device->object.context, name, extension ? extension : ".so", out, size);
}

typedef int file_reader(const qn__allocator *allocator, const char *path, size_t limit, char **data,
                        size_t *size);

/* `read` tells a file of the cache (qn__private_read) from one that a program includes. */
static bool hash_file(qn_context *context, file_reader *read, const char *path, qn__hash128 *hash) {
    char *data;
    size_t size;
    if (read(&context->allocator, path, MAX_ENTRY, &data, &size)) return false;
    *hash = qn__hash_128(data, size);
    qn__release(&context->allocator, data);
    return true;
}

/* ---- writing an entry ---- */

static void put_entry(qn__buf *out, const qn__cache_key *key, const qn__compile_result *result,
                      qn__hash128 code) {
    qn__buf_puts(out, ENTRY_MAGIC);
    qn__put_bytes(out, key->text, key->size);
    qn__put_number(out, code.a);
    qn__put_number(out, code.b);
    qn__put_text(out, result->log);
    qn__put_number(out, result->num_dependencies);
    for (size_t i = 0; i < result->num_dependencies; i++) {
        qn__put_text(out, result->dependencies[i].path);
        qn__put_number(out, result->dependencies[i].hash.a);
        qn__put_number(out, result->dependencies[i].hash.b);
    }
    qn__put_code_info(out, &result->info);
    qn__put_number(out, qn__hash(out->data, out->len, 0));
}

/* ---- limits ---- */

typedef struct cached_file {
    char name[64];
    int64_t used;
    uint64_t size;
} cached_file;

static bool is_entry(const char *name) {
    const char *dot = strchr(name, '.');
    return dot && dot - name == 32 && strspn(name, "0123456789abcdef") == 32 && strlen(name) < 60;
}

typedef struct cache_walk {
    bool (*visit)(void *user, int folder, const cached_file *file);
    void *user;
} cache_walk;

static bool visit_entry(void *user, int folder, const qn__folder_entry *entry) {
    const cache_walk *walk = user;
    if (!is_entry(entry->name)) return true;
    cached_file file = {.used = entry->time, .size = entry->size};
    snprintf(file.name, sizeof file.name, "%.60s", entry->name);
    return walk->visit(walk->user, folder, &file);
}

/* Calls visit for each file of the cache; stops when it returns false. Gives an errno value where the folder cannot be
   used. */
static int each_file(qn_context *context, bool (*visit)(void *user, int folder, const cached_file *file),
                     void *user) {
    int folder;
    if (!context->cache_dir[0]) return 0;
    int error = qn__folder_open(context->cache_dir, false, &folder);
    if (error) return error == ENOENT ? 0 : error;
    error = qn__folder_each(folder, visit_entry, &(cache_walk){visit, user});
    qn__folder_close(folder);
    return error;
}

typedef struct file_list {
    qn_context *context;
    cached_file *files;
    size_t count, cap;
    uint64_t bytes;
} file_list;

static bool collect(void *user, int folder, const cached_file *file) {
    file_list *list = user;
    (void)folder;
    if (list->count == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 256;
        cached_file *grown = qn__reallocate(&list->context->allocator, list->files, cap * sizeof *grown);
        if (!grown) return false;
        list->files = grown;
        list->cap = cap;
    }
    list->files[list->count++] = *file;
    list->bytes += file->size;
    return true;
}

static int by_age(const void *a, const void *b) {
    const cached_file *x = a, *y = b;
    return x->used < y->used ? -1 : x->used > y->used;
}

static void trim(qn_context *context) {
    uint64_t limit = context->desc.cache_limit ? context->desc.cache_limit : (uint64_t)256 << 20;
    file_list list = {.context = context};
    each_file(context, collect, &list);
    int folder = -1;
    if (list.bytes > limit && qn__folder_open(context->cache_dir, false, &folder) == 0) {
        qsort(list.files, list.count, sizeof *list.files, by_age);
        for (size_t i = 0; i < list.count && list.bytes > limit; i++)
            if (qn__folder_unlink(folder, list.files[i].name) == 0) list.bytes -= list.files[i].size;
        qn__folder_close(folder);
    }
    qn__release(&context->allocator, list.files);
}

void qn__cache_store(qn_context *context, const qn__cache_key *key, const qn__compile_result *result,
                     const char *code_path) {
    char path[4096];
    qn__hash128 code;
    if (!hash_file(context, qn__private_read, code_path, &code)) return; /* the backend had nothing to keep */
    if (!qn__cache_path(context, key->hash, ".qn", path, sizeof path)) return;
    qn__arena arena;
    jmp_buf escape;
    qn__arena_init(&arena, &context->allocator, 0);
    arena.escape = &escape;
    if (setjmp(escape) == 0) {
        qn__buf entry;
        qn__buf_init(&entry, &arena);
        put_entry(&entry, key, result, code);
        const int error = qn__private_write(path, entry.data, entry.len);
        if (error) qn__log(context, QN_LOG_WARNING, "the cache entry %s: %s", path, strerror(error));
    }
    qn__arena_free(&arena);
    trim(context);
}

/* ---- reading an entry ---- */

static bool file_holds(qn_context *context, file_reader *read, const char *path, qn__hash128 hash) {
    qn__hash128 now;
    return hash_file(context, read, path, &now) && now.a == hash.a && now.b == hash.b;
}

static qn__hash128 get_hash(qn__reader *r) {
    qn__hash128 hash = {.a = qn__get_number(r)};
    hash.b = qn__get_number(r);
    return hash;
}

static bool get_entry(qn_program *program, const qn__cache_key *key, qn__reader *r, char *code_path,
                      size_t path_size) {
    qn_context *context = program->object.context;
    uint64_t key_size;
    const char *stored_key = qn__get_bytes(r, &key_size);
    if (key_size != key->size || memcmp(stored_key, key->text, key_size) != 0) return false;
    qn__hash128 code = get_hash(r), name = key->hash;
    program->log = qn__get_text(r);
    for (uint32_t i = qn__get_count(r, 24); i > 0; i--) {
        const char *path = qn__get_text(r);
        qn__hash128 hash = get_hash(r);
        if (r->failed || !file_holds(context, qn__file_read, path, hash)) return false;
        name = qn__cache_code_name(name, hash);
    }
    qn__get_code_info(r, &program->arena, NULL, &program->info);
    if (r->failed || !qn__cache_code_path(program->device, name, code_path, path_size)) return false;
    if (program->device->backend->rewrites_code) return qn__private_touch(code_path) == 0;
    return file_holds(context, qn__private_read, code_path, code);
}

static bool is_whole(const char *data, size_t size) {
    size_t magic = sizeof ENTRY_MAGIC - 1;
    if (size < magic + 8 || memcmp(data, ENTRY_MAGIC, magic) != 0) return false;
    uint64_t sum;
    memcpy(&sum, data + size - 8, 8);
    return sum == qn__hash(data, size - 8, 0);
}

void qn__cache_forget(qn_program *program) {
    const qn__allocator *allocator = &program->object.context->allocator;
    qn__arena_free(&program->arena);
    qn__release(allocator, program->memory);
    program->info = (qn__code_info){0};
    program->memory = NULL;
    program->log = NULL;
}

bool qn__cache_load(qn_program *program, const qn__cache_key *key, char *code_path, size_t path_size) {
    qn_context *context = program->object.context;
    char path[4096], *data;
    size_t size;
    if (!qn__cache_path(context, key->hash, ".qn", path, sizeof path)) return false;
    if (qn__private_read(&context->allocator, path, MAX_ENTRY, &data, &size)) return false;
    program->memory = data;
    qn__reader r = {data + sizeof ENTRY_MAGIC - 1, data + size - 8, false};
    jmp_buf escape;
    volatile bool whole = false;
    qn__arena_init(&program->arena, &context->allocator, 0);
    program->arena.escape = &escape;
    if (is_whole(data, size) && setjmp(escape) == 0)
        whole = get_entry(program, key, &r, code_path, path_size);
    program->arena.escape = NULL;
    if (whole) {
        (void)qn__private_touch(path); /* used now: matters to trim */
        (void)qn__private_touch(code_path);
        return true;
    }
    qn__log(context, QN_LOG_INFO, "the cache entry %s is damaged or out of date", path);
    qn__cache_forget(program);
    return false;
}

/* ---- the API ---- */

const char *qn_cache_dir(qn_context *context) {
    return qn__check(context, QN__OBJECT_CONTEXT, "qn_cache_dir", "context") ? "" : context->cache_dir;
}

static bool count_file(void *user, int folder, const cached_file *file) {
    qn_cache_stats *stats = user;
    (void)folder;
    stats->bytes += file->size;
    stats->entries += strstr(file->name, ".qn") != NULL;
    return true;
}

qn_status qn_cache_get_stats(qn_context *context, qn_cache_stats *stats) {
    qn_status status = qn__check(context, QN__OBJECT_CONTEXT, "qn_cache_get_stats", "context");
    if (status) return status;
    if (!stats) return qn__fail_null(context, "qn_cache_get_stats", "stats");
    qn_cache_stats counted = {.hits = atomic_load(&context->cache_hits),
                              .misses = atomic_load(&context->cache_misses)};
    each_file(context, count_file, &counted);
    QN__WRITE(context, qn_cache_stats, stats, &counted);
    return QN_OK;
}

static bool remove_file(void *user, int folder, const cached_file *file) {
    const int error = qn__folder_unlink(folder, file->name);
    if (error && error != ENOENT) *(bool *)user = true; /* another process may have been faster */
    return true;
}

qn_status qn_cache_clear(qn_context *context) {
    qn_status status = qn__check(context, QN__OBJECT_CONTEXT, "qn_cache_clear", "context");
    if (status) return status;
    bool failed = false;
    const int error = each_file(context, remove_file, &failed);
    if (error) {
        char why[512];
        qn__folder_explain(context->cache_dir, error, why, sizeof why);
        return qn__fail(context, QN_ERROR_IO, "qn_cache_clear: %s", why);
    }
    return failed ? qn__fail(context, QN_ERROR_IO, "qn_cache_clear: some files of %s could not be removed",
                             context->cache_dir)
                  : QN_OK;
}
