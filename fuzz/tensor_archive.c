/* libFuzzer target: files of arrays. The first byte chooses the format, or leaves it to be found out; the rest is the file. What
   is refused has a sentence; what is not has elements where it says, which are all read. */
#include <quern/files.h>
#include <stdlib.h>
#include <string.h>

static qn_context *context;

static void check(bool holds) {
    if (!holds) abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    check(qn_context_create(&(qn_context_desc){.disable_cache = true}, &context) == QN_OK);
    return 0;
}

static void check_status(qn_status status) {
    check(status == QN_ERROR_ARGUMENT || status == QN_ERROR_UNSUPPORTED);
    check(strlen(qn_error_message(context)) > strlen("memory: "));
}

static void read_elements(qn_archive *archive, const qn_host_array *array) {
    const void *data;
    check(array == qn_archive_find(archive, array->name));
    const qn_status status = qn_archive_data(archive, array, &data);
    if (status) {
        check_status(status);
        return;
    }
    if (array->bytes > 1 << 20) return;
    uint8_t *copy = malloc(array->bytes + 1);
    check(copy != NULL);
    check(qn_host_array_copy(array, copy, array->bytes) == QN_OK);
    free(copy);
    qn_archive_forget(archive, array);
}

static uint64_t read_metadata(const qn_metadata *m) {
    uint64_t sum = strlen(m->key);
    for (uint64_t i = 0; i < m->count; i++) switch (m->kind) {
        case QN_METADATA_TEXT:
            check(m->values.texts[i].text[m->values.texts[i].size] == 0);
            sum += strlen(m->values.texts[i].text);
            break;
        case QN_METADATA_BOOL: sum += m->values.bools[i]; break;
        case QN_METADATA_LIST: sum += read_metadata(&m->values.lists[i]); break;
        default: sum += m->values.numbers[i]; break;
        }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    const qn_archive_desc desc = {.format = (qn_file_format)(data[0] % QN_FILE_FORMAT_COUNT)};
    qn_archive *archive;
    const qn_status status = qn_archive_open_memory(context, data + 1, size - 1, NULL, &desc, &archive);
    if (status) {
        check_status(status);
        check(archive == NULL);
        return 0;
    }
    uint64_t sum = 0;
    for (uint64_t i = 0; i < qn_archive_count(archive); i++)
        read_elements(archive, qn_archive_at(archive, i));
    for (uint64_t i = 0; qn_archive_metadata_at(archive, i); i++)
        sum += read_metadata(qn_archive_metadata_at(archive, i));
    check(sum + 1 > 0);
    qn_archive_close(archive);
    return 0;
}
