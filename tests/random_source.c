/* The generator of random kernels. All variables are declared at the top, so that jumps skip no initialiser;
   they come in two sorts: those of `flow` UNIFORM have the same value in all work-items of a group, and
   decide where barriers may stand. A function of the grammar each; the depth falls with every level. */
#include "random_source.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ---- types ---- */

typedef enum kind { CHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG, FLOAT, DOUBLE, KINDS } kind;

static const struct {
    const char *name, *work; /* arithmetic is done in `work`, which does not overflow */
    unsigned bits;
    bool is_signed;
} kinds[KINDS] = {
    [CHAR] = {"char", "uint", 8, true},     [UCHAR] = {"uchar", "uint", 8, false},
    [SHORT] = {"short", "uint", 16, true},  [USHORT] = {"ushort", "uint", 16, false},
    [INT] = {"int", "uint", 32, true},      [UINT] = {"uint", "uint", 32, false},
    [LONG] = {"long", "ulong", 64, true},   [ULONG] = {"ulong", "ulong", 64, false},
    [FLOAT] = {"float", "float", 32, true}, [DOUBLE] = {"double", "double", 64, true},
};

typedef struct variable {
    const char *name;
    kind kind;
    unsigned lanes;
} variable;

static const variable variables[] = {
    {"i0", INT, 1},    {"i1", INT, 1},     {"i2", INT, 1},      {"i3", INT, 1},    {"u0", UINT, 1},
    {"u1", UINT, 1},   {"c0", CHAR, 1},    {"b0", UCHAR, 1},    {"s0", SHORT, 1},  {"h0", USHORT, 1},
    {"l0", LONG, 1},   {"l1", LONG, 1},    {"w0", ULONG, 1},    {"f0", FLOAT, 1},  {"f1", FLOAT, 1},
    {"f2", FLOAT, 1},  {"d0", DOUBLE, 1},  {"i4a", INT, 4},     {"i4b", INT, 4},   {"u3a", UINT, 3},
    {"f4a", FLOAT, 4}, {"f4b", FLOAT, 4},  {"f2a", FLOAT, 2},   {"b8a", UCHAR, 8}, {"s4a", SHORT, 4},
    {"l2a", LONG, 2},  {"d2a", DOUBLE, 2}, {"b16a", UCHAR, 16},
};
enum { NUM_VARIABLES = sizeof variables / sizeof *variables, NUM_UNIFORM = 4, LOCAL_INTS = 64 };

const char random_prelude[] =
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "float steady(float x) { return x == x ? x : 0; }\n"
    "#define FMIN(a, b) (fmin(a, b) + 0.0f)\n"
    "#define FMAX(a, b) (fmax(a, b) + 0.0f)\n"
    "#ifdef cl_khr_fp64\ndouble steady_double(double x) { return x == x ? x : 0; }\n#endif\n"
    "int *either(int *a, int *b, int first) { return first ? a : b; }\n"
    "uint mix(uint h, uint x) { return (h ^ x) * 0x9e3779b1u; }\n"
    "uint mix64(uint h, ulong x) { return mix(mix(h, (uint)x), (uint)(x >> 32)); }\n"
    "uint mixf(uint h, float x) { return mix(h, as_uint(steady(x))); }\n";

/* What a kernel calls that tells whether its fault can show. */
const char random_evidence_prelude[] =
    "int far(global uint *evidence, int index, int size) {\n"
    "    if (index < size) return index;\n"
    "    evidence[0] = 1;\n"
    "    return size - 1;\n"
    "}\n"
    "void note(global uint *evidence, int item, int epoch, int kind, int place) {\n"
    "    global uint *log = evidence + LOG * (item + 1);\n"
    "    if (log[0] + 1 < LOG)\n"
    "        log[++log[0]] = epoch << 16 | kind << 8 | place;\n"
    "    else\n"
    "        evidence[1] = 1;\n"
    "}\n";

/* ---- the generator's state ---- */

typedef struct generator {
    uint64_t state;
    char *text;
    size_t length, size;
    unsigned features, indent, labels, loops;
    int budget;
    uint32_t active;      /* bits of variables[] */
    bool arrays, generic; /* private arrays; pointers to three address spaces */
    bool divergent;       /* work-items of a group may not all be here */
    bool returns;         /* work-items may have returned, or may */
    bool uniform;         /* expressions must be uniform */
    bool helper;          /* in a function that gives an int */
    unsigned nested;      /* loops around */
    bool steady[8];       /* by loop: barriers are in it, so no work-item may leave it alone */
    random_plant *plant;  /* NULL: no fault */
} generator;

static uint32_t below(generator *g, uint32_t n) {
    g->state = g->state * 6364136223846793005u + 1442695040888963407u;
    uint32_t x = (uint32_t)(g->state >> 33);
    return (x ^ x >> 15) % n;
}

static bool chance(generator *g, uint32_t one_in) { return below(g, one_in) == 0; }

static void put(generator *g, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int more = vsnprintf(g->text + g->length, g->size - g->length, format, args);
    va_end(args);
    size_t left = g->size - g->length;
    g->length = more < 0 || (size_t)more >= left ? g->size : g->length + (size_t)more;
    if (g->length == g->size && g->size) g->text[--g->length] = 0;
}

/* ---- faults ---- */

/* Whether this place, which could have the fault, is the one that has it. */
static bool is_planted(generator *g, random_fault fault) {
    return g->plant && g->plant->fault == fault && g->plant->places++ == g->plant->at;
}

static bool tells(const generator *g) { return g->plant && g->plant->form == RANDOM_EVIDENCE; }

/* Before an access to what the group shares: its place among the words of `shared` and `counters`. */
static void note_access(generator *g, random_access kind, const char *place) {
    if (tells(g)) put(g, "note(evidence, gid, epoch, %d, %s); ", (int)kind, place);
}

static void meet_at_barrier(generator *g) {
    const bool is_left_out = is_planted(g, RANDOM_NO_BARRIER);
    if (!is_left_out || tells(g)) put(g, "barrier(CLK_LOCAL_MEM_FENCE);");
    if (!is_left_out && tells(g)) put(g, " epoch++;");
}

/* Behind the index that begins at `from`. */
static void plant_index(generator *g, size_t from, unsigned size) {
    char index[1024];
    const size_t length = g->length - from;
    if (!is_planted(g, RANDOM_FAR_INDEX) || length >= sizeof index) return;
    memcpy(index, g->text + from, length);
    index[length] = 0;
    g->length = from;
    put(g, tells(g) ? "far(evidence, %s + 1, %u)" : "%s + 1", index, size);
}

static void line(generator *g) { put(g, "%*s", (int)(4 * g->indent), ""); }

/* ---- expressions ---- */

static void number(generator *g, kind k, unsigned depth);
static void vector(generator *g, kind k, unsigned lanes, unsigned depth);
static void condition(generator *g, unsigned depth);

static bool is_float(kind k) { return k >= FLOAT; }

static kind any_kind(generator *g) {
    static const kind list[] = {INT,   INT,  INT,   INT,  UINT,  UINT,  FLOAT,  FLOAT,
                                FLOAT, LONG, ULONG, CHAR, UCHAR, SHORT, USHORT, DOUBLE};
    kind k = list[below(g, sizeof list / sizeof *list)];
    return k == DOUBLE && !(g->features & RANDOM_F64) ? FLOAT : k;
}

/* A variable of the kind and number of lanes, or NULL. */
static const variable *pick(generator *g, kind k, unsigned lanes) {
    const variable *found[NUM_VARIABLES];
    unsigned count = 0;
    for (unsigned i = 0; i < NUM_VARIABLES; i++)
        if (g->active >> i & 1 && variables[i].kind == k && variables[i].lanes == lanes)
            found[count++] = &variables[i];
    return count ? found[below(g, count)] : NULL;
}

static void literal(generator *g, kind k) {
    static const char *const ints[] = {"0", "1", "2", "3", "5", "7", "-1", "100", "31", "0x55555555", "-128"};
    static const char *const floats[] = {"0.0f", "1.0f", "-1.5f", "0.25f", "3.0f", "1e10f", "-0.0f", "0.1f"};
    if (is_float(k)) {
        put(g, "(%s)%s", kinds[k].name, floats[below(g, 8)]);
    } else {
        put(g, "(%s)(%s)", kinds[k].name, ints[below(g, 11)]);
    }
}

/* An index below a power of two, or, where programs are safe, now and then any. */
static void any_index(generator *g, unsigned size, unsigned depth) {
    if (g->features & RANDOM_WILD && below(g, 5) == 0) {
        number(g, INT, depth);
        return;
    }
    switch (below(g, 4)) {
    case 0:
        if (!g->uniform) {
            put(g, "(lid & %u)", size - 1);
            return;
        }
        /* fallthrough */
    case 1:
        if (g->loops) {
            put(g, "(k%u & %u)", below(g, g->loops), size - 1);
            return;
        }
        /* fallthrough */
    default:
        put(g, "(");
        number(g, INT, depth);
        put(g, " & %u)", size - 1);
    }
}

static void index_below(generator *g, unsigned size, unsigned depth) {
    const size_t from = g->length;
    any_index(g, size, depth);
    plant_index(g, from, size);
}

/* Numbers that are the same in all work-items of the group. */
static void uniform_number(generator *g, unsigned depth) {
    static const char *const leaves[] = {"n", "(int)get_group_id(0)", "(int)get_group_id(1)",
                                         "(int)get_local_size(0)", "(int)get_global_size(0)"};
    switch (below(g, depth ? 7 : 3)) {
    case 0: put(g, "%s", leaves[below(g, 5)]); break;
    case 1: put(g, "g%u", below(g, NUM_UNIFORM)); break;
    case 2: put(g, "%u", below(g, 9)); break;
    case 3:
        put(g, "ints[");
        uniform_number(g, depth - 1);
        put(g, " & 63]");
        break;
    default:
        put(g, "(int)((uint)");
        uniform_number(g, depth - 1);
        put(g, " %c (uint)", "+-*^&|"[below(g, 6)]);
        uniform_number(g, depth - 1);
        put(g, ")");
    }
}

static void memory(generator *g, kind k, unsigned depth) {
    static const char *const from_ints[] = {"ints", "array"};
    static const char *const from_floats[] = {"floats", "farray"};
    bool private = below(g, 2) && g->arrays && !g->helper;
    if (k == UCHAR && private) {
        put(g, "bytes[");
        index_below(g, 16, depth);
    } else {
        put(g, "(%s)%s[", kinds[k].name, (is_float(k) ? from_floats : from_ints)[private]);
        index_below(g, private ? 8 : RANDOM_INPUTS, depth);
    }
    put(g, "]");
}

static void leaf(generator *g, kind k, unsigned depth) {
    const variable *v = pick(g, k, 1);
    switch (below(g, 8)) {
    case 0: literal(g, k); break;
    case 1:
        if (k == INT && g->loops) {
            put(g, "k%u", below(g, g->loops));
            break;
        }
        /* fallthrough */
    case 2: put(g, "(%s)%s", kinds[k].name, below(g, 2) ? "gid" : "lid"); break;
    case 3:
        if (depth && !g->helper) {
            memory(g, k, depth - 1);
            break;
        }
        /* fallthrough */
    default:
        if (v) {
            put(g, "%s", v->name);
        } else {
            literal(g, k);
        }
    }
}

static void float_number(generator *g, kind k, unsigned depth) {
    static const char *const ones[] = {"fabs", "floor", "ceil", "trunc", "rint", "-", "sqrt"};
    static const char *const small[] = {"qn_bf16", "qn_bf16_rtz", "qn_e4m3", "qn_e4m3_sat_rtp",
                                        "qn_e5m2_rtn"};
    const char *name = kinds[k].name;
    switch (below(g, 10)) {
    case 0:
    case 1:
    case 2:
        put(g, "(");
        number(g, k, depth);
        put(g, " %c ", "+-*/"[below(g, 4)]);
        number(g, k, depth);
        put(g, ")");
        break;
    case 3:
        put(g, "%s(", ones[below(g, 7)]);
        number(g, k, depth);
        put(g, ")");
        break;
    case 4:
        put(g, "%s(", below(g, 2) ? "FMIN" : "FMAX");
        number(g, k, depth);
        put(g, ", ");
        number(g, k, depth);
        put(g, ")");
        break;
    case 5:
        put(g, "fma(");
        number(g, k, depth);
        put(g, ", ");
        number(g, k, depth);
        put(g, ", ");
        number(g, k, depth);
        put(g, ")");
        break;
    case 6:
        put(g, "(%s)", name);
        number(g, (kind)below(g, FLOAT), depth);
        break;
    case 7:
        put(g, "(%s)", name);
        if (below(g, 2)) put(g, "convert_%s", small[below(g, 5)]);
        put(g, "(");
        number(g, g->features & RANDOM_F64 ? DOUBLE : FLOAT, depth);
        put(g, ")");
        break;
    case 8:
        put(g, "copysign(");
        number(g, k, depth);
        put(g, ", %s(", k == DOUBLE ? "steady_double" : "steady");
        number(g, k, depth ? depth - 1 : 0);
        put(g, "))");
        break;
    default:
        put(g, "(");
        condition(g, depth);
        put(g, " ? ");
        number(g, k, depth);
        put(g, " : ");
        number(g, k, depth);
        put(g, ")");
    }
}

static void int_arithmetic(generator *g, kind k, unsigned depth) {
    const char *name = kinds[k].name, *work = kinds[k].work;
    static const char *const ops[] = {"+", "-", "*", "&", "|", "^", "+", "-"};
    put(g, "(%s)((%s)", name, work);
    number(g, k, depth);
    put(g, " %s (%s)", ops[below(g, 8)], work);
    number(g, k, depth);
    put(g, ")");
}

static void int_call(generator *g, kind k, unsigned depth) {
    static const char *const twos[] = {"min",    "max",      "add_sat", "sub_sat", "mul_hi",
                                       "rotate", "abs_diff", "hadd",    "rhadd"};
    static const char *const ones[] = {"clz", "popcount", "abs", "~"};
    const char *name = kinds[k].name;
    if (below(g, 3)) {
        put(g, "(%s)%s((%s)", name, twos[below(g, 9)], name);
        number(g, k, depth);
        put(g, ", (%s)", name);
        number(g, k, depth);
        put(g, ")");
    } else {
        put(g, "(%s)%s((%s)", name, ones[below(g, 4)], name);
        number(g, k, depth);
        put(g, ")");
    }
}

static void int_number(generator *g, kind k, unsigned depth) {
    const char *name = kinds[k].name;
    switch (below(g, 14)) {
    case 0:
        put(g, "(%s)(", name);
        number(g, k, depth);
        put(g, " %c ((", "/%"[below(g, 2)]);
        number(g, k, depth);
        put(g, " & 15) + 1))");
        break;
    case 1:
        put(g, "(%s)((%s)", name, kinds[k].work);
        number(g, k, depth);
        put(g, " << (");
        number(g, INT, depth);
        put(g, " & %u))", kinds[k].bits - 1);
        break;
    case 2:
        put(g, "(%s)(", name);
        number(g, k, depth);
        put(g, " >> (");
        number(g, UINT, depth);
        put(g, " & %u))", kinds[k].bits - 1);
        break;
    case 3:
        put(g, "(");
        condition(g, depth);
        put(g, " ? ");
        number(g, k, depth);
        put(g, " : ");
        number(g, k, depth);
        put(g, ")");
        break;
    case 4: int_call(g, k, depth); break;
    case 5:
        put(g, "convert_%s_sat%s(", name, below(g, 3) ? "" : below(g, 2) ? "_rte" : "_rtp");
        number(g, below(g, 3) || !(g->features & RANDOM_F64) ? FLOAT : DOUBLE, depth);
        put(g, ")");
        break;
    case 6:
    case 7:
        put(g, "(%s)", name);
        number(g, (kind)below(g, FLOAT), depth);
        break;
    case 8:
        if (k == INT || k == UINT) {
            put(g, "as_%s(steady(", name);
            number(g, FLOAT, depth);
            put(g, "))");
            break;
        }
        /* fallthrough */
    case 9:
        if (k == INT && !g->helper) {
            put(g, "(");
            vector(g, INT, 4, depth);
            put(g, ").s%u", below(g, 4));
            break;
        }
        /* fallthrough */
    default: int_arithmetic(g, k, depth);
    }
}

static void number(generator *g, kind k, unsigned depth) {
    if (k == DOUBLE && !(g->features & RANDOM_F64)) k = FLOAT;
    if (g->uniform) {
        put(g, "(%s)", kinds[k].name);
        uniform_number(g, depth);
    } else if (depth == 0 || chance(g, 4)) {
        leaf(g, k, depth);
    } else if (is_float(k)) {
        float_number(g, k, depth - 1);
    } else {
        int_number(g, k, depth - 1);
    }
}

static void condition(generator *g, unsigned depth) {
    static const char *const relations[] = {"<", "<=", ">", ">=", "==", "!="};
    if (depth && chance(g, 5)) {
        put(g, "(");
        condition(g, depth - 1);
        put(g, below(g, 2) ? " && " : " || ");
        condition(g, depth - 1);
        put(g, ")");
        return;
    }
    kind k = any_kind(g);
    if (depth) depth--;
    put(g, "(");
    number(g, k, depth);
    put(g, " %s ", relations[below(g, 6)]);
    number(g, k, depth);
    put(g, ")");
}

/* ---- vectors ---- */

static const char *vector_name(char *name, kind k, unsigned lanes) {
    snprintf(name, 16, "%s%u", kinds[k].name, lanes);
    return name;
}

static void vector_literal(generator *g, kind k, unsigned lanes, unsigned depth) {
    char name[16];
    put(g, "(%s)(", vector_name(name, k, lanes));
    bool whole = chance(g, 3);
    for (unsigned i = 0; i < (whole ? 1 : lanes); i++) {
        if (i) put(g, ", ");
        number(g, k, depth);
    }
    put(g, ")");
}

static void vector(generator *g, kind k, unsigned lanes, unsigned depth) {
    const variable *v = pick(g, k, lanes);
    char name[16];
    vector_name(name, k, lanes);
    if (depth == 0 || chance(g, 3) || !v) {
        if (v && below(g, 4)) {
            put(g, "%s", v->name);
        } else {
            vector_literal(g, k, lanes, depth ? depth - 1 : 0);
        }
        return;
    }
    depth--;
    unsigned choice = below(g, 7);
    if (choice == 0 && lanes == 4) {
        put(g, "(");
        vector(g, k, lanes, depth);
        put(g, below(g, 2) ? ").wzyx" : ").xxzw");
    } else if (choice == 1) {
        put(g, "(");
        condition(g, depth);
        put(g, " ? (%s)", name);
        vector(g, k, lanes, depth);
        put(g, " : (%s)", name);
        vector(g, k, lanes, depth);
        put(g, ")");
    } else if (choice == 2 && k == INT) {
        put(g, "select(");
        vector(g, k, lanes, depth);
        put(g, ", ");
        vector(g, k, lanes, depth);
        put(g, ", ");
        vector(g, k, lanes, depth);
        put(g, below(g, 2) ? " > " : " == ");
        vector(g, k, lanes, depth);
        put(g, ")");
    } else if (is_float(k)) {
        put(g, "(");
        vector(g, k, lanes, depth);
        put(g, " %c ", "+-*"[below(g, 3)]);
        vector(g, k, lanes, depth);
        put(g, ")");
    } else {
        char work[16];
        static const kind twins[] = {UCHAR, UCHAR, USHORT, USHORT, UINT, UINT, ULONG, ULONG};
        vector_name(work, twins[k], lanes);
        put(g, "as_%s(as_%s(", name, work);
        vector(g, k, lanes, depth);
        put(g, ") %c as_%s(", "+-*&|^"[below(g, 6)], work);
        vector(g, k, lanes, depth);
        put(g, "))");
    }
}

/* ---- statements ---- */

static void statements(generator *g, unsigned depth);

static void assign_variable(generator *g) {
    unsigned at = below(g, NUM_VARIABLES);
    while (!(g->active >> at & 1)) at = (at + 1) % NUM_VARIABLES;
    const variable *v = &variables[at];
    line(g);
    if (v->lanes == 1) {
        put(g, "%s = ", v->name);
        number(g, v->kind, 3);
    } else if (chance(g, 3)) {
        put(g, "%s.s%u = ", v->name, below(g, v->lanes < 10 ? v->lanes : 10));
        number(g, v->kind, 2);
    } else {
        put(g, "%s = ", v->name);
        vector(g, v->kind, v->lanes, 2);
    }
    put(g, ";\n");
}

static void assign_memory(generator *g) {
    line(g);
    switch (below(g, 6)) {
    case 0:
        put(g, "array[");
        index_below(g, 8, 1);
        put(g, "] = ");
        number(g, INT, 2);
        break;
    case 1:
        put(g, "bytes[");
        index_below(g, 16, 1);
        put(g, "] = ");
        number(g, UCHAR, 2);
        break;
    case 2:
        put(g, "farray[");
        index_below(g, 8, 1);
        put(g, "] = ");
        number(g, FLOAT, 2);
        break;
    case 3:
        put(g, "varray[");
        index_below(g, 4, 1);
        put(g, "] = ");
        vector(g, FLOAT, 4, 1);
        break;
    case 4:
        put(g, "i0 ^= array[");
        index_below(g, 8, 1);
        put(g, "] ^ as_int(steady(varray[");
        index_below(g, 4, 1);
        put(g, "].z))");
        break;
    default: put(g, "own[%u] ^= (uint)", below(g, RANDOM_OUT_SLOTS - 1)); number(g, UINT, 2);
    }
    put(g, ";\n");
}

/* Pointers to four ints of the work-item's own each, in private, local or global memory. */
static const char *pointer(generator *g) {
    static const char *const places[] = {"near", "mine",    "(global int *)own", "p0",
                                         "p1",   "pair.to", "many[i2 & 1]",      "either(p0, near, i1 > i3)"};
    return places[below(g, sizeof places / sizeof *places)];
}

static void assign_generic(generator *g) {
    unsigned choice = below(g, 8), p = below(g, 2);
    line(g);
    if (choice < 2) {
        put(g, "p%u = ", p);
        condition(g, 1);
        put(g, " ? %s : %s;\n", pointer(g), pointer(g));
    } else if (choice == 2) {
        put(g, "%s = %s;\n", below(g, 2) ? "pair.to" : "many[i0 & 1]", pointer(g));
    } else if (choice == 3) {
        put(g, "%s[", p ? "pair.to" : "p0");
        any_index(g, 4, 1);
        put(g, "] = ");
        number(g, INT, 2);
        put(g, ";\n");
    } else if (choice == 4) {
        put(g, "i%u ^= many[i1 & 1][", p);
        any_index(g, 4, 1);
        put(g, "] ^ *p%u;\n", p);
    } else if (choice == 5) {
        put(g, "i%u = atomic_%s(p%u + %u, ", below(g, 4), below(g, 2) ? "add" : "max", p, below(g, 4));
        number(g, INT, 1);
        put(g, ");\n");
    } else if (choice == 6) {
        put(g, "vstore2(vload2(%u, p0).yx, %u, %s);\n", below(g, 2), below(g, 2), pointer(g));
    } else {
        put(g, "i%u += (to_local(p%u) != NULL) + 2 * (to_private(p0) != NULL) + 4 * (p0 == %s);\n",
            below(g, 4), p, pointer(g));
    }
}

static void assign_uniform(generator *g) {
    line(g);
    put(g, "g%u = ", below(g, NUM_UNIFORM));
    uniform_number(g, 2);
    put(g, ";\n");
}

/* No work-item leaves a steady loop alone: barriers may be in it. */
static void jump(generator *g) {
    bool uniform = g->nested && g->steady[g->nested - 1];
    unsigned choice = below(g, 8);
    line(g);
    if (choice == 0 && (g->helper || g->returns)) {
        if (g->helper) {
            put(g, "if (");
            condition(g, 2);
            put(g, ") return (int)i%u;\n", below(g, 4));
        } else {
            put(g, "if (");
            condition(g, 2);
            put(g, ") { out[at + 3] = i0; return; }\n");
        }
    } else if (g->nested && !(uniform && g->divergent)) {
        bool outer = g->uniform;
        g->uniform = uniform;
        put(g, "if (");
        condition(g, 2);
        g->uniform = outer;
        put(g, ") %s;\n", choice < 5 ? "continue" : "break");
    } else {
        put(g, "i%u ^= 1;\n", below(g, 4));
    }
}

static void block(generator *g, unsigned depth) {
    g->indent++;
    statements(g, depth);
    g->indent--;
}

static void branch(generator *g, unsigned depth) {
    bool divergent = g->divergent, uniform = below(g, 3) == 0, other = below(g, 2);
    bool outer = g->uniform;
    line(g);
    put(g, "if (");
    g->uniform = uniform;
    condition(g, 2);
    g->uniform = outer;
    put(g, ") {\n");
    if (!uniform) g->divergent = true;
    block(g, depth);
    line(g);
    put(g, other ? "} else {\n" : "}\n");
    if (other) {
        block(g, depth);
        line(g);
        put(g, "}\n");
    }
    g->divergent = divergent;
}

static void loop(generator *g, unsigned depth) {
    bool divergent = g->divergent, outer = g->uniform;
    bool steady = !divergent && below(g, 2);
    unsigned k = g->loops, shape = below(g, 3);
    if (g->nested >= 4 || k >= 8) return;
    line(g);
    g->uniform = steady;
    static const char *const hints[] = {"", "", "", "#pragma unroll\n", "#pragma unroll 2\n"};
    const char *hint = hints[below(g, 5)];
    if (shape == 0) {
        put(g, "%sfor (k%u = 0; k%u < ", hint, k, k);
        if (below(g, 2)) {
            put(g, "%u", 1 + below(g, 5));
        } else {
            put(g, "(");
            number(g, INT, 1);
            put(g, " & %u)", below(g, 2) ? 3u : 7u);
        }
        put(g, "; k%u++) {\n", k);
    } else if (shape == 1) {
        put(g, "k%u = 0;\n", k);
        line(g);
        put(g, "while (k%u++ < %u && ", k, 2 + below(g, 4));
        condition(g, 2);
        put(g, ") {\n");
    } else {
        put(g, "k%u = 0;\n", k);
        line(g);
        put(g, "do {\n");
    }
    g->uniform = outer;
    g->steady[g->nested++] = steady;
    g->loops++;
    if (!steady) g->divergent = true;
    block(g, depth);
    g->nested--;
    g->divergent = divergent;
    line(g);
    if (shape == 2) {
        g->uniform = steady;
        put(g, "} while (++k%u < %u && ", k, 2 + below(g, 4));
        condition(g, 2);
        put(g, ");\n");
        g->uniform = outer;
    } else {
        put(g, "}\n");
    }
    g->loops--;
}

static void choose(generator *g, unsigned depth) {
    bool divergent = g->divergent, uniform = chance(g, 4), outer = g->uniform;
    unsigned cases = 2 + below(g, 3);
    line(g);
    put(g, "switch (");
    g->uniform = uniform;
    number(g, INT, 2);
    g->uniform = outer;
    put(g, " & 3) {\n");
    g->divergent = true;
    for (unsigned i = 0; i < cases; i++) {
        line(g);
        if (i + 1 == cases && below(g, 2)) {
            put(g, "default:;\n");
        } else {
            put(g, "case %u:;\n", i);
        }
        block(g, depth);
        if (below(g, 3)) {
            g->indent++;
            line(g);
            put(g, "break;\n");
            g->indent--;
        }
    }
    line(g);
    put(g, "}\n");
    g->divergent = divergent;
}

/* Back to a label at most a few times, or out of everything up to one. */
static void go_to(generator *g, unsigned depth) {
    unsigned label = g->labels++;
    bool divergent = g->divergent, back = below(g, 2);
    if (label >= 4) return;
    g->divergent = true;
    if (back) {
        line(g);
        put(g, "label%u:;\n", label);
        statements(g, depth);
        line(g);
        put(g, "if (");
        condition(g, 2);
        put(g, " && t%u < 3) { t%u++; goto label%u; }\n", label, label, label);
    } else {
        line(g);
        put(g, "for (t%u = 0; t%u < 3; t%u++) {\n", label, label, label);
        g->indent++;
        statements(g, depth);
        line(g);
        put(g, "if (");
        condition(g, 2);
        put(g, ") goto label%u;\n", label);
        statements(g, depth ? depth - 1 : 0);
        g->indent--;
        line(g);
        put(g, "}\n");
        assign_variable(g);
        line(g);
        put(g, "label%u:;\n", label);
    }
    g->divergent = divergent;
}

/* Each work-item reads what another one has written. */
static void meet_in_shared(generator *g) {
    note_access(g, RANDOM_WRITE, "lid");
    put(g, "shared[lid] = ");
    number(g, INT, 2);
    put(g, "; ");
    meet_at_barrier(g);
    put(g, "\n");
    line(g);
    const variable *v = pick(g, INT, 1);
    const char *index = below(g, 2) ? "63 - lid" : "((lid * 5 + 3) & 63)";
    note_access(g, RANDOM_READ, index);
    put(g, "%s = shared[", v->name);
    const size_t from = g->length;
    put(g, "%s", index);
    plant_index(g, from, LOCAL_INTS);
    put(g, "]; ");
    meet_at_barrier(g);
    put(g, "\n");
}

static void meet_in_counters(generator *g) {
    char place[24];
    meet_at_barrier(g);
    const bool is_plain = is_planted(g, RANDOM_NO_ATOMIC);
    put(g, " ");
    note_access(g, is_plain ? RANDOM_READ : RANDOM_ATOMIC, "64 + (lid & 3)");
    if (is_plain) note_access(g, RANDOM_WRITE, "64 + (lid & 3)");
    put(g, is_plain && !tells(g) ? "counters[lid & 3] += (i0 & 0xff);\n"
                                 : "atomic_add(&counters[lid & 3], (i0 & 0xff));\n");
    line(g);
    meet_at_barrier(g);
    const unsigned counter = below(g, 4);
    snprintf(place, sizeof place, "64 + %u", counter);
    put(g, " ");
    note_access(g, RANDOM_READ, place);
    put(g, "g3 = counters[%u]; ", counter);
    meet_at_barrier(g);
    put(g, "\n");
}

/* Work-items meet. */
static void meet(generator *g) {
    static const char *const collectives[] = {
        "i0 = work_group_reduce_add(i1);",         "i1 = work_group_scan_exclusive_max(i2);",
        "i2 = work_group_scan_inclusive_add(i0);", "g0 = work_group_any(i1 > i2) ? 1 : 2;",
        "g1 = work_group_all(f0 < f1);",           "u0 = work_group_reduce_min(u1);",
        "i3 = work_group_broadcast(i0, 1, 0);"};
    static const char *const subs[] = {"i0 = sub_group_reduce_add(i1);",
                                       "i3 = sub_group_scan_inclusive_max(i0);",
                                       "u1 = sub_group_all(i0 < i3);", "u0 = sub_group_ballot(i0 < i1).x;",
                                       "f0 = sub_group_broadcast(f1, 0);"};
    unsigned choice = below(g, 6);
    line(g);
    if (choice < 2 || (g->features & RANDOM_RETURN_BEFORE_BARRIER && g->returns)) {
        meet_in_shared(g);
    } else if (choice == 2) {
        meet_in_counters(g);
    } else if (choice == 3 && g->features & RANDOM_SUB_GROUPS) {
        put(g, "%s\n", subs[below(g, 5)]);
    } else {
        put(g, "%s\n", collectives[below(g, 7)]);
    }
}

static void call(generator *g) {
    line(g);
    put(g, "i%u = helper(", below(g, 4));
    number(g, INT, 1);
    put(g, ", ");
    number(g, FLOAT, 1);
    put(g, ", ints);\n");
}

static void assign_own(generator *g) {
    line(g);
    put(g, "own[%u] ^= (uint)", below(g, RANDOM_OUT_SLOTS - 1));
    number(g, UINT, 2);
    put(g, ";\n");
}

static void statement(generator *g, unsigned depth) {
    unsigned choice = below(g, depth ? 20 : 12);
    g->budget--;
    if (choice == 0 && !g->helper) {
        assign_own(g);
    } else if (choice < 6) {
        assign_variable(g);
    } else if (choice < 8) {
        (g->helper    ? assign_variable
         : g->generic ? assign_generic
         : g->arrays  ? assign_memory
                      : assign_variable)(g);
    } else if (choice == 8) {
        (g->divergent ? jump : assign_uniform)(g);
    } else if (choice < 11) {
        jump(g);
    } else if (choice == 11) {
        (g->divergent ? assign_variable : meet)(g);
    } else if (choice < 15) {
        branch(g, depth - 1);
    } else if (choice < 17) {
        loop(g, depth - 1);
    } else if (choice == 17) {
        (g->nested < 3 ? choose : branch)(g, depth - 1);
    } else if (choice == 18) {
        go_to(g, depth - 1);
    } else if (!g->helper) {
        call(g);
    } else {
        assign_variable(g);
    }
}

static void statements(generator *g, unsigned depth) {
    unsigned count = 1 + below(g, 4);
    for (unsigned i = 0; i < count && g->budget > 0; i++) statement(g, depth);
}

/* The variables of a function: ints and floats always, some of the others. */
static void choose_variables(generator *g) {
    g->active = 0;
    for (unsigned i = 0; i < NUM_VARIABLES; i++) {
        const variable *v = &variables[i];
        bool always = i < 6 || (v->kind == FLOAT && v->lanes == 1);
        bool never = (g->helper && v->lanes > 1) || (v->kind == DOUBLE && !(g->features & RANDOM_F64));
        if (!never && (always || chance(g, 4))) g->active |= (uint32_t)1 << i;
    }
    g->arrays = chance(g, 3);
}

/* ---- the whole ---- */

static void declare_arrays(generator *g) {
    static const struct {
        const char *type, *name, *values;
        unsigned size;
    } arrays[] = {{"int", "array", "{1, 2, 3, 4, 5, 6, 7, 8}", 8},
                  {"uchar", "bytes", "{1, 2, 3}", 16},
                  {"float", "farray", "{0.5f, 1.5f}", 8},
                  {"float4", "varray", "{(float4)(1.0f), (float4)(2.0f)}", 4}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        const bool is_planted_here = is_planted(g, RANDOM_NO_VALUE);
        put(g, "    %s %s[%u]", arrays[i].type, arrays[i].name, arrays[i].size);
        if (!is_planted_here)
            put(g, " = %s;\n", arrays[i].values);
        else if (tells(g))
            put(g, "; for (int k = 0; k < %u; k++) %s[k] = (%s)(GARBAGE);\n", arrays[i].size, arrays[i].name,
                arrays[i].type);
        else
            put(g, ";\n");
    }
}

/* What all of a group share; the others' words are there behind a barrier. */
static void initialise_shared(generator *g) {
    const bool no_counters = is_planted(g, RANDOM_NO_VALUE), no_shared = is_planted(g, RANDOM_NO_VALUE);
    if (!no_counters || tells(g)) {
        put(g, "    if (lid < 4) { ");
        note_access(g, RANDOM_WRITE, "64 + lid");
        put(g, "counters[lid] = %s; }\n", no_counters ? "GARBAGE" : "0");
    }
    if (!no_shared || tells(g)) {
        put(g, "    for (int k = lid; k < 64; k += get_local_size(0) * get_local_size(1)) { ");
        note_access(g, RANDOM_WRITE, "k");
        put(g, "shared[k] = %s; }\n", no_shared ? "GARBAGE" : "k");
    }
    put(g, "    ");
    meet_at_barrier(g);
    put(g, "\n");
}

static void declarations(generator *g) {
    choose_variables(g);
    for (unsigned i = 0; i < NUM_VARIABLES; i++) {
        const variable *v = &variables[i];
        char name[16];
        if (!(g->active >> i & 1)) continue;
        snprintf(name, sizeof name, "%s", kinds[v->kind].name);
        if (v->lanes > 1) vector_name(name, v->kind, v->lanes);
        put(g, "    %s %s", name, v->name);
        if (is_planted(g, RANDOM_NO_VALUE))
            put(g, tells(g) ? " = (%s)(GARBAGE);\n" : ";\n", name);
        else if (v->lanes == 1)
            put(g, " = (%s)(%s + %u);\n", name, i % 3 ? "lid" : "gid", i);
        else
            put(g, " = (%s)(%u);\n", name, i);
    }
    put(g, "    int k0 = 0, k1 = 0, k2 = 0, k3 = 0, k4 = 0, k5 = 0, k6 = 0, k7 = 0, t0 = 0, t1 = 0, t2 = 0, "
           "t3 = 0;\n");
    if (!g->helper) {
        put(g, "    int g0 = n, g1 = 1, g2 = 2, g3 = 3;\n");
    }
    if (!g->helper && g->arrays) declare_arrays(g);
    if (!g->helper && g->generic)
        put(g,
            "    local int slots[4 * %d], *mine = slots + 4 * lid;\n"
            "    int near[4] = {1, 2, 3, lid}, *p0 = near, *p1 = (global int *)own, *many[2] = {p1, mine};\n"
            "    struct { int n, *to; } pair = {2, near};\n"
            "    for (int k = 0; k < 4; k++) mine[k] = own[k] = k + gid;\n",
            RANDOM_GROUP);
    if (g->helper) {
        put(g, "    int g0 = 0, g1 = 1, g2 = 2, g3 = 3, n = 11;\n");
    }
}

static void result(generator *g) {
    put(g, "    uint h = 0;\n");
    for (unsigned i = 0; i < NUM_VARIABLES; i++) {
        const variable *v = &variables[i];
        if (!(g->active >> i & 1)) continue;
        for (unsigned lane = 0; lane < v->lanes; lane++) {
            char name[24];
            static const char digits[] = "0123456789abcdef";
            snprintf(name, sizeof name, v->lanes > 1 ? "%s.s%c" : "%s", v->name, digits[lane]);
            if (v->kind == DOUBLE) {
                put(g, "    h = mix64(h, as_ulong(steady_double(%s)));\n", name);
            } else if (v->kind == FLOAT) {
                put(g, "    h = mixf(h, %s);\n", name);
            } else {
                put(g, "    h = mix64(h, (ulong)%s);\n", name);
            }
        }
    }
    if (g->arrays)
        put(g, "    for (int k = 0; k < 8; k++) h = mixf(mix(mix(h, array[k]), bytes[k * 2 + 1]), "
               "farray[k]);\n");
    if (g->generic) put(g, "    for (int k = 0; k < 4; k++) h = mix(mix(h, near[k]), mine[k]);\n");
    put(g, "    h = mix(mix(mix(mix(h, g0), g1), g2), g3);\n");
    put(g, "    out[at + 3] = h;\n");
}

static void helper_function(generator *g, const char *name, uint64_t seed) {
    g->helper = g->divergent = true;
    put(g,
        "\n#define helper helper_%s\n/* seed %llu */\nint helper(int gid, float x, global const int *ints) "
        "{\n",
        name, (unsigned long long)seed);
    put(g, "    int lid = gid & 7;\n");
    declarations(g);
    put(g, "    f0 = x;\n");
    g->indent = 1;
    int budget = g->budget;
    g->budget = 6;
    statements(g, 2);
    g->budget = budget;
    put(g, "    return i0;\n}\n");
    g->helper = g->divergent = false;
    g->labels = 0;
}

size_t random_kernel(char *text, size_t size, const char *name, uint64_t seed, unsigned count,
                     unsigned features, const uint32_t *required, random_plant *plant) {
    generator g = {.state = seed * 0x9e3779b97f4a7c15u + 12345,
                   .text = text,
                   .size = size,
                   .features = features,
                   .plant = plant};
    if (plant) plant->places = 0;
    g.generic = features & RANDOM_GENERIC && seed % 3 == 0;
    for (int i = 0; i < 8; i++) below(&g, 2);
    g.budget = (int)(count / 3 + below(&g, count));
    g.length = strlen(text);
    helper_function(&g, name, seed);
    /* One kernel in three lets work-items return; without the feature such a kernel holds no barrier. */
    g.returns = chance(&g, 3);
    g.divergent = g.returns && !(features & RANDOM_RETURN_BEFORE_BARRIER);
    put(&g, "kernel ");
    if (required)
        put(&g, "__attribute__((reqd_work_group_size(%u, %u, %u))) ", required[0], required[1], required[2]);
    put(&g, "void %s(global uint *out, global const int *ints, global const float *floats, int n%s) {\n",
        name, tells(&g) ? ", global uint *evidence" : "");
    if (tells(&g)) put(&g, "    int epoch = 0;\n");
    put(&g, "    local int shared[64]; local int counters[4];\n");
    put(&g, "    int gid = get_global_id(0) + get_global_id(1) * get_global_size(0);\n");
    put(&g, "    int lid = get_local_id(0) + get_local_id(1) * get_local_size(0);\n");
    put(&g, "    int at = gid * %d;\n    global uint *own = out + at;\n", RANDOM_OUT_SLOTS);
    declarations(&g);
    bool meets = !g.divergent;
    if (meets) initialise_shared(&g);
    g.indent = 1;
    while (g.budget > 0) statement(&g, 3);
    result(&g);
    put(&g, "}\n#undef helper\n");
    return g.length + 1 >= size ? 0 : g.length;
}
