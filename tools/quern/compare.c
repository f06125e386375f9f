/* quern run --compare: the same launch on several devices, one table of times and of the largest differences of results. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

static double component(const tool_arg *arg, const unsigned char *data, uint64_t index) {
    const unsigned size = tool_type_scalar_size(arg->type.type), lanes = arg->type.lanes;
    const uint64_t places = lanes == 3 ? 4 : lanes;
    return tool_value_get(data + (index / lanes * places + index % lanes) * size, arg->type.type);
}

static bool is_within(double a, double b, double tolerance) {
    const double distance = fabs(a - b);
    return a == b || (isnan(a) && isnan(b)) || distance <= tolerance || distance <= tolerance * fabs(a);
}

static difference compare(const tool_arg *arg, const unsigned char *wanted, const unsigned char *got,
                          double tolerance) {
    difference d = {0};
    if (memcmp(wanted, got, arg->size) == 0) return d;
    const uint64_t count = arg->size / tool_type_size(arg->type) * arg->type.lanes;
    for (uint64_t i = 0; i < count; i++) {
        const double a = component(arg, wanted, i), b = component(arg, got, i);
        if (is_within(a, b, 0)) continue;
        const double distance = isnan(a) || isnan(b) ? INFINITY : fabs(a - b);
        if (distance > d.largest) d.largest = distance;
        if (!d.is_beyond && !is_within(a, b, tolerance)) d.is_beyond = true, d.place = i;
    }
    return d;
}

static void print_head(const comparison *c) {
    printf("%-12s %14s", "device", "kernel");
    for (size_t i = 0; i < c->num_outputs; i++) printf(" %14s", c->outputs[i].name);
    putchar('\n');
}

static void print_row(const comparison *c, size_t device, const difference *differences) {
    printf("%-12s %11.3f us", c->rows[device].device, c->rows[device].median_ns / 1e3);
    for (size_t i = 0; i < c->num_outputs; i++)
        if (device == 0)
            printf(" %14s", "reference");
        else
            printf(" %14.6g", differences[i].largest);
    putchar('\n');
}

int comparison_print(const comparison *c, double tolerance) {
    int result = TOOL_OK;
    difference *differences = tool_alloc((c->num_outputs + 1) * sizeof *differences);
    print_head(c);
    for (size_t row = 0; row < c->num_rows; row++) {
        for (size_t i = 0; i < c->num_outputs && row; i++)
            differences[i] = compare(c->outputs[i].arg, c->rows[0].data[i], c->rows[row].data[i], tolerance);
        print_row(c, row, differences);
        for (size_t i = 0; i < c->num_outputs && row; i++) {
            if (!differences[i].is_beyond) continue;
            const tool_arg *arg = c->outputs[i].arg;
            const uint64_t at = differences[i].place;
            fflush(stdout);
            result =
                tool_fail(TOOL_DIFFERENT, "'%s' of %s differs from that of %s: number %llu is %.9g, not %.9g",
                          c->outputs[i].name, c->rows[row].device, c->rows[0].device, (unsigned long long)at,
                          component(arg, c->rows[row].data[i], at), component(arg, c->rows[0].data[i], at));
        }
    }
    free(differences);
    return result;
}

bool comparison_differs(const comparison *c, double tolerance, const char *what) {
    const size_t row = c->num_rows - 1;
    for (size_t i = 0; i < c->num_outputs; i++) {
        const tool_arg *arg = c->outputs[i].arg;
        const difference d = compare(arg, c->rows[0].data[i], c->rows[row].data[i], tolerance);
        if (!d.is_beyond) continue;
        tool_fail(TOOL_DIFFERENT, "%s '%s' differs: number %llu is %.9g, not %.9g", what, c->outputs[i].name,
                  (unsigned long long)d.place, component(arg, c->rows[row].data[i], d.place),
                  component(arg, c->rows[0].data[i], d.place));
        return true;
    }
    return false;
}

void comparison_drop_last(comparison *c) {
    c->num_rows--;
    for (size_t i = 0; i < c->num_outputs; i++) free(c->rows[c->num_rows].data[i]);
}

void comparison_free(comparison *c) {
    while (c->num_rows) comparison_drop_last(c);
}
