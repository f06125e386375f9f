/* What the backends share: the parts of a launch cover each work-item once, implicit arguments, local sizes, the
   copy of a program's kernels, print records and the cache's file, whole and damaged. */
#include "backend/common/common.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compile.h"

static qn__command launch_of(const uint64_t global[3], const uint32_t local[3]) {
    qn__command launch = {.kind = QN__COMMAND_LAUNCH, .work_dim = 3};
    for (int d = 0; d < 3; d++) {
        launch.global[d] = global[d];
        launch.local[d] = local[d];
        launch.offset[d] = (uint64_t)d * 1000;
    }
    return launch;
}

static const qn__implicit bases[] = {{QN__IMPLICIT_GLOBAL_BASE, 8, 0, 0},
                                     {QN__IMPLICIT_GLOBAL_BASE, 8, 1, 8},
                                     {QN__IMPLICIT_GLOBAL_BASE, 8, 2, 16},
                                     {QN__IMPLICIT_OVERHANG, 4, 0, 24}};

/* Runs a part as a device does: every work-item of every group, those past the end leave at once. */
static void cover(const qn__command *launch, const qn__part *part, uint8_t *seen, bool guarded) {
    const qn__kernel_info kernel = {.implicit = bases, .num_implicit = 4, .params_size = 32};
    const qn__implicit_addresses none = {0};
    unsigned char block[32];
    uint64_t base[3], id[3], items[3];
    uint32_t overhang;
    qn__params_fill(block, launch, &kernel, part, &none);
    memcpy(base, block, sizeof base);
    memcpy(&overhang, block + 24, sizeof overhang);
    for (int d = 0; d < 3; d++) items[d] = (uint64_t)part->groups[d] * part->local[d];
    for (id[2] = 0; id[2] < items[2]; id[2]++)
        for (id[1] = 0; id[1] < items[1]; id[1]++)
            for (id[0] = 0; id[0] < items[0]; id[0]++) {
                uint64_t at[3];
                bool out = false;
                for (int d = 0; d < 3; d++) {
                    at[d] = base[d] + id[d] - launch->offset[d];
                    if (overhang >> d & 1) out = out || at[d] >= launch->global[d];
                }
                if (out) {
                    assert_true(guarded);
                    continue;
                }
                for (int d = 0; d < 3; d++) assert_true(at[d] < launch->global[d]);
                seen[(at[2] * launch->global[1] + at[1]) * launch->global[0] + at[0]]++;
            }
}

static unsigned check_cover(const uint64_t global[3], const uint32_t local[3], bool guarded,
                            const uint32_t max_groups[3]) {
    const qn__command launch = launch_of(global, local);
    const qn__kernel_info kernel = {.guarded = guarded};
    uint64_t items = global[0] * global[1] * global[2];
    uint8_t *seen = calloc(1, items + 1);
    qn__parts parts;
    qn__part part;
    unsigned count = 0;
    assert_non_null(seen);
    qn__parts_begin(&parts, &launch, &kernel, max_groups);
    for (; qn__parts_next(&parts, &part); count++) {
        for (int d = 0; d < 3; d++) assert_in_range(part.groups[d], 1, max_groups[d]);
        cover(&launch, &part, seen, guarded);
    }
    for (uint64_t i = 0; i < items; i++) assert_int_equal(seen[i], 1);
    free(seen);
    return count;
}

static void parts_cover_each_item_once(void **state) {
    (void)state;
    static const uint64_t globals[][3] = {{1, 1, 1},  {7, 1, 1},   {64, 1, 1}, {65, 1, 1},
                                          {10, 9, 1}, {16, 17, 5}, {5, 7, 11}, {33, 1, 3}};
    static const uint32_t locals[][3] = {{1, 1, 1}, {4, 1, 1},  {64, 1, 1},
                                         {8, 3, 2}, {5, 7, 11}, {16, 16, 4}};
    static const uint32_t limits[][3] = {{1u << 31, 65535, 65535}, {3, 2, 1}, {1, 1, 1}};
    for (size_t g = 0; g < QN__COUNT(globals); g++)
        for (size_t l = 0; l < QN__COUNT(locals); l++)
            for (size_t m = 0; m < QN__COUNT(limits); m++) {
                check_cover(globals[g], locals[l], true, limits[m]);
                check_cover(globals[g], locals[l], false, limits[m]);
            }
}

static void parts_are_as_few_as_can_be(void **state) {
    (void)state;
    static const uint32_t many[3] = {1u << 31, 65535, 65535}, two[3] = {2, 2, 2}, local[3] = {4, 4, 4};
    static const uint64_t even[3] = {16, 8, 4}, uneven[3] = {17, 9, 5}, row[3] = {17, 4, 4};
    assert_int_equal(check_cover(even, local, true, many), 1);
    assert_int_equal(check_cover(even, local, false, many), 1);
    assert_int_equal(check_cover(uneven, local, true, many), 1);
    assert_int_equal(check_cover(uneven, local, false, many), 8);
    assert_int_equal(check_cover(row, local, false, many), 2);
    assert_int_equal(check_cover(even, local, true, two), 2);
}

static void nothing_has_no_parts(void **state) {
    (void)state;
    static const uint64_t global[3] = {0, 1, 1};
    static const uint32_t local[3] = {1, 1, 1}, many[3] = {1, 1, 1};
    assert_int_equal(check_cover(global, local, true, many), 0);
}

/* 2^40 items are counted without running them. */
static void huge_launches_are_cut(void **state) {
    (void)state;
    const qn__command launch =
        launch_of((const uint64_t[]){(uint64_t)1 << 40, 3, 1}, (const uint32_t[]){256, 2, 1});
    const qn__kernel_info kernel = {.guarded = true};
    qn__parts parts;
    qn__part part;
    uint64_t groups = 0;
    qn__parts_begin(&parts, &launch, &kernel, (const uint32_t[]){(1u << 31) - 1, 65535, 65535});
    while (qn__parts_next(&parts, &part)) {
        groups += (uint64_t)part.groups[0] * part.groups[1];
        assert_int_equal(part.overhang, 2);
        assert_true((uint64_t)part.groups[0] * part.local[0] <= INT32_MAX);
    }
    assert_int_equal(groups, ((uint64_t)1 << 32) * 2);
}

static void hidden_values(void **state) {
    (void)state;
    const qn__binding bindings[] = {{.param = 1, .offset = 64}, {.param = 3, .offset = 4096}};
    qn__command launch = launch_of((const uint64_t[]){100, 20, 3}, (const uint32_t[]){32, 4, 1});
    launch.bindings = bindings;
    launch.num_bindings = 2;
    const qn__part part = {{1, 5, 3}, {4, 4, 1}, {3, 0, 0}, 5};
    const qn__implicit_addresses addresses = {0xABCD, 0x1234};
    const struct {
        uint8_t kind;
        uint16_t dim;
        uint64_t value;
    } rows[] = {{QN__IMPLICIT_GLOBAL_BASE, 0, 96},    {QN__IMPLICIT_GLOBAL_BASE, 1, 1000},
                {QN__IMPLICIT_GLOBAL_SIZE, 1, 20},    {QN__IMPLICIT_GLOBAL_OFFSET, 2, 2000},
                {QN__IMPLICIT_GROUP_BASE, 0, 3},      {QN__IMPLICIT_NUM_GROUPS, 0, 4},
                {QN__IMPLICIT_NUM_GROUPS, 1, 5},      {QN__IMPLICIT_ENQUEUED_SIZE, 0, 32},
                {QN__IMPLICIT_WORK_DIM, 0, 3},        {QN__IMPLICIT_OVERHANG, 0, 5},
                {QN__IMPLICIT_PRINT, 0, 0xABCD},      {QN__IMPLICIT_CONSTANTS, 0, 0x1234},
                {QN__IMPLICIT_BUFFER_OFFSET, 1, 64},  {QN__IMPLICIT_BUFFER_OFFSET, 2, 0},
                {QN__IMPLICIT_BUFFER_OFFSET, 3, 4096}};
    for (size_t i = 0; i < QN__COUNT(rows); i++) {
        const qn__implicit implicit = {rows[i].kind, 8, rows[i].dim, 0};
        assert_int_equal(qn__implicit_value(&implicit, &launch, &part, &addresses), rows[i].value);
    }
}

static void parameters_lie_behind_the_arguments(void **state) {
    (void)state;
    const unsigned char args[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const qn__implicit implicit[] = {{QN__IMPLICIT_WORK_DIM, 4, 0, 16}, {QN__IMPLICIT_GLOBAL_SIZE, 8, 0, 24}};
    const qn__kernel_info kernel = {
        .params_size = 32, .args_size = 12, .implicit = implicit, .num_implicit = QN__COUNT(implicit)};
    qn__command launch = launch_of((const uint64_t[]){0x1122334455, 1, 1}, (const uint32_t[]){1, 1, 1});
    launch.args = args;
    launch.args_size = sizeof args;
    unsigned char block[33];
    memset(block, 0xEE, sizeof block);
    qn__params_fill(block, &launch, &kernel, &(qn__part){0}, &(qn__implicit_addresses){0});
    static const unsigned char wanted[33] = {1,  2, 3,    4,    5,    6,    7,    8, 9, 10, 11,
                                             12, 0, 0,    0,    0,    3,    0,    0, 0, 0,  0,
                                             0,  0, 0x55, 0x44, 0x33, 0x22, 0x11, 0, 0, 0,  0xEE};
    assert_memory_equal(block, wanted, sizeof block);
}

/* ---- local sizes ---- */

static void local_sizes(void **state) {
    (void)state;
    static const uint32_t max_local[3] = {1024, 1024, 64};
    static const struct {
        uint64_t global[3];
        uint32_t work_dim;
        bool guarded;
        uint32_t local[3];
    } rows[] = {
        {{1 << 20, 1, 1}, 1, true, {256, 1, 1}}, {{1 << 20, 1, 1}, 1, false, {256, 1, 1}},
        {{1000003, 1, 1}, 1, true, {256, 1, 1}}, {{1, 1, 1}, 1, true, {1, 1, 1}},
        {{100000, 1, 1}, 1, true, {160, 1, 1}},  {{100000, 1, 1}, 1, false, {160, 1, 1}},
        {{4096, 1, 1}, 1, true, {64, 1, 1}},     {{50, 1, 1}, 1, true, {50, 1, 1}},
        {{1920, 1080, 1}, 2, true, {32, 8, 1}},  {{1920, 1080, 1}, 2, false, {32, 8, 1}},
        {{1008, 1008, 1}, 2, true, {16, 16, 1}}, {{1001, 999, 1}, 2, true, {32, 8, 1}},
        {{10, 100000, 1}, 2, true, {10, 25, 1}}, {{128, 128, 128}, 3, true, {32, 8, 1}},
        {{1, 1, 1 << 20}, 3, true, {1, 1, 64}},
    };
    for (size_t i = 0; i < QN__COUNT(rows); i++) {
        uint32_t local[3];
        qn__choose_local(rows[i].global, rows[i].work_dim, rows[i].guarded, 1024, 32, max_local, local);
        if (memcmp(local, rows[i].local, sizeof local))
            fail_msg("row %zu: %u,%u,%u", i, (unsigned)local[0], (unsigned)local[1], (unsigned)local[2]);
    }
}

static void local_sizes_obey_every_limit(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 200000; i++) {
        uint64_t global[3] = {1, 1, 1};
        uint32_t max_local[3], local[3], draw[10];
        for (int k = 0; k < 10; k++) draw[k] = (uint32_t)((seed = seed * 6364136223846793005u + 1) >> 33);
        uint32_t work_dim = draw[0] % 3 + 1, most = 1 + draw[1] % (1u << draw[2] % 11);
        uint32_t wide = draw[3] % 2 ? 32 : draw[3] % 64;
        for (uint32_t d = 0; d < 3; d++) {
            if (d < work_dim) global[d] = draw[4 + d] % (1u << draw[7] % 24) + 1;
            max_local[d] = 1 + draw[8] % (1u << draw[9] % 11);
        }
        qn__choose_local(global, work_dim, i & 1, most, wide, max_local, local);
        uint64_t items = 1;
        for (int d = 0; d < 3; d++) {
            assert_in_range(local[d], 1, max_local[d]);
            assert_true(local[d] <= global[d]);
            items *= local[d];
        }
        assert_true(items <= most);
    }
}

/* ---- print records ---- */

typedef struct printed {
    char text[5000];
    size_t length;
    int warnings;
} printed;

static void take_text(void *user, const char *text, size_t size) {
    printed *p = user;
    assert_true(p->length + size < sizeof p->text);
    memcpy(p->text + p->length, text, size);
    p->length += size;
    p->text[p->length] = 0;
}

static void count_warning(void *user, qn_log_level level, const char *message) {
    (void)message;
    ((printed *)user)->warnings += level == QN_LOG_WARNING;
}

static const char *no_string(void *user, uint64_t word) {
    (void)user, (void)word;
    return NULL;
}

typedef struct records {
    uint32_t words[64]; /* capacity, asked, records */
} records;

static void add_record(records *r, uint32_t format, const void *values, uint32_t size) {
    uint32_t *at = r->words + 2 + r->words[1] / 4, length = 8 + (size + 7) / 8 * 8;
    at[0] = length;
    at[1] = format;
    memcpy(at + 2, values, size);
    r->words[1] += length;
}

static printed print_all(const records *r, uint64_t size) {
    static const char *const strings[] = {"%d %s\n", "hello", NULL, "%v2hlf!"};
    const qn__code_info code = {.strings = strings, .num_strings = 4};
    printed out = {0};
    const qn__services services = {
        .log = count_warning, .log_user = &out, .print = take_text, .print_user = &out};
    qn__print_records(&services, &code, (const unsigned char *)r, size);
    return out;
}

static void records_are_printed(void **state) {
    (void)state;
    records r = {{sizeof r.words - 8}};
    const uint32_t first[] = {(uint32_t)-7, 0, 2, 1}, second[] = {8, 0, 0, 9};
    const float pair[] = {1.5f, -2};
    add_record(&r, 0, first, sizeof first);   /* "hello" from its third character on */
    add_record(&r, 0, second, sizeof second); /* a string that is not there */
    add_record(&r, 3, pair, sizeof pair);
    printed out = print_all(&r, sizeof r);
    assert_string_equal(out.text, "-7 llo\n8 (null)\n1.500000,-2.000000!");
    assert_int_equal(out.warnings, 0);
}

static void lost_records_are_said(void **state) {
    (void)state;
    records r = {{24}};
    const uint32_t values[] = {1, 0, 0, 1};
    add_record(&r, 0, values, sizeof values);
    r.words[1] += 24; /* a second one asked for its place in vain */
    printed out = print_all(&r, sizeof r);
    assert_string_equal(out.text, "1 hello\n");
    assert_int_equal(out.warnings, 1);
}

/* Whatever a device leaves in the buffer, nothing outside it is read (run under a sanitizer). */
static void damaged_records_end_the_list(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (int i = 0; i < 100000; i++) {
        records *r = malloc(sizeof *r);
        assert_non_null(r);
        for (size_t k = 0; k < QN__COUNT(r->words); k++) {
            seed = seed * 6364136223846793005u + 1;
            uint32_t word = (uint32_t)(seed >> 33), small = word >> 8;
            r->words[k] = word % 4 ? small % 8 * (word % 3 ? 8 : 1) : word;
        }
        print_all(r, i % 3 ? sizeof *r : (uint64_t)i % sizeof *r);
        free(r);
    }
}

/* Two billion blanks would keep the C library busy for minutes (the test, for as long). */
static void widths_are_bounded(void **state) {
    (void)state;
    static const char *const formats[] = {"%2000000000d",
                                          "%-99999999999999999999d|",
                                          "%.2000000000d",
                                          "%+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+5.2d|",
                                          "%02000000000.2000000000d",
                                          "%2000000000s"};
    static const size_t lengths[] = {4095, 4095 + 1, 4095, 6, 4095, 4095};
    static const uint64_t values[1] = {0};
    for (size_t i = 0; i < QN__COUNT(formats); i++) {
        printed out = {0};
        const qn__services services = {.print = take_text, .print_user = &out};
        const int32_t result = qn__print_call(&services, formats[i], (const unsigned char *)values,
                                              sizeof values, no_string, NULL);
        assert_int_equal(result, 0);
        assert_int_equal(out.length, lengths[i]);
    }
}

/* ---- the cache's file ---- */

static void damaged_files_are_refused(void **state) {
    (void)state;
    const qn__section sections[QN__MAX_SECTIONS] = {{"image", 5}, {NULL, 0}, {"more", 4}};
    qn__section got[QN__MAX_SECTIONS];
    size_t size;
    unsigned char *file = qn__code_file_pack(NULL, sections, &size);
    assert_non_null(file);
    assert_true(qn__code_file_unpack(file, size, got));
    for (int i = 0; i < QN__MAX_SECTIONS; i++) {
        assert_int_equal(got[i].size, sections[i].size);
        if (got[i].size) assert_memory_equal(got[i].data, sections[i].data, got[i].size);
    }
    assert_ptr_equal(got[0].data, file);
    for (size_t bit = 0; bit < size * 8; bit++) {
        file[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_false(qn__code_file_unpack(file, size, got));
        file[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    for (size_t cut = 1; cut <= size; cut++) {
        assert_false(qn__code_file_unpack(file, size - cut, got));
        assert_false(qn__code_file_unpack(file + cut, size - cut, got));
    }
    qn__release(NULL, file);
}

/* ---- hardware ---- */

static void gpus_leave_traces(void **state) {
    (void)state;
    static const struct {
        const char *folder, *file;
        bool is_gpu;
    } cases[] = {{"dev/dri", "renderD129", true}, {"dev", "nvidia0", true},    {"dev", "dxg", true},
                 {"proc/driver", "nvidia", true}, {"dev/dri", "card0", false}, /* a screen and no more */
                 {"dev", "null", false}};
    for (size_t i = 0; i < QN__COUNT(cases); i++) {
        char root[] = "/tmp/quern-hardware-XXXXXX", text[256];
        assert_non_null(mkdtemp(root));
        assert_false(qn__may_have_gpu(root));
        snprintf(text, sizeof text, "mkdir -p %s/%s && touch %s/%s/%s", root, cases[i].folder, root,
                 cases[i].folder, cases[i].file);
        assert_int_equal(system(text), 0);
        assert_int_equal(qn__may_have_gpu(root), cases[i].is_gpu);
        snprintf(text, sizeof text, "rm -r %s", root);
        assert_int_equal(system(text), 0);
    }
}

/* ---- libraries ---- */

static void missing_libraries_are_named(void **state) {
    (void)state;
    char why[QN__WHY] = "";
    assert_null(qn__library_open((const char *const[]){"libnothing-there.so.1", "libneither.so", NULL}, why));
    assert_string_equal(why, "libnothing-there.so.1 is not installed");
    void *library = qn__library_open((const char *const[]){"libneither.so", "libm.so.6", NULL}, why);
    assert_non_null(library);
    struct functions {
        double (*sqrt)(double);
        void (*nothing)(void);
    } functions;
    const qn__symbol symbols[] = {{"sqrt", offsetof(struct functions, sqrt), false},
                                  {"no_such_function", offsetof(struct functions, nothing), true}};
    assert_true(qn__library_symbols(library, symbols, 2, &functions, why));
    assert_true(functions.sqrt(81) == 9);
    assert_null(functions.nothing);
    const qn__symbol wanted = {"no_such_function", offsetof(struct functions, nothing), false};
    assert_false(qn__library_symbols(library, &wanted, 1, &functions, why));
    assert_string_equal(why, "the driver is too old: it has no no_such_function");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_cover_each_item_once),
        cmocka_unit_test(parts_are_as_few_as_can_be),
        cmocka_unit_test(nothing_has_no_parts),
        cmocka_unit_test(huge_launches_are_cut),
        cmocka_unit_test(hidden_values),
        cmocka_unit_test(parameters_lie_behind_the_arguments),
        cmocka_unit_test(local_sizes),
        cmocka_unit_test(local_sizes_obey_every_limit),
        cmocka_unit_test(records_are_printed),
        cmocka_unit_test(lost_records_are_said),
        cmocka_unit_test(damaged_records_end_the_list),
        cmocka_unit_test(widths_are_bounded),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(gpus_leave_traces),
        cmocka_unit_test(missing_libraries_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
