/* Generation with a cache: a model that continues a sequence gives, element by element, what it gives for the whole; with a recorded step that is replayed with the
   position as an input. States and summaries of models of many modules. */
#include "tensor_common.h"

#include <quern/nn.h>
#include <unistd.h>

enum { BATCHES = 2, LENGTH = 7, SIZE = 8, HEADS = 4, KEY_HEADS = 2, LAYERS = 2, WORDS = 11 };

/* Embedding, layers with turned places, a norm and scores. */
typedef struct model {
    qn_module module;
    qn_embedding words;
    qn_encoder_layer layers[LAYERS];
    qn_norm_layer norm;
    qn_linear scores;
    qn_kv_cache caches[LAYERS]; /* of none of its modules: they are no state */
    tensor_fixture f;
    uint32_t recorded; /* how often the step's function was called */
} model;

static model *model_of(void **state) { return *state; }

static qn_tensor *forward(model *m, qn_tensor *words, qn_tensor *position) {
    qn_tensor *x = qn_embedding_forward(&m->words, words);
    for (uint32_t i = 0; i < LAYERS; i++) {
        const qn_attending whole = {.causal = true}, next = {.cache = &m->caches[i], .position = position};
        x = qn_encoder_layer_forward(&m->layers[i], x, position ? &next : &whole);
    }
    return qn_linear_forward(&m->scores, qn_norm_layer_forward(&m->norm, x));
}

static void assert_same(model *m, qn_tensor *got, qn_tensor *wanted) {
    assert_ok(m->f.context, qn_tensor_status(got));
    const double worst = qn_tensor_item(qn_max(qn_abs(qn_subtract(got, wanted)), QN_ALL_AXES, false));
    if (!(worst < 2e-5)) fail_msg("they differ by %g", worst);
}

static qn_tensor *columns(qn_tensor *x, int64_t begin, int64_t end) { return qn_slice(x, 1, begin, end, 1); }

static qn_tensor *some_words(model *m) {
    static const int64_t words[BATCHES * LENGTH] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 10, 7};
    return qn_from_data(m->f.t, QN_I64, QN_SHAPE(BATCHES, LENGTH), words);
}

/* Several elements first, then one at a time. */
static void caches_give_what_the_whole_gives(void **state) {
    model *m = model_of(state);
    assert_ok(m->f.context, qn_scope_begin(m->f.t));
    qn_no_gradient_begin(m->f.t);
    qn_tensor *words = some_words(m), *whole = forward(m, words, NULL);
    for (int64_t at = 0, count; at < LENGTH; at += count) {
        count = at ? 1 : 3;
        qn_tensor *position = qn_full(m->f.t, QN_I32, QN_SHAPE(1), at);
        assert_same(m, forward(m, columns(words, at, at + count), position), columns(whole, at, at + count));
    }
    qn_no_gradient_end(m->f.t);
    assert_ok(m->f.context, qn_scope_end(m->f.t));
}

static qn_status next_scores(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                             size_t num_outputs) {
    model *m = user;
    assert_true(num_inputs == 2 && num_outputs == 1);
    m->recorded++;
    qn_no_gradient_begin(m->f.t);
    outputs[0] = forward(m, inputs[0], inputs[1]);
    qn_no_gradient_end(m->f.t);
    return qn_tensor_status(outputs[0]);
}

static void one_recording_does_for_all_places(void **state) {
    model *m = model_of(state);
    qn_step *step;
    assert_ok(m->f.context, qn_scope_begin(m->f.t));
    qn_no_gradient_begin(m->f.t);
    qn_tensor *words = some_words(m), *whole = forward(m, words, NULL);
    qn_no_gradient_end(m->f.t);
    assert_ok(m->f.context, qn_step_create(m->f.t, next_scores, m, &step));
    for (uint32_t i = 0; i < LAYERS; i++) assert_ok(m->f.context, qn_module_realize(&m->caches[i].module));
    for (int64_t at = 0; at < LENGTH; at++) {
        qn_tensor *inputs[] = {columns(words, at, at + 1), qn_full(m->f.t, QN_I64, QN_SCALAR, at)}, *scores;
        assert_ok(m->f.context, qn_step_run(step, inputs, 2, &scores, 1));
        assert_same(m, scores, columns(whole, at, at + 1));
    }
    assert_int_equal(m->recorded, 1);
    qn_step_destroy(step);
    assert_ok(m->f.context, qn_scope_end(m->f.t));
}

/* A mask of the caller's hides further keys, whether it says which or is added. */
static void masks_go_with_caches(void **state) {
    model *m = model_of(state);
    qn_multi_head *heads = &m->layers[0].self_attn;
    assert_ok(m->f.context, qn_scope_begin(m->f.t));
    qn_no_gradient_begin(m->f.t);
    qn_tensor *x = qn_randn(m->f.t, QN_F32, QN_SHAPE(BATCHES, LENGTH, SIZE));
    qn_tensor *numbers = qn_arange(m->f.t, QN_I64, 0, LENGTH, 1), *seen = qn_not_equal(numbers, 1);
    qn_tensor *wanted =
        qn_multi_head_forward(heads, x, NULL, NULL, &(qn_attending){.causal = true, .mask = seen});
    qn_tensor *masks[] = {seen, qn_where(seen, 0.0, -INFINITY)},
              *position = qn_zeros(m->f.t, QN_I64, QN_SCALAR);
    for (uint32_t i = 0; i < 2; i++) {
        const qn_attending how = {.cache = &m->caches[0], .position = position, .mask = masks[i]};
        assert_same(m, qn_multi_head_forward(heads, x, NULL, NULL, &how), wanted);
    }
    assert_fails(m->f.context,
                 qn_tensor_status(
                     qn_multi_head_forward(heads, x, NULL, NULL, &(qn_attending){.cache = &m->caches[0]})),
                 QN_ERROR_ARGUMENT, "a cache wants the position, too");
    qn_no_gradient_end(m->f.t);
    assert_ok(m->f.context, qn_scope_end(m->f.t));
}

/* ---- states and summaries ---- */

static void note_line(void *user, const char *text) { strcat(strcat(user, text), "\n"); }

static void states_and_summaries(void **state) {
    model *m = model_of(state);
    static char text[8000];
    char path[64];
    qn_archive *archive;
    text[0] = 0;
    assert_ok(m->f.context, qn_module_summary(&m->module, note_line, text));
    static const char *const lines[] = {"layers.1.self_attn.in_proj_weight", "16x8", "layers.0.norm2.bias",
                                        "words.weight", "elements are trained"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(text, lines[i])) fail_msg("the summary has no '%s'", lines[i]);
    snprintf(path, sizeof path, "nn_generate.%ld.safetensors", (long)getpid());
    assert_ok(m->f.context, qn_scope_begin(m->f.t));
    qn_tensor *weight = m->layers[1].linear2.weight.tensor, *before = qn_detach(weight);
    assert_ok(m->f.context, qn_module_save(&m->module, path));
    assert_ok(m->f.context, qn_assign(weight, qn_zeros_like(weight)));
    assert_ok(m->f.context, qn_archive_open(m->f.context, path, NULL, &archive));
    assert_ok(m->f.context, qn_module_load(&m->module, archive, NULL));
    assert_same(m, weight, before);
    assert_true(qn_tensor_item(qn_max(qn_abs(before), QN_ALL_AXES, false)) > 0);
    qn_archive_close(archive);
    remove(path);
    assert_ok(m->f.context, qn_scope_end(m->f.t));
}

static void wrong_sizes_are_refused(void **state) {
    model *m = model_of(state);
    qn_multi_head heads;
    qn_embedding embedding;
    qn_kv_cache cache;
    qn_recurrent recurrent;
    qn_context *c = m->f.context;
    assert_fails(c, qn_multi_head_init(&heads, m->f.t, &(qn_multi_head_desc){.size = 6, .heads = 4}),
                 QN_ERROR_ARGUMENT, "size 6 is not 4 heads");
    assert_fails(c, qn_embedding_init(&embedding, m->f.t, &(qn_embedding_desc){.size = 6}), QN_ERROR_ARGUMENT,
                 "count is 0");
    assert_fails(c, qn_kv_cache_init(&cache, m->f.t, &(qn_kv_cache_desc){.batches = 1, .heads = 2}),
                 QN_ERROR_ARGUMENT, "capacity is 0");
    assert_fails(
        c, qn_recurrent_init(&recurrent, m->f.t, &(qn_recurrent_desc){.inputs = 1, .hidden = 2, .layers = 9}),
        QN_ERROR_ARGUMENT, "layers at most 8");
    assert_fails(c, qn_multi_head_init(NULL, m->f.t, &(qn_multi_head_desc){.size = 6}), QN_ERROR_NULL,
                 "the module is NULL");
    qn_tensor *row = qn_zeros(m->f.t, QN_F32, QN_SHAPE(SIZE));
    assert_fails(c, qn_tensor_status(qn_module_forward(&m->layers[0].self_attn.module, row)),
                 QN_ERROR_ARGUMENT, "its tensors are [batches, length, size]; in self_attn");
    assert_fails(c, qn_tensor_status(qn_rotary(row, NULL, 0, false)), QN_ERROR_ARGUMENT, "of an even size");
    assert_fails(c, qn_tensor_status(qn_ctc_loss(row, row, NULL)), QN_ERROR_ARGUMENT,
                 "[length, batches, classes]");
}

static int start(void **state) {
    static model m;
    m.f = make_tensors(&(qn_tensors_desc){.seed = 5});
    const qn_transformer_layer_desc layer = {.size = SIZE,
                                             .heads = HEADS,
                                             .key_heads = KEY_HEADS,
                                             .hidden = 12,
                                             .rotary = 1e4,
                                             .activation = qn_gelu,
                                             .norm_first = true};
    const qn_kv_cache_desc cache = {
        .batches = BATCHES, .heads = KEY_HEADS, .capacity = LENGTH, .size = SIZE / HEADS};
    static qn_module list;
    qn_module_init(&m.module, m.f.t, NULL);
    qn_module_init(&list, m.f.t, NULL);
    assert_ok(m.f.context,
              qn_embedding_init(&m.words, m.f.t, &(qn_embedding_desc){.count = WORDS, .size = SIZE}));
    assert_ok(m.f.context, qn_module_add(&m.module, "words", &m.words.module));
    assert_ok(m.f.context, qn_module_add(&m.module, "layers", &list));
    for (uint32_t i = 0; i < LAYERS; i++) {
        const char name[] = {(char)('0' + i), 0};
        assert_ok(m.f.context, qn_encoder_layer_init(&m.layers[i], m.f.t, &layer));
        assert_ok(m.f.context, qn_module_add(&list, name, &m.layers[i].module));
        assert_ok(m.f.context, qn_kv_cache_init(&m.caches[i], m.f.t, &cache));
    }
    assert_ok(m.f.context, qn_norm_layer_init(&m.norm, m.f.t, &(qn_norm_layer_desc){.size = SIZE}));
    assert_ok(m.f.context, qn_module_add(&m.module, "norm", &m.norm.module));
    assert_ok(m.f.context,
              qn_linear_init(&m.scores, m.f.t,
                             &(qn_linear_desc){.inputs = SIZE, .outputs = WORDS, .no_bias = true}));
    assert_ok(m.f.context, qn_module_add(&m.module, "scores", &m.scores.module));
    *state = &m;
    return 0;
}

static int finish(void **state) {
    model *m = model_of(state);
    qn_module_release(&m->module);
    for (uint32_t i = 0; i < LAYERS; i++) qn_module_release(&m->caches[i].module);
    end_tensors(&m->f);
    return 0;
}

int main(void) {
    if (device_is_missing()) return TEST_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(caches_give_what_the_whole_gives),
        cmocka_unit_test(one_recording_does_for_all_places),
        cmocka_unit_test(masks_go_with_caches),
        cmocka_unit_test(states_and_summaries),
        cmocka_unit_test(wrong_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, start, finish);
}
