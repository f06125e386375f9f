/* Structs by field: struct:{scale=2,color=1,0,0,1,light={on=1},steps[1].at=7}. What is not named is 0. */
#include <stdlib.h>
#include <string.h>

#include "tool.h"

typedef struct filling {
    const qn_kernel *kernel;
    uint32_t param;
    const qn_param_info *info;
    tool_arg *arg;
} filling;

static int wrong(const filling *f, const char *what, const char *text, size_t length) {
    return tool_fail(TOOL_USAGE, "argument '%s' for parameter '%s %s': %s '%.*s'", f->arg->text,
                     f->info->type_name, f->info->name, what, (int)length, text);
}

static int unknown(const filling *f, const char *name) {
    const int result = wrong(f, "it has no field", name, strlen(name));
    fputs("  its fields:", stderr);
    for (uint32_t i = 0; i < f->info->num_fields; i++) {
        qn_field_info field;
        if (qn_kernel_get_field(f->kernel, f->param, i, &field) == QN_OK) fprintf(stderr, " %s", field.name);
    }
    fputc('\n', stderr);
    return result;
}

/* The field of that name, or the element of the array that it names: "a[2]". */
static bool find(const filling *f, const char *name, qn_field_info *field) {
    for (uint32_t i = 0; i < f->info->num_fields; i++) {
        if (qn_kernel_get_field(f->kernel, f->param, i, field)) continue;
        const size_t length = strlen(field->name);
        if (strcmp(field->name, name) == 0) return true;
        if (strncmp(field->name, name, length) != 0 || name[length] != '[') continue;
        char *end;
        const unsigned long element = strtoul(name + length + 1, &end, 10);
        if (end == name + length + 1 || strcmp(end, "]") != 0 || element >= field->count) continue;
        field->offset += (uint32_t)element * tool_type_size((tool_type){field->type, field->lanes});
        field->count = 1;
        return true;
    }
    return false;
}

/* The values, repeated to fill the field, as those of a buffer. */
static int set(const filling *f, const char *name, const char *values, size_t length) {
    qn_field_info field;
    if (!find(f, name, &field)) return unknown(f, name);
    const unsigned size = tool_type_scalar_size(field.type), places = field.lanes == 3 ? 4 : field.lanes;
    const uint64_t total = (uint64_t)field.count * field.lanes;
    if (field.type == QN_TYPE_BYTES)
        return wrong(f, "no value can be given for a pointer:", name, strlen(name));
    uint64_t given = 0;
    for (const char *at = values, *end = values + length; at <= end; given++) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const size_t n = (size_t)((comma ? comma : end) - at);
        unsigned char value[8];
        if (given == total) return wrong(f, "there are more values than places in", name, strlen(name));
        if (!tool_value_parse(at, n, field.type, value)) return wrong(f, "no number of its type:", at, n);
        for (uint64_t i = given; i < total; i++) /* later values write over it */
            memcpy(f->arg->data + field.offset + (i / field.lanes * places + i % field.lanes) * size, value,
                   size);
        at += n + 1;
    }
    for (uint64_t i = given; i < total; i++) {
        const uint64_t from = i - given;
        memcpy(f->arg->data + field.offset + (i / field.lanes * places + i % field.lanes) * size,
               f->arg->data + field.offset + (from / field.lanes * places + from % field.lanes) * size, size);
    }
    return TOOL_OK;
}

/* Bytes up to the comma that ends the value of a field: behind it a name and '=' follow. */
static size_t value_length(const char *text, size_t room) {
    int depth = 0;
    for (size_t i = 0; i < room; i++) {
        depth += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
        if (text[i] != ',' || depth) continue;
        size_t next = i + 1;
        while (next < room && text[next] != ',' && text[next] != '=' && text[next] != '{') next++;
        if (next < room && text[next] == '=') return i;
    }
    return room;
}

static int fill(const filling *f, const char *prefix, const char *text, size_t length) {
    int result = TOOL_OK;
    for (size_t at = 0; at < length && !result;) {
        const char *equals = memchr(text + at, '=', length - at);
        if (!equals) return wrong(f, "a field is NAME=VALUE, not", text + at, length - at);
        const size_t name_length = (size_t)(equals - (text + at)), begin = at + name_length + 1;
        const size_t size = value_length(text + begin, length - begin);
        char *name = tool_alloc(strlen(prefix) + name_length + 2);
        sprintf(name, "%s%s%.*s", prefix, prefix[0] ? "." : "", (int)name_length, text + at);
        if (size >= 2 && text[begin] == '{' && text[begin + size - 1] == '}')
            result = fill(f, name, text + begin + 1, size - 2);
        else
            result = set(f, name, text + begin, size);
        free(name);
        at = begin + size + 1;
    }
    return result;
}

int tool_struct_fill(const qn_kernel *kernel, uint32_t param, const qn_param_info *info, tool_arg *arg) {
    const char *text = strchr(arg->text, ':') + 1;
    const size_t length = strlen(text);
    const filling f = {kernel, param, info, arg};
    if (info->kind != QN_PARAM_VALUE || !info->num_fields)
        return tool_fail(TOOL_USAGE,
                         "argument '%s' for parameter '%s %s': the parameter is no struct with fields",
                         arg->text, info->type_name, info->name);
    free(arg->data);
    arg->size = info->size;
    arg->data = tool_alloc(arg->size);
    return fill(&f, "", text + 1, length - 2);
}
