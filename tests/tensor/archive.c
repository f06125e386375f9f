/* What qn_archive_* make of files, as text for check_archive.py. Commands are lines of the standard input:
     dump FILE OUT   prints each array and piece of metadata; their elements follow each other in OUT
     copy FILE TO    writes all arrays and texts of FILE to another one, in the format of its name
     pieces FILE TO  the same, elements given by a function
     decode FILE OUT prints each array, whose elements, made f32 by the device, follow each other in OUT
   After each a line "ok", or "failed" with the status and the sentence. */
#include <inttypes.h>
#include <quern/files.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static qn_context *context;

static void print_text(const qn_text *text) {
    putchar('"');
    for (uint64_t i = 0; i < text->size; i++) printf("%02x", (unsigned char)text->text[i]);
    putchar('"');
}

static void print_metadata(const qn_metadata *m) {
    if (m->is_list) putchar('[');
    for (uint64_t i = 0; i < m->count; i++) {
        if (i) putchar(',');
        switch (m->kind) {
        case QN_METADATA_TEXT: print_text(&m->values.texts[i]); break;
        case QN_METADATA_BOOL: printf("%s", m->values.bools[i] ? "true" : "false"); break;
        case QN_METADATA_INTEGER: printf("%" PRId64, m->values.integers[i]); break;
        case QN_METADATA_UNSIGNED: printf("%" PRIu64, m->values.numbers[i]); break;
        case QN_METADATA_FLOAT: printf("%.17g", m->values.floats[i]); break;
        case QN_METADATA_LIST: print_metadata(&m->values.lists[i]); break;
        }
    }
    if (m->is_list) putchar(']');
}

static qn_status dump_array(qn_archive *archive, const qn_host_array *array, FILE *out) {
    const void *data;
    const qn_status status = qn_archive_data(archive, array, &data);
    if (status) return status;
    void *copy = malloc(array->bytes + 1);
    if (!copy || qn_host_array_copy(array, copy, array->bytes)) abort();
    fwrite(copy, 1, array->bytes, out);
    free(copy);
    printf("array %s %s %" PRIu64, array->name, qn_encoding_name(array->encoding), array->bytes);
    for (uint32_t i = 0; i < array->rank; i++) printf(" %" PRIu64, array->sizes[i]);
    putchar('\n');
    return QN_OK;
}

static qn_status dump(const char *from, const char *to) {
    qn_archive *archive;
    qn_status status = qn_archive_open(context, from, NULL, &archive);
    if (status) return status;
    FILE *out = fopen(to, "wb");
    if (!out) abort();
    for (uint64_t i = 0; i < qn_archive_count(archive) && !status; i++)
        status = dump_array(archive, qn_archive_at(archive, i), out);
    fclose(out);
    const qn_metadata *m;
    for (uint64_t i = 0; (m = qn_archive_metadata_at(archive, i)); i++) {
        printf("metadata %s ", m->key);
        print_metadata(m);
        putchar('\n');
    }
    qn_archive_close(archive);
    return status;
}

static qn_status give_piece(void *user, uint64_t index, uint64_t offset, void *to, uint64_t size) {
    qn_archive *archive = user;
    const void *data;
    const qn_status status = qn_archive_data(archive, qn_archive_at(archive, index), &data);
    if (!status) memcpy(to, (const char *)data + offset, size);
    return status;
}

static qn_status copy(const char *from, const char *to, bool in_pieces) {
    qn_archive *archive;
    qn_status status = qn_archive_open(context, from, NULL, &archive);
    if (status) return status;
    qn_archive_write_desc desc = {.count = qn_archive_count(archive)};
    qn_host_array *arrays = calloc(desc.count + 1, sizeof *arrays);
    if (!arrays) abort();
    for (uint64_t i = 0; i < desc.count && !status; i++) {
        const qn_host_array *array = qn_archive_at(archive, i);
        status = qn_archive_data(archive, array, NULL);
        arrays[i] = *array;
        if (in_pieces) arrays[i].data = NULL;
    }
    desc.arrays = arrays;
    desc.metadata = qn_archive_metadata_at(archive, 0);
    while (qn_archive_metadata_at(archive, desc.metadata_count)) desc.metadata_count++;
    desc.source = in_pieces ? give_piece : NULL;
    desc.user = archive;
    if (!status) status = qn_archive_write(context, to, &desc);
    free(arrays);
    qn_archive_close(archive);
    return status;
}

/* Without a C compiler, which would take its time over each decoder. */
static qn_status decode(const char *from, const char *to) {
    qn_archive *archive;
    qn_device *device;
    qn_tensors *tensors = NULL;
    qn_status status = qn_device_get(context, "cpu", &device);
    if (!status) status = qn_tensors_create(device, NULL, &tensors);
    if (!status) status = qn_archive_open(context, from, NULL, &archive);
    if (status) return status;
    FILE *out = fopen(to, "wb");
    if (!out) abort();
    const qn_host_array *array;
    for (uint64_t i = 0; (array = qn_archive_at(archive, i)) && !status; i++) {
        qn_tensor *x = qn_from_archive(tensors, archive, array->name, QN_F32);
        const uint64_t bytes = 4 * qn_tensor_count(x);
        float *numbers = malloc(bytes + 1);
        if (!numbers) abort();
        status = qn_tensor_read(x, numbers, bytes);
        if (!status) fwrite(numbers, 1, bytes, out);
        if (!status) printf("array %s f32 %" PRIu64 "\n", array->name, bytes);
        free(numbers);
    }
    fclose(out);
    qn_archive_close(archive);
    qn_tensors_destroy(tensors);
    return status;
}

static qn_status run(const char *command, const char *from, const char *to) {
    if (strcmp(command, "dump") == 0) return dump(from, to);
    if (strcmp(command, "decode") == 0) return decode(from, to);
    return copy(from, to, strcmp(command, "pieces") == 0);
}

int main(void) {
    char line[4096];
    if (qn_context_create(&(qn_context_desc){.cpu_compiler = "none"}, &context)) return 1;
    while (fgets(line, sizeof line, stdin)) {
        const char *command = strtok(line, " \n"), *from = strtok(NULL, " \n"), *to = strtok(NULL, " \n");
        if (!to) return 1;
        const qn_status status = run(command, from, to);
        if (status)
            printf("failed %s %s\n", qn_status_name(status), qn_error_message(context));
        else
            puts("ok");
        fflush(stdout);
    }
    qn_context_destroy(context);
    return 0;
}
