/* quern devices: what there is to run on, and why a kind is missing. */
#include <stdlib.h>
#include <string.h>

#include "tool.h"

static void print_string(const char *text) {
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') putchar('\\');
        if ((unsigned char)*text >= 32) putchar(*text);
    }
    putchar('"');
}

/* A listed device. Those of one GPU, seen through several interfaces, have one number. */
typedef struct listed {
    qn_device *device;
    qn_device_info info;
    bool is_default;
    uint32_t gpu, ways;
    char *failure; /* why it cannot be opened, or NULL: then there is info */
} listed;

static void print_uuid(const uint8_t uuid[16]) {
    for (int i = 0; i < 16; i++) printf("%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

static const char *kind_name(qn_context *context, qn_device_kind kind) {
    qn_backend_info info = {.name = ""};
    for (uint32_t i = 0; i < qn_backend_count(context); i++)
        if (qn_backend_get(context, i, &info) == QN_OK && info.kind == kind) break;
    return info.name;
}

static void print_device_json(qn_context *context, const listed *device) {
    const qn_device_info *info = &device->info;
    printf("    {\"name\": ");
    print_string(info->name);
    printf(", \"description\": ");
    print_string(info->description);
    printf(", \"driver\": ");
    print_string(info->driver);
    printf(", \"kind\": \"%s\", \"default\": %s,\n     \"gpu\": %u, \"uuid\": \"",
           kind_name(context, info->kind), device->is_default ? "true" : "false", device->gpu);
    print_uuid(info->uuid);
    printf("\", \"compute_units\": ");
    if (info->compute_units)
        printf("%u", info->compute_units);
    else
        printf("null");
    printf(", \"sub_group_size\": %u, \"max_group_size\": %u, "
           "\"max_local_size\": [%u, %u, %u],\n     \"local_memory\": %llu, \"private_memory\": %llu, "
           "\"memory\": %llu, \"max_buffer\": %llu, \"loop_limit\": %llu, "
           "\"vector_bytes\": %u, \"capabilities\": [",
           info->sub_group_size, info->max_group_size, info->max_local_size[0], info->max_local_size[1],
           info->max_local_size[2], (unsigned long long)info->local_memory,
           (unsigned long long)info->private_memory, (unsigned long long)info->memory,
           (unsigned long long)info->max_buffer, (unsigned long long)info->loop_limit, info->vector_bytes);
    const char *between = "\"";
    for (uint32_t bit = 1; bit; bit <<= 1) {
        if (!(info->capabilities & bit)) continue;
        printf("%s%s\"", between, qn_capability_name(bit));
        between = ", \"";
    }
    printf("], \"matrix_shapes\": [");
    qn_matrix_shape shape;
    for (uint32_t i = 0; i < info->matrix_shapes; i++)
        if (qn_device_get_matrix_shape(device->device, i, &shape) == QN_OK)
            printf("%s\n     {\"a\": \"%s\", \"b\": \"%s\", \"sum\": \"%s\", \"rows\": %u, \"columns\": %u, "
                   "\"k\": %u}",
                   i ? "," : "", tool_type_name(shape.a), tool_type_name(shape.b), tool_type_name(shape.sum),
                   shape.rows, shape.columns, shape.k);
    printf("]}");
}

/* The first shape of each pair of types, the others being smaller. */
static void print_matrix_shapes(const listed *device) {
    enum { TYPES = 32 };
    qn_matrix_shape shape;
    uint32_t seen[TYPES] = {0}, count = 0; /* by type of the operands: bits by that of the sum */
    const char *between = "      matrix units: ";
    for (uint32_t i = 0; i < device->info.matrix_shapes; i++) {
        if (qn_device_get_matrix_shape(device->device, i, &shape) || shape.a != shape.b) continue;
        uint32_t *sums = &seen[shape.a % TYPES];
        if (*sums >> shape.sum & 1) continue;
        *sums |= UINT32_C(1) << shape.sum;
        printf("%s%s in %s %ux%ux%u", between, tool_type_name(shape.a), tool_type_name(shape.sum), shape.rows,
               shape.columns, shape.k);
        between = ", ";
        count++;
    }
    if (count) putchar('\n');
}

static void print_device(const listed *device) {
    const qn_device_info *info = &device->info;
    printf("%s%s  %s", device->is_default ? "* " : "  ", info->name, info->description);
    if (info->driver[0]) printf(" (%s)", info->driver);
    if (info->capabilities & QN_CAN_EMULATE)
        printf(" - software, used by name only");
    else if (info->kind == QN_DEVICE_WEBGPU)
        printf(" - used by name only");
    printf("\n      ");
    if (info->compute_units)
        printf("%u compute units", info->compute_units);
    else
        printf("compute units not known");
    printf(", %.1f GiB, work-groups of up to %u with %llu KiB of local memory, "
           "sub-groups of %u\n     ",
           (double)info->memory / 1073741824.0, info->max_group_size,
           (unsigned long long)(info->local_memory >> 10), info->sub_group_size);
    for (uint32_t bit = 1; bit; bit <<= 1)
        if (info->capabilities & bit) printf(" %s", qn_capability_name(bit));
    putchar('\n');
    print_matrix_shapes(device);
    if (info->loop_limit)
        printf("      its driver ends a work-item's loops after %llu iterations in all, without a word\n",
               (unsigned long long)info->loop_limit);
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

static bool same_gpu(const listed *a, const listed *b) {
    static const uint8_t unknown[16];
    return !a->failure && !b->failure && memcmp(a->info.uuid, unknown, sizeof unknown) != 0 &&
           memcmp(a->info.uuid, b->info.uuid, sizeof unknown) == 0;
}

/* The devices in quern's order, but each GPU's ways in behind one another. */
static listed *list_devices(qn_context *context, qn_device *chosen, uint32_t count) {
    listed *all = tool_alloc((count + 1) * sizeof *all), *sorted = tool_alloc((count + 1) * sizeof *sorted);
    uint32_t gpus = 0, placed = 0;
    for (uint32_t i = 0; i < count; i++) {
        qn_device *device = qn_device_at(context, i);
        all[i] = (listed){.device = device, .is_default = device == chosen};
        if (qn_device_get_info(device, &all[i].info)) {
            const char *message = qn_error_message(context);
            all[i].failure = tool_alloc(strlen(message) + 1);
            strcpy(all[i].failure, message);
        }
        uint32_t mate = 0;
        while (mate < i && !same_gpu(&all[mate], &all[i])) mate++;
        all[i].gpu = mate < i ? all[mate].gpu : gpus++;
    }
    for (uint32_t gpu = 0; gpu < gpus; gpu++) {
        uint32_t first = placed;
        for (uint32_t i = 0; i < count; i++)
            if (all[i].gpu == gpu) sorted[placed++] = all[i];
        for (uint32_t i = first; i < placed; i++) sorted[i].ways = placed - first;
    }
    free(all);
    return sorted;
}

static void print_all(qn_context *context, qn_device *chosen, bool json) {
    uint32_t count = qn_device_count(context), shown = 0;
    listed *devices = list_devices(context, chosen, count);
    if (json) printf("{\"version\": \"%s\",\n \"devices\": [\n", qn_version());
    for (uint32_t i = 0; i < count; i++) {
        const listed *device = &devices[i];
        bool heads = device->ways > 1 && (i == 0 || devices[i - 1].gpu != device->gpu);
        if (json && !device->failure) {
            if (shown++) printf(",\n");
            print_device_json(context, device);
        }
        if (json) continue;
        if (heads) printf("one GPU, %u ways in:\n", device->ways);
        if (device->failure)
            printf("  cannot be opened: %s\n", device->failure);
        else
            print_device(device);
    }
    if (json) printf("],\n \"missing\": [");
    print_missing(context, json);
    if (json) printf("]}\n");
    for (uint32_t i = 0; i < count; i++) free(devices[i].failure);
    free(devices);
}

static int run(int argc, char **argv) {
    bool json = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") != 0) return tool_fail(TOOL_USAGE, "unknown option '%s'", argv[i]);
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
                                   "chooses another). One GPU that\n"
                                   "several interfaces lead to is shown as one. A kind of device that is "
                                   "missing is listed with the\n"
                                   "reason.\n\nexample: quern devices --json\n",
                                   run};
