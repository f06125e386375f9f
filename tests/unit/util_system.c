/* What the system is asked for, on each system: folders of this user alone and files in them, programs with limits,
   shared libraries, the machine. A program that is run is this one. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "util/dynamic.h"
#include "util/file.h"
#include "util/folder.h"
#include "util/process.h"
#include "util/system.h"

static const char *self;

/* ---- folders ---- */

typedef struct seen {
    unsigned count;
    qn__folder_entry last;
    char name[64];
} seen;

static bool see(void *user, int folder, const qn__folder_entry *entry) {
    seen *s = user;
    (void)folder;
    s->count++;
    s->last = *entry;
    snprintf(s->name, sizeof s->name, "%s", entry->name);
    return true;
}

static void files_in_a_work_folder(void **state) {
    (void)state;
    qn__work_folder work;
    assert_int_equal(qn__work_folder_make(&work, &(bool){false}), 0);
    char path[PATH_MAX + 16], *data;
    size_t size;
    snprintf(path, sizeof path, "%s/a.bin", work.path);
    assert_int_equal(qn__private_read(NULL, path, 0, &data, &size), ENOENT);
    assert_int_equal(qn__folder_write(work.folder, "a.bin", "one\r\n\x1a\n", 7), 0);
    assert_int_equal(qn__private_write(path, "other\n\x1a\r", 8), 0); /* in the first one's place */
    assert_int_equal(qn__private_read(NULL, path, 0, &data, &size), 0);
    assert_int_equal(size, 8);
    assert_memory_equal(data, "other\n\x1a\r", 8);
    qn__release(NULL, data);
    assert_int_equal(qn__private_read(NULL, path, 7, &data, &size), EFBIG);
    assert_int_equal(qn__private_touch(path), 0);

    seen s = {0};
    assert_int_equal(qn__folder_each(work.folder, see, &s), 0);
    assert_int_equal(s.count, 1); /* nothing is left of the writing */
    assert_string_equal(s.name, "a.bin");
    assert_int_equal(s.last.size, 8);
    assert_true(s.last.time > 1600000000);

    qn__folder_loadable(work.folder, "a.bin", false, path, sizeof path);
    assert_int_equal(qn__file_read(NULL, path, 0, &data, &size), 0);
    assert_int_equal(size, 8);
    qn__release(NULL, data);
    assert_int_equal(qn__folder_unlink(work.folder, "a.bin"), 0);
    assert_int_equal(qn__folder_unlink(work.folder, "a.bin"), ENOENT);

    const qn__work_folder gone = work;
    int folder;
    qn__work_folder_remove(&work);
    assert_int_equal(qn__folder_open(gone.path, false, &folder), ENOENT);
}

static void folders_are_made(void **state) {
    (void)state;
    qn__work_folder work;
    char path[PATH_MAX + 16];
    int folder;
    assert_int_equal(qn__work_folder_make(&work, &(bool){false}), 0);
    snprintf(path, sizeof path, "%s/one", work.path);
    assert_int_equal(qn__folder_open(path, false, &folder), ENOENT);
    assert_int_equal(qn__folder_open(path, true, &folder), 0);
    qn__folder_close(folder);
    assert_int_equal(qn__folder_open(path, false, &folder), 0);
    qn__folder_close(folder);
    snprintf(path, sizeof path, "%s/file", work.path);
    assert_int_equal(qn__private_write(path, "x", 1), 0);
    assert_int_not_equal(qn__folder_open(path, false, &folder), 0); /* it is no folder */
    snprintf(path, sizeof path, "%s/one", work.path);
    assert_int_equal(rmdir(path), 0);
    qn__work_folder_remove(&work);
}

static void a_seized_file_is_not_seized_again(void **state) {
    (void)state;
    qn__work_folder work;
    char path[PATH_MAX + 16], *data;
    size_t size;
    int file, other;
    assert_int_equal(qn__work_folder_make(&work, &(bool){false}), 0);
    snprintf(path, sizeof path, "%s/log", work.path);
    assert_int_equal(qn__file_seize(path, &file), 0);
    assert_int_equal(qn__file_seize(path, &other), EWOULDBLOCK);
    assert_int_equal(qn__file_write_at(file, "abcdef", 6, 0), 0);
    assert_int_equal(qn__file_write_at(file, "XY", 2, 2), 0);
    qn__file_close(file);
    assert_int_equal(qn__file_read(NULL, path, 0, &data, &size), 0);
    assert_int_equal(size, 6);
    assert_memory_equal(data, "abXYef", 6);
    qn__release(NULL, data);
    assert_int_equal(qn__file_seize(path, &file), 0); /* and is empty */
    qn__file_close(file);
    qn__work_folder_remove(&work);
}

/* ---- programs ---- */

static int run_self(const qn__work_folder *work, const char *what, const char *with, unsigned seconds,
                    const atomic_bool *stop) {
    char errors[PATH_MAX + 16];
    snprintf(errors, sizeof errors, "%s/errors", work->path);
    const char *const args[] = {self, what, with, NULL};
    return qn__process_run(&(qn__process){.args = args,
                                          .errors = errors,
                                          .memory = (uint64_t)2 << 30,
                                          .cpu_seconds = 20,
                                          .seconds = seconds,
                                          .stop = stop});
}

static void programs_run(void **state) {
    (void)state;
    static const char difficult[] = "a \"b\\\" c\\\\ \\\"d\" e\\";
    qn__work_folder work;
    char path[PATH_MAX + 16], *data;
    size_t size;
    const atomic_bool stopped = true;
    assert_int_equal(qn__work_folder_make(&work, &(bool){false}), 0);
    assert_int_equal(run_self(&work, "--exit", "0", 0, NULL), 0);
    assert_int_equal(run_self(&work, "--exit", "7", 60, NULL), 7);
    assert_int_equal(run_self(&work, "--say", difficult, 60, NULL), 0);
    snprintf(path, sizeof path, "%s/errors", work.path);
    assert_int_equal(qn__private_read(NULL, path, 0, &data, &size), 0);
    assert_string_equal(data, difficult);
    qn__release(NULL, data);
    assert_int_equal(run_self(&work, "--sleep", "", 1, NULL), QN__PROCESS_KILLED);
    assert_int_equal(run_self(&work, "--sleep", "", 0, &stopped), QN__PROCESS_KILLED);
    qn__work_folder_remove(&work);
}

static int as_program(char **argv) {
    if (strcmp(argv[1], "--exit") == 0) return atoi(argv[2]);
    if (strcmp(argv[1], "--say") == 0) return fputs(argv[2], stderr) < 0;
    const uint64_t start = qn__now_ns();
    while (qn__now_ns() - start < 15000000000u) {
    }
    return 0;
}

/* ---- the rest ---- */

static void libraries(void **state) {
    (void)state;
    char why[300];
    bool missing = false;
    assert_null(qn__dynamic_open("quern-no-such-library.so", false, &missing, why, sizeof why));
    assert_true(missing);
    assert_non_null(strstr(why, "quern-no-such-library"));
    void *library =
        qn__dynamic_open(QN__DYNAMIC_NAME("libm.so.6", "kernel32.dll"), false, NULL, why, sizeof why);
    if (!library)
        library = qn__dynamic_open("libc.so", false, NULL, why, sizeof why); /* musl has one for all */
    assert_non_null(library);
    assert_non_null(qn__dynamic_symbol(library, QN__DYNAMIC_NAME("cos", "GetTickCount64")));
    assert_null(qn__dynamic_symbol(library, "quern_no_such_function"));
    qn__dynamic_close(library);
}

static void the_machine(void **state) {
    (void)state;
    assert_in_range(qn__processors(), 1, 100000);
    assert_true(qn__machine_memory() >= (uint64_t)1 << 26);
    qn__program program;
    assert_true(qn__program_identify(self, &program));
    assert_true(program.size > 1000 && program.time > 1600000000);
    assert_true(qn__is_program(self));
    assert_false(qn__is_program("no-such-program"));
    char path[PATH_MAX];
    assert_true(qn__default_cache_folder(path, sizeof path));
    assert_false(qn__default_cache_folder(path, 4));
    const uint64_t before = qn__now_ns();
    assert_true(qn__now_ns() >= before);
}

int main(int argc, char **argv) {
    self = argv[0];
    if (argc == 3) return as_program(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_in_a_work_folder),
        cmocka_unit_test(folders_are_made),
        cmocka_unit_test(a_seized_file_is_not_seized_again),
        cmocka_unit_test(programs_run),
        cmocka_unit_test(libraries),
        cmocka_unit_test(the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
