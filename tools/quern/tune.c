/* quern tune: searches choices of shipped kernels on this device. It begins with what the library chooses and keeps what is quicker
   beyond the spread; the rest is left to the library. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench_kernels.h"
#include "options.h"
#include "tune.h"

/* How long the library's choice and the best one are measured. */
static const double measure_seconds = 0.02;

/* ---- the file ---- */

/* What an earlier file says of other devices stays. */
static int keep_others(const char *path, const qn_kernels *kernels, tune_text *out) {
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
        if (!is_own) tune_append(out, line);
        if (!is_own) tune_append(out, "\n");
        if (end) *end = '\n';
    }
    free(old);
    return TOOL_OK;
}

/* By way of another file, so that one that was there stays whole whatever happens. */
static int write_file(const char *path, const tune_text *out) {
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

/* ---- what there is to tune ---- */

typedef struct product_case {
    tune_case base;
    const bench_device *d;
    bench_product product;
} product_case;

static qn_status run_product(void *user, uint32_t first, uint32_t count) {
    product_case *c = user;
    bench_matmul m = {c->d, c->base.kernels, &c->product, {NULL, 0}};
    return bench_matmul_submit(&m, first, count);
}

static int check_product(void *user, uint32_t runs) {
    product_case *c = user;
    return bench_product_check(c->d, &c->product, runs, c->base.what);
}

/* Exit statuses after messages; what is wrong with one keeps no other from being tuned. */
static int tune_products(const tune_search *s) {
    const bench_type *type;
    uint64_t shape[3];
    uint32_t done = 0, all = 0;
    int first = TOOL_OK;
    for (uint32_t t = 0; (type = bench_matmul_type(s->d, t)) != NULL; t++)
        for (uint32_t i = 0; bench_matmul_shape(s->d, i, shape); i++) {
            all++;
            if (tune_is_over(s) || first == TOOL_RUN_FAILED) continue;
            product_case c = {
                .base = {.what = "the tuned product", .run = run_product, .check = check_product}, .d = s->d};
            c.base.user = &c;
            int result = bench_product_create(s->d, shape, type, &c.product);
            if (!result) result = tune_case_search(s, &c.base);
            bench_product_free(&c.product);
            if (!first) first = result;
            done++;
        }
    printf("  %u of %u products in the time that there was\n\n", done, all);
    return first;
}

typedef struct row_case {
    tune_case base;
    bench_device d; /* as it is, with the case's kernels */
    bench_operands operands;
    const bench_row *row;
} row_case;

static qn_status run_row(void *user, uint32_t first, uint32_t count) {
    row_case *c = user;
    qn_status status = QN_OK;
    (void)first;
    c->d.kernels = c->base.kernels;
    c->operands.d = &c->d;
    for (uint32_t i = 0; i < count && !status; i++) status = c->row->run(&c->operands);
    return status;
}

static int check_row(void *user, uint32_t runs) {
    row_case *c = user;
    (void)runs;
    return bench_row_verify(&c->operands, c->row);
}

static int tune_rows(const tune_search *s, bench_operands *operands) {
    const bench_row *row;
    uint32_t done = 0, all = 0;
    int first = TOOL_OK;
    for (uint32_t i = 0; (row = bench_row_at(i)) != NULL; i++) {
        if (!bench_is_asked_for(s->d, row->what) || !bench_row_has_work(operands, row)) continue;
        all++;
        if (tune_is_over(s) || first == TOOL_RUN_FAILED) continue;
        row_case c = {.base = {.what = row->what, .run = run_row, .check = check_row},
                      .d = *s->d,
                      .operands = *operands,
                      .row = row};
        c.base.user = &c;
        int result = bench_row_verify(operands, row); /* leaves the operands as it wants them */
        if (!result) result = tune_case_search(s, &c.base);
        if (!first) first = result;
        done++;
    }
    printf("  %u of %u other calls in the time that there was\n\n", done, all);
    return first;
}

static int tune_kernels(const tune_search *s, bench_device *d) {
    bench_operands operands;
    int result = bench_operands_open(d, &operands);
    if (!result) result = tune_rows(s, &operands);
    bench_operands_close(&operands);
    return result;
}

/* ---- the command ---- */

/* The sections that are asked for; none is all. */
typedef struct wanted {
    bool matmul, kernels;
} wanted;

static int search(const wanted *w, bench_device *d, double seconds, const char *head, tune_text *out) {
    const tune_search s = {.d = d, .head = head, .end = bench_now() + (int64_t)(seconds * 1e9), .out = out};
    printf("%s: %s\n\n  %-44s %10s %10s %7s\n", d->info.name, d->info.description, "", "us", "tuned",
           "ratio");
    int result = TOOL_OK;
    /* Where both are asked for, the other calls have half of the time. */
    tune_search half = s;
    if (w->matmul && w->kernels) half.end = bench_now() + (int64_t)(seconds / 2 * 1e9);
    if (w->kernels) result = tune_kernels(&half, d);
    if (w->matmul && result != TOOL_RUN_FAILED) {
        const int of_products = tune_products(&s);
        if (!result) result = of_products;
    }
    return result;
}

static int tune(const bench_options *o, const wanted *w, double seconds, const char *path,
                qn_context *context) {
    bench_report report = {0};
    bench_device d = {.options = o, .report = &report};
    tune_text out = {0}, head = {0};
    char device[512];
    int result = bench_device_open(&d, context, o->devices);
    tune_append(&out, QN_TUNING_HEAD "\n");
    if (!result) result = keep_others(path, d.kernels, &out);
    if (!result) {
        qn_kernels_tuning_device(d.kernels, device, sizeof device);
        tune_append(&head, QN_TUNING_HEAD "\n");
        tune_append(&head, device);
        tune_append(&head, "\n");
        tune_append(&out, device);
        tune_append(&out, "\n");
        result = search(w, &d, seconds, head.at, &out);
        if (!path) fputs(out.at, stdout);
    }
    /* What was found right is worth keeping, even when another result was wrong. */
    const int written = path && (!result || result == TOOL_DIFFERENT) ? write_file(path, &out) : TOOL_OK;
    free(out.at);
    free(head.at);
    bench_report_free(&report);
    bench_device_close(&d);
    return result ? result : written;
}

static int parse(int argc, char **argv, bench_options *o, wanted *w, const char **path) {
    static const char *const shared[] = {"--device", "--type", "--size", "--seconds", "--elements", "--only"};
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
        if (result < 0) continue;
        if (strcmp(argv[i], "matmul") == 0)
            w->matmul = true;
        else if (strcmp(argv[i], "kernels") == 0)
            w->kernels = true;
        else
            return tool_fail(TOOL_USAGE,
                             argv[i][0] == '-' ? "unknown option '%s'"
                                               : "'%s' has nothing to tune: matmul and kernels have",
                             argv[i]);
    }
    if (!w->matmul && !w->kernels) *w = (wanted){true, true};
    return bench_options_check(o);
}

static int run(int argc, char **argv) {
    bench_options o = {.seconds = 30};
    wanted w = {false, false};
    const char *path = NULL;
    qn_context *context;
    int result = parse(argc, argv, &o, &w, &path);
    if (result) return result;
    const qn_status status = qn_context_create(&(qn_context_desc){.cpu_compile_first = true}, &context);
    if (status) return tool_fail(TOOL_RUN_FAILED, "%s", qn_status_text(status));
    const double seconds = o.seconds;
    o.seconds = measure_seconds;
    result = tune(&o, &w, seconds, path, context);
    qn_context_destroy(context);
    return result;
}

const tool_command tool_tune = {
    "tune", "search the best choices of shipped kernels on this device",
    "usage: quern tune [matmul] [kernels] [--device NAME] [--seconds S] [--out FILE] [--type T[,T...]] "
    "[--size "
    "MxNxK[,...]]\n"
    "                  [--only NAME[,...]] [--elements N]\n\n"
    "Measures, beginning with what the library chooses, other variants and numbers for products of matrices "
    "and for the\n"
    "calls of `quern bench kernels` that have a choice, and keeps what is quicker beyond the spread. Each "
    "line is a call:\n"
    "microseconds by the library's choice and by the one that was found, and their ratio. Results are "
    "verified.\n\n"
    "  matmul, kernels   these alone\n"
    "  --device NAME     on this device (the default one)\n"
    "  --seconds S       begin nothing new after so long (30); what is not reached stays as it is\n"
    "  --out FILE        write the choices, for qn_kernels_desc.tuning and `quern bench --tuning`; what the "
    "file says of\n"
    "                    other devices stays. Without, they are printed\n"
    "  --type T          of products: as of `quern bench`\n"
    "  --size MxNxK      these products alone\n"
    "  --only NAME       of `kernels` the rows whose names begin so\n"
    "  --elements N      of what `kernels` works on\n\n"
    "exit status: 0 done; 2 usage; 3 failure; 4 a result is wrong\n\n"
    "example: quern tune --device cuda --out h200.tuning\n",
    run};
