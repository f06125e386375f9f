/* Checkpoints: a training that is stopped, saved and loaded elsewhere goes on bit for bit as one that was not. */
#include "tensor_common.h"

#include <quern/nn.h>
#include <string.h>
#include <unistd.h>

/* All that a training has: random numbers, buffers, narrow parameters, states, schedules. */
typedef struct training {
    qn_module module;
    qn_linear in, out;
    qn_batch_norm norm;
    qn_dropout dropout;
    qn_optimizer optimizer;
    qn_loss_scaler scaler;
    qn_average average;
    qn_plateau plateau;
    uint64_t numbers[2]; /* steps, and where in the data */
    qn_step *step;
} training;

static qn_status train(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                       size_t num_outputs) {
    training *m = user;
    assert_true(num_inputs == 1 && num_outputs == 1);
    qn_tensor *x = qn_batch_norm_forward(&m->norm, qn_linear_forward(&m->in, inputs[0]));
    x = qn_dropout_forward(&m->dropout, qn_tanh(x));
    x = qn_linear_forward(&m->out, qn_cast(x, QN_BF16));
    outputs[0] = qn_mean(qn_square(qn_subtract(qn_cast(x, QN_F32), 0.5)), QN_ALL_AXES, false);
    qn_status status = qn_backward(qn_loss_scaler_scale(&m->scaler, outputs[0]));
    if (!status) status = qn_loss_scaler_step(&m->scaler, &m->optimizer);
    return status ? status : qn_average_update(&m->average);
}

static void make_training(tensor_fixture *f, training *m) {
    memset(m, 0, sizeof *m);
    qn_module_init(&m->module, f->t, NULL);
    assert_ok(f->context, qn_linear_init(&m->in, f->t, &(qn_linear_desc){.inputs = 3, .outputs = 4}));
    assert_ok(f->context,
              qn_linear_init(&m->out, f->t, &(qn_linear_desc){.inputs = 4, .outputs = 2, .type = QN_BF16}));
    assert_ok(f->context, qn_batch_norm_init(&m->norm, f->t, &(qn_batch_norm_desc){.channels = 4}));
    qn_dropout_init(&m->dropout, f->t, 0.25);
    assert_ok(f->context, qn_module_add(&m->module, "in", &m->in.module));
    assert_ok(f->context, qn_module_add(&m->module, "norm", &m->norm.module));
    assert_ok(f->context, qn_module_add(&m->module, "out", &m->out.module));
    assert_ok(f->context, qn_optimizer_init(&m->optimizer, &m->module,
                                            &(qn_optimizer_desc){.kind = QN_ADAMW, .rate = 0.05}));
    assert_ok(f->context,
              qn_loss_scaler_init(&m->scaler, f->t, &(qn_loss_scaler_desc){.scale = 64, .interval = 4}));
    assert_ok(f->context, qn_average_init(&m->average, &m->module, 0.75));
    m->plateau = (qn_plateau){.rate = 0.05, .patience = 1, .factor = 0.7};
    assert_ok(f->context, qn_step_create(f->t, train, m, &m->step));
}

static qn_checkpoint all_of(training *m) {
    return (qn_checkpoint){.module = &m->module,
                           .optimizer = &m->optimizer,
                           .scaler = &m->scaler,
                           .average = &m->average,
                           .plateau = &m->plateau,
                           .numbers = m->numbers,
                           .num_numbers = 2};
}

static void release_training(training *m) {
    qn_step_destroy(m->step);
    qn_average_release(&m->average);
    qn_loss_scaler_release(&m->scaler);
    qn_optimizer_release(&m->optimizer);
    qn_module_release(&m->module);
}

static void run_steps(tensor_fixture *f, training *m, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        assert_ok(f->context, qn_scope_begin(f->t));
        qn_tensor *x = counting(f, QN_SHAPE(5, 3), (float)m->numbers[1], 0.125f), *loss;
        assert_ok(f->context, qn_step_run(m->step, &x, 1, &loss, 1));
        const double rate = qn_plateau_rate(&m->plateau, qn_tensor_item(loss));
        assert_ok(f->context, qn_optimizer_set_rate(&m->optimizer, rate));
        m->numbers[0]++;
        m->numbers[1] += 3;
        assert_ok(f->context, qn_scope_end(f->t));
    }
}

/* All of it as bytes: what a checkpoint has. */
static size_t bytes_of(tensor_fixture *f, training *m, const char *path, unsigned char *to, size_t room) {
    const qn_checkpoint all = all_of(m);
    assert_ok(f->context, qn_checkpoint_save(f->t, path, &all));
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(to, 1, room, file);
    fclose(file);
    assert_true(size > 500 && size < room);
    return size;
}

static void temporary(char *path, size_t size, const char *name) {
    snprintf(path, size, "nn_checkpoint.%ld.%s.safetensors", (long)getpid(), name);
}

static void resumes_bit_for_bit(void **state) {
    (void)state;
    enum { ROOM = 1 << 15 };
    static unsigned char whole[ROOM], resumed[ROOM];
    char path[80], other[80];
    temporary(path, sizeof path, "half");
    temporary(other, sizeof other, "bytes");
    static training m, again;
    tensor_fixture f = make_tensors(&(qn_tensors_desc){.seed = 11});
    make_training(&f, &m);
    run_steps(&f, &m, 3);
    const qn_checkpoint all = all_of(&m);
    assert_ok(f.context, qn_checkpoint_save(f.t, path, &all));
    run_steps(&f, &m, 4);
    const size_t size = bytes_of(&f, &m, other, whole, ROOM);
    /* Back to the third step, with the launches that are recorded. */
    assert_ok(f.context, qn_checkpoint_load(f.t, path, &all));
    assert_int_equal(m.numbers[0], 3);
    run_steps(&f, &m, 4);
    assert_int_equal(bytes_of(&f, &m, other, resumed, ROOM), size);
    assert_memory_equal(whole, resumed, size);
    release_training(&m);
    end_tensors(&f);
    /* As in another process: other first values and another seed. */
    f = make_tensors(&(qn_tensors_desc){.seed = 5});
    make_training(&f, &again);
    const qn_checkpoint parts = all_of(&again);
    assert_ok(f.context, qn_checkpoint_load(f.t, path, &parts));
    assert_int_equal(again.numbers[1], 9);
    run_steps(&f, &again, 4);
    assert_int_equal(bytes_of(&f, &again, other, resumed, ROOM), size);
    assert_memory_equal(whole, resumed, size);
    release_training(&again);
    end_tensors(&f);
    remove(path);
    remove(other);
}

static void other_files_are_refused(void **state) {
    (void)state;
    char path[80];
    temporary(path, sizeof path, "wrong");
    tensor_fixture f = make_tensors(NULL);
    static training m;
    uint64_t many[65];
    make_training(&f, &m);
    run_steps(&f, &m, 1);
    float before[12], after[12];
    read_floats(&f, m.in.weight.tensor, before, 12);
    qn_checkpoint all = all_of(&m);
    assert_ok(f.context, qn_module_save(&m.module, path));
    assert_fails(f.context, qn_checkpoint_load(f.t, path, &all), QN_ERROR_ARGUMENT, "is no checkpoint");
    all.scaler = NULL;
    assert_ok(f.context, qn_checkpoint_save(f.t, path, &all));
    all.scaler = &m.scaler;
    assert_fails(f.context, qn_checkpoint_load(f.t, path, &all), QN_ERROR_ARGUMENT, "scaler.scale");
    all.plateau = NULL;
    assert_fails(f.context, qn_checkpoint_load(f.t, path, &all), QN_ERROR_ARGUMENT, "its quern.plateau");
    all.plateau = &m.plateau;
    all.num_numbers = 1;
    assert_fails(f.context, qn_checkpoint_load(f.t, path, &all), QN_ERROR_ARGUMENT, "its quern.numbers");
    all.numbers = many;
    all.num_numbers = 65;
    assert_fails(f.context, qn_checkpoint_save(f.t, path, &all), QN_ERROR_RANGE, "65 numbers");
    all.numbers = NULL;
    assert_fails(f.context, qn_checkpoint_save(f.t, path, &all), QN_ERROR_NULL, "numbers is NULL");
    assert_fails(f.context, qn_checkpoint_save(f.t, NULL, &all), QN_ERROR_NULL, "path is NULL");
    assert_fails(f.context, qn_checkpoint_load(f.t, path, NULL), QN_ERROR_NULL, "checkpoint is NULL");
    assert_fails(f.context, qn_checkpoint_load(f.t, "no_such_file", &(qn_checkpoint){.module = &m.module}),
                 QN_ERROR_IO, "no_such_file");
    assert_fails(f.context, qn_random_get_place(f.t, NULL), QN_ERROR_NULL, "place is NULL");
    assert_fails(f.context, qn_random_set_place(f.t, NULL), QN_ERROR_NULL, "place is NULL");
    read_floats(&f, m.in.weight.tensor, after, 12);
    assert_memory_equal(before, after, sizeof before);
    assert_int_equal(m.numbers[0], 1);
    release_training(&m);
    end_tensors(&f);
    remove(path);
}

int main(void) {
    if (device_is_missing()) return TEST_SKIPPED;
    const struct CMUnitTest tests[] = {cmocka_unit_test(resumes_bit_for_bit),
                                       cmocka_unit_test(other_files_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
