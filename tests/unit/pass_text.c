/* Passes, text in and text out: every tests/ir/<pass>_*.ir is found by listing. A file holds cases apart by
   lines of
   `; ---`; a case is

       ; RUN: simplify dce            the passes, in order (or `pipeline N` for the whole of level N)
       ; TARGET: lacks-f16 arch=80     what the target is like, if that matters; f16*f16+f32:16x8x16 is a shape of its
                                       matrix units
       module text
       ; EXPECT                       the rest is the module that must come out, in any numbering
       module text

   or instead of EXPECT, lines of `; CHECK: text` that must occur in the output in this order, `; CHECK-NOT:
   text` that must not occur at all, and `; ERROR: text` that the message of a pass that gives up must
   hold. */
#include <dirent.h>
#include <stdio.h>

#include "ir_support.h"
#include "pass/pass.h"
#include "util/file.h"
#include "util/hash.h"

typedef struct test_case {
    const char *file, *text; /* text of the case */
    unsigned number;
} test_case;

static void complain(const test_case *c, const char *what, const char *detail, const char *output) {
    fail_msg("%s, case %u: %s: %s\noutput:\n%s", c->file, c->number, what, detail, output);
}

/* The rest of the line behind `; KEY`, or NULL; *from moves behind the line. */
static const char *directive(qn__arena *arena, const char **from, const char *key) {
    const char *found = strstr(*from, key);
    if (!found) return NULL;
    found += strlen(key);
    const char *end = strchr(found, '\n');
    const size_t length = end ? (size_t)(end - found) : strlen(found);
    *from = found + length;
    while (*found == ' ') found++;
    return qn__arena_strndup(arena, found, (size_t)(*from - found));
}

static unsigned unit_of(const test_case *c, const char *name) {
    static const char *const names[] = {
#define UNIT(ID, name) name,
#include "target/units.def"
    };
    for (unsigned i = 0; i < QN__UNITS; i++)
        if (strcmp(names[i], name) == 0) return i;
    complain(c, "TARGET", name, "");
    return 0;
}

static bool add_shape(const test_case *c, qn__target *target, const char *word) {
    char a[8], b[8], sum[8];
    unsigned rows, columns, k;
    if (sscanf(word, "%7[a-z0-9]*%7[a-z0-9]+%7[a-z0-9]:%ux%ux%u", a, b, sum, &rows, &columns, &k) != 6)
        return false;
    qn__target_add_shape(target, (qn__unit_shape){.a = (uint8_t)unit_of(c, a),
                                                  .b = (uint8_t)unit_of(c, b),
                                                  .sum = (uint8_t)unit_of(c, sum),
                                                  .rows = (uint8_t)rows,
                                                  .columns = (uint8_t)columns,
                                                  .k = (uint8_t)k});
    return true;
}

/* Words as in target/target.def, "lacks-f16", and numbers, "arch=80". */
static qn__target target_of(const test_case *c, qn__arena *arena, const char *text) {
    qn__target target = {0};
    char *words = qn__arena_strdup(arena, text ? text : ""), *rest = NULL;
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        const char *value = strchr(word, '=');
        if (value) {
            const qn__str name = {word, (size_t)(value - word)};
            uint32_t *number = (uint32_t *)(uintptr_t)qn__target_number(&target, name);
            if (!number) complain(c, "TARGET", word, "");
            *number = (uint32_t)strtoul(value + 1, NULL, 10);
            continue;
        }
        if (add_shape(c, &target, word)) continue;
        const qn__trait trait = qn__trait_by_name(qn__str_of(word));
        if (!trait) complain(c, "TARGET", word, "");
        qn__set_trait(&target, trait, true);
    }
    return target;
}

static const char *run_passes(const test_case *c, qn__arena *arena, ir_module *module, const char *passes,
                              qn__pass_options *options) {
    char *names = qn__arena_strdup(arena, passes), *rest = NULL;
    for (char *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        const char *error = NULL;
        if (!strcmp(name, "pipeline")) {
            options->level = atoi(strtok_r(NULL, " ", &rest));
            error = qn__pass_run(module, options);
        } else if (!qn__pass_run_one(module, name, options, &error)) {
            complain(c, "no such pass", name, "");
        }
        if (error) return error;
    }
    return NULL;
}

static void check_lines(const test_case *c, qn__arena *arena, const char *output) {
    const char *from = c->text, *at = output, *wanted;
    while ((wanted = directive(arena, &from, "; CHECK:"))) {
        const char *found = strstr(at, wanted);
        if (!found) complain(c, "expected, in order", wanted, output);
        at = found + strlen(wanted);
    }
    from = c->text;
    while ((wanted = directive(arena, &from, "; CHECK-NOT:")))
        if (strstr(output, wanted)) complain(c, "not expected", wanted, output);
}

static void run_case(const test_case *c, qn__arena *arena) {
    const char *from = c->text, *run = directive(arena, &from, "; RUN:"), *error = NULL;
    if (!run) complain(c, "has no", "; RUN:", "");
    from = c->text;
    qn__pass_options options = {.level = 2, .verify = true};
    options.target = target_of(c, arena, directive(arena, &from, "; TARGET:"));
    const char *expect = strstr(c->text, "; EXPECT");
    ir_module *module =
        qn__ir_parse(arena, c->text, expect ? (size_t)(expect - c->text) : strlen(c->text), &error);
    if (!module) complain(c, "input does not parse", error, c->text);
    error = qn__ir_verify(arena, module);
    if (error) complain(c, "input is wrong", error, c->text);
    from = c->text;
    const char *limit = directive(arena, &from, "; MAX:");
    if (limit) module->max_instrs = (uint32_t)atoi(limit);

    error = run_passes(c, arena, module, run, &options);
    from = c->text;
    const char *wanted = directive(arena, &from, "; ERROR:");
    if (!error != !wanted || (wanted && !strstr(error, wanted)))
        complain(c, "message", error ? error : "none", wanted ? wanted : "none wanted");
    if (error) return;
    const char *output = ir_printed(arena, module);
    error = qn__ir_verify(arena, module);
    if (error) complain(c, "output is wrong", error, output);
    check_lines(c, arena, output);
    if (!expect) return;
    ir_module *expected = qn__ir_parse(arena, expect, strlen(expect), &error);
    if (!expected) complain(c, "expected text does not parse", error, expect);
    assert_string_equal(output, ir_printed(arena, expected));
}

static void run_file(void **state) {
    const char *path = *state;
    static const qn__allocator allocator = {.allocate = ir_allocate, .release = ir_release};
    qn__arena arena;
    qn__arena_init(&arena, &allocator, 0);
    char *text = NULL;
    size_t size = 0;
    if (qn__file_read(&allocator, path, 0, &text, &size)) fail_msg("cannot read %s", path);
    test_case c = {.file = path, .text = text};
    while (c.text) {
        char *end = strstr(c.text, "; ---");
        if (end) *end = 0;
        c.number++;
        run_case(&c, &arena);
        c.text = end ? strchr(end + 1, '\n') : NULL;
    }
    free(text);
    qn__arena_free(&arena);
}

static bool is_pass_test(const char *name) {
    const size_t length = strlen(name);
    return length > 3 && !strcmp(name + length - 3, ".ir");
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct CMUnitTest *)a)->name, ((const struct CMUnitTest *)b)->name);
}

int main(void) {
    static struct CMUnitTest tests[256];
    size_t count = 0;
    const char *folder = QN__SOURCE_DIR "/tests/ir";
    DIR *listing = opendir(folder);
    if (!listing) return 1;
    for (struct dirent *entry; (entry = readdir(listing)) && count < 256;) {
        if (!is_pass_test(entry->d_name)) continue;
        char *path = malloc(strlen(folder) + strlen(entry->d_name) + 2);
        if (!path) return 1;
        sprintf(path, "%s/%s", folder, entry->d_name);
        tests[count++] = (struct CMUnitTest){path + strlen(folder) + 1, run_file, NULL, NULL, path};
    }
    closedir(listing);
    qsort(tests, count, sizeof tests[0], by_name);
    const int failed = _cmocka_run_group_tests("passes", tests, count, NULL, NULL);
    for (size_t i = 0; i < count; i++) free(tests[i].initial_state);
    return failed;
}
