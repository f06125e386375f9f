/* Sentences of calls of tensors, modules and data that no other test is about. */
#include "tensor_common.h"

#include <stdatomic.h>
#include <unistd.h>

#include <quern/data.h>
#include <quern/dlpack.h>
#include <quern/nn.h>

#include "files_support.h"

/* The context has the sentence, or, where a call knows of none, the thread. */
#define SAYS(x, sentence)                                                                                    \
    do {                                                                                                     \
        assert_int_not_equal((x), QN_OK);                                                                    \
        const char *said_ = qn_error_message(f->context);                                                    \
        if (!strstr(said_, sentence) && !strstr(qn_error_message(NULL), sentence))                           \
            fail_msg("%s said: %s", #x, said_);                                                              \
    } while (0)
#define FAILS(x, sentence) SAYS(qn_tensor_status(x), sentence)
/* Where there is no tensor that could keep the sentence: the thread has it until its next call. */
#define TELLS(x, sentence)                                                                                   \
    do {                                                                                                     \
        const qn_tensor *told_ = (x);                                                                        \
        if (!strstr(qn_error_message(NULL), sentence)) fail_msg("%s told: %s", #x, qn_error_message(NULL));  \
        assert_int_not_equal(qn_tensor_status(told_), QN_OK);                                                \
    } while (0)

static void of_creation(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_tensor *x = counting(f, QN_SHAPE(2, 3), 0, 1);
    FAILS(qn_full(f->t, QN_F32, QN_SHAPE(2), x), "value is a tensor; see qn_broadcast_to");
    FAILS(qn_full(f->t, QN_U8, QN_SHAPE(2), 300), "does not have the value");
    FAILS(qn_arange(f->t, QN_F32, 0, 1, 0), "are no number of elements");
    FAILS(qn_truncated_normal(f->t, QN_F32, QN_SHAPE(2), 0, 1, 3, 2), "there are no numbers of deviation 1");
    FAILS(qn_orthogonal(f->t, QN_F32, QN_SHAPE(4), 1), "it is of floats, and of two dimensions or more");
    FAILS(qn_from_array(f->t, &(qn_array){.type = QN_F32, .rank = 1, .sizes = {3}}),
          "the array has no buffer");
    SAYS(qn_tensors_get_stats(f->t, NULL), "stats is NULL");
    SAYS(qn_tensors_create(f->device, NULL, NULL), "tensors is NULL");
    SAYS(qn_random_get_place(f->t, NULL), "place is NULL");
    SAYS(qn_random_set_place(f->t, NULL), "place is NULL");
}

static void of_values(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_tensor *x = counting(f, QN_SHAPE(2, 3), 0, 1);
    SAYS(qn_tensor_read(x, NULL, 24), "data is NULL");
    SAYS(qn_tensor_array(x, NULL), "array is NULL");
    SAYS(qn_realize(NULL, 1), "tensors is NULL");
    SAYS(qn_scope_end(f->t), "no scope is open");
}

static void of_views(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_tensor *x = counting(f, QN_SHAPE(2, 3), 0, 1),
              *eight = qn_reshape(x, QN_SHAPE(1, 1, 1, 1, 1, 1, 2, 3));
    FAILS(qn_reshape(x, QN_SHAPE(QN_REST, QN_REST)), "a shape with several QN_REST");
    FAILS(qn_permute(x, QN_AXES(0)), "1 axes for f32 2x3");
    FAILS(qn_slice(x, 0, 0, 2, 0), "a step of 0");
    FAILS(qn_pad(x, 0, 1, 1, x), "a tensor; it has to be a number");
    FAILS(qn_unsqueeze(eight, 0), "has as many dimensions as there can be");
    FAILS(qn_squeeze(x, QN_AXES(1)), "axis 1 of f32 2x3 is not of size 1");
    FAILS(qn_flatten(x, 1, 0), "the last axis is before the first");
    FAILS(qn_concat((qn_tensor *[]){x, qn_reshape(x, QN_SHAPE(3, 2))}, 2, 0),
          "differ in more than the size along axis 0");
}

static void of_operands(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_tensor *x = counting(f, QN_SHAPE(2, 3), 0, 1);
    FAILS(qn_bit_and(x, 1), "it is of integers and bool, not of f32");
    FAILS(qn_next_after(qn_cast(x, QN_F16), 1), "it is of f32 and f64, not of f16");
    FAILS(qn_einsum("i1->i", &x, 1), "names of dimensions are letters, one each");
    TELLS(qn_add(1, 2), "qn_add: none of the operands is a tensor");
    FAILS(qn_add(1, 2), "an op got no tensor: its operands are NULL or numbers alone");
    FAILS(qn_scatter_add(qn_cast(x, QN_BOOL), qn_zeros(f->t, QN_I64, QN_SHAPE(1)),
                         qn_zeros(f->t, QN_BOOL, QN_SHAPE(1, 3)), 0),
          "cannot be added to; cast it");
    FAILS(qn_attention(x, x, qn_reshape(x, QN_SHAPE(6)), NULL), "all have the same two to four dimensions");
    qn_tensors *others;
    assert_ok(f->context, qn_tensors_create(f->device, NULL, &others));
    FAILS(qn_add(x, qn_ones(others, QN_F32, QN_SHAPE(3))), "operand 2 is of other tensors (qn_tensors) than");
    qn_tensors_destroy(others);
}

static qn_status runs_itself(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                             size_t num_outputs) {
    qn_step **step = user;
    return qn_step_run(*step, inputs, num_inputs, outputs, num_outputs);
}

static void of_steps(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_tensor *x = counting(f, QN_SHAPE(2), 0, 1), *y;
    qn_step *step;
    assert_ok(f->context, qn_step_create(f->t, runs_itself, &step, &step));
    SAYS(qn_step_run(step, &x, 1, &y, 1), "a step cannot be run while one is recorded");
    qn_step_destroy(step);
    SAYS(qn_step_run(NULL, &x, 1, &y, 1), "step is NULL");
}

static void of_modules(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_module m;
    qn_parameter p;
    qn_average average;
    qn_optimizer optimizer;
    qn_embedding embedding;
    qn_tensor *x = counting(f, QN_SHAPE(2, 3), 0, 1);
    qn_module_init(&m, f->t, NULL);
    SAYS(qn_module_add_parameter(&m, "a.b", &p, x, true), "'a.b' is no name");
    SAYS(qn_module_add(&m, "child", NULL), "child is NULL");
    FAILS(qn_module_forward(&m, x), "the module's type has no function of one tensor");
    SAYS(qn_average_init(&average, &m, 1.5), "decay is 1.5; it is from 0 to 1");
    SAYS(qn_optimizer_init(&optimizer, &m, &(qn_optimizer_desc){.kind = (qn_optimizer_kind)99}),
         "kind 99 is none");
    SAYS(qn_optimizer_init(&optimizer, &m, &(qn_optimizer_desc){.num_groups = 1}), "groups is NULL");
    SAYS(qn_optimizer_step(NULL), "optimizer is NULL");
    SAYS(qn_clip_gradient_values(NULL, 1), "module is NULL");
    SAYS(qn_module_save(NULL, "none"), "module is NULL");
    SAYS(qn_embedding_init(&embedding, f->t, &(qn_embedding_desc){.size = 4}), "none of the first two is 0");
    FAILS(qn_rotary(x, NULL, 0, false), "x is no [..., length, size] of an even size");
    FAILS(qn_ctc_loss(x, NULL, NULL), "x or targets is NULL");
    qn_module_release(&m);
}

static qn_status no_example(void *user, uint64_t index, void *const *to) {
    (void)user, (void)index, (void)to;
    return QN_OK;
}

static void of_sets(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_dataset *set, *part;
    qn_loader *loader;
    qn_dataset_desc desc = {.count = 3, .num_fields = 1, .fields = {{QN_F32, QN_SCALAR}}};
    SAYS(qn_dataset_create(f->context, &desc, &set), "get is NULL");
    desc.get = no_example;
    desc.fields[0].type = (qn_element)200;
    SAYS(qn_dataset_create(f->context, &desc, &set), "field 0 is of no qn_element");
    desc.fields[0].type = QN_F32;
    assert_ok(f->context, qn_dataset_create(f->context, &desc, &set));
    float value;
    SAYS(qn_dataset_get(set, 3, (void *[]){&value}), "there is no example 3: the set has 3");
    SAYS(qn_dataset_part(set, (uint64_t[]){0, 4}, 2, &part), "there is no example 4: the set has 3");
    assert_ok(f->context, qn_loader_create(f->t, set, &(qn_loader_desc){.batch = 2}, &loader));
    SAYS(qn_loader_seek(loader, 0, 3), "there is no batch 3: an epoch has 2");
    SAYS(qn_loader_seek(NULL, 0, 0), "loader is NULL");
    qn_loader_destroy(loader);
    qn_dataset_destroy(set);
    SAYS(qn_dataset_from_arrays(f->context, NULL, 0, &set), "there are no arrays, or one");
}

static void of_images(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_tensor *x = counting(f, QN_SHAPE(2, 3), 0, 1), *four = qn_zeros(f->t, QN_F32, QN_SHAPE(4, 2, 2));
    FAILS(qn_read_image(f->t, NULL, 0), "path is NULL");
    SAYS(qn_write_image(x, NULL), "path is NULL");
    SAYS(qn_write_image(x, "image.gif"), "the path ends with none of .png");
    SAYS(qn_write_image(qn_zeros(f->t, QN_F32, QN_SHAPE(2)), "a.pgm"), "an image is [height, width] or");
    SAYS(qn_write_image(four, "a.ppm"), "an image has 1 or 3 channels");
    SAYS(qn_write_image(qn_cast(x, QN_I32), "a.pgm"), "pixels are floats or u8");
    SAYS(qn_write_image(x, "a.ppm"), "a .pgm has one channel, a .ppm three");
    FAILS(qn_image_sheet(x, 2), "images are [n, channels, height, width]");
}

static qn_tensor *first_of(void *user, qn_tensor *const *inputs, size_t count) {
    (void)user, (void)count;
    return inputs[0];
}

static qn_status assigns_nothing(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                                 size_t num_outputs) {
    qn_tensor *x = user;
    (void)inputs, (void)num_inputs, (void)num_outputs;
    outputs[0] = x;
    return qn_assign(x, qn_add(x, 1));
}

/* Functions that take lists: what is NULL, none, or too many. */
static void of_lists(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_tensor *x = counting(f, QN_SHAPE(2, 3), 0, 1), *many[65], *grid;
    for (int i = 0; i < 65; i++) many[i] = x;
    TELLS(qn_einsum("ij->ij", &x, 0), "0 operands; from 1 to ");
    TELLS(qn_einsum(NULL, &x, 1), "and neither text nor list NULL");
    SAYS(qn_meshgrid(&x, 9, &grid), "9 tensors; from 1 to 8, and neither list NULL");
    TELLS(qn_concat(NULL, 1, 0), "there are no tensors");
    TELLS(qn_vmap(NULL, NULL, &x, 1), "1 inputs; from 1 to 64, and nothing NULL");
    TELLS(qn_jvp(first_of, NULL, many, many, 65, NULL), "65 inputs; from 1 to 64, and nothing NULL");
    TELLS(qn_recompute(first_of, NULL, NULL, 1), "the function or its inputs are none");
    SAYS(qn_check_gradients(NULL, NULL, &x, 1, NULL), "qn_check_gradients: function is NULL or none");
    SAYS(qn_check_gradients(first_of, NULL, NULL, 1, NULL), "qn_check_gradients: inputs is NULL or none");
    SAYS(qn_check_gradients(first_of, NULL, many, 65, NULL), "qn_check_gradients: 65 inputs; at most ");
    SAYS(qn_tensor_explain(NULL, 1, NULL, NULL, NULL), "qn_tensor_explain: tensors is NULL");
    SAYS(qn_tensor_explain(&x, 1, NULL, NULL, NULL), "qn_tensor_explain: callback is NULL");
    FAILS(qn_sum(x, ((qn_axes){.count = 9}), false), "9 axes; at most 8");
    SAYS(qn_split(NULL, NULL, 1, 0, NULL), "qn_split: parts is NULL");
    SAYS(qn_split(x, NULL, 1, 0, many), "qn_split: sizes is NULL");
    FAILS(qn_top_k(x, 4, -1, false, NULL), "4 of axis -1 of f32 2x3");
    assert_true(isnan(qn_tensor_item(x)));
    assert_non_null(strstr(qn_error_message(f->context), "qn_tensor_item: f32 2x3 is not one element"));
    SAYS(qn_tensor_status(NULL), "qn_tensor_status: the tensor is NULL");
}

static void of_objects(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_tensor *x = counting(f, QN_SHAPE(2, 3), 0, 1), *y;
    static uint64_t none[64]; /* no object of any kind */
    qn_step *step = (qn_step *)(void *)none;
    SAYS(qn_tensors_trim((qn_tensors *)(void *)none), "tensors is no object of qn_tensors_create");
    SAYS(qn_step_run(step, &x, 1, &y, 1), "qn_step_run: step is no object of qn_step_create");
    SAYS(qn_step_create(f->t, NULL, NULL, &step), "qn_step_create: function is NULL");
    SAYS(qn_step_create(f->t, assigns_nothing, NULL, NULL), "qn_step_create: step is NULL");
    qn_tensor *empty = qn_zeros(f->t, QN_F32, QN_SHAPE(0));
    assert_ok(f->context, qn_tensor_realize(empty));
    assert_ok(f->context, qn_step_create(f->t, assigns_nothing, empty, &step));
    SAYS(qn_step_run(step, NULL, 1, &y, 1), "qn_step_run: inputs is NULL");
    SAYS(qn_step_run(step, &x, 1, NULL, 1), "qn_step_run: outputs is NULL");
    SAYS(qn_step_run(step, &x, 1, &y, 1), "a step assigns a tensor without elements");
    qn_step_destroy(step);
    TELLS(qn_matmul(NULL, x), "operand 1 is NULL");
    TELLS(qn_from_host_array(NULL, NULL, QN_F32), "tensors is NULL or no object of qn_tensors_create");
    FAILS(qn_from_host_array(f->t, &(qn_host_array){.name = "a", .rank = 9}, QN_F32),
          "'a' has 9 dimensions, or an encoding that is none");
    TELLS(qn_from_dlpack(NULL, NULL), "tensors is NULL or no object of qn_tensors_create");
}

/* What functions of modules say of arguments that are NULL. */
static void of_nulls(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_module m, child;
    qn_parameter p;
    qn_average average;
    qn_optimizer optimizer;
    qn_loss_scaler scaler;
    qn_tensor *x = counting(f, QN_SHAPE(2, 3), 0, 1);
    qn_module_init(&m, f->t, NULL);
    qn_module_init(&child, f->t, NULL);
    assert_ok(f->context, qn_loss_scaler_init(&scaler, f->t, &(qn_loss_scaler_desc){0}));
    SAYS(qn_module_add_parameter(NULL, "p", &p, x, true), "qn_module_add_parameter: module is NULL");
    SAYS(qn_module_add_parameter(&m, NULL, &p, x, true), "qn_module_add_parameter: name is NULL");
    SAYS(qn_module_add_parameter(&m, "p", NULL, x, true), "qn_module_add_parameter: parameter is NULL");
    SAYS(qn_module_add_parameter(&m, "p", &p, NULL, true), "qn_module_add_parameter: value is NULL");
    assert_ok(f->context, qn_module_add(&m, "child", &child));
    SAYS(qn_module_add(&m, "again", &child), "qn_module_add: 'child' is part of a module already");
    SAYS(qn_module_add(&m, "own", &m), "qn_module_add: 'own' is part of a module already");
    SAYS(qn_module_add(&m, "child", &child), "qn_module_add: the module has a 'child' already");
    SAYS(qn_module_visit(NULL, NULL, NULL), "qn_module_visit: module is NULL");
    SAYS(qn_module_visit(&m, NULL, NULL), "qn_module_visit: visitor is NULL");
    SAYS(qn_module_load(NULL, NULL, NULL), "qn_module_load: module is NULL");
    SAYS(qn_module_load(&m, NULL, NULL), "qn_module_load: archive is NULL");
    SAYS(qn_module_summary(NULL, NULL, NULL), "qn_module_summary: module is NULL");
    SAYS(qn_module_summary(&m, NULL, NULL), "qn_module_summary: callback is NULL");
    TELLS(qn_module_forward(NULL, x), "module is NULL");
    SAYS(qn_average_init(NULL, &m, 0.5), "qn_average_init: average is NULL");
    SAYS(qn_average_init(&average, NULL, 0.5), "qn_average_init: module is NULL");
    SAYS(qn_optimizer_init(&optimizer, NULL, NULL), "qn_optimizer_init: module is NULL");
    SAYS(qn_optimizer_init(&optimizer, &m, NULL), "qn_optimizer_init: desc is NULL");
    SAYS(qn_optimizer_init(NULL, &m, &(qn_optimizer_desc){0}), "qn_optimizer_init: optimizer is NULL");
    SAYS(qn_loss_scaler_unscale(NULL, &m), "qn_loss_scaler_unscale: scaler is NULL");
    SAYS(qn_loss_scaler_unscale(&scaler, NULL), "qn_loss_scaler_unscale: module is NULL");
    SAYS(qn_loss_scaler_step(NULL, &optimizer), "qn_loss_scaler_step: scaler is NULL");
    SAYS(qn_loss_scaler_step(&scaler, NULL), "qn_loss_scaler_step: optimizer is NULL");
    qn_loss_scaler_release(&scaler);
    qn_module_release(&m);
}

static void of_numbers(void **state) {
    tensor_fixture *f = fixture_of(state);
    static const qn_optimizer_group nameless;
    static const struct {
        qn_optimizer_desc desc;
        const char *sentence;
    } rows[] = {
        {{.rate = -2}, "qn_optimizer_init: rate is -2; it is 0 or more, or QN_NONE"},
        {{.beta1 = 1}, "beta1 is 1; it is from 0 up to, not including, 1, or QN_NONE"},
        {{.beta2 = 2}, "beta2 is 2; it is from 0 up to, not including, 1"},
        {{.epsilon = -2}, "epsilon is -2; it is 0 or more"},
        {{.decay = INFINITY}, "decay is inf; it is 0 or more"},
        {{.momentum = 1}, "momentum is 1; it is from 0 up to, not including, 1"},
        {{.groups = &nameless, .num_groups = 1}, "the name of group 0 is NULL"},
        {{.kind = (qn_optimizer_kind)99}, "qn_optimizer_init: kind 99 is none"},
    };
    qn_module m;
    qn_optimizer optimizer;
    qn_multi_head heads;
    qn_recurrent recurrent;
    qn_module_init(&m, f->t, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        SAYS(qn_optimizer_init(&optimizer, &m, &rows[i].desc), rows[i].sentence);
    SAYS(qn_multi_head_init(&heads, f->t, &(qn_multi_head_desc){.size = 6, .heads = 4}),
         "size 6 is not 4 heads of as many elements, or these are no multiple of 4 heads of keys");
    assert_ok(f->context,
              qn_recurrent_init(&recurrent, f->t, &(qn_recurrent_desc){.inputs = 3, .hidden = 2}));
    qn_tensor *x = counting(f, QN_SHAPE(2, 3), 0, 1);
    FAILS(qn_recurrent_forward(&recurrent, x, NULL, NULL, NULL),
          "x is [batches, length, inputs], with one element at least");
    qn_module_release(&recurrent.module);
    qn_module_release(&m);
}

/* What is more than there can be. */
static void of_limits(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_tensor *x = counting(f, QN_SHAPE(2, 3), 0, 1), *y;
    qn_step *step;
    assert_ok(f->context, qn_step_create(f->t, assigns_nothing, x, &step));
    SAYS(qn_step_run(step, &x, 100000, &y, 1), "qn_step_run: 100000 inputs and 1 outputs; at most ");
    SAYS(qn_step_run(step, &x, 1, &y, 100000), "qn_step_run: 1 inputs and 100000 outputs; at most ");
    qn_step_destroy(step);
    uint64_t number = 0;
    const qn_checkpoint checkpoint = {.numbers = &number, .num_numbers = 100000};
    SAYS(qn_checkpoint_save(f->t, "build/limits.safetensors", &checkpoint),
         "qn_checkpoint_save: 100000 numbers; at most ");
    SAYS(qn_checkpoint_load(f->t, "build/limits.safetensors", &checkpoint),
         "qn_checkpoint_load: 100000 numbers; at most ");
    if (SIZE_MAX > UINT32_MAX) TELLS(qn_concat(&x, SIZE_MAX, 0), "qn_concat: too many tensors");
    qn_tensors *other;
    SAYS(qn_tensors_create_for(99, f->device, NULL, &other),
         "the program was built with the header's version 99; this libquern_tensor knows 1 to ");
    static char name[70000];
    memset(name, 'a', sizeof name - 1);
    char path[64];
    snprintf(path, sizeof path, "/tmp/quern-limits-%ld.npz", (long)getpid());
    const qn_save_desc npz = {.format = QN_FILE_NPZ};
    SAYS(qn_save(f->t, path, &(qn_named_tensor){name, x}, 1, &npz), "is too long for a zip archive");
    unlink(path);
    qn_loss_scaler scaler;
    SAYS(qn_loss_scaler_init(&scaler, f->t, &(qn_loss_scaler_desc){.growth = 0.5}),
         "growth 0.5, backoff 0.5: the scale is above 0, growth 1 or more, backoff between 0 and 1");
    FAILS(qn_rand(f->t, QN_I32, QN_SHAPE(2)), "it makes numbers of float types, not of i32");
    FAILS(qn_randint(f->t, QN_F32, QN_SHAPE(2), 0, 3), "it makes numbers of integer types, not of f32");
}

/* ---- where memory runs out ---- */

/* Allocations of this thread before the one that fails; below 0: none does. */
static _Thread_local long left = -1;

static bool may_take(void) { return left < 0 || left-- > 0; }
static void *take(void *user, size_t size) {
    void *memory = may_take() ? malloc(size) : NULL;
    if (memory) atomic_fetch_add((atomic_size_t *)user, 1);
    return memory;
}
static void *take_more(void *user, void *memory, size_t size) {
    void *grown = may_take() ? realloc(memory, size) : NULL;
    if (grown && !memory) atomic_fetch_add((atomic_size_t *)user, 1);
    return grown;
}
static void give_back(void *user, void *memory) {
    if (memory) atomic_fetch_sub((atomic_size_t *)user, 1);
    free(memory);
}

typedef struct learner {
    tensor_fixture f;
    qn_recurrent recurrent;
    qn_optimizer optimizer;
    qn_tensor *x;
    char path[128];
} learner;

static qn_status goes_forward(learner *l) {
    return qn_tensor_status(qn_recurrent_forward(&l->recurrent, l->x, NULL, NULL, NULL));
}
static qn_status averages(learner *l) {
    qn_average average;
    const qn_status status = qn_average_init(&average, &l->recurrent.module, 0.5);
    qn_average_release(&average);
    return status;
}
static qn_status steps(learner *l) { return qn_optimizer_step(&l->optimizer); }
static qn_status saves(learner *l) {
    return qn_checkpoint_save(l->f.t, l->path, &(qn_checkpoint){.module = &l->recurrent.module});
}
static qn_status saves_module(learner *l) { return qn_module_save(&l->recurrent.module, l->path); }

/* Each allocation of a call that was made before fails in turn, which it does without or says; once it says the sentence. */
static void runs_out(learner *l, qn_status (*call)(learner *), const char *sentence) {
    enum { MOST = 20000 };
    bool said = false, all = false;
    for (long n = -1; !all && n < MOST; n++) {
        assert_ok(l->f.context, qn_scope_begin(l->f.t));
        left = n;
        const qn_status status = call(l);
        all = left >= 0;
        left = -1;
        if (status) {
            assert_int_equal(status, QN_ERROR_OUT_OF_MEMORY);
            said = said || strstr(qn_error_message(l->f.context), sentence);
        }
        assert_ok(l->f.context, qn_scope_end(l->f.t));
    }
    assert_true(all);
    if (!said) fail_msg("nothing said '%s'", sentence);
}

static qn_tensor *stays(void *user, qn_tensor *gradient) {
    (void)user, (void)gradient;
    return NULL;
}

static void of_memory(void **state) {
    (void)state;
    learner l;
    char folder[64];
    atomic_size_t taken = 0;
    l.f.context = make_context(
        &(qn_context_desc){.cpu_compiler = "none", .allocator = {take, take_more, give_back, &taken}});
    l.f.device = get_device(l.f.context, "cpu");
    assert_ok(l.f.context, qn_tensors_create(l.f.device, NULL, &l.f.t));
    assert_ok(l.f.context,
              qn_recurrent_init(&l.recurrent, l.f.t, &(qn_recurrent_desc){.inputs = 3, .hidden = 2}));
    assert_ok(l.f.context,
              qn_optimizer_init(&l.optimizer, &l.recurrent.module, &(qn_optimizer_desc){.kind = QN_SGD}));
    make_folder(folder);
    snprintf(l.path, sizeof l.path, "%s/a.safetensors", folder);
    l.x = counting(&l.f, QN_SHAPE(2, 1, 3), 0, 1);
    assert_int_not_equal(qn_tensor_array(l.x, NULL),
                         QN_OK); /* from now on the context has room for sentences */
    qn_tensor *sum = l.x;
    left = 0;
    while (left >= 0) sum = qn_add(sum, 1);
    assert_int_equal(qn_tensor_status(sum), QN_ERROR_OUT_OF_MEMORY);
    assert_non_null(strstr(qn_error_message(l.f.context), "out of host memory for a tensor"));
    runs_out(&l, goes_forward, "qn_recurrent_forward: out of host memory");
    runs_out(&l, averages, "qn_average_init: out of host memory");
    runs_out(&l, steps, "qn_optimizer_step: out of host memory");
    runs_out(&l, saves, "a checkpoint: out of host memory");
    runs_out(&l, saves_module, "out of host memory");
    unlink(l.path);
    rmdir(folder);
    qn_optimizer_release(&l.optimizer);
    qn_module_release(&l.recurrent.module);
    qn_hook_gradient(qn_tensor_require_gradient(l.x, true), stays, NULL); /* still open when its owner goes */
    end_tensors(&l.f);
    assert_int_equal(taken, 0); /* nothing is lost on the way */
}

static void of_names(void **state) {
    enum { DEEP = 20 };
    tensor_fixture *f = fixture_of(state);
    qn_module modules[DEEP];
    char name[QN_NAME_ROOM];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    for (int i = 0; i < DEEP; i++) {
        qn_module_init(&modules[i], f->t, NULL);
        if (i) assert_ok(f->context, qn_module_add(&modules[i], name, &modules[i - 1]));
    }
    SAYS(qn_module_realize(&modules[DEEP - 1]), "modules within modules have names of more than");
    qn_module_release(&modules[DEEP - 1]);
}

static void of_others(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_device *other;
    qn_buffer *buffer;
    assert_ok(f->context, qn_device_get(f->context, f->info.kind == QN_DEVICE_CPU ? "null" : "cpu", &other));
    assert_ok(f->context, qn_buffer_create(other, &(qn_buffer_desc){.size = 64}, &buffer));
    FAILS(qn_from_array(
              f->t, &(qn_array){.buffer = buffer, .type = QN_F32, .rank = 1, .sizes = {3}, .strides = {1}}),
          "the array's buffer is of another device");
    qn_buffer_destroy(buffer);
    SAYS(qn_archive_write(f->context, "a.npz", &(qn_archive_write_desc){.count = 1}),
         "qn_archive_write: arrays is NULL");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_creation), cmocka_unit_test(of_values), cmocka_unit_test(of_views),
        cmocka_unit_test(of_operands), cmocka_unit_test(of_steps),  cmocka_unit_test(of_modules),
        cmocka_unit_test(of_sets),     cmocka_unit_test(of_images), cmocka_unit_test(of_lists),
        cmocka_unit_test(of_objects),  cmocka_unit_test(of_nulls),  cmocka_unit_test(of_numbers),
        cmocka_unit_test(of_limits),   cmocka_unit_test(of_memory), cmocka_unit_test(of_names),
        cmocka_unit_test(of_others),
    };
    return run_tensor_tests(tests, NULL);
}
