/* quern devices: what there is to run on, and why a kind is missing. */
#include <string.h>

#include "tool.h"

static const struct capability {
    unsigned bit;
    const char *name;
} capabilities[] = {{QN_CAN_F16, "f16"},
                    {QN_CAN_F64, "f64"},
                    {QN_CAN_I64_ATOMICS, "i64-atomics"},
                    {QN_CAN_SUB_GROUPS, "sub-groups"},
                    {QN_CAN_PRINTF, "printf"},
                    {QN_CAN_SHARE_MEMORY, "shared-memory"},
                    {QN_CAN_EMULATE, "emulated"}};

static const char *const kinds[QN_DEVICE_KIND_COUNT] = {"cpu", "cuda", "vulkan", "opencl", "webgpu", "null"};

enum { NUM_CAPABILITIES = sizeof capabilities / sizeof capabilities[0] };

static void print_string(const char *text) {
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') putchar('\\');
        if ((unsigned char)*text >= 32) putchar(*text);
    }
    putchar('"');
}

static void print_device_json(const qn_device_info *info, bool is_default) {
    printf("    {\"name\": ");
    print_string(info->name);
    printf(", \"description\": ");
    print_string(info->description);
    printf(", \"driver\": ");
    print_string(info->driver);
    printf(", \"kind\": \"%s\", \"default\": %s,\n     \"compute_units\": %u, \"sub_group_size\": %u, "
           "\"max_group_size\": %u, "
           "\"max_local_size\": [%u, %u, %u],\n     \"local_memory\": %llu, \"memory\": %llu, "
           "\"max_buffer\": %llu, "
           "\"capabilities\": [",
           kinds[info->kind], is_default ? "true" : "false", info->compute_units, info->sub_group_size,
           info->max_group_size, info->max_local_size[0], info->max_local_size[1], info->max_local_size[2],
           (unsigned long long)info->local_memory, (unsigned long long)info->memory,
           (unsigned long long)info->max_buffer);
    for (int i = 0, n = 0; i < NUM_CAPABILITIES; i++)
        if (info->capabilities & capabilities[i].bit)
            printf("%s\"%s\"", n++ ? ", " : "", capabilities[i].name);
    printf("]}");
}

static void print_device(const qn_device_info *info, bool is_default) {
    printf("%s%s  %s", is_default ? "* " : "  ", info->name, info->description);
    if (info->driver[0]) printf(" (%s)", info->driver);
    printf("\n      %u compute units, %.1f GiB, work-groups of up to %u with %llu KiB of local memory, "
           "sub-groups of %u\n     ",
           info->compute_units, (double)info->memory / 1073741824.0, info->max_group_size,
           (unsigned long long)(info->local_memory >> 10), info->sub_group_size);
    for (int i = 0; i < NUM_CAPABILITIES; i++)
        if (info->capabilities & capabilities[i].bit) printf(" %s", capabilities[i].name);
    putchar('\n');
}

static void print_missing(qn_context *context, bool json) {
    for (uint32_t i = 0, n = 0; i < qn_backend_count(context); i++) {
        qn_backend_info info;
        if (qn_backend_get(context, i, &info) || info.devices) continue;
        if (!json) {
            printf("  %s: none: %s\n", info.name, info.reason);
            continue;
        }
        printf("%s    {\"kind\": \"%s\", \"reason\": ", n++ ? ",\n" : "", info.name);
        print_string(info.reason);
        putchar('}');
    }
}

static void print_all(qn_context *context, qn_device *chosen, bool json) {
    uint32_t shown = 0;
    if (json) printf("{\"version\": \"%s\",\n \"devices\": [\n", qn_version());
    for (uint32_t i = 0; i < qn_device_count(context); i++) {
        qn_device *device = qn_device_at(context, i);
        qn_device_info info;
        if (qn_device_get_info(device, &info)) continue;
        if (json && shown++) printf(",\n");
        if (json)
            print_device_json(&info, device == chosen);
        else
            print_device(&info, device == chosen);
    }
    if (json) printf("],\n \"missing\": [");
    print_missing(context, json);
    if (json) printf("]}\n");
}

static int run(int argc, char **argv) {
    bool json = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") != 0)
            return tool_fail(TOOL_USAGE, "devices: unknown option '%s'", argv[i]);
        json = true;
    }
    qn_context *context;
    qn_device *chosen = NULL;
    qn_status status = qn_context_create(NULL, &context);
    if (status) return tool_fail(TOOL_RUN_FAILED, "%s", qn_status_text(status));
    status = qn_device_get(context, NULL, &chosen);
    int result = status ? tool_fail_status(context, status) : TOOL_OK;
    print_all(context, chosen, json);
    qn_context_destroy(context);
    return result;
}

const tool_command tool_devices = {"devices", "list the devices, the default one marked",
                                   "usage: quern devices [--json]\n\n"
                                   "Lists every device with its limits; * marks the default ($QUERN_DEVICE "
                                   "chooses another). A kind of device that\n"
                                   "is missing is listed with the reason.\n\nexample: quern devices --json\n",
                                   run};
