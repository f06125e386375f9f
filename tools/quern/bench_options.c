/* Options of quern bench and quern tune. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_peer.h"
#include "options.h"

static bool parse_shape(const char *text, uint64_t shape[3]) {
    for (int i = 0; i < 3; i++) {
        char *end;
        if (*text < '0' || *text > '9') return false;
        shape[i] = strtoull(text, &end, 10);
        if (shape[i] == 0 || shape[i] > (uint64_t)1 << 40) return false;
        if (i == 0 && !*end) shape[1] = shape[2] = shape[0];
        if (i == 0 && !*end) return true;
        if (*end != (i < 2 ? 'x' : 0)) return false;
        text = end + 1;
    }
    return true;
}

static bool parse_seconds(const char *text, double *seconds) {
    char *end;
    *seconds = strtod(text, &end);
    return end != text && !*end && *seconds > 0 && *seconds <= 3600;
}

bool bench_list_next(const char **list, char *name, size_t size) {
    if (!*list) return false;
    const char *comma = strchr(*list, ',');
    const size_t length = comma ? (size_t)(comma - *list) : strlen(*list);
    snprintf(name, size, "%.*s", (int)(length < size ? length : size - 1), *list);
    *list = comma ? comma + 1 : NULL;
    return true;
}

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Even over the logarithms; every second one is a multiple of 8, as sizes of layers are. */
static uint64_t random_side(uint64_t *state) {
    const double least = 8, most = 16384, share = (double)next_random(state) / 0x1p31;
    const uint64_t side = (uint64_t)(least * pow(most / least, share));
    return next_random(state) >> 30 ? side / 8 * 8 : side;
}

/* Products that a GPU is worth, and whose matrices are not too large to be made for a figure. */
static void make_random_shape(uint64_t *state, uint64_t shape[3]) {
    const uint64_t largest = (uint64_t)1 << 25, least_work = (uint64_t)1 << 21, most_work = (uint64_t)1 << 35;
    uint64_t m, n, k;
    do {
        m = shape[0] = random_side(state);
        n = shape[1] = random_side(state);
        k = shape[2] = random_side(state);
    } while (m * n > largest || m * k > largest || k * n > largest || m * n * k < least_work ||
             m * n * k > most_work);
}

/* "random:SEED:N": shapes that nobody has looked at, the same ones for a seed. */
static bool parse_random_shapes(const char *text, bench_options *o) {
    const char *const head = "random:";
    char *end;
    if (strncmp(text, head, strlen(head)) != 0) return false;
    text += strlen(head);
    if (*text < '0' || *text > '9') return false;
    uint64_t state = strtoull(text, &end, 10);
    if (*end != ':' || end[1] < '1' || end[1] > '9') return false;
    const unsigned long count = strtoul(end + 1, &end, 10);
    if (*end || count > BENCH_MAX_SHAPES) return false;
    next_random(&state);
    o->num_shapes = (uint32_t)count;
    for (uint32_t i = 0; i < o->num_shapes; i++) make_random_shape(&state, o->shapes[i]);
    return true;
}

static bool parse_shapes(const char *list, bench_options *o) {
    if (parse_random_shapes(list, o)) return true;
    char shape[64];
    for (o->num_shapes = 0; bench_list_next(&list, shape, sizeof shape); o->num_shapes++)
        if (o->num_shapes == BENCH_MAX_SHAPES || !parse_shape(shape, o->shapes[o->num_shapes])) return false;
    return true;
}

static bool parse_splits(const char *list, bench_options *o) {
    char text[16], *end;
    for (o->num_splits = 0; bench_list_next(&list, text, sizeof text); o->num_splits++) {
        if (o->num_splits == BENCH_MAX_SPLITS || *text < '1' || *text > '9') return false;
        const unsigned long parts = strtoul(text, &end, 10);
        if (*end || parts > 65535) return false;
        o->splits[o->num_splits] = (uint32_t)parts;
    }
    return true;
}

static bool variant_known(const char *name) {
    uint32_t i = 0;
    while (qn_matmul_variant(i) && strcmp(qn_matmul_variant(i), name) != 0) i++;
    return qn_matmul_variant(i) != NULL;
}

static bool row_known(const char *name) {
    return *name && (bench_kernels_begins(name) || bench_code_begins(name) || bench_tensor_begins(name));
}

static bool type_known(const char *name) { return bench_type_named(name) != NULL; }

/* Whether each word of the list is. */
static bool all_known(const char *list, bool (*known)(const char *name)) {
    char name[64];
    while (bench_list_next(&list, name, sizeof name))
        if (!known(name)) return false;
    return true;
}

/* As program_option: -1 taken, 0 none of these, else the exit status. */
static int parse_text_option(bench_options *o, int argc, char **argv, int *i) {
    const struct {
        const char *name, **to;
    } texts[] = {{"--device", &o->devices},   {"--against", &o->against}, {"--type", &o->types},
                 {"--variant", &o->variants}, {"--only", &o->only},       {"--tuning", &o->tuning_file},
                 {"--tune", &o->tune},        {"--json", &o->json},       {"--svg", &o->svg},
                 {"--compare", &o->before}};
    const char *given = argv[*i];
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        if (option_value(texts[t].name, argc, argv, i, texts[t].to))
            return *texts[t].to ? -1 : needs_value(given);
    return 0;
}

int bench_option(bench_options *o, int argc, char **argv, int *i) {
    const char *value, *given = argv[*i];
    const int result = parse_text_option(o, argc, argv, i);
    if (result) return result;
    if (strcmp(given, "--ladder") == 0) {
        o->ladder = true;
        return -1;
    }
    if (strcmp(given, "--safe") == 0) {
        o->safe = true;
        return -1;
    }
    const bool soaks = option_value("--soak", argc, argv, i, &value);
    if (soaks || option_value("--seconds", argc, argv, i, &value)) {
        if (!value) return needs_value(given);
        if (parse_seconds(value, soaks ? &o->soak : &o->seconds)) return -1;
        return tool_fail(TOOL_USAGE, "%s is a number above 0, up to 3600, not '%s'",
                         soaks ? "--soak" : "--seconds", value);
    }
    if (option_value("--elements", argc, argv, i, &value)) {
        char *end;
        if (!value) return needs_value(given);
        o->elements = *value >= '1' && *value <= '9' ? strtoull(value, &end, 10) : 0;
        if (o->elements && !*end && o->elements <= (uint64_t)1 << 40) return -1;
        return tool_fail(TOOL_USAGE, "--elements is a number above 0, not '%s'", value);
    }
    if (option_value("--size", argc, argv, i, &value)) {
        if (!value) return needs_value(given);
        if (parse_shapes(value, o)) return -1;
        return tool_fail(
            TOOL_USAGE,
            "--size is MxNxK or one number for all three, or up to %d of them with commas, or random:SEED:N, "
            "not '%s'",
            BENCH_MAX_SHAPES, value);
    }
    if (option_value("--splits", argc, argv, i, &value)) {
        if (!value) return needs_value(given);
        if (parse_splits(value, o)) return -1;
        return tool_fail(TOOL_USAGE,
                         "--splits is a number from 1 to 65535, or up to %d of them with commas, not '%s'",
                         BENCH_MAX_SPLITS, value);
    }
    return given[0] == '-' ? tool_fail(TOOL_USAGE, "unknown option '%s'", given) : 0;
}

int bench_options_check(const bench_options *o) {
    if (o->against && !bench_peers_known(o->against))
        return tool_fail(TOOL_USAGE, "--against is all or names of " BENCH_PEERS ", not '%s'", o->against);
    if (o->types && !all_known(o->types, type_known))
        return tool_fail(TOOL_USAGE, "--type is names of " BENCH_TYPES " with commas, not '%s'", o->types);
    if (o->variants && strcmp(o->variants, "all") != 0 && !all_known(o->variants, variant_known))
        return tool_fail(TOOL_USAGE, "--variant is all or names of qn_matmul_variant with commas, not '%s'",
                         o->variants);
    if (o->only && !all_known(o->only, row_known))
        return tool_fail(
            TOOL_USAGE,
            "--only is beginnings of names of rows of kernels, code and tensor, with commas, not '%s'",
            o->only);
    if (o->json && o->svg && strcmp(o->json, o->svg) == 0)
        return tool_fail(TOOL_USAGE, "--json and --svg would both write %s", o->json);
    if (o->ladder && o->num_shapes > 1) return tool_fail(TOOL_USAGE, "--ladder takes one --size");
    return TOOL_OK;
}
