/* Findings: one for each kind and pair of places, with the sentence of its first time and a count. */
#include <stdio.h>
#include <string.h>

#include "check/internal.h"

#define TITLE(ID, name, title) [QN_FINDING_##ID] = (title),
static const char *const titles[QN_FINDING_KIND_COUNT] = {QN_FINDING_MAP(TITLE)};
#define NAME(ID, name, title) [QN_FINDING_##ID] = (name),
static const char *const names[QN_FINDING_KIND_COUNT] = {QN_FINDING_MAP(NAME)};

enum { MOST_FINDINGS = 1000 }; /* of which each has a text */

/* ---- which work-item ---- */

static uint64_t group_id(const qn__vm_frame *frame, unsigned d, uint64_t item) {
    return d == 0 ? frame->group_x[item] : d == 1 ? frame->group_y : frame->group_z;
}

static uint64_t global_id(const qn__vm_frame *frame, unsigned d, uint64_t item) {
    const qn_cpu_launch *launch = frame->launch;
    return launch->global_offset[d] + group_id(frame, d, item) * launch->local_size[d] +
           frame->local_id[d][item];
}

static const char *ids_text(const uint64_t ids[3], unsigned dims, char *text, size_t size) {
    size_t length = (size_t)snprintf(text, size, dims > 1 ? "(" : "");
    for (unsigned d = 0; d < dims && length < size; d++)
        length += (size_t)snprintf(text + length, size - length, "%s%llu", d ? "," : "",
                                   (unsigned long long)ids[d]);
    if (length < size) snprintf(text + length, size - length, dims > 1 ? ")" : "");
    return text;
}

static unsigned dims_of(const qn__vm_frame *frame) {
    const unsigned dims = frame->launch->work_dim;
    return dims ? dims : 1;
}

const char *qn__check_item_text(const qn__vm_frame *frame, uint64_t item, char *text) {
    uint64_t ids[3];
    char list[80];
    for (unsigned d = 0; d < 3; d++) ids[d] = global_id(frame, d, item);
    snprintf(text, 96, "work-item %s", ids_text(ids, dims_of(frame), list, sizeof list));
    return text;
}

/* ---- known ones ---- */

static ir_loc loc_of(const qn__check_report *report, const ir_instr *instr) {
    return instr->loc.line ? instr->loc : report->frame->program->kernel->loc;
}

/* What stands at the same places in another copy of its code, an unrolled loop's, is the same. */
static bool is_same(const qn__check_report *report, const qn_finding *finding) {
    const ir_module *module = report->frame->program->kernel->module;
    const ir_loc loc = loc_of(report, report->instr);
    if (finding->kind != report->kind) return false;
    if (finding->place.line != loc.line || finding->place.column != loc.column) return false;
    if (strcmp(finding->kernel, report->frame->program->kernel->name) != 0) return false;
    if (loc.file < module->files.len && finding->place.file &&
        strcmp(finding->place.file, module->files.data[loc.file]) != 0)
        return false;
    if (!report->other) return finding->other.file == NULL;
    const ir_loc other = loc_of(report, report->other);
    return finding->other.line == other.line && finding->other.column == other.column;
}

bool qn__check_is_known(qn__checker *checker, const qn__check_report *report) {
    for (size_t i = checker->findings.len; i-- > 0;)
        if (is_same(report, checker->findings.data[i])) {
            checker->findings.data[i]->count++;
            return true;
        }
    for (size_t i = checker->allowed.len; i-- > 0;)
        if (is_same(report, checker->allowed.data[i])) return true;
    return checker->findings.len >= MOST_FINDINGS;
}

/* ---- places ---- */

static qn_check_place place_at(qn__checker *checker, const qn__check_report *report, ir_loc loc) {
    const ir_module *module = report->frame->program->kernel->module;
    qn_check_place place = {.line = loc.line, .column = loc.column};
    place.file = qn__arena_strdup(
        &checker->arena, loc.line && loc.file < module->files.len ? module->files.data[loc.file] : "");
    return place;
}

static qn_check_place place_of(qn__checker *checker, const qn__check_report *report, const ir_instr *instr) {
    return place_at(checker, report, loc_of(report, instr));
}

static qn_check_place first_place(qn__checker *checker, const qn__check_report *report) {
    qn_check_place place = place_of(checker, report, report->instr);
    for (unsigned d = 0; d < 3; d++) {
        place.work_item[d] = global_id(report->frame, d, report->item);
        place.work_group[d] = group_id(report->frame, d, report->item);
    }
    return place;
}

static qn_check_place other_place(qn__checker *checker, const qn__check_report *report) {
    const qn_cpu_launch *launch = report->frame->launch;
    qn_check_place place = place_of(checker, report, report->other);
    const qn__check_group *group =
        qn__check_group_at(qn__check_state(report->frame), qn__stamp_time(report->other_stamp));
    uint64_t item = qn__stamp_item(report->other_stamp);
    for (unsigned d = 0; d < 3; d++) {
        const uint64_t size = qn__vm_group_size(launch, d, group->id[d]);
        place.work_group[d] = group->id[d];
        place.work_item[d] = launch->global_offset[d] + group->id[d] * launch->local_size[d] + item % size;
        item /= size;
    }
    return place;
}

/* ---- text ---- */

/* A line of a source, if its text is known. */
static qn__str line_of(const ir_module *module, unsigned file, uint32_t number) {
    if (!number || file >= module->texts.len || !module->texts.data[file].len) return (qn__str){"", 0};
    const char *at = module->texts.data[file].data, *end = at + module->texts.data[file].len;
    for (uint32_t line = 1; line < number && at; line++) {
        at = memchr(at, '\n', (size_t)(end - at));
        if (at) at++;
    }
    if (!at || at >= end) return (qn__str){"", 0};
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    return (qn__str){at, (size_t)((stop ? stop : end) - at)};
}

/* The line, and a caret below the column. */
static void put_excerpt(qn__buf *out, const ir_module *module, ir_loc loc) {
    enum { MOST = 200 };
    const qn__str line = line_of(module, loc.file, loc.line);
    if (!line.len || line.len > MOST || !loc.column || loc.column > line.len + 1) return;
    for (size_t i = 0; i < line.len; i++) qn__buf_putc(out, line.data[i] == '\t' ? ' ' : line.data[i]);
    qn__buf_putc(out, '\n');
    for (unsigned i = 1; i < loc.column; i++) qn__buf_putc(out, ' ');
    qn__buf_puts(out, "^\n");
}

static void put_place(qn__buf *out, const qn_check_place *place) {
    if (place->file && place->file[0])
        qn__buf_printf(out, "%s:%u:%u: ", place->file, (unsigned)place->line, (unsigned)place->column);
}

/* "declared here; it is bytes 128 to 160 of the buffer 'weights' of 4096 bytes, number 3 of the device" */
static void put_object(qn__buf *out, const qn__check_report *report, const qn_finding *finding) {
    const ir_module *module = report->frame->program->kernel->module;
    if (!finding->declared.file && !finding->buffer_number) return;
    const bool is_named = finding->object != NULL;
    if (finding->declared.file) put_place(out, &finding->declared);
    if (!finding->declared.file) qn__buf_puts(out, "  ");
    qn__buf_printf(out, "%s%.100s%s ", is_named ? "'" : "", is_named ? finding->object : "it",
                   is_named ? "'" : "");
    if (finding->declared.file) qn__buf_puts(out, "is declared here");
    if (finding->buffer_number) {
        const uint64_t first = report->object_begin - report->region->begin;
        qn__buf_printf(out, "%slies ", finding->declared.file ? "; it " : "");
        if (finding->object_size && finding->object_size < finding->buffer_size)
            qn__buf_printf(out, "from byte %llu on ", (unsigned long long)first);
        qn__buf_printf(out, "in the buffer %s%.128s%s%sof %llu bytes, number %llu of the device",
                       finding->buffer ? "'" : "", finding->buffer ? finding->buffer : "",
                       finding->buffer ? "'" : "", finding->buffer ? " " : "",
                       (unsigned long long)finding->buffer_size, (unsigned long long)finding->buffer_number);
    }
    qn__buf_putc(out, '\n');
    if (finding->declared.file) put_excerpt(out, module, report->declared);
}

/* ---- what is allowed ---- */

static const char *find_text(qn__str text, const char *wanted) {
    const size_t length = strlen(wanted);
    for (size_t i = 0; i + length <= text.len; i++)
        if (memcmp(text.data + i, wanted, length) == 0) return text.data + i + length;
    return NULL;
}

static bool allows(qn__str line, qn_finding_kind kind) {
    const char *at = find_text(line, "quern-check: allow "), *end = line.data + line.len;
    while (at && at < end) {
        size_t length = 0;
        while (at + length < end && (at[length] == '-' || (at[length] >= 'a' && at[length] <= 'z'))) length++;
        if (length == strlen(names[kind]) && memcmp(at, names[kind], length) == 0) return true;
        at += length;
        if (at >= end || (*at != ',' && *at != ' ')) return false;
        at++;
    }
    return false;
}

/* The line before one, if it has nothing but a comment. */
static qn__str comment_before(const ir_module *module, ir_loc loc) {
    qn__str before = loc.line > 1 ? line_of(module, loc.file, loc.line - 1) : (qn__str){"", 0};
    while (before.len && (*before.data == ' ' || *before.data == '\t')) before.data++, before.len--;
    return qn__str_starts(before, "//") ? before : (qn__str){"", 0};
}

static bool is_allowed_at(const ir_module *module, ir_loc loc, qn_finding_kind kind) {
    return allows(line_of(module, loc.file, loc.line), kind) || allows(comment_before(module, loc), kind);
}

/* A word of the line that stands where a kind of finding should, and is none; empty: there is none. More words behind a kind
   may be a reason. */
static qn__str unknown_kind(qn__str line) {
    const char *at = find_text(line, "quern-check: allow "), *end = line.data + line.len;
    while (at && at < end) {
        while (at < end && *at == ' ') at++;
        qn__str word = {at, 0};
        while (at < end && *at != ',' && *at != ' ' && *at != '\t' && *at != '\r') at++, word.len++;
        bool is_known = !word.len;
        for (int k = 1; k < QN_FINDING_KIND_COUNT; k++)
            is_known = is_known || qn__str_equal(word, qn__str_of(names[k]));
        if (!is_known) return word;
        at = at < end && *at == ',' ? at + 1 : NULL;
    }
    return (qn__str){"", 0};
}

/* A comment that was to allow the finding, and names something else. */
static void put_unknown_kind(qn__buf *out, const ir_module *module, ir_loc loc) {
    qn__str word = unknown_kind(line_of(module, loc.file, loc.line));
    if (!word.len) word = unknown_kind(comment_before(module, loc));
    if (word.len)
        qn__buf_printf(out, "  the comment there allows '%.*s', which is no kind of finding\n",
                       (int)(word.len < 60 ? word.len : 60), word.data);
}

static bool is_allowed(const qn__check_report *report) {
    const ir_module *module = report->frame->program->kernel->module;
    if (is_allowed_at(module, loc_of(report, report->instr), report->kind)) return true;
    return report->other && is_allowed_at(module, loc_of(report, report->other), report->kind);
}

/* ---- a new one ---- */

static bool is_same_item(const qn_finding *f) {
    return !memcmp(f->place.work_item, f->other.work_item, sizeof f->place.work_item) &&
           !memcmp(f->place.work_group, f->other.work_group, sizeof f->place.work_group);
}

static const char *text_of(qn__checker *checker, const qn__check_report *report, const qn_finding *finding) {
    const ir_module *module = report->frame->program->kernel->module;
    const unsigned dims = dims_of(report->frame);
    char item[80], group[80];
    qn__buf out;
    qn__buf_init(&out, &checker->arena);
    put_place(&out, &finding->place);
    qn__buf_printf(&out, "%s: kernel '%s': %s\n", titles[finding->kind], finding->kernel, finding->message);
    put_excerpt(&out, module, loc_of(report, report->instr));
    qn__buf_printf(&out, "  by work-item %s of work-group %s\n",
                   ids_text(finding->place.work_item, dims, item, sizeof item),
                   ids_text(finding->place.work_group, dims, group, sizeof group));
    if (finding->other.file) {
        const bool by_several = report->other_stamp & QN__STAMP_SEVERAL;
        put_place(&out, &finding->other);
        ids_text(finding->other.work_group, dims, group, sizeof group);
        if (by_several && is_same_item(finding))
            qn__buf_printf(&out, "the access before, by this and other work-items of work-group %s\n", group);
        else
            qn__buf_printf(&out, "the access before, by %swork-item %s of work-group %s\n",
                           by_several ? "several, the last of them " : "",
                           ids_text(finding->other.work_item, dims, item, sizeof item), group);
        put_excerpt(&out, module, loc_of(report, report->other));
    }
    put_object(&out, report, finding);
    put_unknown_kind(&out, module, loc_of(report, report->instr));
    return out.data;
}

void qn__check_report_new(qn__checker *checker, const qn__check_report *report, const char *format, ...) {
    va_list args;
    va_start(args, format);
    qn_finding *finding = QN__NEW(&checker->arena, qn_finding);
    finding->message = qn__arena_vprintf(&checker->arena, format, args);
    va_end(args);
    finding->kind = report->kind;
    finding->count = 1;
    finding->kernel = qn__arena_strdup(&checker->arena, report->frame->program->kernel->name);
    finding->place = first_place(checker, report);
    if (report->other) finding->other = other_place(checker, report);
    finding->object = report->object ? qn__arena_strdup(&checker->arena, report->object) : NULL;
    finding->object_size = report->object_size;
    finding->offset = report->offset;
    finding->size = report->size;
    if (report->declared.line) finding->declared = place_at(checker, report, report->declared);
    if (report->region && report->region->number) {
        finding->buffer =
            report->region->label ? qn__arena_strdup(&checker->arena, report->region->label) : NULL;
        finding->buffer_size = report->region->size;
        finding->buffer_number = report->region->number;
    }
    if (is_allowed(report) || qn__check_is_suppressed(checker, finding)) {
        qn__vec_push(&checker->arena, &checker->allowed, finding);
        return;
    }
    finding->text = text_of(checker, report, finding);
    qn__vec_push(&checker->arena, &checker->findings, finding);
}

/* ---- reading them ---- */

uint32_t qn__check_count(const qn__checker *checker) { return (uint32_t)checker->findings.len; }

void qn__check_get(const qn__checker *checker, uint32_t index, qn_finding *finding) {
    *finding = *checker->findings.data[index];
}

uint32_t qn__check_tell(qn__checker *checker) {
    const uint32_t first = checker->told;
    checker->told = qn__check_count(checker);
    return first;
}

void qn__check_clear(qn__checker *checker) {
    qn__arena_free(&checker->arena);
    qn__arena_init(&checker->arena, checker->allocator, 0);
    memset(&checker->findings, 0, sizeof checker->findings);
    memset(&checker->allowed, 0, sizeof checker->allowed);
    memset(&checker->profiles, 0, sizeof checker->profiles);
    checker->told = 0;
    checker->stats = (qn_check_stats){.memory = checker->memory, .shadow = checker->shadow};
}
