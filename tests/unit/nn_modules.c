/* Modules and losses beside PyTorch: what they make of the same parameters and inputs, and all gradients. tests/tensor/modules.py writes the file that
   this compares with, tests/tensor/modules.safetensors or $QUERN_MODULES; its cases are those of the table here. Parameters are read
   by their names. */
#include "tensor_common.h"

#include <quern/nn.h>

enum { MOST_INPUTS = 4, MOST_OUTPUTS = 3 };

typedef struct modules_test {
    tensor_fixture f;
    qn_archive *archive;
    const char *name;  /* of the case */
    qn_module *module; /* NULL: a function */
    qn_tensor *inputs[MOST_INPUTS];
    uint32_t compared;
} modules_test;

static modules_test *test_of(void **state) { return *state; }

/* "CASE/what/rest" of the archive; NULL: there is none. */
static qn_tensor *find(modules_test *t, const char *what, const char *rest) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s/%s", t->name, what, rest);
    return qn_archive_find(t->archive, path) ? qn_from_archive(t->f.t, t->archive, path, QN_OWN_TYPE) : NULL;
}

static qn_tensor *find_number(modules_test *t, const char *what, uint32_t index) {
    char digits[12];
    snprintf(digits, sizeof digits, "%u", index);
    return find(t, what, digits);
}

static void compare(modules_test *t, const char *what, qn_tensor *got, qn_tensor *wanted) {
    const qn_shape a = qn_tensor_shape(got), b = qn_tensor_shape(wanted);
    assert_ok(t->f.context, qn_tensor_status(got));
    if (a.rank != b.rank || memcmp(a.sizes, b.sizes, a.rank * sizeof *a.sizes) != 0)
        fail_msg("%s, %s: another shape", t->name, what);
    qn_tensor *room = qn_multiply(qn_add(qn_abs(wanted), 1), 3e-5);
    qn_tensor *excess = qn_where(qn_equal(got, wanted), 0, qn_divide(qn_abs(qn_subtract(got, wanted)), room));
    const double worst = qn_tensor_item(qn_max(excess, QN_ALL_AXES, false));
    if (!(worst <= 1)) fail_msg("%s, %s: %g times as far as it may be", t->name, what, worst);
    t->compared++;
}

/* The module, whose init function gave `status`, gets the case's parameters. */
static void begin(modules_test *t, qn_status status, qn_module *m) {
    char from[100];
    assert_ok(t->f.context, status);
    snprintf(from, sizeof from, "%s/p/**", t->name);
    const qn_load_rule rules[] = {{.name = "**", .from = from}, {.from = "**"}};
    t->module = m;
    assert_ok(t->f.context, qn_module_load(m, t->archive, &(qn_load_desc){.rules = rules, .num_rules = 2}));
}

/* ---- embeddings and places ---- */

typedef uint32_t case_function(modules_test *t, qn_tensor **out);

#define X(i)      t->inputs[i]
#define RUN(name) static uint32_t name(modules_test *t, qn_tensor **out)

RUN(embedding) {
    static qn_embedding m;
    begin(t,
          qn_embedding_init(&m, t->f.t,
                            &(qn_embedding_desc){.count = 7, .size = 4, .has_padding = true, .padding = 2}),
          &m.module);
    out[0] = qn_module_forward(&m.module, X(0));
    return 1;
}
RUN(sines) {
    static qn_positions m;
    begin(t, qn_positions_init(&m, t->f.t, &(qn_positions_desc){.size = 6}), &m.module);
    out[0] = qn_positions_forward(&m, X(0), NULL);
    return 1;
}
RUN(learned_positions) {
    static qn_positions m;
    begin(t, qn_positions_init(&m, t->f.t, &(qn_positions_desc){.length = 8, .size = 6, .learned = true}),
          &m.module);
    out[0] = qn_module_forward(&m.module, X(0));
    return 1;
}
RUN(rotary) {
    out[0] = qn_rotary(X(0), NULL, 0, false);
    return 1;
}
RUN(rotary_neighbours) {
    static const int32_t places[] = {4, 7, 9};
    out[0] = qn_rotary(X(0), qn_from_data(t->f.t, QN_I32, QN_SHAPE(3), places), 100, true);
    return 1;
}

/* ---- attention ---- */

RUN(multi_head_causal) {
    static qn_multi_head m;
    begin(t, qn_multi_head_init(&m, t->f.t, &(qn_multi_head_desc){.size = 6, .heads = 3}), &m.module);
    out[0] = qn_multi_head_forward(&m, X(0), NULL, NULL, &(qn_attending){.causal = true});
    return 1;
}
RUN(multi_head_cross) {
    static qn_multi_head m;
    static const bool seen[] = {true, true, false, true, false, false};
    const qn_multi_head_desc desc = {.size = 6, .heads = 2, .key_size = 3, .value_size = 5, .no_bias = true};
    begin(t, qn_multi_head_init(&m, t->f.t, &desc), &m.module);
    qn_tensor *mask = qn_from_data(t->f.t, QN_BOOL, QN_SHAPE(2, 1, 1, 3), seen);
    out[0] = qn_multi_head_forward(&m, X(0), X(1), X(2), &(qn_attending){.mask = mask});
    return 1;
}
RUN(multi_head_memory) {
    static qn_multi_head m;
    begin(t, qn_multi_head_init(&m, t->f.t, &(qn_multi_head_desc){.size = 6, .heads = 2}), &m.module);
    out[0] = qn_multi_head_forward(&m, X(0), X(1), NULL, &(qn_attending){.mask = X(2)});
    return 1;
}
RUN(multi_head_grouped) {
    static qn_multi_head m;
    const qn_multi_head_desc desc = {.size = 8, .heads = 4, .key_heads = 2, .rotary = 50};
    begin(t, qn_multi_head_init(&m, t->f.t, &desc), &m.module);
    out[0] = qn_multi_head_forward(&m, X(0), NULL, NULL, &(qn_attending){.causal = true});
    return 1;
}

/* ---- transformers ---- */

RUN(feed_forward_gated) {
    static qn_feed_forward m;
    const qn_feed_forward_desc desc = {.size = 4, .hidden = 5, .gated = true, .activation = qn_silu};
    begin(t, qn_feed_forward_init(&m, t->f.t, &desc), &m.module);
    out[0] = qn_module_forward(&m.module, X(0));
    return 1;
}
static uint32_t encoder(modules_test *t, qn_tensor **out, bool first) {
    static qn_encoder_layer m;
    const qn_transformer_layer_desc desc = {
        .size = 4, .heads = 2, .hidden = 6, .norm_first = first, .activation = first ? qn_gelu : NULL};
    begin(t, qn_encoder_layer_init(&m, t->f.t, &desc), &m.module);
    out[0] = qn_encoder_layer_forward(&m, X(0), &(qn_attending){.causal = true});
    return 1;
}
RUN(encoder_post) { return encoder(t, out, false); }
RUN(encoder_pre) { return encoder(t, out, true); }
static uint32_t decoder(modules_test *t, qn_tensor **out, bool first) {
    static qn_decoder_layer m;
    const qn_transformer_layer_desc desc = {
        .size = 4, .heads = 2, .hidden = 6, .norm_first = first, .activation = first ? qn_gelu : NULL};
    begin(t, qn_decoder_layer_init(&m, t->f.t, &desc), &m.module);
    out[0] = qn_decoder_layer_forward(&m, X(0), X(1), &(qn_attending){.causal = true}, NULL);
    return 1;
}
RUN(decoder_post) { return decoder(t, out, false); }
RUN(decoder_pre) { return decoder(t, out, true); }

/* ---- recurrent ---- */

static uint32_t recurrent(modules_test *t, qn_tensor **out, qn_recurrent_kind kind, bool lengths) {
    static qn_recurrent m;
    static const int64_t own[] = {5, 2, 3};
    const qn_recurrent_desc desc = {
        .kind = kind, .inputs = 3, .hidden = 4, .layers = lengths ? 1 : 2, .both_directions = true};
    begin(t, qn_recurrent_init(&m, t->f.t, &desc), &m.module);
    const qn_recurrent_state from = {X(1), X(2)};
    qn_recurrent_state last;
    out[0] = qn_recurrent_forward(&m, X(0), lengths ? NULL : &from,
                                  lengths ? qn_from_data(t->f.t, QN_I64, QN_SHAPE(3), own) : NULL, &last);
    out[1] = last.h;
    out[2] = last.c;
    return last.c ? 3 : 2;
}
RUN(rnn_tanh) { return recurrent(t, out, QN_RNN_TANH, false); }
RUN(rnn_relu) { return recurrent(t, out, QN_RNN_RELU, false); }
RUN(gru) { return recurrent(t, out, QN_GRU, false); }
RUN(lstm) { return recurrent(t, out, QN_LSTM, false); }
RUN(gru_lengths) { return recurrent(t, out, QN_GRU, true); }
RUN(lstm_lengths) { return recurrent(t, out, QN_LSTM, true); }
static uint32_t cell(modules_test *t, qn_tensor **out, qn_recurrent_kind kind, bool no_bias) {
    static qn_recurrent_cell m;
    const qn_recurrent_desc desc = {.kind = kind, .inputs = 3, .hidden = 4, .no_bias = no_bias};
    begin(t, qn_recurrent_cell_init(&m, t->f.t, &desc), &m.module);
    const qn_recurrent_state s = qn_recurrent_cell_forward(&m, X(0), &(qn_recurrent_state){X(1), X(2)});
    out[0] = s.h;
    out[1] = s.c;
    return s.c ? 2 : 1;
}
RUN(rnn_cell) { return cell(t, out, QN_RNN_TANH, false); }
RUN(gru_cell) { return cell(t, out, QN_GRU, true); }
RUN(lstm_cell) { return cell(t, out, QN_LSTM, false); }

/* ---- losses ---- */

RUN(mse) { return out[0] = qn_mse_loss(X(0), X(1), QN_LOSS_MEAN), 1; }
RUN(l1) { return out[0] = qn_l1_loss(X(0), X(1), QN_LOSS_SUM), 1; }
RUN(huber) { return out[0] = qn_huber_loss(X(0), X(1), 0.7, QN_LOSS_MEAN), 1; }
RUN(bce) { return out[0] = qn_bce_loss(X(0), qn_detach(X(1)), QN_LOSS_MEAN), 1; }
RUN(bce_logits) { return out[0] = qn_bce_with_logits_loss(X(0), qn_detach(X(1)), QN_LOSS_EACH), 1; }
RUN(kl) { return out[0] = qn_kl_loss(X(0), qn_detach(X(1)), QN_LOSS_MEAN), 1; }
RUN(cross_entropy) {
    out[0] = qn_cross_entropy(
        X(0), X(1),
        &(qn_classes_desc){.smoothing = 0.2, .ignores = true, .ignored = 3, .weights = qn_detach(X(2))});
    return 1;
}
RUN(cross_entropy_soft) {
    out[0] = qn_cross_entropy(X(0), qn_detach(X(1)), &(qn_classes_desc){.smoothing = 0.1});
    return 1;
}
RUN(nll) { return out[0] = qn_nll_loss(X(0), X(1), NULL), 1; }
static uint32_t ctc_of(modules_test *t, qn_tensor **out, qn_loss_result result) {
    const qn_ctc_desc desc = {
        .result = result, .lengths = X(2), .target_lengths = X(3), .zero_impossible = true};
    out[0] = qn_ctc_loss(qn_log_softmax(X(0), 2), X(1), &desc);
    return 1;
}
RUN(ctc) { return ctc_of(t, out, QN_LOSS_MEAN); }
RUN(ctc_each) { return ctc_of(t, out, QN_LOSS_EACH); }
RUN(ctc_blank) {
    out[0] = qn_ctc_loss(qn_log_softmax(X(0), 2), X(1), &(qn_ctc_desc){.result = QN_LOSS_SUM, .blank = 3});
    return 1;
}

/* ---- images ---- */

static uint32_t convolution(modules_test *t, qn_tensor **out, uint32_t dimensions, bool transposed) {
    static qn_convolution_layer m;
    qn_convolution_layer_desc desc = {
        .inputs = 4, .outputs = 6, .dimensions = dimensions, .transposed = transposed};
    desc.convolution.groups = 2;
    for (uint32_t d = 0; d < dimensions; d++) {
        desc.window[d] = 3;
        desc.convolution.stride[d] = 2;
        desc.convolution.padding[d] = 1;
        desc.convolution.further[d] = transposed;
    }
    begin(t, qn_convolution_layer_init(&m, t->f.t, &desc), &m.module);
    out[0] = qn_module_forward(&m.module, X(0));
    return 1;
}
RUN(convolution_1d) { return convolution(t, out, 1, false); }
RUN(convolution_2d) { return convolution(t, out, 2, false); }
RUN(convolution_3d) { return convolution(t, out, 3, false); }
RUN(transposed_1d) { return convolution(t, out, 1, true); }
RUN(transposed_2d) { return convolution(t, out, 2, true); }
RUN(transposed_3d) { return convolution(t, out, 3, true); }
static uint32_t pool(modules_test *t, qn_tensor **out, const qn_pool_desc *desc, bool average) {
    static qn_pool_layer m;
    qn_pool_layer_init(&m, t->f.t, desc, average);
    out[0] = qn_module_forward(&m.module, X(0));
    return 1;
}
RUN(max_pool) {
    return pool(t, out, &(qn_pool_desc){.window = {2, 3}, .stride = {2, 1}, .padding = {1, 0}}, false);
}
RUN(average_pool) {
    return pool(t, out, &(qn_pool_desc){.window = {3}, .stride = {2}, .padding = {1}}, true);
}
RUN(layer_norm) {
    static qn_norm_layer m;
    begin(t, qn_norm_layer_init(&m, t->f.t, &(qn_norm_layer_desc){.size = 6}), &m.module);
    out[0] = qn_module_forward(&m.module, X(0));
    return 1;
}
RUN(group_norm) {
    static qn_group_norm m;
    begin(t, qn_group_norm_init(&m, t->f.t, &(qn_group_norm_desc){.channels = 4, .groups = 2}), &m.module);
    out[0] = qn_module_forward(&m.module, X(0));
    return 1;
}
RUN(batch_norm) {
    static qn_batch_norm m;
    begin(t, qn_batch_norm_init(&m, t->f.t, &(qn_batch_norm_desc){.channels = 4}), &m.module);
    out[0] = qn_module_forward(&m.module, X(0));
    return 1;
}

#define CASE(name)                                                                                           \
    { #name, name }
static const struct {
    const char *name;
    case_function *run;
} cases[] = {
    CASE(embedding),
    CASE(sines),
    CASE(learned_positions),
    CASE(rotary),
    CASE(rotary_neighbours),
    CASE(multi_head_causal),
    CASE(multi_head_cross),
    CASE(multi_head_memory),
    CASE(multi_head_grouped),
    CASE(feed_forward_gated),
    CASE(encoder_post),
    CASE(encoder_pre),
    CASE(decoder_post),
    CASE(decoder_pre),
    CASE(rnn_tanh),
    CASE(rnn_relu),
    CASE(gru),
    CASE(lstm),
    CASE(gru_lengths),
    CASE(lstm_lengths),
    CASE(rnn_cell),
    CASE(gru_cell),
    CASE(lstm_cell),
    CASE(mse),
    CASE(l1),
    CASE(huber),
    CASE(bce),
    CASE(bce_logits),
    CASE(kl),
    CASE(cross_entropy),
    CASE(cross_entropy_soft),
    CASE(nll),
    CASE(ctc),
    CASE(ctc_each),
    CASE(ctc_blank),
    CASE(convolution_1d),
    CASE(convolution_2d),
    CASE(convolution_3d),
    CASE(transposed_1d),
    CASE(transposed_2d),
    CASE(transposed_3d),
    CASE(max_pool),
    CASE(average_pool),
    CASE(layer_norm),
    CASE(group_norm),
    CASE(batch_norm),
};

/* ---- running ---- */

static qn_status check_parameter(void *user, const char *name, qn_parameter *p) {
    modules_test *t = user;
    qn_tensor *wanted = find(t, p->trained ? "gp" : "b", name);
    if (!wanted) fail_msg("%s: PyTorch has no '%s'", t->name, name);
    if (p->trained && !qn_tensor_gradient(p->tensor)) fail_msg("%s: '%s' has no gradient", t->name, name);
    compare(t, name, p->trained ? qn_tensor_gradient(p->tensor) : p->tensor, wanted);
    return QN_OK;
}

static void run_case(modules_test *t, const char *name, case_function *run) {
    qn_tensor *out[MOST_OUTPUTS], *loss = NULL;
    t->name = name;
    t->module = NULL;
    assert_ok(t->f.context, qn_scope_begin(t->f.t));
    for (uint32_t i = 0; i < MOST_INPUTS; i++) {
        t->inputs[i] = find_number(t, "in", i);
        if (t->inputs[i] && qn_tensor_type(t->inputs[i]) == QN_F32)
            qn_tensor_require_gradient(t->inputs[i], true);
    }
    if (!t->inputs[0]) fail_msg("the file has no case '%s'", name);
    const uint32_t count = run(t, out);
    for (uint32_t i = 0; i < count; i++) {
        qn_tensor *part = qn_sum(qn_multiply(out[i], find_number(t, "w", i)), QN_ALL_AXES, false);
        loss = loss ? qn_add(loss, part) : part;
    }
    assert_ok(t->f.context, qn_backward(loss));
    for (uint32_t i = 0; i < count; i++) compare(t, "a result", out[i], find_number(t, "out", i));
    if (t->module) assert_ok(t->f.context, qn_module_visit(t->module, check_parameter, t));
    for (uint32_t i = 0; i < MOST_INPUTS; i++) {
        qn_tensor *wanted = find_number(t, "gi", i);
        qn_tensor *got = wanted ? qn_tensor_gradient(t->inputs[i]) : NULL;
        if (wanted) compare(t, "a gradient by an input", got ? got : qn_zeros_like(wanted), wanted);
    }
    if (t->module) qn_module_release(t->module);
    assert_ok(t->f.context, qn_scope_end(t->f.t));
}

static void modules_are_those_of_pytorch(void **state) {
    modules_test *t = test_of(state);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) run_case(t, cases[i].name, cases[i].run);
    assert_true(t->compared > 200);
}

static int start(void **state) {
    static modules_test t;
    const char *path = getenv("QUERN_MODULES");
    t.f = make_tensors(NULL);
    assert_ok(t.f.context,
              qn_archive_open(t.f.context, path ? path : QN__SOURCE_DIR "/tests/tensor/modules.safetensors",
                              NULL, &t.archive));
    *state = &t;
    return 0;
}

static int finish(void **state) {
    qn_archive_close(test_of(state)->archive);
    end_tensors(&test_of(state)->f);
    return 0;
}

int main(void) {
    if (device_is_missing()) return TEST_SKIPPED;
    const struct CMUnitTest tests[] = {cmocka_unit_test(modules_are_those_of_pytorch)};
    return cmocka_run_group_tests(tests, start, finish);
}
