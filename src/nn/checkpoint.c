/* Checkpoints: all tensors of a training's parts under names that say which part, and its numbers as texts of the file's metadata. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/nn.h"

#define FORMAT_KEY  "quern.checkpoint"
#define FORMAT      "1"
#define RANDOM_KEY  "quern.random"
#define PLATEAU_KEY "quern.plateau"
#define NUMBERS_KEY "quern.numbers"

enum { NAME_ROOM = 600, MOST_NUMBERS = 64, NUMBER_ROOM = 24, NUMBERS_ROOM = MOST_NUMBERS * NUMBER_ROOM };

/* ---- the tensors ---- */

/* Where there is no list yet, they are counted. */
typedef struct collector {
    const qn_checkpoint *checkpoint;
    const char *part;
    qn_named_tensor *list;
    char *names;
    uint64_t count, name_bytes;
    uint64_t trained; /* parameters so far */
} collector;

static void add(collector *c, const char *name, const char *suffix, qn_tensor *tensor) {
    char full[NAME_ROOM];
    const size_t size = (size_t)snprintf(full, sizeof full, "%s.%s%s", c->part, name, suffix) + 1;
    if (c->list) {
        memcpy(c->names + c->name_bytes, full, size);
        c->list[c->count] = (qn_named_tensor){c->names + c->name_bytes, tensor};
    }
    c->count++;
    c->name_bytes += size;
}

static qn_status add_parameter(void *user, const char *name, qn_parameter *p) {
    if (p->tensor) add(user, name, "", p->tensor);
    return QN_OK;
}

static qn_status add_states(void *user, const char *name, qn_parameter *p) {
    for (uint32_t i = 0; i < QN_PARAMETER_STATES; i++) {
        char suffix[16];
        snprintf(suffix, sizeof suffix, ".state%u", (unsigned)i);
        if (p->states[i]) add(user, name, suffix, p->states[i]);
    }
    return QN_OK;
}

static qn_status add_mean(void *user, const char *name, qn_parameter *p) {
    collector *c = user;
    if (p->trained) add(c, name, "", c->checkpoint->average->values[c->trained++]);
    return QN_OK;
}

static qn_status go_through(collector *c) {
    const qn_checkpoint *all = c->checkpoint;
    qn_module *const owns[] = {all->module, all->optimizer ? &all->optimizer->own : NULL,
                               all->optimizer ? all->optimizer->module : NULL,
                               all->scaler ? &all->scaler->own : NULL,
                               all->average ? all->average->module : NULL};
    static const char *const parts[] = {"module", "optimizer", "states", "scaler", "average"};
    static qn_parameter_visitor *const visitors[] = {add_parameter, add_parameter, add_states, add_parameter,
                                                     add_mean};
    qn_status status = QN_OK;
    c->count = c->name_bytes = c->trained = 0;
    for (size_t i = 0; i < sizeof owns / sizeof *owns && !status; i++) {
        c->part = parts[i];
        if (owns[i]) status = qn_module_visit(owns[i], visitors[i], c);
    }
    return status;
}

/* The list and the names are one block of the allocator's. */
static qn_status collect(qn_tensors *tensors, const qn_allocator *allocator, collector *c) {
    qn_status status = go_through(c);
    if (status) return status;
    const size_t list = (size_t)c->count * sizeof *c->list;
    c->list = allocator->allocate(allocator->user, list + (size_t)c->name_bytes + 1);
    if (!c->list) return qn__nn_fail(tensors, QN_ERROR_OUT_OF_MEMORY, "a checkpoint: out of host memory");
    c->names = (char *)c->list + list;
    return go_through(c);
}

/* ---- the numbers ---- */

typedef struct texts {
    char random[2 * NUMBER_ROOM], plateau[4 * NUMBER_ROOM + 32], numbers[NUMBERS_ROOM];
} texts;

static qn_status write_texts(qn_tensors *tensors, const qn_checkpoint *c, texts *t) {
    qn_random_place place;
    const qn_status status = qn_random_get_place(tensors, &place);
    if (status) return status;
    snprintf(t->random, sizeof t->random, "%" PRIu64 " %" PRIu64, place.seed, place.taken);
    if (c->plateau)
        snprintf(t->plateau, sizeof t->plateau, "%a %a %" PRIu32 " %" PRIu32 " %" PRIu32, c->plateau->rate,
                 c->plateau->best, c->plateau->calls, c->plateau->waited, c->plateau->cooling);
    size_t length = 0;
    for (uint32_t i = 0; i < c->num_numbers; i++)
        length += (size_t)snprintf(t->numbers + length, sizeof t->numbers - length, "%s%" PRIu64,
                                   i ? " " : "", c->numbers[i]);
    return QN_OK;
}

static qn_status check(qn_tensors *tensors, const qn_checkpoint *c, const char *path, const char *function) {
    const char *missing = !tensors ? "tensors" : !path ? "path" : !c ? "checkpoint" : NULL;
    if (missing) return qn__nn_fail(tensors, QN_ERROR_NULL, "%s: %s is NULL", function, missing);
    if (c->num_numbers && !c->numbers)
        return qn__nn_fail(tensors, QN_ERROR_NULL, "%s: numbers is NULL", function);
    if (c->num_numbers > MOST_NUMBERS)
        return qn__nn_fail(tensors, QN_ERROR_RANGE, "%s: %u numbers; at most %u", function,
                           (unsigned)c->num_numbers, (unsigned)MOST_NUMBERS);
    return QN_OK;
}

static qn_status save(qn_tensors *tensors, const char *path, const collector *c, texts *t) {
    const char *const values[] = {FORMAT, t->random, t->plateau, t->numbers};
    static const char *const keys[] = {FORMAT_KEY, RANDOM_KEY, PLATEAU_KEY, NUMBERS_KEY};
    enum { COUNT = sizeof keys / sizeof *keys };
    qn_text texts[COUNT];
    qn_metadata metadata[COUNT];
    uint64_t count = 0;
    for (size_t i = 0; i < COUNT; i++) {
        if (!*values[i]) continue;
        texts[count] = (qn_text){values[i], strlen(values[i])};
        metadata[count] = (qn_metadata){.key = keys[i], .kind = QN_METADATA_TEXT, .count = 1};
        metadata[count].values.texts = &texts[count];
        count++;
    }
    return qn_save(
        tensors, path, c->list, c->count,
        &(qn_save_desc){.format = QN_FILE_SAFETENSORS, .metadata = metadata, .metadata_count = count});
}

qn_status qn_checkpoint_save(qn_tensors *tensors, const char *path, const qn_checkpoint *checkpoint) {
    qn_status status = check(tensors, checkpoint, path, "qn_checkpoint_save");
    if (status) return status;
    texts t = {.random = ""};
    qn_allocator allocator;
    collector c = {.checkpoint = checkpoint};
    status = qn_context_get_allocator(qn_device_context(qn_tensors_device(tensors)), &allocator);
    if (!status) status = write_texts(tensors, checkpoint, &t);
    if (!status) status = collect(tensors, &allocator, &c);
    if (!status) status = save(tensors, path, &c, &t);
    if (c.list) allocator.release(allocator.user, c.list);
    return status;
}

/* ---- loading ---- */

/* What the file's texts say; put in place when the tensors are. */
typedef struct found {
    qn_random_place random;
    qn_plateau plateau;
    uint64_t numbers[MOST_NUMBERS];
} found;

/* The text of a key; NULL: none. Texts of metadata end with a zero. */
static const char *text_of(const qn_archive *archive, const char *key) {
    const qn_metadata *m = qn_archive_metadata(archive, key);
    return m && m->kind == QN_METADATA_TEXT && !m->is_list ? m->values.texts[0].text : NULL;
}

/* So many numbers, and nothing behind. */
static bool read_numbers(const char *text, uint64_t *to, uint32_t count) {
    char *end = (char *)(text ? text : "");
    for (uint32_t i = 0; i < count; i++) {
        const char *at = end;
        to[i] = strtoull(at, &end, 10);
        if (end == at || *at == '-') return false;
    }
    return !*end;
}

static bool read_plateau(const char *text, qn_plateau *p) {
    if (!text) return false;
    char *middle, *end;
    uint64_t counts[3];
    p->rate = strtod(text, &middle);
    p->best = strtod(middle, &end);
    if (end == middle || !read_numbers(end, counts, 3)) return false;
    p->calls = (uint32_t)counts[0];
    p->waited = (uint32_t)counts[1];
    p->cooling = (uint32_t)counts[2];
    return true;
}

static qn_status read_texts(qn_tensors *tensors, const qn_archive *archive, const char *path,
                            const qn_checkpoint *c, found *f) {
    const char *format = text_of(archive, FORMAT_KEY), *wrong = NULL;
    uint64_t random[2] = {0, 0};
    if (!format || strcmp(format, FORMAT) != 0)
        return qn__nn_fail(tensors, QN_ERROR_ARGUMENT, "%s is no checkpoint that qn_checkpoint_save wrote",
                           path);
    if (!read_numbers(text_of(archive, RANDOM_KEY), random, 2)) wrong = RANDOM_KEY;
    if (c->plateau) f->plateau = *c->plateau;
    const char *plateau = text_of(archive, PLATEAU_KEY);
    if (c->plateau ? !read_plateau(plateau, &f->plateau) : plateau != NULL) wrong = PLATEAU_KEY;
    if (!read_numbers(text_of(archive, NUMBERS_KEY), f->numbers, c->num_numbers)) wrong = NUMBERS_KEY;
    f->random = (qn_random_place){random[0], random[1]};
    return wrong
               ? qn__nn_fail(tensors, QN_ERROR_ARGUMENT,
                             "%s: its %s is not of such parts of a training as are to be loaded", path, wrong)
               : QN_OK;
}

/* The tensors' values, computed, as steps take them. */
static qn_status load(qn_tensors *tensors, qn_archive *archive, const collector *c) {
    qn_status status = qn_scope_begin(tensors);
    if (status) return status;
    status = qn_load(tensors, archive, c->list, c->count, NULL, NULL);
    for (uint64_t i = 0; i < c->count && !status; i++) status = qn_tensor_realize(c->list[i].tensor);
    const qn_status ended = qn_scope_end(tensors);
    return status ? status : ended;
}

static qn_status put_in_place(qn_tensors *tensors, const qn_checkpoint *c, const found *f) {
    if (c->plateau) *c->plateau = f->plateau;
    if (c->num_numbers) memcpy(c->numbers, f->numbers, c->num_numbers * sizeof *c->numbers);
    return qn_random_set_place(tensors, &f->random);
}

qn_status qn_checkpoint_load(qn_tensors *tensors, const char *path, const qn_checkpoint *checkpoint) {
    qn_status status = check(tensors, checkpoint, path, "qn_checkpoint_load");
    if (status) return status;
    qn_context *context = qn_device_context(qn_tensors_device(tensors));
    qn_allocator allocator;
    qn_archive *archive = NULL;
    found f = {.numbers = {0}};
    collector c = {.checkpoint = checkpoint};
    status = qn_context_get_allocator(context, &allocator);
    if (!status)
        status = qn_archive_open(context, path, &(qn_archive_desc){.format = QN_FILE_SAFETENSORS}, &archive);
    if (!status) status = read_texts(tensors, archive, path, checkpoint, &f);
    if (!status) status = collect(tensors, &allocator, &c);
    if (!status) status = load(tensors, archive, &c);
    if (!status) status = put_in_place(tensors, checkpoint, &f);
    if (c.list) allocator.release(allocator.user, c.list);
    qn_archive_close(archive);
    return status;
}
