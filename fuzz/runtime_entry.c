/* libFuzzer target: an entry of the disk cache that is damaged though its checksum is right. The input is what stands
   between the hash of the code and the checksum: the log, the included files and the description of the code. What is
   read from it must be the same when it is written and read again. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/entry.h"
#include "runtime/program.h"
#include "util/file.h"

enum { MAX_HEAD = 4096, PATH_SIZE = 4096 };

typedef struct harness {
    qn_context *context;
    qn_device *device;
    qn__cache_key key;
    char dir[64], path[PATH_SIZE];
    char head[MAX_HEAD]; /* of each entry: its magic, the key and the code's hash */
    size_t head_size;
} harness;

static harness h;

static void check(bool holds) {
    if (!holds) abort();
}

static void write_file(const char *path, const char *data, size_t size) {
    FILE *file = fopen(path, "wb");
    check(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

static void forget_dir(void) {
    DIR *dir = opendir(h.dir);
    if (!dir) return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[PATH_SIZE];
        snprintf(path, sizeof path, "%s/%s", h.dir, entry->d_name);
        unlink(path);
    }
    closedir(dir);
    rmdir(h.dir);
}

static void arena_begin(qn__arena *arena, jmp_buf *escape) {
    qn__arena_init(arena, NULL, 0);
    arena->escape = escape;
}

/* Stores an entry with nothing in it, to see what each begins with. */
static void find_head(void) {
    const qn__compile_result nothing = {.log = ""};
    char code[PATH_SIZE], *data;
    size_t size;
    check(qn__cache_code_path(h.device, h.key.hash, code, sizeof code));
    write_file(code, "code", 4);
    qn__cache_store(h.context, &h.key, &nothing, code);
    check(qn__cache_path(h.context, h.key.hash, ".qn", h.path, sizeof h.path));
    check(qn__file_read(NULL, h.path, MAX_HEAD, &data, &size) == 0);
    qn__arena arena;
    jmp_buf escape;
    arena_begin(&arena, &escape);
    check(setjmp(escape) == 0);
    qn__buf tail;
    qn__buf_init(&tail, &arena);
    qn__put_text(&tail, "");
    qn__put_number(&tail, 0); /* included files */
    qn__put_code_info(&tail, &nothing.info);
    check(size > tail.len + 8);
    h.head_size = size - tail.len - 8;
    memcpy(h.head, data, h.head_size);
    qn__arena_free(&arena);
    free(data);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    snprintf(h.dir, sizeof h.dir, "/tmp/quern-fuzz-XXXXXX");
    check(mkdtemp(h.dir) != NULL);
    check(qn_context_create(&(qn_context_desc){.cache_dir = h.dir}, &h.context) == QN_OK);
    check(qn_device_get(h.context, "null", &h.device) == QN_OK);
    const qn__compile_request request = {.source = "", .name = "fuzz.cl"};
    check(qn__cache_key_make(h.context, h.device, &request, &h.key));
    find_head();
    atexit(forget_dir);
    return 0;
}

static qn__buf written(qn__arena *arena, const qn__code_info *info) {
    qn__buf out;
    qn__buf_init(&out, arena);
    qn__put_code_info(&out, info);
    return out;
}

static void check_info(const qn__code_info *info) {
    qn__arena arena;
    jmp_buf escape;
    arena_begin(&arena, &escape);
    if (setjmp(escape) == 0) {
        const qn__buf first = written(&arena, info);
        qn__reader reader = {first.data, first.data + first.len, false};
        qn__code_info again;
        qn__get_code_info(&reader, &arena, NULL, &again);
        check(!reader.failed && reader.at == reader.end);
        const qn__buf second = written(&arena, &again);
        check(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
    }
    qn__arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const size_t whole = h.head_size + size;
    char *entry = malloc(whole + 8), code[PATH_SIZE];
    check(entry != NULL);
    memcpy(entry, h.head, h.head_size);
    if (size) memcpy(entry + h.head_size, data, size);
    const uint64_t sum = qn__hash(entry, whole, 0);
    memcpy(entry + whole, &sum, 8);
    write_file(h.path, entry, whole + 8);
    free(entry);
    qn_program program = {.object = {.context = h.context}, .device = h.device};
    if (qn__cache_load(&program, &h.key, code, sizeof code)) {
        check(strlen(program.log) < size);
        check_info(&program.info);
        qn__cache_forget(&program);
    }
    return 0;
}
