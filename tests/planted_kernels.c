/* Random kernels, each with one fault planted in it: the checker finds the faults that can show, and nothing in the kernels
   as they were. Whether a fault can show is not the checker's word. Another form of the kernel, which is right, tells it when it is
   interpreted: an index was too far; accesses of two work-items to one word have no barrier between them, by a list of all of
   them; results differ with what is in memory that nobody has written. */
#include <quern/check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random_launch.h"

enum {
    TEXT_SIZE = 1 << 20,
    STATEMENTS = 80,
    MOST_TRIES = 8,
    LOG = 1024,
    EVIDENCE_COUNT = LOG * (RANDOM_ITEMS + 1),
    FEATURES = RANDOM_F64 | RANDOM_GENERIC, /* sub-groups have other sizes on other devices */
    PER_CENT = 95
};

static const struct {
    const char *name, *why_not; /* why it does not show, where it does not */
    qn_finding_kind finding;
} faults[RANDOM_FAULTS] = {
    [RANDOM_NO_BARRIER] = {"a barrier left out", "no two work-items are in one word at a time",
                           QN_FINDING_RACE},
    [RANDOM_FAR_INDEX] = {"an index one too far", "no index is the last one, or none is reached",
                          QN_FINDING_OUT_OF_BOUNDS},
    [RANDOM_NO_VALUE] = {"a missing initialisation", "no result depends on it", QN_FINDING_UNINITIALISED},
    [RANDOM_NO_ATOMIC] = {"an atomic made plain", "it is not reached", QN_FINDING_RACE},
};

typedef struct tally {
    unsigned planted, showing, found, found_others;
} tally;

typedef struct setup {
    qn_context *context;
    qn_device *interpreter, *checker;
    char *text;
    bool failed;
} setup;

static void complain(setup *s, unsigned long long seed, const char *what) {
    printf("seed %llu: %s: %s\n", seed, what, qn_error_message(s->context));
    s->failed = true;
}

/* ---- running one kernel ---- */

/* The kernel's text, with a plant or without; false: it is too long. */
static bool make_text(setup *s, unsigned long long seed, random_plant *plant) {
    const bool tells = plant && plant->form == RANDOM_EVIDENCE;
    snprintf(s->text, TEXT_SIZE, "%s%s", random_prelude, tells ? random_evidence_prelude : "");
    return random_kernel(s->text, TEXT_SIZE, "k", seed, STATEMENTS, FEATURES, NULL, plant) != 0;
}

static qn_status launch(qn_device *device, qn_kernel *kernel, unsigned long long seed, uint32_t *out,
                        uint32_t *evidence) {
    int32_t ints[RANDOM_INPUTS];
    float floats[RANDOM_INPUTS];
    qn_buffer *buffers[4] = {NULL};
    random_inputs(ints, floats);
    memset(out, 0, RANDOM_OUT_COUNT * sizeof *out);
    const qn_buffer_desc descs[] = {{.size = RANDOM_OUT_COUNT * sizeof *out, .data = out},
                                    {.size = sizeof ints, .data = ints},
                                    {.size = sizeof floats, .data = floats},
                                    {.size = EVIDENCE_COUNT * sizeof *evidence}};
    const unsigned count = evidence ? 4 : 3;
    qn_arg args[5];
    qn_status status = QN_OK;
    for (unsigned i = 0; i < count && !status; i++) {
        status = qn_buffer_create(device, &descs[i], &buffers[i]);
        args[i < 3 ? i : 4] = qn_arg_buffer(buffers[i]);
    }
    const int32_t n = 29;
    args[3] = qn_arg_bytes(&n, sizeof n);
    const qn_range range = random_range(seed);
    if (!status) status = qn_launch(NULL, kernel, &range, args, count + 1);
    if (!status) status = qn_buffer_read(buffers[0], 0, out, RANDOM_OUT_COUNT * sizeof *out);
    if (!status && evidence)
        status = qn_buffer_read(buffers[3], 0, evidence, EVIDENCE_COUNT * sizeof *evidence);
    for (unsigned i = 0; i < count; i++) qn_buffer_destroy(buffers[i]);
    return status;
}

static bool run(setup *s, qn_device *device, unsigned long long seed, unsigned garbage, uint32_t *out,
                uint32_t *evidence) {
    char options[160];
    qn_program *program = NULL;
    qn_kernel *kernel = NULL;
    snprintf(options, sizeof options, "%s -DLOG=%d -DGARBAGE=%u", random_options, LOG, garbage);
    qn_status status = qn_program_create(
        device, &(qn_program_desc){.source = s->text, .path = "planted.cl", .options = options}, &program);
    if (!status) status = qn_kernel_create(program, "k", &kernel);
    if (!status) status = launch(device, kernel, seed, out, evidence);
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
    if (status) complain(s, seed, device == s->checker ? "the checker" : "the interpreter");
    return !status;
}

/* ---- whether a fault can show ---- */

typedef struct note {
    uint32_t group, epoch_and_place, item;
    random_access kind;
} note;

static int compare_notes(const void *a, const void *b) {
    const note *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->epoch_and_place != y->epoch_and_place) return x->epoch_and_place < y->epoch_and_place ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

/* Of notes of one group, word and stretch between barriers: two work-items, of which one writes, or is atomic where the other is
   not. */
static bool conflict(const note *notes, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++) {
            const random_access a = notes[i].kind, b = notes[k].kind;
            const bool is_fine = a == b && a != RANDOM_WRITE;
            if (notes[i].item != notes[k].item && !is_fine) return true;
        }
    return false;
}

static uint32_t group_of(const qn_range *range, uint32_t item) {
    const uint32_t width = (uint32_t)range->global[0], x = item % width, y = item / width;
    const uint32_t across = (width + range->local[0] - 1) / range->local[0];
    return y / (range->local[1] ? range->local[1] : 1) * across + x / range->local[0];
}

static bool has_race(unsigned long long seed, const uint32_t *evidence) {
    static note notes[EVIDENCE_COUNT];
    const qn_range range = random_range(seed);
    size_t count = 0;
    for (uint32_t item = 0; item < RANDOM_ITEMS; item++) {
        const uint32_t *log = evidence + (size_t)LOG * (item + 1);
        for (uint32_t k = 1; k <= log[0]; k++)
            notes[count++] = (note){group_of(&range, item), log[k] & 0xffff00ffu, item,
                                    (random_access)(log[k] >> 8 & 0xff)};
    }
    qsort(notes, count, sizeof *notes, compare_notes);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin; end < count && notes[end].group == notes[begin].group &&
                          notes[end].epoch_and_place == notes[begin].epoch_and_place;)
            end++;
        if (conflict(notes + begin, end - begin)) return true;
    }
    return false;
}

/* The text is the kernel's that tells. */
static bool can_show(setup *s, unsigned long long seed, random_fault fault) {
    static const unsigned garbage[] = {0, 0x5a5a5a5a, 77, 0xffffffff};
    static uint32_t evidence[EVIDENCE_COUNT], out[2][RANDOM_OUT_COUNT];
    if (!run(s, s->interpreter, seed, garbage[0], out[0], evidence)) return false;
    if (evidence[1]) {
        complain(s, seed, "LOG is too small");
        return false;
    }
    if (fault == RANDOM_FAR_INDEX) return evidence[0] != 0;
    if (fault != RANDOM_NO_VALUE) return has_race(seed, evidence);
    for (size_t i = 1; i < sizeof garbage / sizeof *garbage; i++) {
        if (!run(s, s->interpreter, seed, garbage[i], out[1], evidence)) return false;
        if (memcmp(out[0], out[1], sizeof out[0]) != 0) return true;
    }
    return false;
}

/* ---- what the checker says ---- */

static bool finds(setup *s, unsigned long long seed, qn_finding_kind kind) {
    static uint32_t out[RANDOM_OUT_COUNT];
    qn_finding finding;
    qn_check_clear(s->checker);
    if (!run(s, s->checker, seed, 0, out, NULL)) return false;
    for (uint32_t i = 0; i < qn_check_count(s->checker); i++)
        if (!qn_check_get(s->checker, i, &finding) && (finding.kind == kind || kind == QN_FINDING_NONE))
            return true;
    return false;
}

static bool is_clean(setup *s, unsigned long long seed) {
    qn_finding finding;
    if (!make_text(s, seed, NULL)) return false;
    if (!finds(s, seed, QN_FINDING_NONE)) return true;
    qn_check_get(s->checker, 0, &finding);
    printf("seed %llu, without a fault: %s", seed, finding.text);
    s->failed = true;
    return false;
}

static unsigned choose(unsigned long long seed, unsigned places) {
    const unsigned long long mixed = (seed + 1) * 0x9e3779b97f4a7c15u;
    return (unsigned)((mixed >> 32) % places);
}

/* At the first of some places where it can show, or at the last of them; false: the kernel has no place for it. */
static bool choose_place(setup *s, unsigned long long seed, random_plant *p, bool *shows) {
    *p = (random_plant){.fault = p->fault, .form = RANDOM_EVIDENCE, .at = UINT32_MAX};
    /* The barrier that all kernels have orders nothing where there is no other. */
    if (!make_text(s, seed, p) || p->places < (p->fault == RANDOM_NO_BARRIER ? 2 : 1)) return false;
    const unsigned places = p->places, first = choose(seed, places);
    *shows = false;
    for (unsigned k = 0; k < MOST_TRIES && k < places && !*shows && !s->failed; k++) {
        p->at = (first + k) % places;
        make_text(s, seed, p);
        *shows = can_show(s, seed, p->fault);
    }
    return true;
}

static bool plant(setup *s, unsigned long long seed, random_fault fault, tally *t) {
    random_plant p = {.fault = fault};
    bool shows;
    if (!choose_place(s, seed, &p, &shows)) return false;
    p.form = RANDOM_FAULT;
    make_text(s, seed, &p);
    const bool found = finds(s, seed, faults[fault].finding);
    t->planted++;
    t->showing += shows;
    t->found += shows && found;
    t->found_others += !shows && found;
    if (shows && !found)
        printf("seed %llu: %s is not found (planted_kernels --first %llu --fault %d --show)\n", seed,
               faults[fault].name, seed, (int)fault);
    return true;
}

static bool report(const tally *tallies) {
    bool fine = true;
    for (int f = 0; f < RANDOM_FAULTS; f++) {
        const tally *t = &tallies[f];
        printf("%s: %u planted, %u can show, %u of these found", faults[f].name, t->planted, t->showing,
               t->found);
        printf("; %u cannot: %s", t->planted - t->showing, faults[f].why_not);
        printf(t->found_others ? " (%u found all the same)\n" : "\n", t->found_others);
        fine &= t->found * 100 >= t->showing * PER_CENT && (t->showing || !t->planted);
    }
    return fine;
}

/* ---- the command line ---- */

typedef struct options {
    unsigned long long first;
    unsigned count;
    int fault; /* negative: all */
    bool show;
} options;

/* `count` kernels, as many of each fault. */
static void run_all(setup *s, const options *o, tally *tallies) {
    const unsigned each = o->fault < 0 ? (o->count + RANDOM_FAULTS - 1) / RANDOM_FAULTS : o->count;
    bool more = true;
    for (unsigned long long seed = o->first; more && !s->failed; seed++) {
        bool is_known = false;
        more = false;
        for (int f = 0; f < RANDOM_FAULTS; f++) {
            if ((o->fault >= 0 && f != o->fault) || tallies[f].planted >= each) continue;
            more = true;
            if (!plant(s, seed, (random_fault)f, &tallies[f]) || is_known) continue;
            is_known = true;
            is_clean(s, seed);
        }
    }
}

/* Both forms of the first kernel. */
static void show(setup *s, const options *o) {
    random_plant p = {.fault = (random_fault)(o->fault < 0 ? 0 : o->fault)};
    bool shows;
    if (!choose_place(s, o->first, &p, &shows)) return;
    for (int form = 0; form < 2; form++) {
        p.form = (random_form)form;
        make_text(s, o->first, &p);
        puts(s->text);
    }
}

static bool read_options(options *o, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--show") == 0) {
            o->show = true;
            continue;
        }
        if (strcmp(argv[i], "--first") == 0)
            o->first = strtoull(value, NULL, 0);
        else if (strcmp(argv[i], "--count") == 0)
            o->count = (unsigned)strtoul(value, NULL, 0);
        else if (strcmp(argv[i], "--fault") == 0)
            o->fault = (int)strtoul(value, NULL, 0) % RANDOM_FAULTS;
        else
            return false;
        i++;
    }
    return true;
}

int main(int argc, char **argv) {
    options o = {.first = 1, .count = 40, .fault = -1};
    setup s = {.text = malloc(TEXT_SIZE)};
    tally tallies[RANDOM_FAULTS] = {{0}};
    if (!read_options(&o, argc, argv)) {
        fputs("usage: planted_kernels [--first SEED] [--count N] [--fault 0..3] [--show]\n", stderr);
        return 2;
    }
    const qn_context_desc desc = {.disable_cache = true, .cpu_threads = 1, .cpu_compiler = "none"};
    if (!s.text || qn_context_create(&desc, &s.context)) return 1;
    if (qn_device_get(s.context, "cpu", &s.interpreter) || qn_device_get(s.context, "check", &s.checker)) {
        complain(&s, 0, "devices");
    } else if (o.show) {
        show(&s, &o);
    } else {
        run_all(&s, &o, tallies);
        if (!report(tallies)) s.failed = true;
    }
    qn_context_destroy(s.context);
    free(s.text);
    return s.failed;
}
