/* States: named tensors from an archive, by rules and with a report of what does not fit; and into a file. */
#include <quern/files.h>
#include <stdio.h>
#include <string.h>

#include "tensor/graph.h"
#include "tensor/host.h"
#include "tensor/pattern.h"

/* ---- which array a tensor comes from ---- */

typedef struct loader {
    qn_tensors *tensors;
    qn_archive *archive;
    const qn_named_tensor *state;
    uint64_t count;
    qn_load_desc desc;
    bool assigns;                 /* values go to the tensors themselves */
    const qn_host_array **arrays; /* of each tensor; NULL: none that fits */
    const qn_load_rule **rules;   /* likewise */
    bool *used;                   /* for each array of the archive, whether a tensor comes from it */
    /* Findings of each kind: how many, and what the first was. */
    uint64_t found[QN_LOAD_UNEXPECTED + 1];
    char first[QN_LOAD_UNEXPECTED + 1][256];
} loader;

static void note(loader *l, qn_load_finding finding, const char *name, const char *sentence) {
    if (!l->found[finding]++) snprintf(l->first[finding], sizeof *l->first, "%.255s", sentence);
    if (l->desc.report) l->desc.report(l->desc.user, finding, name, sentence);
}

static qn_status check_rule(const loader *l, uint64_t index) {
    const qn_load_rule *rule = &l->desc.rules[index];
    const char *wrong = NULL;
    if (!rule->name && !rule->from)
        wrong = "has neither name nor from";
    else if (qn__pattern_stars(rule->name ? rule->name : rule->from) > QN__PATTERN_STARS)
        wrong = "is longer than 255 or has more than 8 stars";
    else if (rule->name && rule->from && qn__pattern_stars(rule->from) > qn__pattern_stars(rule->name))
        wrong = "has more stars in from than in name";
    else if (rule->begin > INT64_MAX || rule->size > INT64_MAX - rule->begin)
        wrong = "has a begin or size beyond all arrays";
    if (!wrong) return QN_OK;
    return qn__tensors_fail(l->tensors, QN_ERROR_ARGUMENT, "qn_load: rules[%llu] %s",
                            (unsigned long long)index, wrong);
}

/* The name in the file of a tensor's array, and the rule that says so, or NULL. False: it is too long. */
static bool find_name(const loader *l, const char *name, char *to, size_t size, const qn_load_rule **rule) {
    qn__match match;
    *rule = NULL;
    for (uint64_t i = 0; i < l->desc.num_rules && !*rule; i++)
        if (l->desc.rules[i].name && qn__pattern_match(l->desc.rules[i].name, name, &match))
            *rule = &l->desc.rules[i];
    if (*rule && (*rule)->from) return qn__pattern_fill((*rule)->from, name, &match, to, size);
    if (strlen(name) >= size) return false;
    strcpy(to, name);
    return true;
}

/* What the rule makes of the array's shape. False: there is no such axis, or it has not so many elements. */
static bool shape_by_rule(const qn_host_array *array, const qn_load_rule *rule, qn_shape *shape) {
    *shape = (qn_shape){.rank = array->rank};
    memcpy(shape->sizes, array->sizes, sizeof shape->sizes);
    if (!rule) return true;
    if (rule->size) {
        uint32_t axis;
        if (!qn__axis(rule->axis, shape->rank, &axis) || rule->begin + rule->size > shape->sizes[axis])
            return false;
        shape->sizes[axis] = rule->size;
    }
    if (!rule->transpose) return true;
    if (shape->rank < 2) return false;
    const uint64_t last = shape->sizes[shape->rank - 1];
    shape->sizes[shape->rank - 1] = shape->sizes[shape->rank - 2];
    shape->sizes[shape->rank - 2] = last;
    return true;
}

static bool is_shape(const qn_shape *shape, const qn__node *node) {
    return shape->rank == node->rank &&
           memcmp(shape->sizes, node->sizes, shape->rank * sizeof *shape->sizes) == 0;
}

/* Notes why the array is none for the tensor. */
static bool fits(loader *l, uint64_t index, const qn_host_array *array, const qn_load_rule *rule) {
    const qn_named_tensor *wanted = &l->state[index];
    char sentence[600];
    qn_shape shape;
    const bool is_possible = shape_by_rule(array, rule, &shape);
    const qn__node *node = wanted->tensor ? wanted->tensor->node : NULL;
    if (!qn__can_load(array->encoding))
        snprintf(sentence, sizeof sentence, "'%.80s' is of %s in the file, which tensors cannot have",
                 wanted->name, qn_encoding_name(array->encoding));
    else if (!is_possible)
        snprintf(sentence, sizeof sentence, "'%.80s' is %.150s in the file, which the rule does not fit",
                 wanted->name, qn__shape_of(array->rank, array->sizes).text);
    else if (node && !is_shape(&shape, node))
        snprintf(sentence, sizeof sentence, "'%.80s' is %.150s in the file, but %.150s is wanted",
                 wanted->name, qn__shape_of(shape.rank, shape.sizes).text,
                 qn__shape_of(node->rank, node->sizes).text);
    else
        return true;
    note(l, QN_LOAD_MISMATCHED, wanted->name, sentence);
    return false;
}

static void find_array(loader *l, uint64_t index) {
    char name[QN__NAME_LONGEST + 1], sentence[300];
    const qn_load_rule *rule;
    const qn_host_array *array = NULL;
    if (find_name(l, l->state[index].name, name, sizeof name, &rule))
        array = qn_archive_find(l->archive, name);
    if (!array) {
        const bool is_other = strcmp(name, l->state[index].name) != 0;
        snprintf(sentence, sizeof sentence,
                 is_other ? "'%.100s' is missing, in the file '%.100s'" : "'%.100s' is missing",
                 l->state[index].name, name);
        note(l, QN_LOAD_MISSING, l->state[index].name, sentence);
        return;
    }
    l->used[qn_archive_index(l->archive, array)] = true;
    if (!fits(l, index, array, rule)) return;
    l->arrays[index] = array;
    l->rules[index] = rule;
}

static bool is_expected(const loader *l, const char *name) {
    qn__match match;
    for (uint64_t i = 0; i < l->desc.num_rules; i++)
        if (!l->desc.rules[i].name && qn__pattern_match(l->desc.rules[i].from, name, &match)) return true;
    return false;
}

static void find_unexpected(loader *l) {
    char sentence[300];
    for (uint64_t i = 0; i < qn_archive_count(l->archive); i++) {
        const char *name = qn_archive_at(l->archive, i)->name;
        if (l->used[i] || is_expected(l, name)) continue;
        snprintf(sentence, sizeof sentence, "'%.200s' is unexpected", name);
        note(l, QN_LOAD_UNEXPECTED, name, sentence);
    }
}

/* "2 of 3 tensors are missing: 'a' is missing; 1 array ..." */
static qn_status fail_findings(const loader *l) {
    return qn__tensors_fail(
        l->tensors, QN_ERROR_ARGUMENT,
        "qn_load: of %llu tensors %llu are missing%s%s, %llu do not fit%s%s; %llu arrays are unexpected%s%s",
        (unsigned long long)l->count, (unsigned long long)l->found[QN_LOAD_MISSING],
        l->found[QN_LOAD_MISSING] ? ": " : "", l->first[QN_LOAD_MISSING],
        (unsigned long long)l->found[QN_LOAD_MISMATCHED], l->found[QN_LOAD_MISMATCHED] ? ": " : "",
        l->first[QN_LOAD_MISMATCHED], (unsigned long long)l->found[QN_LOAD_UNEXPECTED],
        l->found[QN_LOAD_UNEXPECTED] ? ": " : "", l->first[QN_LOAD_UNEXPECTED]);
}

/* ---- loading ---- */

static qn_tensor *apply_rule(qn_tensor *x, const qn_load_rule *rule) {
    if (!rule) return x;
    if (rule->size) x = qn_slice(x, rule->axis, (int64_t)rule->begin, (int64_t)(rule->begin + rule->size), 1);
    return rule->transpose ? qn_transpose(x, -2, -1) : x;
}

/* The tensor's value as a node of its own, counted, whatever was needed on the way being gone. */
static qn_status load_value(const loader *l, uint64_t index, qn__node **value) {
    const qn_tensor *wanted = l->state[index].tensor;
    const qn_element type = wanted ? qn_tensor_type(wanted) : QN_OWN_TYPE;
    *value = NULL;
    qn_status status = qn_scope_begin(l->tensors);
    if (status) return status;
    qn_tensor *x = qn_from_archive(l->tensors, l->archive, l->arrays[index]->name, type);
    x = apply_rule(x, l->rules[index]);
    status = qn_tensor_realize(x);
    if (!status) {
        *value = qn__node_of(x);
        qn__node_retain(*value);
    }
    qn_scope_end(l->tensors);
    return status;
}

/* The tensor itself gets the value, which the caller's count of passes over. */
static qn_status assign_value(const loader *l, uint64_t index, qn__node *node) {
    qn_status status = qn_scope_begin(l->tensors);
    if (status) {
        qn__node_release(node);
        return status;
    }
    status = qn_assign(l->state[index].tensor, qn__handle(l->tensors, node));
    if (!status) status = qn_tensor_realize(l->state[index].tensor);
    qn_scope_end(l->tensors);
    return status;
}

static qn_status load_values(const loader *l, qn_tensor **values) {
    for (uint64_t i = 0; i < l->count; i++) {
        if (!l->arrays[i]) continue;
        qn__node *node;
        qn_status status = load_value(l, i, &node);
        if (status) return status;
        if (!values) {
            status = assign_value(l, i, node);
        } else {
            values[i] = qn__handle(l->tensors, node);
            status = qn_tensor_status(values[i]);
        }
        if (status) return status;
    }
    return QN_OK;
}

static qn_status find_all(loader *l) {
    qn_status status = QN_OK;
    for (uint64_t i = 0; i < l->desc.num_rules && !status; i++) status = check_rule(l, i);
    for (uint64_t i = 0; i < l->count && !status; i++) {
        const qn_named_tensor *wanted = &l->state[i];
        if (!wanted->name)
            status = qn__tensors_fail(l->tensors, QN_ERROR_NULL, "qn_load: state[%llu] has no name",
                                      (unsigned long long)i);
        else if (wanted->tensor)
            status = qn_tensor_status(wanted->tensor);
        else if (l->assigns)
            status = qn__tensors_fail(l->tensors, QN_ERROR_NULL,
                                      "qn_load: state[%llu] has no tensor, and values is NULL",
                                      (unsigned long long)i);
        if (!status) find_array(l, i);
    }
    if (status) return status;
    find_unexpected(l);
    const uint64_t findings =
        l->found[QN_LOAD_MISSING] + l->found[QN_LOAD_MISMATCHED] + l->found[QN_LOAD_UNEXPECTED];
    return findings && !l->desc.partial ? fail_findings(l) : QN_OK;
}

qn_status qn_load(qn_tensors *tensors, qn_archive *archive, const qn_named_tensor *state, uint64_t count,
                  const qn_load_desc *desc, qn_tensor **values) {
    qn_status status = qn__tensors_check(tensors, "qn_load");
    if (status) return status;
    if (!archive || (count && !state) || (desc && desc->num_rules && !desc->rules))
        return qn__tensors_fail(tensors, QN_ERROR_NULL, "qn_load: %s is NULL",
                                !archive          ? "archive"
                                : count && !state ? "state"
                                                  : "desc->rules");
    loader l = {.tensors = tensors, .archive = archive, .state = state, .count = count, .assigns = !values};
    if (desc) l.desc = *desc;
    for (uint64_t i = 0; i < count && values; i++) values[i] = NULL;
    l.arrays = qn__tensors_allocate(tensors, (size_t)(count + 1) * sizeof *l.arrays);
    l.rules = qn__tensors_allocate(tensors, (size_t)(count + 1) * sizeof *l.rules);
    l.used = qn__tensors_allocate(tensors, (size_t)qn_archive_count(archive) + 1);
    status = l.arrays && l.rules && l.used ? find_all(&l) : QN_ERROR_OUT_OF_MEMORY;
    if (!status) status = load_values(&l, values);
    for (uint64_t i = 0; i < count && values && status; i++) values[i] = NULL;
    qn__tensors_release(tensors, l.arrays);
    qn__tensors_release(tensors, l.rules);
    qn__tensors_release(tensors, l.used);
    return status;
}

/* ---- saving ---- */

typedef struct saver {
    qn_tensors *tensors;
    const qn_named_tensor *state;
    qn__node *values; /* of the tensor that is being written, in order */
} saver;

static qn_status read_piece(void *user, uint64_t index, uint64_t offset, void *to, uint64_t size) {
    saver *s = user;
    if (offset == 0) {
        qn__node_release(s->values);
        s->values = NULL;
        const qn_status status = qn__in_order(s->state[index].tensor, &s->values);
        if (status) {
            s->values = NULL;
            return status;
        }
    }
    const uint64_t at = s->values->offset * qn_element_size((qn_element)s->values->type) + offset;
    const qn_status status = qn_stream_read(s->tensors->stream, s->values->storage->buffer, at, to, size);
    return status ? status : qn_stream_wait(s->tensors->stream, QN_FOREVER);
}

/* The state as arrays without data. */
static qn_status describe(const saver *s, uint64_t count, qn_host_array *arrays) {
    for (uint64_t i = 0; i < count; i++) {
        qn_tensor *x = s->state[i].tensor;
        if (!x)
            return qn__tensors_fail(s->tensors, QN_ERROR_NULL, "qn_save: state[%llu] has no tensor",
                                    (unsigned long long)i);
        const qn_status status = qn_tensor_status(x);
        if (status) return status;
        const qn_shape shape = qn_tensor_shape(x);
        arrays[i] = (qn_host_array){
            .name = s->state[i].name, .encoding = qn_encoding_of(qn_tensor_type(x)), .rank = shape.rank};
        memcpy(arrays[i].sizes, shape.sizes, sizeof shape.sizes);
    }
    return QN_OK;
}

qn_status qn_save(qn_tensors *tensors, const char *path, const qn_named_tensor *state, uint64_t count,
                  const qn_save_desc *desc) {
    qn_status status = qn__tensors_check(tensors, "qn_save");
    if (status) return status;
    if (!path || (count && !state))
        return qn__tensors_fail(tensors, QN_ERROR_NULL, "qn_save: %s is NULL", path ? "state" : "path");
    saver s = {.tensors = tensors, .state = state};
    qn_host_array *arrays = qn__tensors_allocate(tensors, (size_t)(count + 1) * sizeof *arrays);
    if (!arrays) return QN_ERROR_OUT_OF_MEMORY;
    qn_archive_write_desc write = {.arrays = arrays, .count = count, .source = read_piece, .user = &s};
    if (desc) {
        write.format = desc->format;
        write.metadata = desc->metadata;
        write.metadata_count = desc->metadata_count;
    }
    status = describe(&s, count, arrays);
    if (!status) status = qn_archive_write(tensors->context, path, &write);
    qn__node_release(s.values);
    qn__tensors_release(tensors, arrays);
    return status;
}
