/* The option -qn-tune: each word changes what its target prints, a wrong one is told which there are, and all of them
   stand in docs/debugging.md. What single words do is tested with their targets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "compile.h"
#include "emit/emit.h"

#define K "kernel void k("

static const char loop[] = K "global float *o, uint n, float a) {\n"
                             "    float s = 0;\n    for (uint i = 0; i < n; i++) s = fma(s, a, o[i]);\n"
                             "    o[0] = s;\n}\n";
/* Of more instructions than small loops have. */
static const char large_loop[] =
    "#define TWO(x) x x\n#define MANY(x) TWO(TWO(TWO(TWO(TWO(TWO(TWO(x)))))))\n" K
    "global float *o, uint n, float a) {\n    float s = 0;\n"
    "    for (uint i = 0; i < n; i++) { MANY(s = fma(s, a, 1.0f); s += s * s;) }\n"
    "    o[0] = s;\n}\n";
static const char open_loop[] = K "global int *o) { while (o[0] != o[1]) o[0] = o[0] * 3 + 1; }";
static const char product[] = K "global float *o, float a, float b) { o[0] = a * b + o[1]; }";
static const char fused[] = K "global float *o, float a, float b) { o[0] = fma(a, b, o[1]); }";
static const char quotient[] = K "global float *o) { o[0] = o[1] / o[2]; }";
static const char rounded[] = K "global float *o) { o[0] = (o[1] + 0x1.8p23f) - 0x1.8p23f; }";
static const char whole_quotient[] = K "global int *o) { o[0] = o[1] / o[2]; }";
static const char whole_part[] = K "global int *o) { o[0] = o[1] / 12; }";
static const char long_difference[] = K "global ulong *o) { o[0] = max(o[0], 3ul) - 3; }";
static const char byte_swap[] = K "global ushort *o) { o[0] = (ushort)(o[0] << 8 | o[0] >> 8); }";
static const char neighbours[] = "typedef struct { float x, y; } __attribute__((aligned(8))) pair;\n" K
                                 "global pair *o) { o[4].x = o[0].x + o[0].y; }";
static const char fetch[] = K "global const float *in, global float *out) {\n    local float tile[64];\n"
                              "    event_t e = async_work_group_copy(tile, in, 64, 0);\n"
                              "    wait_group_events(1, &e);\n    out[get_local_id(0)] = tile[1];\n}\n";

static const struct tuned {
    const char *word;
    qn__target target;
    const char *source;
} words[] = {
    {"four-iterations", {.kind = QN__TARGET_SPIRV}, loop},
    {"four-iterations", {.kind = QN__TARGET_CLC}, loop},
    {"one-iteration", {.kind = QN__TARGET_PTX, .arch = 90}, loop},
    {"one-iteration", {.kind = QN__TARGET_SPIRV, .wants_unrolled = true}, loop},
    {"end-tests", {.kind = QN__TARGET_SPIRV}, loop},
    {"head-tests", {.kind = QN__TARGET_PTX, .arch = 90}, loop},
    {"head-tests", {.kind = QN__TARGET_SPIRV}, large_loop},
    {"scalar-memory", {.kind = QN__TARGET_PTX, .arch = 90}, neighbours},
    {"hint-unroll", {.kind = QN__TARGET_SPIRV}, loop},
    {"hint-unroll", {.kind = QN__TARGET_CLC}, loop},
    {"hint-loops", {.kind = QN__TARGET_SPIRV}, loop},
    {"hint-loops", {.kind = QN__TARGET_CLC}, loop},
    {"loose-fma", {.kind = QN__TARGET_SPIRV}, fused},
    {"exact-fma", {.kind = QN__TARGET_SPIRV}, product},
    {"loose-division", {.kind = QN__TARGET_SPIRV}, quotient},
    {"no-float-modes", {.kind = QN__TARGET_SPIRV, .has_denormals = true, .has_nearest = true}, product},
    {"glsl-memory", {.kind = QN__TARGET_SPIRV}, fetch},
    {"no-looks", {.kind = QN__TARGET_C}, open_loop},
    {"pairs", {.kind = QN__TARGET_SPIRV, .wants_wide_addresses = true}, loop},
    {"swap-shifts", {.kind = QN__TARGET_SPIRV, .lacks_byte_swaps = true}, byte_swap},
    {"swap-words", {.kind = QN__TARGET_SPIRV}, byte_swap},
    {"bare-differences", {.kind = QN__TARGET_SPIRV, .lacks_long_differences = true}, long_difference},
    {"bare-division", {.kind = QN__TARGET_PTX, .arch = 90}, whole_quotient},
    {"bare-division", {.kind = QN__TARGET_SPIRV}, whole_quotient},
    {"plain-constants", {.kind = QN__TARGET_PTX, .arch = 90}, whole_part},
    {"hidden-sums", {.kind = QN__TARGET_WGSL}, rounded},
    {"bare-sums", {.kind = QN__TARGET_WGSL, .lacks_exact_sums = true}, rounded},
    {"plain-copies", {.kind = QN__TARGET_PTX, .arch = 90}, fetch},
};
enum { NUM_WORDS = sizeof words / sizeof *words };

static void compiled(qn__compile_result *result, const struct tuned *t, const char *word) {
    char options[64];
    snprintf(options, sizeof options, "-qn-tune=%s", word);
    const qn__compile_request request = {
        .source = t->source, .options = options, .target = t->target, .level = 2, .verify = true};
    if (qn__compile(&request, result)) fail_msg("%s: %s", word, result->log);
}

static void every_word_does_something(void **state) {
    (void)state;
    for (size_t i = 0; i < NUM_WORDS; i++) {
        qn__compile_result plain, tuned;
        compiled(&plain, &words[i], "");
        compiled(&tuned, &words[i], words[i].word);
        if (plain.text_size == tuned.text_size && !memcmp(plain.text, tuned.text, plain.text_size))
            fail_msg("%s (row %zu) changes nothing", words[i].word, i);
        qn__compile_free(&plain);
        qn__compile_free(&tuned);
    }
}

static bool is_tested(const char *word) {
    for (size_t i = 0; i < NUM_WORDS; i++)
        if (!strcmp(words[i].word, word)) return true;
    return false;
}

/* A wrong word behind a right one: the message has them all, which are those tested here and those documented. */
static void a_wrong_word_is_told_which_there_are(void **state) {
    (void)state;
    static const char message[] = "the option '-qn-tune' knows no 'haste', but ";
    static const qn__compile_request request = {
        .source = loop, .options = "-qn-tune=one-iteration,haste", .target.kind = QN__TARGET_SPIRV};
    qn__compile_result result;
    static char page[64 << 10];
    char list[1024], quoted[64], *rest = NULL;
    assert_int_equal(qn__compile(&request, &result), QN__COMPILE_BAD_OPTION);
    const char *at = strstr(result.log, message);
    if (!at) fail_msg("%s", result.log);
    snprintf(list, sizeof list, "%s", at + strlen(message));
    qn__compile_free(&result);
    FILE *file = fopen(QN__SOURCE_DIR "/docs/debugging.md", "r");
    assert_non_null(file);
    assert_true(fread(page, 1, sizeof page - 1, file) > 0);
    fclose(file);
    for (char *word = strtok_r(list, ", \n", &rest); word; word = strtok_r(NULL, ", \n", &rest)) {
        if (!is_tested(word)) fail_msg("%s is not tested", word);
        snprintf(quoted, sizeof quoted, "`%s`", word);
        if (!strstr(page, quoted)) fail_msg("%s is not in docs/debugging.md", word);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_word_does_something),
                                       cmocka_unit_test(a_wrong_word_is_told_which_there_are)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
