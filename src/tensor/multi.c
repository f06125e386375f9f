/* Several groups as one kernel: work-groups are dealt to the parts one after the other. Parts whose text is the same share it: what differs,
   arrays, constants and numbers, is chosen by the work-group first. */
#include <string.h>

#include "tensor/kernel.h"

enum {
    MOST_PARTS = 32,
    /* What a work-group of a GPU chooses from: of twice as many the choice takes five times as long as what the group does. */
    MOST_CHOICES = 192,
    /* Parts of so many work-items gain little by one launch, and each of their work-groups chooses. */
    LARGE_PART = 1 << 16,
    MOST_OF_LARGE = 64,
    LOCAL = 256,
    SMALL = 64,
    LARGE = 1024 /* work-items of a work-group, of a processor the last two */
};

typedef struct multi {
    qn_tensors *tensors;
    qn__maker *parts[MOST_PARTS]; /* those of the same text side by side */
    size_t count;
    uint32_t local;
    const char *place; /* the type of places */
    /* Parameters. The first numbers are where each part's work-groups end, and how many work-items it has. */
    int64_t *numbers;
    size_t num_numbers, number_room;
    qn__access *arrays;
    size_t num_arrays, array_room;
    uint32_t *constants; /* nodes */
    size_t num_constants, constant_room;
    qn__text types, helpers, body;
    bool failed;
} multi;

/* The names of what a class of parts calls the same, by the part. */
typedef struct names {
    char letter;
    size_t of[MOST_PARTS];
} names;

static bool same_text(const qn__text *a, const qn__text *b) {
    return a->length == b->length && (a->length == 0 || memcmp(a->text, b->text, a->length) == 0);
}

bool qn__parts_equal(const qn__maker *a, const qn__maker *b) {
    if (!same_text(&a->head, &b->head) || !same_text(&a->fixed, &b->fixed)) return false;
    if (a->num_arrays != b->num_arrays || a->num_constants != b->num_constants ||
        a->num_numbers != b->num_numbers || a->has_rows != b->has_rows || a->shape.flat != b->shape.flat ||
        a->shape.team != b->shape.team || a->shape.width != b->shape.width || a->shape.wide != b->shape.wide)
        return false;
    qn__node *const *nodes = a->schedule->walk->nodes;
    for (uint32_t c = 0; c < a->num_constants; c++)
        if (nodes[a->constants[c]]->type != nodes[b->constants[c]]->type) return false;
    for (uint32_t i = 0; i < a->num_arrays; i++)
        if (a->arrays[i].written != b->arrays[i].written ||
            a->arrays[i].node->type != b->arrays[i].node->type)
            return false;
    return true;
}

static uint64_t most_choices(qn__maker *const *parts, size_t count) {
    uint64_t items = 0;
    if (qn__tensors_on_processor(parts[0]->schedule->tensors)) return UINT64_MAX;
    for (size_t i = 0; i < count; i++) items += parts[i]->shape.range.global[0];
    return items / count >= LARGE_PART ? MOST_OF_LARGE : MOST_CHOICES;
}

bool qn__parts_fit(qn__maker *const *parts, size_t count) {
    uint64_t bytes = 0, arguments = 1;
    for (size_t i = 0; i < count; i++) {
        bytes += 8 * (uint64_t)(parts[i]->num_arrays + parts[i]->num_constants + parts[i]->num_numbers + 2);
        arguments += parts[i]->num_arrays + parts[i]->num_constants;
    }
    return count <= MOST_PARTS && arguments <= QN__ARGUMENTS && arguments <= most_choices(parts, count) &&
           bytes <= parts[0]->schedule->tensors->info.max_args_size;
}

/* ---- parameters ---- */

static size_t number_of(multi *x, int64_t value) {
    if (!qn__reserve(x->tensors, &x->numbers, &x->number_room, x->num_numbers, sizeof *x->numbers)) {
        x->failed = true;
        return 0;
    }
    x->numbers[x->num_numbers] = value;
    return x->num_numbers++;
}

static size_t array_of(multi *x, const qn__access *access) {
    for (size_t i = 0; i < x->num_arrays; i++)
        if (x->arrays[i].node == access->node && x->arrays[i].written == access->written) return i;
    if (!qn__reserve(x->tensors, &x->arrays, &x->array_room, x->num_arrays, sizeof *x->arrays)) {
        x->failed = true;
        return 0;
    }
    x->arrays[x->num_arrays] = *access;
    return x->num_arrays++;
}

static size_t constant_of(multi *x, uint32_t node) {
    for (size_t i = 0; i < x->num_constants; i++)
        if (x->constants[i] == node) return i;
    if (!qn__reserve(x->tensors, &x->constants, &x->constant_room, x->num_constants, sizeof *x->constants)) {
        x->failed = true;
        return 0;
    }
    x->constants[x->num_constants] = node;
    return x->num_constants++;
}

static uint64_t groups_of(const multi *x, size_t part) {
    return (x->parts[part]->shape.range.global[0] + x->local - 1) / x->local;
}

/* Those of the same text side by side, and where each one ends. */
static void arrange(multi *x, qn__maker *const *parts, size_t count) {
    bool taken[MOST_PARTS] = {false};
    uint64_t most = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = i; k < count && !taken[i]; k++) {
            if (taken[k] || (k > i && !qn__parts_equal(parts[i], parts[k]))) continue;
            x->parts[x->count++] = parts[k];
            if (k > i) taken[k] = true;
        }
    for (size_t i = 0; i < count; i++)
        if (parts[i]->shape.range.global[0] > most) most = parts[i]->shape.range.global[0];
    const uint32_t largest = x->tensors->info.max_group_size;
    const bool processor = qn__tensors_on_processor(x->tensors);
    x->local = !processor ? LOCAL : most > SMALL ? LARGE : SMALL;
    if (x->local > largest) x->local = largest;
    uint64_t end = 0;
    for (size_t i = 0; i < count; i++) number_of(x, (int64_t)(end += groups_of(x, i)));
    for (size_t i = 0; i < count; i++) number_of(x, (int64_t)x->parts[i]->shape.range.global[0]);
}

/* ---- text ---- */

/* That of the part whose work-group it is. */
static void add_choice(multi *x, size_t from, size_t to, const names *n) {
    bool same = true;
    for (size_t p = from; p < to; p++) same = same && n->of[p - from] == n->of[0];
    for (size_t p = from; !same && p + 1 < to; p++)
        qn__text_add(&x->body, "group < b%zu ? %c%zu : ", p, n->letter, n->of[p - from]);
    qn__text_add(&x->body, "%c%zu", n->letter, n->of[to - 1 - from]);
}

static void add_numbers(multi *x, size_t from, size_t to) {
    const size_t count = x->parts[from]->num_numbers;
    if (!count) return;
    qn__text_add(&x->types, "typedef struct numbers_%zu {\n    %s v[%zu];\n} numbers_%zu;\n", from, x->place,
                 count, from);
    qn__text_add(&x->body, "        const numbers_%zu n = {{", from);
    for (size_t i = 0; i < count; i++) {
        names n = {.letter = 'b'};
        for (size_t p = from; p < to; p++) n.of[p - from] = number_of(x, x->parts[p]->numbers[i]);
        qn__text_add(&x->body, i ? ", " : "");
        add_choice(x, from, to, &n);
    }
    qn__text_add(&x->body, "}};\n");
}

static void add_constants(multi *x, size_t from, size_t to) {
    const qn__maker *first = x->parts[from];
    for (uint32_t c = 0; c < first->num_constants; c++) {
        names n = {.letter = 'k'};
        for (size_t p = from; p < to; p++) n.of[p - from] = constant_of(x, x->parts[p]->constants[c]);
        const qn__node *node = first->schedule->walk->nodes[first->constants[c]];
        qn__text_add(&x->body, "        const %s c%u = ", qn__element_of((qn_element)node->type)->value, c);
        add_choice(x, from, to, &n);
        qn__text_add(&x->body, ";\n");
    }
}

static void add_array_type(qn__text *to, const qn__access *access) {
    qn__text_add(to, "global %s%s *", access->written ? "" : "const ",
                 qn__element_of((qn_element)access->node->type)->storage);
}

static void add_arrays(multi *x, size_t from, size_t to) {
    const qn__maker *first = x->parts[from];
    for (uint32_t a = 0; a < first->num_arrays; a++) {
        names n = {.letter = 'a'};
        for (size_t p = from; p < to; p++) n.of[p - from] = array_of(x, &x->parts[p]->arrays[a]);
        qn__text_add(&x->body, "        ");
        add_array_type(&x->body, &first->arrays[a]);
        qn__text_add(&x->body, "%c%u = ", first->arrays[a].written ? 'y' : 'x', a);
        add_choice(x, from, to, &n);
        qn__text_add(&x->body, ";\n");
    }
}

static bool has(const qn__text *text, const char *part, size_t length) {
    for (const char *at = text->text; at && (at = memchr(at, *part, strlen(at))); at++)
        if (strncmp(at, part, length) == 0) return true;
    return false;
}

/* Definitions that several parts have are the same; each begins a line with this word. */
static void add_once(qn__text *to, const qn__text *from, const char *word) {
    for (const char *at = from->text, *end; at && *at; at = end) {
        end = at;
        do end = strchr(end, '\n') ? strchr(end, '\n') + 1 : end + strlen(end);
        while (*end && strncmp(end, word, strlen(word)) != 0);
        const size_t length = (size_t)(end - at);
        if (!has(to, at, length)) qn__text_add(to, "%.*s", (int)length, at);
    }
}

/* Parts of the same text, as one branch. */
static void add_class(multi *x, size_t from, size_t to) {
    const qn__maker *first = x->parts[from];
    add_once(&x->types, &first->types, "typedef ");
    qn__text_add(&x->body, from ? " else " : "    ");
    if (to < x->count) qn__text_add(&x->body, "if (group < b%zu) ", to - 1);
    names begins = {.letter = 'b'}, items = {.letter = 'b'};
    for (size_t p = from; p < to; p++) {
        begins.of[p - from] = p ? p - 1 : x->count * 2; /* the number 0 */
        items.of[p - from] = x->count + p;
    }
    qn__text_add(&x->body, "{\n        const %s begin = ", x->place);
    add_choice(x, from, to, &begins);
    qn__text_add(&x->body, ", items = ");
    add_choice(x, from, to, &items);
    qn__text_add(&x->body, ";\n        const %s item = (group - begin) * %u + (%s)get_local_id(0);\n",
                 x->place, x->local, x->place);
    add_numbers(x, from, to);
    add_constants(x, from, to);
    add_arrays(x, from, to);
    if (first->fixed.length) qn__text_add(&x->body, "%s", first->fixed.text);
    qn__text_add(&x->body, "        if (item < items) {\n");
    qn__begin_add(first, &x->body, "item");
    qn__text_add(&x->body, "%s        }\n    }", first->head.text);
}

static void add_parameters(const multi *x, qn__text *to) {
    qn__text_add(to, "const numbers all");
    for (size_t c = 0; c < x->num_constants; c++) {
        const qn__node *node = x->parts[0]->schedule->walk->nodes[x->constants[c]];
        qn__text_add(to, ", const %s k%zu", qn__element_of((qn_element)node->type)->value, c);
    }
    for (size_t a = 0; a < x->num_arrays; a++) {
        qn__text_add(to, ", ");
        add_array_type(to, &x->arrays[a]);
        qn__text_add(to, "a%zu", a);
    }
}

static void write(multi *x, qn__text *to) {
    number_of(x, 0);
    for (size_t from = 0, end; from < x->count; from = end) {
        for (end = from + 1; end < x->count && qn__parts_equal(x->parts[from], x->parts[end]);) end++;
        add_class(x, from, end);
    }
    for (size_t p = 0; p < x->count; p++) add_once(&x->helpers, &x->parts[p]->helpers, "static ");
    qn__text_add(to, "%stypedef struct numbers {\n    %s v[%zu];\n} numbers;\n%s",
                 x->types.length ? x->types.text : "", x->place, x->num_numbers,
                 x->helpers.length ? x->helpers.text : "");
    qn__text_add(to, "kernel __attribute__((reqd_work_group_size(%u, 1, 1))) void tensor(", x->local);
    add_parameters(x, to);
    qn__text_add(to, ") {\n    const %s group = (%s)get_group_id(0);\n", x->place, x->place);
    for (size_t i = 0; i < x->num_numbers; i++)
        qn__text_add(to, "    const %s b%zu = all.v[%zu];\n", x->place, i, i);
    qn__text_add(to, "%s\n}\n", x->body.length ? x->body.text : "");
    x->failed = x->failed || x->types.failed || x->helpers.failed || x->body.failed;
}

/* ---- the step ---- */

static qn_status describe(const multi *x, qn__step *step) {
    qn__text words = {.tensors = x->tensors};
    for (size_t p = 0; p < x->count; p++) {
        qn__text_add(&words, "%s%s", p ? "; " : "", x->parts[p]->words.length ? x->parts[p]->words.text : "");
        step->operations += x->parts[p]->operations;
        step->bytes += x->parts[p]->bytes;
    }
    step->fuses = words.text;
    return words.failed ? QN_ERROR_OUT_OF_MEMORY : QN_OK;
}

static qn_status fill_step(const multi *x, qn__step *step) {
    const bool wide = x->parts[0]->shape.wide;
    const uint32_t count = (uint32_t)(1 + x->num_constants + x->num_arrays);
    const qn_status status = qn__step_numbers(x->tensors, step, x->numbers, x->num_numbers, wide, count);
    if (status) return status;
    const uint64_t groups = (uint64_t)x->numbers[x->count - 1];
    step->range = (qn_range){.global = {groups * x->local}, .local = {x->local}};
    for (size_t c = 0; c < x->num_constants; c++)
        step->arguments[step->num_arguments++] = (qn__argument){QN__CONSTANT, x->constants[c]};
    for (size_t a = 0; a < x->num_arrays; a++) qn__step_add_buffer(step, x->arrays[a].node);
    return describe(x, step);
}

qn_status qn__parts_assemble(qn__maker *const *parts, size_t count, qn__step *step) {
    qn_tensors *t = parts[0]->schedule->tensors;
    multi *x = qn__tensors_allocate(t, sizeof *x);
    if (!x) return QN_ERROR_OUT_OF_MEMORY;
    *x = (multi){.tensors = t, .place = parts[0]->shape.wide ? "long" : "int"};
    x->types.tensors = x->helpers.tensors = x->body.tensors = t;
    qn__text whole = {.tensors = t};
    arrange(x, parts, count);
    write(x, &whole);
    whole.failed = whole.failed || x->failed;
    qn_status status = qn__step_compile(t, &whole, step);
    if (!status) status = fill_step(x, step);
    qn__text_free(&x->types);
    qn__text_free(&x->helpers);
    qn__text_free(&x->body);
    qn__tensors_release(t, x->numbers);
    qn__tensors_release(t, x->arrays);
    qn__tensors_release(t, x->constants);
    qn__tensors_release(t, x);
    return status;
}
