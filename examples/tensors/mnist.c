/* MNIST by a small convolutional network, from the four files of LeCun, Cortes and Burges as they are, .gz or not.
   Usage: quern_mnist FOLDER */
#include <stdint.h>

#include "classifier.h"

enum { SIDE = 28, BATCH = 128 };

/* Scores of the classes, for images of [n, SIDE, SIDE], bytes as they are in the file. */
static qn_tensor *forward(classifier *m, qn_tensor *images) {
    static const double mean[] = {0.1307}, deviation[] = {0.3081};
    const qn_pool_desc half = {.window = {2, 2}};
    qn_tensor *x = qn_normalize(qn_unsqueeze(images, 1), 255, mean, deviation, 1);
    x = qn_max_pool(qn_relu(qn_convolution_layer_forward(&m->first, x)), &half);
    return classifier_scores(m, qn_max_pool(qn_relu(qn_convolution_layer_forward(&m->second, x)), &half));
}

static qn_status train(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                       size_t num_outputs) {
    classifier *m = user;
    (void)num_inputs, (void)num_outputs;
    outputs[0] = qn_cross_entropy(forward(m, inputs[0]), inputs[1], NULL);
    const qn_status status = qn_backward(outputs[0]);
    return status ? status : qn_optimizer_step(&m->adam);
}

/* ---- files ---- */

typedef struct files {
    qn_archive *archives[2];
    qn_dataset *set;
} files;

/* FOLDER/train-images-idx3-ubyte or the same with .gz, and the labels to it. */
static qn_status open_files(example *e, const char *part, files *f) {
    static const char *const kinds[] = {"images-idx3", "labels-idx1"}, *const ends[] = {"ubyte", "ubyte.gz"};
    qn_host_array arrays[2];
    qn_status status = QN_OK;
    for (int i = 0; i < 2 && !status; i++) {
        for (int g = 0; g < 2 && !f->archives[i]; g++) {
            char path[512];
            snprintf(path, sizeof path, "%s/%s-%s-%s", e->input, part, kinds[i], ends[g]);
            status =
                qn_archive_open(e->context, path, &(qn_archive_desc){.format = QN_FILE_IDX}, &f->archives[i]);
        }
        if (!status) status = qn_archive_data(f->archives[i], qn_archive_at(f->archives[i], 0), NULL);
        if (!status) arrays[i] = *qn_archive_at(f->archives[i], 0);
    }
    return status ? status : qn_dataset_from_arrays(e->context, arrays, 2, &f->set);
}

static void close_files(files *f) {
    qn_dataset_destroy(f->set);
    for (int i = 0; i < 2; i++) qn_archive_close(f->archives[i]);
}

/* ---- training ---- */

static qn_status learn(example *e, classifier *m, qn_loader *loader, uint64_t epochs) {
    const uint64_t steps = epochs * qn_loader_batches(loader);
    uint64_t done = 0;
    qn_step *step;
    qn_status status = qn_step_create(e->t, train, m, &step);
    for (uint64_t epoch = 0; epoch < epochs && !status; epoch++) {
        qn_tensor *batch[2], *loss;
        bool more;
        while (!status && !(status = qn_loader_next(loader, batch, &more)) && more) {
            qn_scope_begin(e->t);
            status = qn_optimizer_set_rate(&m->adam, qn_rate_one_cycle(4e-3, done++, steps));
            if (!status) status = qn_step_run(step, batch, 2, &loss, 1);
            if (!status && done % (e->quick ? 1 : 10) == 0) {
                char note[32];
                example_loss(e, qn_tensor_item(loss));
                snprintf(note, sizeof note, "loss %.3f", e->losses[e->num_losses - 1]);
                qn_loader_note(loader, note);
            }
            qn_scope_end(e->t);
        }
    }
    qn_step_destroy(step);
    return status;
}

static qn_status test(example *e, classifier *m, qn_dataset *set, double *share) {
    qn_loader *loader;
    qn_status status = qn_loader_create(e->t, set, &(qn_loader_desc){.batch = 500}, &loader);
    if (status) return status;
    qn_tensor *batch[2];
    bool more;
    double right = 0;
    qn_module_train(&m->module, false);
    while (!status && !(status = qn_loader_next(loader, batch, &more)) && more) {
        qn_scope_begin(e->t);
        qn_tensor *told = qn_argmax(forward(m, batch[0]), 1, false);
        qn_tensor *count = qn_sum(qn_equal(told, qn_cast(batch[1], QN_I64)), QN_ALL_AXES, false);
        status = qn_tensor_status(count);
        right += qn_tensor_item(count);
        qn_scope_end(e->t);
    }
    *share = right / (double)qn_dataset_count(set);
    qn_loader_destroy(loader);
    return status;
}

static qn_status run(example *e, files *learnt, files *kept, double *share) {
    classifier m;
    const uint64_t width = e->quick ? 2 : 16;
    qn_loader *loader = NULL;
    const qn_loader_desc desc = {.batch = e->quick ? 4 : BATCH,
                                 .shuffle = true,
                                 .drop_last = true,
                                 .workers = 2,
                                 .progress = qn_progress_to_file,
                                 .progress_user = stderr};
    qn_status status = open_files(e, "train", learnt);
    if (!status) status = open_files(e, "t10k", kept);
    if (!status) status = classifier_init(&m, e->t, width, SIDE * SIDE / 16, 8 * width);
    if (status) return status;
    status = qn_loader_create(e->t, learnt->set, &desc, &loader);
    if (!status) status = learn(e, &m, loader, e->quick ? 1 : 2);
    qn_loader_destroy(loader);
    if (!status) status = test(e, &m, kept->set, share);
    classifier_release(&m);
    return status;
}

int main(int argc, char **argv) {
    example e;
    files learnt = {.set = NULL}, kept = {.set = NULL};
    double share = 0;
    example_open(&e, argc, argv, "mnist", "FOLDER ");
    if (!e.input) {
        printf("It wants the folder with train-images-idx3-ubyte, train-labels-idx1-ubyte, "
               "t10k-images-idx3-ubyte and\n"
               "t10k-labels-idx1-ubyte, each perhaps with .gz: the files of MNIST, which many sites have.\n");
        example_close(&e, QN_OK, false);
        return 2;
    }
    const qn_status status = run(&e, &learnt, &kept, &share);
    if (!status) printf("%.2f %% of the images kept for the test are told right\n", 100 * share);
    close_files(&learnt);
    close_files(&kept);
    const double *losses = e.losses; /* of the quick mode's six batches */
    return example_close(&e, status, e.quick ? losses[5] + losses[4] < losses[0] + losses[1] : share >= 0.98);
}
