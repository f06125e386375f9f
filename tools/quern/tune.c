/* quern tune: searches choices of shipped kernels on this device. It begins with what the library chooses and keeps what is quicker
   beyond the spread; the rest is left to the library. Of the shipped kernels qn_kernels_matmul has such choices: others cut their work by
   shape alone, so that their sums are the same everywhere. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "options.h"

/* How long a candidate is looked at, and those that may be the best are measured. */
static const double look_ns = 1e6, measure_seconds = 0.02;
/* A choice has to be better than the library's by this part. */
static const double worth = 0.02;

typedef struct search {
    const bench_device *d;
    int64_t end; /* of the time that there is */
    bench_product product;
    double best; /* nanoseconds, of the quickest so far */
    bench_way way;
    uint32_t tried;
} search;

static bool is_over(const search *s) { return bench_now() >= s->end; }

/* ---- one candidate ---- */

/* The quickest of a few samples: what is slower at once is looked at no longer. INFINITY: it cannot. */
static int look(search *s, bench_way how, double *ns) {
    enum { LOOKS = 3, MOST = 64 };
    bench_matmul m = {s->d, s->d->kernels, &s->product, how};
    const bench_task task = {.run = bench_matmul_submit, .user = &m};
    bool can;
    double first;
    *ns = INFINITY;
    int result = bench_matmul_compile(&m, &can);
    if (result || !can) return result;
    s->tried++;
    result = bench_sample(s->d, &task, 1, &first); /* the first may be slow */
    if (!result) result = bench_sample(s->d, &task, 1, &first);
    if (!result) *ns = first;
    const double runs = look_ns / fmax(first, 1);
    const uint32_t count = runs > MOST ? MOST : runs > 1 ? (uint32_t)runs : 1;
    for (int i = 0; i < LOOKS && !result && first < 2 * s->best; i++) {
        double again;
        result = bench_sample(s->d, &task, count, &again);
        if (!result) *ns = fmin(*ns, again);
    }
    return result;
}

static int try_way(search *s, bench_way how, double *ns) {
    const int result = look(s, how, ns);
    if (result || *ns >= s->best) return result;
    s->best = *ns;
    s->way = how;
    return TOOL_OK;
}

/* ---- the search ---- */

/* Every variant with as many parts of k as the library gives it; then other numbers of parts of those that came near. The last
   ones of the table are first: those before them, of large tiles, take compilers for processors long. */
static int try_variants(search *s, double *times, uint32_t count) {
    for (uint32_t v = count; v-- > 0;) {
        times[v] = INFINITY;
        if (is_over(s)) continue;
        const int result = try_way(s, (bench_way){qn_matmul_variant(v), 0}, &times[v]);
        if (result) return result;
    }
    return TOOL_OK;
}

static int try_parts(search *s, const char *variant) {
    enum { LEAST_OF_A_PART = 32, MOST_PARTS = 128 };
    double last = INFINITY;
    for (uint32_t parts = 1; parts <= MOST_PARTS && !is_over(s); parts += parts < 4 ? 1 : parts / 2) {
        double ns;
        if (parts > 1 && s->product.k / parts < LEAST_OF_A_PART) break;
        const int result = try_way(s, (bench_way){variant, parts}, &ns);
        if (result) return result;
        if (ns > 1.5 * last && ns > 1.5 * s->best) break;
        last = ns;
    }
    return TOOL_OK;
}

static int search_ways(search *s) {
    enum { MOST = 64 };
    const double near = 1.5;
    double times[MOST];
    uint32_t count = 0;
    while (count < MOST && qn_matmul_variant(count)) count++;
    int result = try_variants(s, times, count);
    for (uint32_t v = 0; v < count && !result; v++)
        if (times[v] <= near * s->best) result = try_parts(s, qn_matmul_variant(v));
    return result;
}

/* ---- what came out ---- */

typedef struct text {
    char *at;
    size_t size, capacity;
} text;

static void append(text *t, const char *words) {
    const size_t length = strlen(words);
    if (t->size + length + 1 > t->capacity) {
        const size_t capacity = 2 * (t->size + length + 1);
        char *grown = tool_alloc(capacity);
        if (t->size) memcpy(grown, t->at, t->size);
        free(t->at);
        t->at = grown;
        t->capacity = capacity;
    }
    memcpy(t->at + t->size, words, length + 1);
    t->size += length;
}

static void keep(text *out, const bench_product *p, bench_way how) {
    const bench_type *type = p->type;
    const char *from = type->tf32 ? "tf32" : qn_element_name(type->from);
    char line[256];
    snprintf(line, sizeof line, "matmul %s %s %s n%c %llux%llux%llu %u %s\n", from, from,
             qn_element_name(type->to), type->is_turned ? 't' : 'n', (unsigned long long)p->m,
             (unsigned long long)p->n, (unsigned long long)p->k, how.splits, how.variant);
    append(out, line);
}

static int measure(search *s, bench_way how, bench_time *time) {
    bench_matmul m = {s->d, s->d->kernels, &s->product, how};
    bool can;
    return bench_matmul_measure(&m, &s->product, how.variant ? how.variant : "the library's choice", time,
                                &can);
}

/* The number of parts that the library took for the best is not known here: 0 leaves it to the library at another time, too. */
static int tune_shape(search *s, text *out) {
    const bench_product *p = &s->product;
    bench_time own, found;
    char size[64];
    int result = measure(s, (bench_way){NULL, 0}, &own);
    s->best = own.median;
    s->way = (bench_way){NULL, 0};
    s->tried = 0;
    if (!result) result = search_ways(s);
    if (!result && s->way.variant) result = measure(s, s->way, &found);
    bench_progress(s->d, NULL);
    if (result) return result;
    snprintf(size, sizeof size, "%llux%llux%llu %s", (unsigned long long)p->m, (unsigned long long)p->n,
             (unsigned long long)p->k, p->type->name);
    printf("  %-26s %10.2f", size, own.median * 1e-3);
    if (s->way.variant && found.high < own.low && found.median < (1 - worth) * own.median) {
        keep(out, p, s->way);
        printf(" %10.2f %7.3f  %s", found.median * 1e-3, found.median / own.median, s->way.variant);
        if (s->way.splits > 1) printf(", %u parts", s->way.splits);
    } else {
        printf(" %10s %7s  as it is", "", "");
    }
    printf("  (%u tried)\n", s->tried);
    fflush(stdout);
    return TOOL_OK;
}

/* ---- the file ---- */

/* What an earlier file says of other devices stays. */
static int keep_others(const char *path, const qn_kernels *kernels, text *out) {
    char own[512], *old = NULL;
    qn_kernels_tuning_device(kernels, own, sizeof own);
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file) return TOOL_OK;
    fclose(file);
    const int result = bench_tuning_read(path, &old);
    qn_kernels *checked = NULL;
    if (result) return result;
    if (qn_kernels_create(qn_kernels_device(kernels), &(qn_kernels_desc){.tuning = old}, &checked)) {
        free(old);
        return tool_fail(TOOL_RUN_FAILED, "%s is left as it is: %s", path,
                         qn_error_message(qn_device_context(qn_kernels_device(kernels))));
    }
    qn_kernels_destroy(checked);
    bool is_own = false;
    for (char *line = strchr(old, '\n'), *end; line && *++line; line = end) {
        end = strchr(line, '\n');
        if (end) *end = 0;
        if (strncmp(line, "device ", 7) == 0) is_own = strcmp(line, own) == 0;
        if (!is_own) append(out, line);
        if (!is_own) append(out, "\n");
        if (end) *end = '\n';
    }
    free(old);
    return TOOL_OK;
}

/* By way of another file, so that one that was there stays whole whatever happens. */
static int write_file(const char *path, const text *out) {
    char other[4096];
    if (snprintf(other, sizeof other, "%s.new", path) >= (int)sizeof other)
        return tool_fail(TOOL_USAGE, "--out: the path is too long");
    const char *error = tool_file_write(other, (const unsigned char *)out->at, out->size);
    if (error) return tool_fail(TOOL_RUN_FAILED, "%s: %s", other, error);
#if defined(_WIN32)
    remove(path); /* which rename does not replace there */
#endif
    if (rename(other, path)) return tool_fail(TOOL_RUN_FAILED, "%s: %s", path, strerror(errno));
    return TOOL_OK;
}

int bench_tuning_read(const char *path, char **out) {
    unsigned char *data;
    size_t size;
    const char *error = tool_file_read(path, &data, &size);
    if (error) return tool_fail(TOOL_RUN_FAILED, "%s: %s", path, error);
    *out = tool_alloc(size + 1);
    if (size) memcpy(*out, data, size);
    free(data);
    if (strlen(*out) == size) return TOOL_OK;
    free(*out);
    *out = NULL;
    return tool_fail(TOOL_RUN_FAILED, "%s is no text", path);
}

/* ---- the command ---- */

static int tune_matmul(search *s, text *out) {
    const bench_type *type;
    uint64_t shape[3];
    uint32_t done = 0, all = 0;
    int first = TOOL_OK;
    printf("qn_kernels_matmul on %s: %s\n\n  %-26s %10s %10s %7s\n", s->d->info.name, s->d->info.description,
           "m x n x k", "us", "tuned", "ratio");
    for (uint32_t t = 0; (type = bench_matmul_type(s->d, t)) != NULL; t++)
        for (uint32_t i = 0; bench_matmul_shape(s->d, i, shape); i++) {
            all++;
            if (is_over(s) || first == TOOL_RUN_FAILED) continue;
            int result = bench_product_create(s->d, shape, type, &s->product);
            if (!result) result = tune_shape(s, out);
            bench_product_free(&s->product);
            if (!first) first = result;
            done++;
        }
    printf("  %u of %u shapes in the time that there was\n\n", done, all);
    return first;
}

static int tune(const bench_options *o, double seconds, const char *path, qn_context *context) {
    bench_report report = {0};
    bench_device d = {.options = o, .report = &report};
    text out = {0};
    char device[512];
    int result = bench_device_open(&d, context, o->devices);
    append(&out, QN_TUNING_HEAD "\n");
    if (!result) result = keep_others(path, d.kernels, &out);
    if (!result) {
        search s = {.d = &d, .end = bench_now() + (int64_t)(seconds * 1e9)};
        qn_kernels_tuning_device(d.kernels, device, sizeof device);
        append(&out, device);
        append(&out, "\n");
        result = tune_matmul(&s, &out);
        if (!path) fputs(out.at, stdout);
    }
    /* What was found right is worth keeping, even when another product was wrong. */
    const int written = path && (!result || result == TOOL_DIFFERENT) ? write_file(path, &out) : TOOL_OK;
    free(out.at);
    bench_report_free(&report);
    bench_device_close(&d);
    return result ? result : written;
}

static int parse(int argc, char **argv, bench_options *o, const char **path) {
    static const char *const shared[] = {"--device", "--type", "--size", "--seconds"};
    for (int i = 1; i < argc; i++) {
        bool is_shared = false;
        if (option_value("--out", argc, argv, &i, path)) {
            if (!*path) return needs_value("--out");
            continue;
        }
        for (size_t s = 0; s < sizeof shared / sizeof *shared; s++)
            is_shared |= strncmp(argv[i], shared[s], strlen(shared[s])) == 0;
        const int result = is_shared ? bench_option(o, argc, argv, &i) : 0;
        if (result > 0) return result;
        if (result < 0 || strcmp(argv[i], "matmul") == 0) continue;
        return tool_fail(TOOL_USAGE,
                         argv[i][0] == '-' ? "unknown option '%s'" : "'%s' has nothing to tune: matmul has",
                         argv[i]);
    }
    return bench_options_check(o);
}

static int run(int argc, char **argv) {
    bench_options o = {.seconds = 30};
    const char *path = NULL;
    qn_context *context;
    int result = parse(argc, argv, &o, &path);
    if (result) return result;
    const qn_status status = qn_context_create(&(qn_context_desc){.cpu_compile_first = true}, &context);
    if (status) return tool_fail(TOOL_RUN_FAILED, "%s", qn_status_text(status));
    const double seconds = o.seconds;
    o.seconds = measure_seconds;
    result = tune(&o, seconds, path, context);
    qn_context_destroy(context);
    return result;
}

const tool_command tool_tune = {
    "tune", "search the best choices of shipped kernels on this device",
    "usage: quern tune [matmul] [--device NAME] [--seconds S] [--out FILE] [--type T[,T...]] [--size "
    "MxNxK[,...]]\n\n"
    "Measures, beginning with what the library chooses, other ways and numbers of parts of k for products "
    "of\n"
    "matrices, and keeps what is quicker beyond the spread. Each line is a shape: microseconds by the "
    "library's\n"
    "choice and by the one that was found, and their ratio. Results are verified.\n\n"
    "  --device NAME     on this device (the default one)\n"
    "  --seconds S       begin nothing new after so long (30); shapes that are not reached stay as they are\n"
    "  --out FILE        write the choices, for qn_kernels_desc.tuning and `quern bench --tuning`; what the "
    "file\n"
    "                    says of other devices stays. Without, they are printed\n"
    "  --type T          as of `quern bench`\n"
    "  --size MxNxK      these shapes alone\n\n"
    "exit status: 0 done; 2 usage; 3 failure; 4 a result is wrong\n\n"
    "example: quern tune --device cuda --out h200.tuning\n",
    run};
