/* Translation without a device: target text, IR dumps, and reflection as JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/qnb.h"
#include "util/str.h"

/* "ir, c, ptx" */
static const char *target_list(char *list, size_t size) {
    size_t used = 0;
    for (int i = 0; i < QN__TARGET_COUNT && used < size; i++)
        used += (size_t)snprintf(list + used, size - used, "%s%s", i ? ", " : "",
                                 qn__target_name((qn__target_kind)i));
    return list;
}

qn_status qn__find_target(qn_context *context, const char *name, qn__target_kind *kind) {
    *kind = QN__TARGET_C;
    if (!name) return QN_OK;
    for (int i = 0; i < QN__TARGET_COUNT; i++) {
        *kind = (qn__target_kind)i;
        if (strcmp(qn__target_name(*kind), name) == 0) return QN_OK;
    }
    char list[128];
    target_list(list, sizeof list);
    return qn__fail(context, QN_ERROR_ARGUMENT, "there is no target '%.100s'; there are %s", name, list);
}

qn_status qn__find_arch(qn_context *context, const char *name, uint32_t *arch) {
    char *end = NULL;
    *arch = 0;
    if (!name) return QN_OK;
    unsigned long number = strncmp(name, "sm_", 3) == 0 ? strtoul(name + 3, &end, 10) : 0;
    if (!end || *end || number < 60 || number > 121)
        return qn__fail(context, QN_ERROR_ARGUMENT,
                        "there is no architecture '%.100s'; there are sm_60 to sm_121", name);
    *arch = (uint32_t)number;
    return QN_OK;
}

/* ---- reflection as JSON ---- */

void qn__put_json(qn__buf *out, const char *text) {
    qn__buf_putc(out, '"');
    for (; text && *text; text++) {
        if (*text == '"' || *text == '\\') qn__buf_putc(out, '\\');
        if ((unsigned char)*text < 32)
            qn__buf_printf(out, "\\u%04x", *text);
        else
            qn__buf_putc(out, *text);
    }
    qn__buf_putc(out, '"');
}

static void put_field(qn__buf *out, const char *name, const char *text) {
    qn__buf_printf(out, ", \"%s\": ", name);
    qn__put_json(out, text);
}

static const char *const param_kinds[] = {[QN__PARAM_VALUE] = "value",
                                          [QN__PARAM_STRUCT] = "struct",
                                          [QN__PARAM_BUFFER] = "buffer",
                                          [QN__PARAM_LOCAL] = "local"};

/* The expressions of a list. */
typedef struct json_list {
    qn__buf *out;
    bool begun;
} json_list;

static void put_entry(void *user, const char *text) {
    json_list *list = user;
    qn__buf_puts(list->out, list->begun ? ", " : "");
    qn__put_json(list->out, text);
    list->begun = true;
}

static const char *kind_of(const uint32_t *field) {
    static const char *const small[] = {"", "bf16", "e4m3", "e5m2"};
    if (field[3] / 4 && field[3] / 4 < sizeof small / sizeof *small) return small[field[3] / 4];
    return field[1] == 0 ? "pointer" : field[3] & 1 ? "float" : field[3] & 2 ? "int" : "uint";
}

/* Five words each (code_info.def). */
static void put_fields(qn__buf *out, const qn__param_info *param) {
    if (!param->num_field_names) return;
    qn__buf_puts(out, ",\n         \"fields\": [");
    for (uint32_t i = 0; i < param->num_field_names && 5 * i + 4 < param->num_fields; i++) {
        const uint32_t *field = param->fields + i * (size_t)5;
        const char *kind = kind_of(field);
        qn__buf_puts(out, i ? ",\n            {\"name\": " : "\n            {\"name\": ");
        qn__put_json(out, param->field_names[i]);
        qn__buf_printf(out, ", \"offset\": %u, \"kind\": \"%s\", \"bits\": %u, \"lanes\": %u, \"count\": %u}",
                       (unsigned)field[0], kind, (unsigned)field[1] * 8, (unsigned)field[2],
                       (unsigned)field[4]);
    }
    qn__buf_putc(out, ']');
}

static void put_param(qn__buf *out, const qn__kernel_info *kernel, uint32_t index) {
    const qn__param_info *param = &kernel->params[index];
    qn__buf_puts(out, "{\"name\": ");
    qn__put_json(out, param->name);
    put_field(out, "type", param->type_name);
    put_field(out, "kind",
              param->is_state    ? "state"
              : param->is_faults ? "faults"
              : param->extent_of ? "extent"
                                 : param_kinds[param->kind]);
    if (param->kind == QN__PARAM_BUFFER)
        put_field(out, "address_space", param->is_constant ? "constant" : "global");
    if (param->kind == QN__PARAM_LOCAL) put_field(out, "address_space", "local");
    qn__buf_printf(out,
                   ", \"size\": %u, \"align\": %u, \"offset\": %u, \"element_size\": %u, \"const\": %s, "
                   "\"restrict\": %s",
                   (unsigned)param->size, (unsigned)param->align, (unsigned)param->offset,
                   (unsigned)param->pointee_size, param->is_const ? "true" : "false",
                   param->is_restrict ? "true" : "false");
    if (param->kind == QN__PARAM_BUFFER && index < qn__source_params(kernel)) {
        json_list list = {out, false};
        qn__buf_puts(out, ", \"required_sizes\": [");
        qn__reach_print(kernel, index, out->arena, put_entry, &list);
        qn__buf_putc(out, ']');
    }
    put_fields(out, param);
    qn__buf_putc(out, '}');
}

static void put_sizes(qn__buf *out, const char *name, const uint32_t sizes[3]) {
    if (sizes[0])
        qn__buf_printf(out, ", \"%s\": [%u, %u, %u]", name, (unsigned)sizes[0], (unsigned)sizes[1],
                       (unsigned)sizes[2]);
}

static void put_kernel(qn__buf *out, const qn__kernel_info *kernel) {
    qn__buf_puts(out, "    {\"name\": ");
    qn__put_json(out, kernel->name);
    qn__buf_printf(out, ", \"local_memory\": %llu, \"args_size\": %u",
                   (unsigned long long)kernel->static_local, (unsigned)kernel->args_size);
    put_sizes(out, "required_local_size", kernel->reqd_local);
    put_sizes(out, "local_size_hint", kernel->hint_local);
    if (kernel->vec_type_hint) put_field(out, "vec_type_hint", kernel->vec_type_hint);
    qn__buf_puts(out, ", \"params\": [");
    for (uint32_t i = 0; i < kernel->num_params; i++) {
        qn__buf_puts(out, i ? ",\n        " : "\n        ");
        put_param(out, kernel, i);
    }
    qn__buf_puts(out, "]}");
}

void qn__put_reflection(qn__buf *out, const qn__code_info *info) {
    qn__buf_puts(out, "{\"kernels\": [");
    for (uint32_t i = 0; i < qn__source_kernels(info); i++) {
        qn__buf_puts(out, i ? ",\n" : "\n");
        put_kernel(out, &info->kernels[i]);
    }
    qn__buf_printf(out, "], \"state_size\": %llu", (unsigned long long)info->total_state);
}

/* ---- output ---- */

static char *copy_out(qn_context *context, const char *text, size_t size) {
    char *copy = qn__allocate(&context->allocator, size + 1);
    if (!copy) return NULL;
    memcpy(copy, text, size);
    copy[size] = 0;
    return copy;
}

/* Text that is made here is built in an arena of its own: the result's has no escape point any more. */
static char *reflection(qn_context *context, const qn__compile_result *result) {
    qn__arena arena;
    jmp_buf escape;
    char *volatile copy = NULL;
    qn__arena_init(&arena, &context->allocator, 0);
    arena.escape = &escape;
    if (setjmp(escape) == 0) {
        qn__buf out;
        qn__buf_init(&out, &arena);
        qn__put_reflection(&out, &result->info);
        qn__buf_puts(&out, "}\n");
        copy = copy_out(context, out.data, out.len);
    }
    qn__arena_free(&arena);
    return copy;
}

static qn_status make_output(qn_context *context, const qn_translate_desc *desc,
                             const qn__compile_result *result, char **text) {
    bool dumps = desc->dump_pass || (desc->target && strcmp(desc->target, "ir") == 0);
    size_t size = dumps ? strlen(result->dump) : result->text_size;
    if (desc->reflect)
        *text = reflection(context, result);
    else
        *text = copy_out(context, dumps ? result->dump : result->text, size);
    if (desc->size && *text) *desc->size = desc->reflect ? strlen(*text) : size;
    return *text ? QN_OK : qn__fail_memory(context, result->text_size);
}

static qn_status translate(qn_context *context, const qn_translate_desc *desc, qn__program_input *input,
                           char **text, char **log) {
    qn__compile_request *request = &input->request;
    if (desc->dump_pass)
        request->dump = desc->dump_pass;
    else if (request->target.kind == QN__TARGET_IR)
        request->dump = "";
    qn__compile_result result;
    qn__compile(request, &result);
    qn_status status = qn__compile_failure(context, &result);
    if (log && result.log) *log = copy_out(context, result.log, strlen(result.log));
    if (!status) status = make_output(context, desc, &result, text);
    qn__compile_free(&result);
    return status;
}

static qn_status translate_packed(qn_context *context, const qn_translate_desc *desc,
                                  const qn__program_input *input, char **text) {
    if (!desc->reflect || desc->target || desc->dump_pass)
        return qn__fail(
            context, QN_ERROR_ARGUMENT,
            "qn_translate: a packed program is compiled already; it can be asked for its reflection");
    const char *name = desc->program.path;
    const qn_status status = qn__qnb_reflect(context, input->qnb, input->qnb_size, name, text);
    if (!status && desc->size) *desc->size = strlen(*text);
    return status;
}

/* A device with the extensions of WGSL that `arch` names, with commas between them. */
static qn_status find_extensions(qn_context *context, const char *arch, qn__target *target) {
    target->lacks_sub_groups = true;
    for (const char *at = arch; at; at = *at ? at + 1 : NULL) {
        const size_t length = strcspn(at, ",");
        if (length == 9 && memcmp(at, "subgroups", length) == 0)
            target->lacks_sub_groups = false;
        else if (length == 3 && memcmp(at, "f16", length) == 0)
            target->has_f16_conversions = true;
        else
            return qn__fail(context, QN_ERROR_ARGUMENT,
                            "wgsl has no extension '%.*s'; there are f16 and subgroups",
                            length < 100 ? (int)length : 100, at);
        at += length;
    }
    return QN_OK;
}

/* A device with what `arch` names: WGSL's extensions, or PTX's architecture. */
static qn_status find_device(qn_context *context, qn__target_kind kind, const char *arch,
                             qn__target *target) {
    *target = (qn__target){.kind = kind};
    if (kind == QN__TARGET_WGSL) return find_extensions(context, arch, target);
    qn_status status = qn__find_arch(context, arch, &target->arch);
    if (!status && arch && kind != QN__TARGET_PTX)
        status = qn__fail(context, QN_ERROR_ARGUMENT, "'%s' is an architecture of ptx; the target is %s",
                          arch, qn__target_name(kind));
    return status;
}

qn_status qn_translate(qn_context *context, const qn_translate_desc *given, char **text, char **log) {
    if (log) *log = NULL;
    qn_status status = qn__check(context, QN__OBJECT_CONTEXT, "qn_translate", "context");
    if (status) return status;
    if (!given) return qn__fail_null(context, "qn_translate", "desc");
    if (!text) return qn__fail_null(context, "qn_translate", "text");
    *text = NULL;
    qn_translate_desc desc;
    QN__READ(context, qn_translate_desc, &desc, given);
    qn__target_kind target = QN__TARGET_IR;
    status = qn__find_target(context, desc.target, &target);
    if (status) return status;
    qn__target made_for;
    status = find_device(context, target, desc.arch, &made_for);
    if (status) return status;
    qn__program_input input;
    status = qn__program_request(context, &desc.program, "qn_translate", &input);
    input.request.target = made_for;
    if (!status && input.qnb)
        status = translate_packed(context, &desc, &input, text);
    else if (!status)
        status = translate(context, &desc, &input, text, log);
    qn__program_input_free(context, &input);
    return status;
}

void qn_text_free(qn_context *context, char *text) {
    if (text && qn__check(context, QN__OBJECT_CONTEXT, "qn_text_free", "context") == QN_OK)
        qn__release(&context->allocator, text);
}
