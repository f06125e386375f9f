/* Kernels of one operation or one idiom each (op_source.h), the same on a device, at two levels of optimisation, as in
   the interpreter, which is the definition: many kernels a program, all in one process, so that thousands take
   minutes on a device whose driver compiles slowly. Or the same kernels as files, for tools that look at them. */
#include <quern/quern.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op_source.h"

enum {
    ITEMS = 64,
    ROOM = (ITEMS + OP_GROUP) * OP_MOST_LANES * 8, /* bytes of a buffer; a little is read behind the items */
    MOST_BATCH = 256,
    SKIPPED = 77
};

typedef struct options {
    const char *device, *write, *cl_options;
    unsigned families, count, batch, every, offset;
    uint64_t seed;
    long only; /* the number of the one kernel to look at; -1: all */
    bool quiet;
} options;

static const char help[] =
    "op_kernels: each operation with each type and number of lanes, and idioms of small integers, on a "
    "device\n"
    "against the interpreter\n"
    "usage: op_kernels [--device NAME] [--family NAME[,NAME...]] [--seed N] [--count N] [--every N] "
    "[--offset N]\n"
    "                  [--batch N] [--only N] [--options TEXT] [--write FOLDER]\n"
    "  --device NAME    the device (cpu)\n"
    "  --family NAMES   arithmetic, conversions, memory, idioms, random (all of them)\n"
    "  --seed N         of the first random expression (1)\n"
    "  --count N        how many random expressions (256)\n"
    "  --every N        take each N-th kernel only (1), beginning with --offset (0)\n"
    "  --batch N        kernels in a program (64)\n"
    "  --only N         the kernel of this number alone, its text and all that differs\n"
    "  --options TEXT   compile options on top, such as -qn-tune=WORD\n"
    "  --write FOLDER   write the programs as files and run nothing\n";

/* ---- input ---- */

static uint32_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint32_t x = (uint32_t)(*state >> 33);
    return x ^ x >> 15;
}

/* Values at the ends of the range and near zero, and any. */
static uint64_t some_integer(uint64_t *state, unsigned bits) {
    uint64_t any =
        (uint64_t)next_random(state) << 33 ^ (uint64_t)next_random(state) << 11 ^ next_random(state);
    uint64_t sign = (uint64_t)1 << (bits - 1);
    switch (next_random(state) % 8) {
    case 0: return next_random(state) % 9;
    case 1: return (uint64_t)0 - next_random(state) % 9;
    case 2: return sign - 3 + next_random(state) % 6;
    case 3: return (uint64_t)1 << next_random(state) % bits;
    default: return any;
    }
}

/* No denormal numbers: those are the kernel tests' matter. */
static uint64_t some_float(uint64_t *state, op_kind kind) {
    static const uint16_t halves[] = {0,      0x8000, 0x3c00, 0xbc00, 0x3800, 0x3e00, 0x4100, 0xc100,
                                      0x7c00, 0xfc00, 0x7e00, 0x5bf8, 0x5c00, 0x7bff, 0x57ff, 0xc900};
    static const float floats[] = {0.0f, -0.0f, 1.0f,   -1.0f,  0.5f,    1.5f, 2.5f,  -2.5f,
                                   0,    0,     127.5f, 255.0f, 65504.f, 3e9f, 1e20f, -1e20f};
    static const uint32_t odd[] = {0x7f800000, 0xff800000, 0x7fc00000, 0x7fc00000};
    unsigned edge = next_random(state) % 64;
    uint32_t bits = 0, any = next_random(state);
    if (edge < 16 && kind == OP_HALF) return halves[edge];
    if (kind == OP_HALF) return (any & 0x83ff) | (12 + any / 65536 % 7) << 10;
    if (edge < 16) memcpy(&bits, &floats[edge], sizeof bits);
    if (edge < 4 + 16 && edge >= 16) bits = odd[edge - 16];
    if (edge >= 20) bits = (any & 0x807fffff) | (117 + next_random(state) % 21) << 23;
    if (kind == OP_FLOAT) return bits;
    float single;
    memcpy(&single, &bits, sizeof single);
    double twice = single;
    uint64_t result;
    memcpy(&result, &twice, sizeof result);
    return edge >= 20 ? result | (next_random(state) & 0x1fffffff) : result;
}

static void fill(unsigned char *data, op_kind kind, unsigned which) {
    uint64_t state = kind * 31 + which * 7 + 1;
    for (unsigned at = 0, size = op_size(kind); at < ROOM; at += size) {
        uint64_t value = op_is_float(kind) ? some_float(&state, kind) : some_integer(&state, size * 8);
        memcpy(data + at, &value, size);
    }
}

/* ---- devices ---- */

typedef struct machine {
    const char *name;
    qn_context *context;
    qn_device *device;
    qn_device_info info;
    qn_buffer *inputs[OP_KINDS][3], *out;
    int level;
} machine;

static bool machine_open(machine *m, const char *name, const char *device, const char *compiler, int level) {
    static unsigned char data[ROOM];
    qn_context_desc desc = {.disable_cache = true, .cpu_compiler = compiler, .cpu_compile_first = true};
    m->name = name;
    m->level = level;
    if (qn_context_create(&desc, &m->context)) return false;
    qn_status status = qn_device_get(m->context, device, &m->device);
    if (!status) status = qn_device_get_info(m->device, &m->info);
    for (unsigned kind = 0; kind < OP_KINDS; kind++)
        for (unsigned i = 0; i < 3 && !status; i++) {
            fill(data, (op_kind)kind, i);
            status = qn_buffer_create(m->device, &(qn_buffer_desc){.size = ROOM, .data = data},
                                      &m->inputs[kind][i]);
        }
    if (!status) status = qn_buffer_create(m->device, &(qn_buffer_desc){.size = ROOM}, &m->out);
    if (status) printf("%s: %s\n", name, qn_error_message(m->context));
    return !status;
}

/* Doubles made of integers are there where they are asked for. */
static bool has_f64(const machine *m, const options *o) {
    return (m->info.capabilities & QN_CAN_F64) || (o->cl_options && strstr(o->cl_options, "-qn-soft-f64"));
}

static bool machine_can(const machine *m, const options *o, const op_kernel *kernel) {
    for (int i = 0; i < 4; i++) {
        op_kind kind = i < 3 ? kernel->operands[i] : kernel->result;
        if (kind == OP_HALF && !(m->info.capabilities & QN_CAN_F16)) return false;
        if (kind == OP_DOUBLE && !has_f64(m, o)) return false;
    }
    /* bits of others may be taken for some */
    return has_f64(m, o) || !strstr(kernel->text, "double");
}

/* ---- batches ---- */

typedef struct run {
    const options *o;
    machine *told, *asked[2]; /* the interpreter; the device, not optimised and in full */
    op_kernel kernels[MOST_BATCH];
    unsigned numbers[MOST_BATCH], num_kernels;
    unsigned seen, done, failures, skipped, files;
    char *text;
} run;

static const char prelude[] = "#pragma OPENCL FP_CONTRACT OFF\n";
static const char base_options[] = "-cl-std=CL3.0 -cl-fp32-correctly-rounded-divide-sqrt -w";

static const char *batch_text(run *r, unsigned first, unsigned count) {
    size_t length = (size_t)sprintf(r->text, "%s", prelude);
    for (unsigned i = first; i < first + count; i++)
        length += (size_t)sprintf(r->text + length, "%s", r->kernels[i].text);
    return r->text;
}

static bool launch(machine *m, qn_program *program, const op_kernel *kernel, unsigned number, void *out) {
    static const unsigned char zeros[ROOM];
    char name[24];
    qn_kernel *handle = NULL;
    snprintf(name, sizeof name, "k%u", number);
    qn_status status = qn_kernel_create(program, name, &handle);
    if (!status) status = qn_buffer_write(m->out, 0, zeros, ROOM);
    const qn_range range = {.global = {ITEMS}, .local = {OP_GROUP}};
    qn_arg args[4] = {qn_arg_buffer(m->out)};
    for (int i = 0; i < 3; i++) args[i + 1] = qn_arg_buffer(m->inputs[kernel->operands[i]][i]);
    if (!status) status = qn_launch(NULL, handle, &range, args, 4);
    if (!status) status = qn_buffer_read(m->out, 0, out, ROOM);
    if (status) printf("k%u: %s: %s\n", number, m->name, qn_error_message(m->context));
    qn_kernel_destroy(handle);
    return !status;
}

/* Runs kernels of the batch into out. Where a program does not come to be, its halves are tried. */
static void run_on(run *r, machine *m, unsigned first, unsigned count, unsigned char (*out)[ROOM],
                   bool *ran) {
    char all_options[512];
    snprintf(all_options, sizeof all_options, "%s %s", base_options,
             m != r->told && r->o->cl_options ? r->o->cl_options : "");
    qn_program *program = NULL;
    qn_program_desc desc = {.source = batch_text(r, first, count),
                            .path = "operations.cl",
                            .options = all_options,
                            .opt_level = m->level};
    if (!qn_program_create(m->device, &desc, &program)) {
        for (unsigned i = first; i < first + count; i++)
            ran[i] = launch(m, program, &r->kernels[i], r->numbers[i], out[i]);
    } else if (count > 1) {
        run_on(r, m, first, count / 2, out, ran);
        run_on(r, m, first + count / 2, count - count / 2, out, ran);
    } else {
        printf("k%u: %s: %s\n", r->numbers[first], m->name, qn_error_message(m->context));
        ran[first] = false;
    }
    qn_program_destroy(program);
}

/* Two NaN are the same; denormal numbers are not compared. */
static bool same(op_kind kind, unsigned ulps, uint64_t told, uint64_t found) {
    static const unsigned mantissa[] = {[OP_HALF] = 10, [OP_FLOAT] = 23, [OP_DOUBLE] = 52};
    if (told == found || !op_is_float(kind)) return told == found;
    if (told - found <= ulps || found - told <= ulps) return true;
    uint64_t sign = (uint64_t)1 << (op_size(kind) * 8 - 1), infinite = sign - ((uint64_t)1 << mantissa[kind]);
    bool is_nan = (told & ~sign) > infinite, denormal = !(told & infinite) && told & ~sign;
    return is_nan ? (found & ~sign) > infinite : denormal;
}

static void compare(run *r, const machine *m, unsigned index, const unsigned char *told,
                    const unsigned char *found) {
    const op_kernel *kernel = &r->kernels[index];
    unsigned size = op_size(kernel->result), wrong = 0;
    for (unsigned at = 0; at < ROOM; at += size) {
        uint64_t a = 0, b = 0;
        memcpy(&a, told + at, size);
        memcpy(&b, found + at, size);
        if (same(kernel->result, kernel->ulps, a, b)) continue;
        if (!wrong || r->o->only >= 0)
            printf("k%u: %s: component %u is 0x%llx, not 0x%llx\n", r->numbers[index], m->name, at / size,
                   (unsigned long long)b, (unsigned long long)a);
        wrong++;
    }
    if (wrong) printf("%u components are wrong:\n%s", wrong, kernel->text);
    r->failures += wrong != 0;
}

static void run_batch(run *r) {
    static unsigned char told[MOST_BATCH][ROOM], found[MOST_BATCH][ROOM];
    static bool known[MOST_BATCH], ran[MOST_BATCH];
    run_on(r, r->told, 0, r->num_kernels, told, known);
    for (unsigned level = 0; level < 2; level++) {
        run_on(r, r->asked[level], 0, r->num_kernels, found, ran);
        for (unsigned i = 0; i < r->num_kernels; i++) {
            if (known[i] && ran[i])
                compare(r, r->asked[level], i, told[i], found[i]);
            else
                r->failures++;
        }
    }
    fflush(stdout);
}

static void write_batch(run *r) {
    char path[1024];
    snprintf(path, sizeof path, "%s/operations_%03u.cl", r->o->write, r->files++);
    FILE *file = fopen(path, "w");
    bool fine = file && fputs(batch_text(r, 0, r->num_kernels), file) >= 0;
    if (file && fclose(file)) fine = false;
    if (!fine) printf("%s: cannot be written\n", path);
    r->failures += !fine;
}

static void finish_batch(run *r) {
    if (!r->num_kernels) return;
    if (r->o->write)
        write_batch(r);
    else
        run_batch(r);
    r->done += r->num_kernels;
    r->num_kernels = 0;
}

static bool take(void *user, const op_kernel *kernel, unsigned number) {
    run *r = user;
    bool wanted = r->o->only >= 0 ? number == (unsigned long)r->o->only
                                  : r->seen++ % r->o->every == r->o->offset % r->o->every;
    if (!wanted) return true;
    if (!r->o->write && !machine_can(r->asked[0], r->o, kernel)) {
        r->skipped++;
        return true;
    }
    if (r->o->only >= 0) fputs(kernel->text, stdout);
    r->kernels[r->num_kernels] = *kernel;
    r->numbers[r->num_kernels++] = number;
    if (r->num_kernels == r->o->batch) finish_batch(r);
    return true;
}

/* ---- the command line ---- */

static unsigned families_of(const char *names) {
    unsigned families = 0;
    while (*names) {
        size_t length = strcspn(names, ",");
        unsigned bit = 0;
        while ((1u << bit) & OP_ALL_FAMILIES &&
               (strlen(op_family_names[bit]) != length || strncmp(op_family_names[bit], names, length) != 0))
            bit++;
        if (!((1u << bit) & OP_ALL_FAMILIES)) return 0;
        families |= 1u << bit;
        names += length + (names[length] == ',');
    }
    return families;
}

static bool read_options(options *o, int argc, char **argv) {
    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        if (!value) return false;
        unsigned long number = strtoul(value, NULL, 0);
        if (!strcmp(name, "--device"))
            o->device = value;
        else if (!strcmp(name, "--family"))
            o->families = families_of(value);
        else if (!strcmp(name, "--seed"))
            o->seed = number;
        else if (!strcmp(name, "--count"))
            o->count = (unsigned)number;
        else if (!strcmp(name, "--every"))
            o->every = (unsigned)number;
        else if (!strcmp(name, "--offset"))
            o->offset = (unsigned)number;
        else if (!strcmp(name, "--batch"))
            o->batch = (unsigned)number;
        else if (!strcmp(name, "--only"))
            o->only = (long)number;
        else if (!strcmp(name, "--options"))
            o->cl_options = value;
        else if (!strcmp(name, "--write"))
            o->write = value;
        else
            return false;
    }
    return o->families && o->every && o->batch && o->batch <= MOST_BATCH;
}

/* 0, or the exit status. */
static int open_machines(run *r, machine *machines) {
    r->told = &machines[0], r->asked[0] = &machines[1], r->asked[1] = &machines[2];
    qn_context *context = NULL;
    qn_device *device = NULL;
    qn_status status = qn_context_create(NULL, &context);
    if (!status) status = qn_device_get(context, r->o->device, &device);
    if (status == QN_ERROR_NO_DEVICE) printf("skipped: %s\n", qn_error_message(context));
    qn_context_destroy(context);
    if (status == QN_ERROR_NO_DEVICE) return SKIPPED;
    bool fine = machine_open(r->told, "interpreter", "cpu", "none", -1) &&
                machine_open(r->asked[0], "not optimised", r->o->device, NULL, -1) &&
                machine_open(r->asked[1], "in full", r->o->device, NULL, 0);
    return fine ? 0 : 1;
}

int main(int argc, char **argv) {
    static run r;
    static machine machines[3];
    options o = {.device = "cpu",
                 .families = OP_ALL_FAMILIES,
                 .count = 256,
                 .batch = 64,
                 .every = 1,
                 .seed = 1,
                 .only = -1};
    if (!read_options(&o, argc, argv)) {
        fputs(help, argc == 2 && !strcmp(argv[1], "--help") ? stdout : stderr);
        return argc == 2 && !strcmp(argv[1], "--help") ? 0 : 2;
    }
    r.o = &o;
    r.text = malloc(sizeof prelude + (size_t)MOST_BATCH * OP_TEXT);
    int status = r.text ? o.write ? 0 : open_machines(&r, machines) : 1;
    if (!status) {
        op_each(o.families, o.seed, o.count, take, &r);
        finish_batch(&r);
        printf("%u kernels, %u skipped: %u failures\n", r.done, r.skipped, r.failures);
        status = r.failures || !r.done;
    }
    for (int i = 0; i < 3; i++) qn_context_destroy(machines[i].context);
    free(r.text);
    return status;
}
