/* Sentences of calls of tensors, modules and data that no other test is about. */
#include "tensor_common.h"

#include <quern/data.h>
#include <quern/nn.h>

/* The context has the sentence, or, where a call knows of none, the thread. */
#define SAYS(x, sentence)                                                                                    \
    do {                                                                                                     \
        assert_int_not_equal((x), QN_OK);                                                                    \
        const char *said_ = qn_error_message(f->context);                                                    \
        if (!strstr(said_, sentence) && !strstr(qn_error_message(NULL), sentence))                           \
            fail_msg("%s said: %s", #x, said_);                                                              \
    } while (0)
#define FAILS(x, sentence) SAYS(qn_tensor_status(x), sentence)

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_creation), cmocka_unit_test(of_values), cmocka_unit_test(of_views),
        cmocka_unit_test(of_operands), cmocka_unit_test(of_steps),  cmocka_unit_test(of_modules),
        cmocka_unit_test(of_sets),     cmocka_unit_test(of_images),
    };
    return run_tensor_tests(tests, NULL);
}
