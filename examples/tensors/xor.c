/* The smallest network that learns something no line can tell apart: XOR, by eight hidden numbers and Adam. */
#include <stdio.h>

#include <quern/nn.h>

typedef struct model {
    qn_module module;
    qn_linear hidden, out;
} model;

static qn_tensor *forward(model *m, qn_tensor *x) {
    return qn_linear_forward(&m->out, qn_tanh(qn_linear_forward(&m->hidden, x)));
}

static qn_status make_model(model *m, qn_tensors *t) {
    qn_module_init(&m->module, t, NULL);
    qn_status status = qn_linear_init(&m->hidden, t, &(qn_linear_desc){.inputs = 2, .outputs = 8});
    if (!status) status = qn_linear_init(&m->out, t, &(qn_linear_desc){.inputs = 8, .outputs = 1});
    if (!status) status = qn_module_add(&m->module, "hidden", &m->hidden.module);
    if (!status) status = qn_module_add(&m->module, "out", &m->out.module);
    return status;
}

static qn_status train(model *m, qn_tensors *t, qn_tensor *x, qn_tensor *y) {
    qn_optimizer adam;
    qn_status status =
        qn_optimizer_init(&adam, &m->module, &(qn_optimizer_desc){.kind = QN_ADAM, .rate = 0.05});
    for (unsigned step = 0; step <= 300 && !status; step++) {
        qn_scope_begin(t);
        qn_tensor *loss = qn_bce_with_logits_loss(forward(m, x), y, QN_LOSS_MEAN);
        status = qn_backward(loss);
        if (!status) status = qn_optimizer_step(&adam);
        if (step % 100 == 0) printf("step %3u: loss %.4f\n", step, qn_tensor_item(loss));
        qn_scope_end(t);
    }
    qn_optimizer_release(&adam);
    return status;
}

int main(void) {
    static const float inputs[] = {0, 0, 0, 1, 1, 0, 1, 1}, wanted[] = {0, 1, 1, 0};
    qn_context *context;
    qn_device *device;
    qn_tensors *t;
    model m;
    float got[4];
    if (qn_context_create(NULL, &context)) return 1;
    qn_status status = qn_device_get(context, NULL, &device);
    if (!status) status = qn_tensors_create(device, NULL, &t);
    if (!status) status = make_model(&m, t);
    if (!status) {
        qn_tensor *x = qn_from_data(t, QN_F32, QN_SHAPE(4, 2), inputs),
                  *y = qn_from_data(t, QN_F32, QN_SHAPE(4, 1), wanted);
        status = train(&m, t, x, y);
        if (!status) status = qn_tensor_read(qn_sigmoid(forward(&m, x)), got, sizeof got);
    }
    if (status) {
        fprintf(stderr, "xor: %s\n", qn_error_message(context));
        return 1;
    }
    int right = 0;
    for (int i = 0; i < 4; i++) {
        printf("%g xor %g = %.3f\n", (double)inputs[2 * i], (double)inputs[2 * i + 1], (double)got[i]);
        right += (got[i] > 0.5f) == (wanted[i] > 0.5f);
    }
    printf("%d of 4 right\n", right);
    qn_module_release(&m.module);
    qn_tensors_destroy(t);
    qn_context_destroy(context);
    return right != 4;
}
