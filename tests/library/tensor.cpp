/* tensor.h in C++17: shapes, operands that are tensors or numbers, a chain of ops; files.h: a table; nn.h: a layer; data.h: a batch. */
#include <quern/data.h>
#include <quern/dlpack.h>
#include <quern/files.h>
#include <quern/nn.h>
#include <quern/tensor.h>

#include <cstdio>

static bool reads_a_table(qn_context *context) {
    qn_archive *archive = nullptr;
    qn_archive_desc desc = {};
    desc.format = QN_FILE_CSV;
    const void *data = nullptr;
    if (qn_archive_open_memory(context, "x,y\n1,2.5\n", 10, nullptr, &desc, &archive) ||
        qn_archive_data(archive, qn_archive_find(archive, "data"), &data))
        return false;
    const bool good = static_cast<const double *>(data)[1] == 2.5 &&
                      qn_archive_metadata(archive, "columns")->values.texts[1].text[0] == 'y';
    qn_archive_close(archive);
    return good;
}

static bool has_a_layer(qn_tensors *t) {
    qn_linear linear;
    qn_linear_desc desc = {};
    desc.inputs = 3;
    desc.outputs = 2;
    if (qn_linear_init(&linear, t, &desc)) return false;
    const qn_shape shape = qn_tensor_shape(qn_linear_forward(&linear, qn_ones(t, QN_F32, QN_SHAPE(4, 3))));
    qn_module_release(&linear.module);
    return shape.rank == 2 && shape.sizes[0] == 4 && shape.sizes[1] == 2;
}

static bool loads_a_batch(qn_context *context, qn_tensors *t) {
    const float numbers[3] = {1, 2, 4};
    qn_host_array array = {};
    array.encoding = QN_ENCODING_F32;
    array.rank = 1;
    array.sizes[0] = 3;
    array.data = numbers;
    array.bytes = sizeof numbers;
    qn_dataset *set = nullptr;
    qn_loader *loader = nullptr;
    qn_tensor *batch = nullptr;
    bool more = false;
    if (qn_dataset_from_arrays(context, &array, 1, &set) || qn_loader_create(t, set, nullptr, &loader) ||
        qn_loader_next(loader, &batch, &more))
        return false;
    const bool good = more && qn_tensor_item(qn_sum(batch, QN_ALL_AXES, false)) == 7;
    qn_loader_destroy(loader);
    qn_dataset_destroy(set);
    return good;
}

int main() {
    qn_context *context = nullptr;
    qn_device *device = nullptr;
    qn_tensors *t = nullptr;
    const float in[6] = {1, 2, 3, 4, 5, 6.5f};
    float out[2] = {};
    if (qn_context_create(nullptr, &context) || qn_device_get(context, "cpu", &device) ||
        qn_tensors_create(device, nullptr, &t)) {
        std::printf("tensor.cpp: %s\n", qn_error_message(context));
        return 1;
    }
    qn_tensor *x = qn_from_data(t, QN_F32, QN_SHAPE(2, 3), in);
    qn_tensor *y = qn_sum(qn_relu(qn_subtract(qn_multiply(x, 2), qn_add(1.5, qn_mean(x, QN_AXES(-1), true)))),
                          QN_AXES(1), false);
    if (qn_tensor_read(y, out, sizeof out)) {
        std::printf("tensor.cpp: %s\n", qn_error_message(context));
        return 1;
    }
    const bool good =
        out[0] == 3 && out[1] > 10.9f && out[1] < 11.1f; /* 0 + .5 + 2.5, and of 8 10 13 less 6.67 */
    if (!good) std::printf("tensor.cpp: %g %g\n", out[0], out[1]);
    if (!reads_a_table(context) || !has_a_layer(t) || !loads_a_batch(context, t)) {
        std::printf("tensor.cpp: %s\n", qn_error_message(context));
        return 1;
    }
    qn_tensors_destroy(t);
    qn_context_destroy(context);
    return !good;
}
