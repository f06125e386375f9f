/* Loaders: batches in order, by a seed, over epochs, with several threads; batches that are kept and used late; failures; places; the
   progress bar. */
#include "tensor_common.h"

#include <quern/data.h>
#include <stdatomic.h>

/* ---- a set that counts: example i is two floats, i and -i, and a label of i % 10 ---- */

typedef struct counting_set {
    qn_context *context;
    atomic_uint calls;
    uint64_t wrong; /* UINT64_MAX: no example fails */
} counting_set;

static qn_status get_counting(void *user, uint64_t index, void *const *to) {
    counting_set *set = user;
    atomic_fetch_add(&set->calls, 1);
    if (index == set->wrong) return qn_error_set(set->context, QN_ERROR_IO, "example is spoilt");
    const float pair[] = {(float)index, -(float)index};
    const int32_t label = (int32_t)(index % 10);
    memcpy(to[0], pair, sizeof pair);
    memcpy(to[1], &label, sizeof label);
    return QN_OK;
}

static qn_dataset *make_set(tensor_fixture *f, counting_set *set, uint64_t count) {
    *set = (counting_set){.context = f->context, .wrong = UINT64_MAX};
    const qn_dataset_desc desc = {.count = count,
                                  .num_fields = 2,
                                  .fields = {{QN_F32, QN_SHAPE(2)}, {QN_I32, QN_SCALAR}},
                                  .get = get_counting,
                                  .user = set};
    qn_dataset *dataset;
    assert_ok(f->context, qn_dataset_create(f->context, &desc, &dataset));
    return dataset;
}

static qn_loader *make_loader(tensor_fixture *f, counting_set *set, uint64_t count, qn_loader_desc desc) {
    qn_dataset *dataset = make_set(f, set, count);
    qn_loader *loader;
    assert_ok(f->context, qn_loader_create(f->t, dataset, &desc, &loader));
    qn_dataset_destroy(dataset);
    return loader;
}

/* The numbers of the examples of the next batch, in order; 0: the epoch is over. */
static uint64_t next_numbers(tensor_fixture *f, qn_loader *loader, uint64_t *numbers) {
    qn_tensor *batch[2];
    bool more;
    assert_ok(f->context, qn_loader_next(loader, batch, &more));
    if (!more) {
        assert_null(batch[0]);
        return 0;
    }
    const uint64_t count = qn_tensor_shape(batch[0]).sizes[0];
    assert_int_equal(qn_tensor_shape(batch[0]).rank, 2);
    assert_int_equal(qn_tensor_shape(batch[1]).rank, 1);
    assert_int_equal(qn_tensor_shape(batch[1]).sizes[0], count);
    float pairs[256];
    int32_t labels[128];
    assert_ok(f->context, qn_tensor_read(batch[0], pairs, count * 2 * sizeof *pairs));
    assert_ok(f->context, qn_tensor_read(batch[1], labels, count * sizeof *labels));
    for (uint64_t i = 0; i < count; i++) {
        numbers[i] = (uint64_t)pairs[2 * i];
        assert_true(pairs[2 * i + 1] == -pairs[2 * i]);
        assert_int_equal(labels[i], numbers[i] % 10);
    }
    return count;
}

/* All numbers of an epoch, of so many batches. */
static uint64_t epoch_numbers(tensor_fixture *f, qn_loader *loader, uint64_t *numbers, uint64_t *batches) {
    uint64_t all = 0;
    *batches = 0;
    for (uint64_t count; (count = next_numbers(f, loader, numbers + all)) != 0; all += count) ++*batches;
    return all;
}

static void in_order(void **state) {
    tensor_fixture *f = fixture_of(state);
    counting_set set;
    uint64_t numbers[100], batches;
    qn_loader *loader = make_loader(f, &set, 70, (qn_loader_desc){.workers = 3});
    assert_int_equal(qn_loader_batches(loader), 3);
    for (int epoch = 0; epoch < 3; epoch++) {
        assert_int_equal(epoch_numbers(f, loader, numbers, &batches), 70);
        assert_int_equal(batches, 3);
        for (uint64_t i = 0; i < 70; i++) assert_int_equal(numbers[i], i);
    }
    qn_loader_destroy(loader);
    loader = make_loader(f, &set, 70, (qn_loader_desc){.drop_last = true, .ahead = 5});
    assert_int_equal(epoch_numbers(f, loader, numbers, &batches), 64);
    assert_int_equal(batches, 2);
    qn_loader_destroy(loader);
    loader = make_loader(f, &set, 5, (qn_loader_desc){.batch = 64});
    assert_int_equal(epoch_numbers(f, loader, numbers, &batches), 5);
    qn_loader_destroy(loader);
}

static void shuffled(void **state) {
    tensor_fixture *f = fixture_of(state);
    counting_set set;
    uint64_t one[3][100], other[100], batches;
    qn_loader *loader = make_loader(f, &set, 100, (qn_loader_desc){.shuffle = true, .seed = 7, .batch = 16});
    for (int epoch = 0; epoch < 3; epoch++) {
        bool seen[100] = {false};
        assert_int_equal(epoch_numbers(f, loader, one[epoch], &batches), 100);
        for (int i = 0; i < 100; i++) seen[one[epoch][i]] = true;
        for (int i = 0; i < 100; i++) assert_true(seen[i]);
    }
    assert_memory_not_equal(one[0], one[1], sizeof one[0]);
    assert_memory_not_equal(one[1], one[2], sizeof one[0]);
    qn_loader_destroy(loader);
    /* The order is that of the seed, however many threads there are. */
    loader =
        make_loader(f, &set, 100, (qn_loader_desc){.shuffle = true, .seed = 7, .batch = 16, .workers = 4});
    for (int epoch = 0; epoch < 3; epoch++) {
        epoch_numbers(f, loader, other, &batches);
        assert_memory_equal(other, one[epoch], sizeof other);
    }
    /* And a run that goes on in the midst has the same batches. */
    assert_ok(f->context, qn_loader_seek(loader, 1, 2));
    uint64_t epoch, batch;
    qn_loader_position(loader, &epoch, &batch);
    assert_int_equal(epoch, 1);
    assert_int_equal(batch, 2);
    assert_int_equal(epoch_numbers(f, loader, other, &batches), 100 - 32);
    assert_memory_equal(other, one[1] + 32, (100 - 32) * sizeof *other);
    epoch_numbers(f, loader, other, &batches);
    assert_memory_equal(other, one[2], sizeof other);
    assert_fails(f->context, qn_loader_seek(loader, 0, 7), QN_ERROR_RANGE, "there is no batch 7");
    qn_loader_destroy(loader);
    loader = make_loader(f, &set, 100, (qn_loader_desc){.shuffle = true, .seed = 8, .batch = 16});
    epoch_numbers(f, loader, other, &batches);
    assert_memory_not_equal(other, one[0], sizeof other);
    qn_loader_destroy(loader);
}

/* Batches that are retained, and what is computed of a batch late, keep their values; so they do when the loader is gone. */
static void keep(tensor_fixture *f, bool copies) {
    counting_set set;
    enum { BATCHES = 12 };
    qn_tensor *batch[2], *retained[BATCHES], *sums[BATCHES];
    bool more;
    qn_loader *loader =
        make_loader(f, &set, BATCHES * 8, (qn_loader_desc){.batch = 8, .workers = 2, .copies = copies});
    for (int i = 0; i < BATCHES; i++) {
        assert_ok(f->context, qn_loader_next(loader, batch, &more));
        assert_true(more);
        retained[i] = i % 2 ? qn_tensor_retain(batch[0]) : NULL;
        sums[i] = qn_tensor_retain(qn_sum(qn_slice(batch[0], 1, 0, 1, 1), QN_ALL_AXES, false));
    }
    qn_loader_destroy(loader);
    for (int i = 0; i < BATCHES; i++) {
        assert_near((float)qn_tensor_item(sums[i]), 8 * 8 * i + 28);
        qn_tensor_release(sums[i]);
        if (!retained[i]) continue;
        float pairs[16];
        read_floats(f, retained[i], pairs, 16);
        for (int e = 0; e < 8; e++) assert_true(pairs[2 * e] == (float)(8 * i + e));
        qn_tensor_release(retained[i]);
    }
}

/* Many batches through few slots, each used by a kernel that is enqueued and not waited for. */
static void overtake(tensor_fixture *f, bool copies) {
    counting_set set;
    qn_tensor *batch[2], *total = qn_tensor_retain(qn_zeros(f->t, QN_F32, QN_SCALAR));
    bool more;
    qn_loader *loader =
        make_loader(f, &set, 1000, (qn_loader_desc){.batch = 10, .workers = 2, .ahead = 1, .copies = copies});
    assert_ok(f->context, qn_tensor_realize(total));
    while (qn_loader_next(loader, batch, &more) == QN_OK && more) {
        assert_ok(f->context, qn_scope_begin(f->t));
        qn_tensor *sum = qn_sum(qn_slice(batch[0], 1, 0, 1, 1), QN_ALL_AXES, false);
        assert_ok(f->context, qn_assign(total, qn_add(total, sum)));
        assert_ok(f->context, qn_tensor_realize(total));
        assert_ok(f->context, qn_scope_end(f->t));
    }
    assert_near((float)qn_tensor_item(total), 999 * 500);
    qn_tensor_release(total);
    qn_loader_destroy(loader);
}

static void kept(void **state) {
    keep(fixture_of(state), false);
    keep(fixture_of(state), true);
}

static void overtaking(void **state) {
    overtake(fixture_of(state), false);
    overtake(fixture_of(state), true);
}

static void failures(void **state) {
    tensor_fixture *f = fixture_of(state);
    counting_set set;
    uint64_t numbers[64];
    qn_tensor *batch[2];
    bool more = true;
    qn_dataset *dataset = make_set(f, &set, 40);
    set.wrong = 13;
    qn_loader *loader;
    assert_ok(f->context, qn_loader_create(f->t, dataset, &(qn_loader_desc){.batch = 8}, &loader));
    assert_int_equal(next_numbers(f, loader, numbers), 8);
    assert_fails(f->context, qn_loader_next(loader, batch, &more), QN_ERROR_IO, "example is spoilt");
    assert_false(more);
    assert_int_equal(next_numbers(f, loader, numbers), 8);
    assert_int_equal(numbers[0], 16);
    assert_fails(f->context, qn_loader_next(NULL, batch, &more), QN_ERROR_NULL, "loader is NULL");
    assert_fails(f->context, qn_loader_next(loader, NULL, &more), QN_ERROR_NULL, "batch is NULL");
    qn_loader_destroy(loader);
    qn_loader_destroy(NULL);
    assert_fails(f->context, qn_loader_create(f->t, dataset, &(qn_loader_desc){.workers = 1000}, &loader),
                 QN_ERROR_ARGUMENT, "over 256 workers");
    assert_fails(f->context, qn_loader_create(f->t, dataset, &(qn_loader_desc){.ahead = 65}, &loader),
                 QN_ERROR_ARGUMENT, "over 64 batches ahead");
    assert_fails(f->context,
                 qn_loader_create(f->t, dataset, &(qn_loader_desc){.batch = 64, .drop_last = true}, &loader),
                 QN_ERROR_ARGUMENT, "fewer examples than a batch");
    assert_fails(f->context, qn_loader_create(f->t, NULL, NULL, &loader), QN_ERROR_NULL, "dataset is NULL");
    qn_dataset_destroy(dataset);
}

typedef struct lines {
    uint32_t count;
    char last[256];
} lines;

static void note_line(void *user, const char *text) {
    lines *l = user;
    l->count++;
    snprintf(l->last, sizeof l->last, "%s", text);
}

static void progress(void **state) {
    tensor_fixture *f = fixture_of(state);
    counting_set set;
    uint64_t numbers[64], batches;
    lines seen = {.count = 0};
    qn_loader *loader =
        make_loader(f, &set, 40, (qn_loader_desc){.batch = 8, .progress = note_line, .progress_user = &seen});
    epoch_numbers(f, loader, numbers, &batches);
    qn_loader_note(loader, "loss 0.12");
    epoch_numbers(f, loader, numbers, &batches);
    assert_in_range(seen.count, 2, 10);
    assert_memory_equal(seen.last, "\repoch 2 [====================] 5/5, ", 37);
    assert_non_null(strstr(seen.last, " examples/s, "));
    assert_non_null(strstr(seen.last, " s, loss 0.12"));
    assert_string_equal(seen.last + strlen(seen.last) - 1, "\n");
    qn_loader_destroy(loader);
    FILE *file = tmpfile();
    assert_non_null(file);
    qn_progress_to_file(file, "half");
    assert_int_equal(ftell(file), 4);
    fclose(file);
}

/* ---- sets ---- */

static void arrays(void **state) {
    tensor_fixture *f = fixture_of(state);
    static const uint8_t pixels[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
    /* In Fortran's order: example i is (i, 10 + i). */
    static const int16_t columns[] = {0, 1, 2, 10, 11, 12};
    qn_host_array from[] = {{.name = "pixels",
                             .encoding = QN_ENCODING_U8,
                             .rank = 3,
                             .sizes = {3, 2, 2},
                             .data = pixels,
                             .bytes = sizeof pixels},
                            {.name = "columns",
                             .encoding = QN_ENCODING_I16,
                             .rank = 2,
                             .sizes = {3, 2},
                             .strides = {1, 3},
                             .data = columns,
                             .bytes = sizeof columns}};
    qn_dataset *set, *part;
    assert_ok(f->context, qn_dataset_from_arrays(f->context, from, 2, &set));
    assert_int_equal(qn_dataset_count(set), 3);
    assert_int_equal(qn_dataset_num_fields(set), 2);
    assert_int_equal(qn_dataset_field(set, 0).shape.rank, 2);
    assert_int_equal(qn_dataset_field(set, 1).type, QN_I16);
    uint8_t image[4];
    int16_t pair[2];
    assert_ok(f->context, qn_dataset_get(set, 2, (void *[]){image, pair}));
    assert_memory_equal(image, pixels[2], sizeof image);
    assert_int_equal(pair[0], 2);
    assert_int_equal(pair[1], 12);
    assert_ok(f->context, qn_dataset_part(set, (uint64_t[]){2, 0, 2}, 3, &part));
    qn_dataset_destroy(set);
    assert_ok(f->context, qn_dataset_get(part, 1, (void *[]){image, pair}));
    assert_memory_equal(image, pixels[0], sizeof image);
    assert_fails(f->context, qn_dataset_get(part, 3, (void *[]){image, pair}), QN_ERROR_RANGE,
                 "there is no example 3");
    assert_fails(f->context, qn_dataset_part(part, (uint64_t[]){9}, 1, &set), QN_ERROR_RANGE,
                 "there is no example 9");
    qn_dataset_destroy(part);
    from[1].sizes[0] = 2;
    assert_fails(f->context, qn_dataset_from_arrays(f->context, from, 2, &set), QN_ERROR_ARGUMENT,
                 "'columns' has 2 examples, the first array 3");
    from[0].data = NULL;
    assert_fails(f->context, qn_dataset_from_arrays(f->context, from, 1, &set), QN_ERROR_NULL,
                 "qn_archive_data gets an archive's");
    from[0].encoding = QN_ENCODING_Q4_0;
    assert_fails(f->context, qn_dataset_from_arrays(f->context, from, 1, &set), QN_ERROR_ARGUMENT,
                 "an encoding that tensors lack");
}

static void tables(void **state) {
    tensor_fixture *f = fixture_of(state);
    static const char text[] = "a,b,c,class\n1,2,3,0\n4,5,6,1\n7,8.5,9,2.5\n";
    qn_archive *archive;
    const qn_archive_desc csv = {.format = QN_FILE_CSV};
    assert_ok(f->context, qn_archive_open_memory(f->context, text, sizeof text - 1, "table", &csv, &archive));
    const qn_host_array *table = qn_archive_at(archive, 0);
    assert_ok(f->context, qn_archive_data(archive, table, NULL));
    const qn_table_field fields[] = {{0, {QN_F32, QN_SHAPE(3)}}, {3, {QN_I32, QN_SCALAR}}};
    qn_dataset *set;
    assert_ok(f->context, qn_dataset_from_table(f->context, table, fields, 2, &set));
    float numbers[3];
    int32_t label;
    assert_ok(f->context, qn_dataset_get(set, 1, (void *[]){numbers, &label}));
    assert_true(numbers[0] == 4 && numbers[1] == 5 && numbers[2] == 6);
    assert_int_equal(label, 1);
    assert_fails(f->context, qn_dataset_get(set, 2, (void *[]){numbers, &label}), QN_ERROR_ARGUMENT,
                 "row 2, column 3: 2.5 is no i32");
    qn_dataset_destroy(set);
    const qn_table_field beyond = {2, {QN_F32, QN_SHAPE(3)}}, narrow = {0, {QN_F16, QN_SCALAR}};
    assert_fails(f->context, qn_dataset_from_table(f->context, table, &beyond, 1, &set), QN_ERROR_RANGE,
                 "beyond the table's 4 columns");
    assert_fails(f->context, qn_dataset_from_table(f->context, table, &narrow, 1, &set), QN_ERROR_ARGUMENT,
                 "columns do not become");
    qn_archive_close(archive);
}

static void split(void **state) {
    tensor_fixture *f = fixture_of(state);
    counting_set counted;
    qn_dataset *set = make_set(f, &counted, 50), *parts[2], *again[2];
    assert_ok(f->context, qn_dataset_split(set, 40, 3, &parts[0], &parts[1]));
    assert_ok(f->context, qn_dataset_split(set, 40, 3, &again[0], &again[1]));
    bool seen[50] = {false};
    for (int p = 0; p < 2; p++) {
        assert_int_equal(qn_dataset_count(parts[p]), p ? 10 : 40);
        for (uint64_t i = 0; i < qn_dataset_count(parts[p]); i++) {
            float pair[2], other[2];
            int32_t label;
            assert_ok(f->context, qn_dataset_get(parts[p], i, (void *[]){pair, &label}));
            assert_ok(f->context, qn_dataset_get(again[p], i, (void *[]){other, &label}));
            assert_true(pair[0] == other[0]);
            assert_false(seen[(int)pair[0]]);
            seen[(int)pair[0]] = true;
        }
    }
    assert_fails(f->context, qn_dataset_split(set, 51, 3, &parts[0], &parts[1]), QN_ERROR_RANGE,
                 "a part of 51 examples of a set of 50");
    for (int p = 0; p < 2; p++) {
        qn_dataset_destroy(parts[p]);
        qn_dataset_destroy(again[p]);
    }
    qn_dataset_destroy(set);
}

static void wrong_sets(void **state) {
    tensor_fixture *f = fixture_of(state);
    counting_set set;
    qn_dataset *dataset;
    qn_dataset_desc desc = {.count = 1, .get = get_counting, .user = &set};
    assert_fails(f->context, qn_dataset_create(f->context, &desc, &dataset), QN_ERROR_ARGUMENT,
                 "0 fields; 1 to 8 are possible");
    desc.num_fields = 1;
    desc.fields[0].shape = QN_SHAPE(3, 0);
    assert_fails(f->context, qn_dataset_create(f->context, &desc, &dataset), QN_ERROR_ARGUMENT,
                 "has no elements an example");
    desc.fields[0].shape.rank = 8;
    assert_fails(f->context, qn_dataset_create(f->context, &desc, &dataset), QN_ERROR_ARGUMENT,
                 "has 8 dimensions; at most 7");
    desc.fields[0] = (qn_field){QN_F32, QN_SCALAR};
    desc.get = NULL;
    assert_fails(f->context, qn_dataset_create(f->context, &desc, &dataset), QN_ERROR_NULL, "get is NULL");
}

static int begin(void **state) {
    static tensor_fixture f;
    f = make_tensors(NULL);
    *state = &f;
    return 0;
}

static int end(void **state) {
    end_tensors(*state);
    return 0;
}

int main(void) {
    if (device_is_missing()) return TEST_SKIPPED;
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_order), cmocka_unit_test(shuffled),
                                       cmocka_unit_test(kept),     cmocka_unit_test(overtaking),
                                       cmocka_unit_test(failures), cmocka_unit_test(progress),
                                       cmocka_unit_test(arrays),   cmocka_unit_test(tables),
                                       cmocka_unit_test(split),    cmocka_unit_test(wrong_sets)};
    return cmocka_run_group_tests(tests, begin, end);
}
