/* Handwritten digits: 1,797 images of 8 x 8 pixels that scikit-learn comes with (UCI, Alpaydin and Kaynak), digits.csv.gz of Debian's package
   python3-sklearn, under sklearn/datasets/data. */
#ifndef DIGITS_H
#define DIGITS_H

#include "example.h"

enum { SIDE = 8, PIXELS = SIDE * SIDE };

typedef struct digits {
    qn_archive *archive;
    qn_dataset *all, *train, *test; /* images of [1, 8, 8] from 0 to 16, and their digits */
} digits;

/* Four fifths are to learn from. In `quick` mode only a few are. */
static inline qn_status digits_open(example *e, digits *d) {
    const qn_archive_desc csv = {.format = QN_FILE_CSV, .csv = {.header = QN_CSV_HEADER_NONE}};
    const qn_table_field fields[] = {{0, {QN_F32, QN_SHAPE(1, SIDE, SIDE)}}, {PIXELS, {QN_I32, QN_SCALAR}}};
    *d = (digits){.archive = NULL};
    if (!e->input)
        return qn_error_set(
            e->context, QN_ERROR_ARGUMENT,
            "it needs digits.csv.gz: see scripts/digits, which gets it from Debian's python3-sklearn");
    qn_status status = qn_archive_open(e->context, e->input, &csv, &d->archive);
    if (status) return status;
    const qn_host_array *table = qn_archive_at(d->archive, 0);
    status = qn_archive_data(d->archive, table, NULL);
    if (!status) status = qn_dataset_from_table(e->context, table, fields, 2, &d->all);
    const uint64_t count = qn_dataset_count(d->all);
    if (!status) status = qn_dataset_split(d->all, e->quick ? 80 : count * 4 / 5, 1, &d->train, &d->test);
    return status;
}

static inline void digits_close(digits *d) {
    qn_dataset_destroy(d->train);
    qn_dataset_destroy(d->test);
    qn_dataset_destroy(d->all);
    qn_archive_close(d->archive);
}

/* `count` of the images that are not learnt from, as rows of pixels from 0 to 1. */
static inline qn_status digits_rows(example *e, qn_dataset *set, uint64_t count, qn_tensor **rows) {
    qn_loader *loader;
    qn_tensor *batch[2];
    bool more;
    qn_status status = qn_loader_create(e->t, set, &(qn_loader_desc){.batch = count}, &loader);
    if (status) return status;
    status = qn_loader_next(loader, batch, &more);
    if (!status) *rows = qn_tensor_retain(qn_divide(qn_flatten(batch[0], 1, -1), 16));
    if (!status) status = qn_tensor_realize(*rows);
    qn_loader_destroy(loader);
    return status;
}

#endif
