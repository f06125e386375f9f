/* The format of a .qnb: numbers of 8 bytes, little-endian, texts and bytes with their length before them and a zero behind
   (entry.h). A checksum finds damage; each length is checked all the same. */
#include "runtime/qnb.h"

#include <string.h>

#include "util/hash.h"

/* The first byte is no text's; line ends tell of transfers that change them. */
static const char magic[8] = {'\x8f', 'q', 'n', 'b', '\r', '\n', '\x1a', '\n'};

/* FORMAT: how the file is laid out. ABI: what kernels and those who launch them have agreed on (emit/gpu_abi.h,
   emit/cpu_abi.h): goes up where code of before would be launched wrongly. */
enum { FORMAT = 1, ABI = 1, SUM = 8, LEAST_ENTRY = 8 + 7 * 9 };

bool qn__qnb_is(const void *data, size_t size) {
    return size >= sizeof magic && memcmp(data, magic, sizeof magic) == 0;
}

/* ---- writing ---- */

void qn__qnb_begin(qn__buf *out, uint32_t num_entries) {
    qn__buf_append(out, magic, sizeof magic);
    qn__put_number(out, FORMAT);
    qn__put_number(out, ABI);
    qn__put_text(out, qn_version());
    qn__put_facts(out);
    qn__put_number(out, num_entries);
}

void qn__qnb_add(qn__buf *out, const qn__qnb_entry *entry) {
    qn__put_text(out, qn__target_name(entry->kind));
    qn__put_text(out, entry->needs);
    qn__put_text(out, entry->machine);
    qn__put_text(out, entry->log);
    qn__put_bytes(out, entry->info, entry->info_size);
    qn__put_bytes(out, entry->text, entry->text_size);
    qn__put_bytes(out, entry->binary, entry->binary_size);
}

void qn__qnb_end(qn__buf *out) { qn__put_number(out, qn__hash(out->data, out->len, 0)); }

/* ---- reading ---- */

static const char damaged[] = "is damaged: fetch or make it anew";

static bool find_kind(const char *name, qn__target_kind *kind) {
    for (int i = 0; i < QN__TARGET_COUNT; i++) {
        *kind = (qn__target_kind)i;
        if (strcmp(qn__target_name(*kind), name) == 0) return true;
    }
    return false;
}

/* False for a target that this library does not have: such an entry is left out. */
static bool get_entry(qn__reader *r, qn__qnb_entry *entry) {
    const bool known = find_kind(qn__get_text(r), &entry->kind);
    entry->needs = qn__get_text(r);
    entry->machine = qn__get_text(r);
    entry->log = qn__get_text(r);
    entry->info = qn__get_bytes(r, &entry->info_size);
    entry->text = qn__get_bytes(r, &entry->text_size);
    entry->binary = qn__get_bytes(r, &entry->binary_size);
    return known;
}

static bool is_whole(const char *data, size_t size) {
    uint64_t sum;
    if (size < sizeof magic + SUM) return false;
    memcpy(&sum, data + size - SUM, SUM);
    return sum == qn__hash(data, size - SUM, 0);
}

const char *qn__qnb_read(qn__arena *arena, const void *data, size_t size, qn__qnb *qnb) {
    const char *bytes = data;
    *qnb = (qn__qnb){0};
    if (!qn__qnb_is(data, size)) return "is no program of `quern compile -o NAME.qnb`";
    if (!is_whole(bytes, size)) return damaged;
    qn__reader r = {bytes + sizeof magic, bytes + size - SUM, false};
    const uint64_t format = qn__get_number(&r), abi = qn__get_number(&r);
    qnb->version = qn__get_text(&r);
    if (r.failed) return damaged;
    if (format != FORMAT || abi != ABI)
        return qn__arena_printf(
            arena, "was made by quern %.40s, and this is %s, which reads other files: make it anew",
            qnb->version, qn_version());
    qn__get_facts(&r, &qnb->facts);
    if (r.failed)
        return qn__arena_printf(
            arena, "was made by quern %.40s, and this is %s, which does not know all that it says",
            qnb->version, qn_version());
    const uint32_t count = qn__get_count(&r, LEAST_ENTRY);
    qn__qnb_entry *entries = QN__NEW_ARRAY(arena, qn__qnb_entry, count);
    for (uint32_t i = 0; i < count && !r.failed; i++)
        if (get_entry(&r, &entries[qnb->num_entries])) qnb->num_entries++;
    qnb->entries = entries;
    return r.failed || r.at != r.end ? damaged : NULL;
}

/* ---- descriptions: what launches rely on ---- */

static bool lies_in(uint64_t offset, uint64_t size, uint64_t room) {
    return offset <= room && size <= room - offset;
}

static bool param_is_sound(const qn__param_info *param, const qn__kernel_info *kernel) {
    return param->name && param->type_name && param->kind <= QN__PARAM_LOCAL && param->lane_size <= 16 &&
           param->lanes <= 16 && lies_in(param->offset, param->size, kernel->args_size) &&
           (param->kind < QN__PARAM_BUFFER || param->size == 8);
}

/* What the runtime passes stands behind the source's parameters: the state, sizes, the faults. */
static bool own_param_is_sound(const qn__kernel_info *kernel, uint32_t index, bool has_state) {
    const qn__param_info *param = &kernel->params[index];
    const uint32_t own = qn__source_params(kernel);
    if (param->is_state) return has_state && index == own && param->kind == QN__PARAM_BUFFER;
    if (param->is_faults) return index + 1 == kernel->num_params && param->kind == QN__PARAM_BUFFER;
    return !param->extent_of || (index >= own && param->extent_of <= index &&
                                 param->kind == QN__PARAM_VALUE && param->size == sizeof(uint64_t));
}

/* The other form of a kernel takes the same arguments. */
static bool checked_is_sound(const qn__code_info *info, const qn__kernel_info *kernel) {
    if (!kernel->checked) return true;
    if (kernel->checked > info->num_kernels) return false;
    const qn__kernel_info *other = &info->kernels[kernel->checked - 1];
    return other->is_checked && other->args_size == kernel->args_size &&
           other->num_params == kernel->num_params;
}

static bool kernel_is_sound(const qn__kernel_info *kernel, qn__target_kind kind, bool has_state) {
    uint32_t locals = 0;
    if (!kernel->name || (kind != QN__TARGET_IR && !kernel->symbol) || kernel->args_size > QN__MAX_ARGS_SIZE)
        return false;
    for (uint32_t i = 0; i < kernel->num_params; i++) {
        if (!param_is_sound(&kernel->params[i], kernel)) return false;
        if (!own_param_is_sound(kernel, i, has_state)) return false;
        locals += kernel->params[i].kind == QN__PARAM_LOCAL;
    }
    for (uint32_t i = 0; i < kernel->num_implicit; i++) {
        const qn__implicit *implicit = &kernel->implicit[i];
        if (implicit->kind >= QN__IMPLICIT_KIND_COUNT || implicit->size > 8) return false;
        /* OpenCL C: the print buffer stands behind the block */
        if (!lies_in(implicit->offset, implicit->size, (uint64_t)kernel->params_size + 8)) return false;
        if (implicit->kind != QN__IMPLICIT_BUFFER_OFFSET && implicit->dim > 2) return false;
        if (implicit->kind == QN__IMPLICIT_BUFFER_OFFSET && implicit->dim >= kernel->num_params) return false;
    }
    /* WGSL has one array for all */
    const uint32_t units = kind == QN__TARGET_WGSL && locals ? 1 : locals;
    return kernel->num_local_units == 0 || kernel->num_local_units == units;
}

static bool info_is_sound(const qn__code_info *info, qn__target_kind kind) {
    for (uint32_t i = 0; i < info->num_kernels; i++)
        if (!kernel_is_sound(&info->kernels[i], kind, info->total_state > 0) ||
            !checked_is_sound(info, &info->kernels[i]))
            return false;
    for (uint32_t i = 0; i < info->num_refused; i++)
        if (!info->refused[i].kernel || !info->refused[i].why) return false;
    for (uint32_t i = 0; i < info->num_relocations; i++)
        if (!lies_in(info->relocations[i], 8, info->constants_size)) return false;
    return info->state_size <= info->total_state;
}

const char *qn__qnb_info(qn__arena *arena, const qn__qnb *qnb, const qn__qnb_entry *entry,
                         qn__code_info *info) {
    qn__reader r = {entry->info, entry->info + entry->info_size, false};
    qn__get_code_info(&r, arena, &qnb->facts, info);
    return r.failed || r.at != r.end || !info_is_sound(info, entry->kind) ? damaged : NULL;
}
