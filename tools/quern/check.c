/* quern check: a kernel as `quern run` has it, on the checker; what it finds as text, JSON or SARIF. */
#include "check.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"

bool check_is_wanted(void) {
    const char *wanted = getenv("QUERN_CHECK");
    return wanted && strcmp(wanted, "1") == 0;
}

static int set_number(const char *option, const char *text, uint64_t most, uint64_t *to) {
    char *end;
    const unsigned long long number = strtoull(text, &end, 0);
    if (end == text || *end || text[0] == '-' || number == 0 || number > most)
        return tool_fail(TOOL_USAGE, "%s is a number from 1 on, not '%s'", option, text);
    *to = number;
    return -1;
}

/* "shifts,nans" */
static int set_also(const char *text, uint32_t *also) {
    static const struct {
        const char *name;
        uint32_t bit;
    } words[] = {{"shifts", QN_CHECK_SHIFTS},
                 {"overflows", QN_CHECK_OVERFLOWS},
                 {"nans", QN_CHECK_NANS},
                 {"buffers", QN_CHECK_BUFFERS},
                 {"unused", QN_CHECK_UNUSED}};
    enum { WORDS = sizeof words / sizeof *words };
    for (const char *at = text; *at;) {
        const size_t length = strcspn(at, ",");
        size_t i = 0;
        while (i < WORDS && (strlen(words[i].name) != length || strncmp(words[i].name, at, length) != 0)) i++;
        if (i == WORDS)
            return tool_fail(TOOL_USAGE,
                             "--also is a list of shifts, overflows, nans, buffers, unused, not '%s'", text);
        *also |= words[i].bit;
        at += length + (at[length] == ',');
    }
    return -1;
}

static int add_suppressions(check_options *o, const char *path) {
    enum { MOST = sizeof o->suppress / sizeof *o->suppress };
    if (o->num_suppress == MOST) return tool_fail(TOOL_USAGE, "at most %d files of suppressions", MOST);
    o->suppress[o->num_suppress++] = path;
    return -1;
}

int check_option(check_options *o, int argc, char **argv, int *i) {
    enum { MOST = 1000000 };
    const char *value, *given = argv[*i];
    uint64_t number = 0;
    bool *flag = strcmp(given, "--json") == 0          ? &o->json
                 : strcmp(given, "--sarif") == 0       ? &o->sarif
                 : strcmp(given, "--summary") == 0     ? &o->summary
                 : strcmp(given, "--unused") == 0      ? &o->unused
                 : strcmp(given, "--performance") == 0 ? &o->performance
                                                       : NULL;
    if (flag) {
        *flag = true;
        return -1;
    }
    static const char *const names[] = {"--max",    "--explore", "--also",     "--budget",
                                        "--groups", "--seed",    "--suppress", "--arch"};
    enum { MAX, EXPLORE, ALSO, BUDGET, GROUPS, SEED, SUPPRESS, ARCH, NAMES };
    int option = 0;
    while (option < NAMES && !option_value(names[option], argc, argv, i, &value)) option++;
    if (option == NAMES) return 0;
    if (!value) return needs_value(given);
    if (option == ALSO) return set_also(value, &o->desc.also);
    if (option == SUPPRESS) return add_suppressions(o, value);
    if (option == ARCH) {
        o->performance = true;
        o->desc.arch = value;
        return -1;
    }
    const int result = set_number(names[option], value, option <= EXPLORE ? MOST : UINT64_MAX, &number);
    if (result > 0) return result;
    switch (option) {
    case MAX: o->max = (unsigned)number; break;
    case EXPLORE: o->explore = (unsigned)number; break;
    case BUDGET: o->desc.budget = number; break;
    case GROUPS: o->desc.groups = number; break;
    default: o->desc.seed = number;
    }
    return -1;
}

int check_configure(qn_context *context, const check_options *o) {
    qn_device *device;
    qn_check_desc desc = o->desc;
    desc.also |= (o->performance ? QN_CHECK_PERFORMANCE : 0u) | (o->summary ? QN_CHECK_PROFILE : 0u);
    qn_status status = qn_device_get(context, "check", &device);
    if (!status) status = qn_check_configure(device, &desc);
    return status ? tool_fail_status(context, status) : TOOL_OK;
}

static int suppress_file(qn_device *device, const char *path) {
    unsigned char *data = NULL;
    size_t size;
    const char *why = tool_file_read(path, &data, &size);
    if (why) {
        free(data);
        return tool_fail(TOOL_USAGE, "--suppress %s: %s", path, why);
    }
    char *text = tool_alloc(size + 1);
    memcpy(text, data, size);
    text[size] = 0;
    const qn_status status = qn_check_suppress(device, text, path);
    free(text);
    free(data);
    return status ? tool_fail_status(qn_device_context(device), status) : TOOL_OK;
}

/* What kernels print and values that are written would stand before the findings: they go to the standard error. */
static void keep_output(check_options *o) {
    o->kept_output = -1;
    if (!o->json && !o->sarif) return;
    fflush(stdout);
    o->kept_output = dup(STDOUT_FILENO);
    if (o->kept_output >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
}

static void give_output_back(const check_options *o) {
    fflush(stdout);
    if (o->kept_output < 0) return;
    dup2(o->kept_output, STDOUT_FILENO);
    close(o->kept_output);
}

int check_begin(qn_context *context, check_options *o) {
    qn_device *device;
    keep_output(o);
    const qn_status status = qn_device_get(context, "check", &device);
    int result = status ? tool_fail_status(context, status) : TOOL_OK;
    for (unsigned i = 0; i < o->num_suppress && !result; i++) result = suppress_file(device, o->suppress[i]);
    return result ? result : check_configure(context, o);
}

/* ---- machine-readable ---- */

static void put_string(const char *text) {
    putchar('"');
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at == '"' || *at == '\\')
            printf("\\%c", *at);
        else if (*at < 32)
            printf("\\u%04x", *at);
        else
            putchar(*at);
    }
    putchar('"');
}

static void put_field(const char *name, const char *text) {
    printf(", \"%s\": ", name);
    put_string(text);
}

static void put_ids(const char *name, const uint64_t ids[3]) {
    printf(", \"%s\": [%llu, %llu, %llu]", name, (unsigned long long)ids[0], (unsigned long long)ids[1],
           (unsigned long long)ids[2]);
}

static void put_json_line(const char *name, const qn_check_place *place) {
    if (name) printf(", \"%s\": ", name);
    printf("{\"line\": %u, \"column\": %u", (unsigned)place->line, (unsigned)place->column);
    put_field("file", place->file);
}

static void put_json_place(const char *name, const qn_check_place *place) {
    put_json_line(name, place);
    put_ids("work_item", place->work_item);
    put_ids("work_group", place->work_group);
    putchar('}');
}

static void put_json(const qn_finding *f, bool first) {
    printf("%s  {\"count\": %llu", first ? "\n" : ",\n", (unsigned long long)f->count);
    put_field("kind", qn_finding_kind_name(f->kind));
    put_field("kernel", f->kernel);
    put_field("message", f->message);
    put_json_place("place", &f->place);
    if (f->other.file) put_json_place("other", &f->other);
    if (f->object) put_field("object", f->object);
    if (f->size)
        printf(", \"object_size\": %llu, \"offset\": %lld, \"size\": %llu",
               (unsigned long long)f->object_size, (long long)f->offset, (unsigned long long)f->size);
    if (f->declared.file) put_json_line("declared", &f->declared);
    if (f->declared.file) putchar('}');
    if (f->buffer) put_field("buffer", f->buffer);
    if (f->buffer_number)
        printf(", \"buffer_size\": %llu, \"buffer_number\": %llu", (unsigned long long)f->buffer_size,
               (unsigned long long)f->buffer_number);
    putchar('}');
}

/* `what`: a sentence about it, or NULL. */
static void put_location(const qn_check_place *place, const char *what) {
    printf("{\"physicalLocation\": {\"artifactLocation\": {\"uri\": ");
    put_string(place->file);
    printf("}, \"region\": {\"startLine\": %u, \"startColumn\": %u}}",
           place->line ? (unsigned)place->line : 1, place->column ? (unsigned)place->column : 1);
    if (what) printf(", \"message\": {\"text\": \"%s\"}", what);
    putchar('}');
}

static void put_sarif(const qn_finding *f, bool first) {
    printf("%s    {\"level\": \"%s\", \"ruleId\": ", first ? "\n" : ",\n",
           qn_finding_kind_is_advice(f->kind) ? "note" : "error");
    put_string(qn_finding_kind_name(f->kind));
    printf(", \"occurrenceCount\": %llu, \"message\": {\"text\": ", (unsigned long long)f->count);
    put_string(f->message);
    printf("}, \"locations\": [");
    put_location(&f->place, NULL);
    if (f->other.file || f->declared.file) printf("], \"relatedLocations\": [");
    if (f->other.file) put_location(&f->other, "the access before");
    if (f->other.file && f->declared.file) printf(", ");
    if (f->declared.file) put_location(&f->declared, "declared here");
    printf("]}");
}

static void put_text(const qn_finding *f) {
    fputs(f->text, stderr);
    if (f->count > 1) fprintf(stderr, "  %llu times\n", (unsigned long long)f->count);
}

static void begin(const check_options *o) {
    if (o->sarif)
        printf("{\"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\", \"version\": \"2.1.0\", "
               "\"runs\": [\n"
               "  {\"tool\": {\"driver\": {\"name\": \"quern check\", \"version\": \"%s\"}}, \"results\": [",
               qn_version());
    else if (o->json)
        printf("{\"findings\": [");
}

/* ---- what kernels did ---- */

static const struct {
    const char *name;
    size_t offset;
} profile_numbers[] = {
#define NUMBER(field)                                                                                        \
    { #field, offsetof(qn_check_profile, field) }
    NUMBER(launches),
    NUMBER(work_items),
    NUMBER(f16),
    NUMBER(f32),
    NUMBER(f64),
    NUMBER(special),
    NUMBER(i8),
    NUMBER(i16),
    NUMBER(i32),
    NUMBER(i64),
    NUMBER(conversions),
    NUMBER(atomics),
    NUMBER(barriers),
    NUMBER(global_read),
    NUMBER(global_written),
    NUMBER(local_read),
    NUMBER(local_written),
    NUMBER(private_read),
    NUMBER(private_written),
    NUMBER(constant_read),
#undef NUMBER
};
enum { PROFILE_NUMBERS = sizeof profile_numbers / sizeof *profile_numbers };

static unsigned long long profile_number(const qn_check_profile *p, size_t i) {
    uint64_t number;
    memcpy(&number, (const char *)p + profile_numbers[i].offset, sizeof number);
    return number;
}

static void put_json_profiles(const qn_device *device) {
    printf("\"kernels\": [");
    for (uint32_t i = 0; i < qn_check_profile_count(device); i++) {
        qn_check_profile p;
        if (qn_check_profile_get(device, i, &p)) break;
        printf("%s{\"kernel\": ", i ? ",\n  " : "\n  ");
        put_string(p.kernel);
        for (size_t k = 0; k < PROFILE_NUMBERS; k++)
            printf(", \"%s\": %llu", profile_numbers[k].name, profile_number(&p, k));
        printf(", \"intensity\": %.6g}", p.intensity);
    }
    printf("]");
}

static void put_bytes(const char *space, uint64_t read, uint64_t written) {
    if (read || written)
        fprintf(stderr, "  %s memory: %llu bytes read, %llu written\n", space, (unsigned long long)read,
                (unsigned long long)written);
}

static void put_profile(const qn_check_profile *p) {
    enum { FIRST_OPERATIONS = 2, FIRST_BYTES = 13 };
    const char *separator = "  operations:";
    fprintf(stderr, "kernel '%s': launches: %llu; work-items: %llu\n", p->kernel,
            (unsigned long long)p->launches, (unsigned long long)p->work_items);
    for (size_t k = FIRST_OPERATIONS; k < FIRST_BYTES; k++)
        if (profile_number(p, k)) {
            fprintf(stderr, "%s %s %llu", separator, profile_numbers[k].name, profile_number(p, k));
            separator = ",";
        }
    if (*separator == ',') fputc('\n', stderr);
    put_bytes("global", p->global_read, p->global_written);
    put_bytes("local", p->local_read, p->local_written);
    put_bytes("private", p->private_read, p->private_written);
    put_bytes("constant", p->constant_read, 0);
    if (p->intensity > 0)
        fprintf(stderr, "  arithmetic intensity: %.3g float operations a byte of global memory\n",
                p->intensity);
}

static void put_profiles(const qn_device *device) {
    for (uint32_t i = 0; i < qn_check_profile_count(device); i++) {
        qn_check_profile p;
        if (!qn_check_profile_get(device, i, &p)) put_profile(&p);
    }
}

/* `failure`: why the kernel did not run, or not to its end; NULL: it did. */
static void end_json(const check_options *o, const qn_device *device, const char *failure) {
    printf("], \"error\": ");
    if (failure)
        put_string(failure);
    else
        printf("null");
    if (o->summary) printf(", ");
    if (o->summary) put_json_profiles(device);
    printf("}\n");
}

static void end_sarif(const check_options *o, const qn_device *device, const char *failure) {
    printf("], \"invocations\": [{\"executionSuccessful\": %s", failure ? "false" : "true");
    if (failure) printf(", \"toolExecutionNotifications\": [{\"level\": \"error\", \"message\": {\"text\": ");
    if (failure) put_string(failure);
    printf(failure ? "}}]}]" : "}]");
    if (o->summary) printf(", \"properties\": {");
    if (o->summary) put_json_profiles(device);
    printf(o->summary ? "}}]}\n" : "}]}\n");
}

static void end_text(uint32_t left_out, uint32_t faults, uint32_t advice) {
    if (faults) fprintf(stderr, "%u finding%s\n", (unsigned)faults, faults == 1 ? "" : "s");
    if (advice) fprintf(stderr, "%u remark%s about speed\n", (unsigned)advice, advice == 1 ? "" : "s");
    if (left_out) fprintf(stderr, "%u of them not shown (--max)\n", (unsigned)left_out);
}

/* What was left out is told in any case. */
static void put_summary(const check_options *o, const qn_device *device) {
    qn_check_stats stats;
    if (qn_check_get_stats(device, &stats)) return;
    if (o->summary && !o->json && !o->sarif) put_profiles(device);
    if (stats.groups_left_out)
        fprintf(stderr, "%llu of %llu work-groups were checked\n", (unsigned long long)stats.groups,
                (unsigned long long)(stats.groups + stats.groups_left_out));
    if (o->summary)
        fprintf(stderr,
                "launches: %llu; work-groups: %llu; buffers: %llu bytes at most; shadow memory: %llu bytes "
                "at most\n",
                (unsigned long long)stats.launches, (unsigned long long)stats.groups,
                (unsigned long long)stats.memory, (unsigned long long)stats.shadow);
}

static void put_unused(const qn_device *device) {
    for (uint32_t i = 0; i < qn_check_suppression_count(device); i++) {
        qn_suppression s;
        if (qn_check_suppression_get(device, i, &s) || s.count) continue;
        fprintf(stderr, "%s:%u: keeps nothing from being told: %s\n", s.path, (unsigned)s.line, s.text);
    }
}

int check_finish(qn_context *context, const check_options *o, int result) {
    qn_device *device;
    const char *said = qn_error_message(context);
    char *failure = NULL;
    if (result) {
        said = said[0] ? said : "the kernel did not run; the standard error tells why";
        failure = tool_alloc(strlen(said) + 1);
        strcpy(failure, said);
    }
    give_output_back(o);
    if (qn_device_get(context, "check", &device)) {
        free(failure);
        return result;
    }
    const uint32_t count = qn_check_count(device), shown = o->max && count > o->max ? o->max : count;
    uint32_t advice = 0;
    begin(o);
    for (uint32_t i = 0; i < count; i++) {
        qn_finding finding;
        if (qn_check_get(device, i, &finding)) break;
        advice += qn_finding_kind_is_advice(finding.kind);
        if (i >= shown) continue;
        if (o->sarif)
            put_sarif(&finding, i == 0);
        else if (o->json)
            put_json(&finding, i == 0);
        else
            put_text(&finding);
    }
    if (shown && (o->json || o->sarif)) putchar('\n');
    if (o->sarif)
        end_sarif(o, device, failure);
    else if (o->json)
        end_json(o, device, failure);
    else
        end_text(count - shown, count - advice, advice);
    free(failure);
    put_summary(o, device);
    if (o->unused) put_unused(device);
    return !result && count > advice ? TOOL_FINDINGS : result;
}

static int run(int argc, char **argv) { return run_main(argc, argv, true); }

const tool_command tool_check = {
    "check", "run a kernel and look for faults in it",
    "usage: quern check FILE.cl... [OPTION...] ARG...     as `quern run`\n"
    "                   [--also WORD,...] [--groups N] [--budget N] [--seed N] [--explore N]\n"
    "                   [--max N] [--summary] [--json | --sarif] [--suppress FILE] [--unused]\n"
    "                   [--performance] [--arch NAME]\n\n"
    "Interprets the kernel and tells each access outside of its buffer or array, each data race, barrier "
    "that not all\n"
    "work-items reach, use of memory that nobody has written, undefined arithmetic and loop without an end, "
    "with the line and the\n"
    "work-items. Options and ARGs are those of `quern run`. A comment in the line, or alone in the line "
    "before,\n"
    "  // quern-check: allow KIND[, KIND]\n"
    "keeps findings of these kinds from being told of that line; so does a line of a file that --suppress "
    "names,\n"
    "  KIND FILE[:LINE] [kernel=NAME] [object=NAME]      such as: race hist*.cl object=bins    # by "
    "design\n\n"
    "  --also WORD,...   look for shifts (by the width or more), overflows (of signed integers), nans (and "
    "infinities, made of\n"
    "                    numbers), buffers (used before anybody has written them), unused (variables and "
    "arrays whose\n"
    "                    values nothing reads), too\n"
    "  --groups N        run N of the work-groups only, spread evenly\n"
    "  --budget N        steps of a work-group before it counts as runaway (2^28)\n"
    "  --explore N       run it with N other orders of work-groups and work-items, too: results that differ "
    "(by more than\n"
    "                    --tolerance) are told with the --seed that repeats the run\n"
    "  --seed N          run it in the order that follows from N\n"
    "  --summary         print how much was run, the operations and bytes of each kernel, and the memory "
    "that checking took\n"
    "  --performance     remark what makes kernels slow on GPUs, too: memory that work-items of a sub-group "
    "access far apart or\n"
    "                    in the same banks, branches that leave them idle; the exit status is that of the "
    "findings\n"
    "  --arch NAME       and work-groups that fill little of a multiprocessor of that architecture (sm_90)\n"
    "  --suppress FILE   leave out what the file names\n"
    "  --unused          tell which lines of these files named nothing\n"
    "  --max N           print the first N findings, and how many more there are\n"
    "  --json, --sarif   print them to the standard output, for other programs; what the kernel prints and "
    "values of @- go to the\n"
    "                    standard error then\n\n"
    "exit status: 0 nothing was found; 1 the kernel does not compile; 2 usage; 3 the run failed; 4 faults "
    "were found\n\n"
    "example: quern check saxpy.cl --global 5 int:5 float:2 buf:float:4=1,2,3,4 buf:float:4=1\n",
    run};
