/* Expressions of random kernels: numbers of all kinds, conditions, vectors; a function of the grammar each. */
#include "random_internal.h"

const kind_facts random_kinds[KINDS] = {
    [CHAR] = {"char", "uint", 8, true},     [UCHAR] = {"uchar", "uint", 8, false},
    [SHORT] = {"short", "uint", 16, true},  [USHORT] = {"ushort", "uint", 16, false},
    [INT] = {"int", "uint", 32, true},      [UINT] = {"uint", "uint", 32, false},
    [LONG] = {"long", "ulong", 64, true},   [ULONG] = {"ulong", "ulong", 64, false},
    [FLOAT] = {"float", "float", 32, true}, [DOUBLE] = {"double", "double", 64, true},
};

const variable random_variables[NUM_VARIABLES] = {
    {"i0", INT, 1},    {"i1", INT, 1},     {"i2", INT, 1},      {"i3", INT, 1},    {"u0", UINT, 1},
    {"u1", UINT, 1},   {"c0", CHAR, 1},    {"b0", UCHAR, 1},    {"s0", SHORT, 1},  {"h0", USHORT, 1},
    {"l0", LONG, 1},   {"l1", LONG, 1},    {"w0", ULONG, 1},    {"f0", FLOAT, 1},  {"f1", FLOAT, 1},
    {"f2", FLOAT, 1},  {"d0", DOUBLE, 1},  {"i4a", INT, 4},     {"i4b", INT, 4},   {"u3a", UINT, 3},
    {"f4a", FLOAT, 4}, {"f4b", FLOAT, 4},  {"f2a", FLOAT, 2},   {"b8a", UCHAR, 8}, {"s4a", SHORT, 4},
    {"l2a", LONG, 2},  {"d2a", DOUBLE, 2}, {"b16a", UCHAR, 16},
};

/* ---- expressions ---- */

static bool is_float(kind k) { return k >= FLOAT; }

static kind any_kind(generator *g) {
    static const kind list[] = {INT,   INT,  INT,   INT,  UINT,  UINT,  FLOAT,  FLOAT,
                                FLOAT, LONG, ULONG, CHAR, UCHAR, SHORT, USHORT, DOUBLE};
    kind k = list[below(g, sizeof list / sizeof *list)];
    return k == DOUBLE && !(g->features & RANDOM_F64) ? FLOAT : k;
}

/* A variable of the kind and number of lanes, or NULL. */
const variable *random_pick(generator *g, kind k, unsigned lanes) {
    const variable *found[NUM_VARIABLES];
    unsigned count = 0;
    for (unsigned i = 0; i < NUM_VARIABLES; i++)
        if (g->active >> i & 1 && random_variables[i].kind == k && random_variables[i].lanes == lanes)
            found[count++] = &random_variables[i];
    return count ? found[below(g, count)] : NULL;
}

static void literal(generator *g, kind k) {
    static const char *const ints[] = {"0", "1", "2", "3", "5", "7", "-1", "100", "31", "0x55555555", "-128"};
    static const char *const floats[] = {"0.0f", "1.0f", "-1.5f", "0.25f", "3.0f", "1e10f", "-0.0f", "0.1f"};
    if (is_float(k)) {
        put(g, "(%s)%s", random_kinds[k].name, floats[below(g, 8)]);
    } else {
        put(g, "(%s)(%s)", random_kinds[k].name, ints[below(g, 11)]);
    }
}

/* An index below a power of two, or, where programs are safe, now and then any. */
void random_any_index(generator *g, unsigned size, unsigned depth) {
    if (g->features & RANDOM_WILD && below(g, 5) == 0) {
        const bool is_near = chance(g, 2);
        if (is_near) put(g, "%d + (7 & ", chance(g, 2) ? (int)size - 4 : -4);
        random_number(g, INT, depth);
        if (is_near) put(g, ")");
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
        random_number(g, INT, depth);
        put(g, " & %u)", size - 1);
    }
}

void random_index_below(generator *g, unsigned size, unsigned depth) {
    const size_t from = g->length;
    random_any_index(g, size, depth);
    plant_index(g, from, size);
}

/* Numbers that are the same in all work-items of the group. */
void random_uniform_number(generator *g, unsigned depth) {
    static const char *const leaves[] = {"n", "(int)get_group_id(0)", "(int)get_group_id(1)",
                                         "(int)get_local_size(0)", "(int)get_global_size(0)"};
    switch (below(g, depth ? 7 : 3)) {
    case 0: put(g, "%s", leaves[below(g, 5)]); break;
    case 1: put(g, "g%u", below(g, NUM_UNIFORM)); break;
    case 2: put(g, "%u", below(g, 9)); break;
    case 3:
        put(g, "ints[");
        random_uniform_number(g, depth - 1);
        put(g, " & 63]");
        break;
    default:
        put(g, "(int)((uint)");
        random_uniform_number(g, depth - 1);
        put(g, " %c (uint)", "+-*^&|"[below(g, 6)]);
        random_uniform_number(g, depth - 1);
        put(g, ")");
    }
}

static void memory(generator *g, kind k, unsigned depth) {
    static const char *const from_ints[] = {"ints", "array"};
    static const char *const from_floats[] = {"floats", "farray"};
    bool private = below(g, 2) && g->arrays && !g->helper;
    if (k == UCHAR && private) {
        put(g, "bytes[");
        random_index_below(g, 16, depth);
    } else {
        put(g, "(%s)%s[", random_kinds[k].name, (is_float(k) ? from_floats : from_ints)[private]);
        random_index_below(g, private ? 8 : RANDOM_INPUTS, depth);
    }
    put(g, "]");
}

static void leaf(generator *g, kind k, unsigned depth) {
    const variable *v = random_pick(g, k, 1);
    switch (below(g, 8)) {
    case 0: literal(g, k); break;
    case 1:
        if (k == INT && g->loops) {
            put(g, "k%u", below(g, g->loops));
            break;
        }
        /* fallthrough */
    case 2: put(g, "(%s)%s", random_kinds[k].name, below(g, 2) ? "gid" : "lid"); break;
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

static void choice(generator *g, kind k, unsigned depth) {
    put(g, "(");
    random_condition(g, depth);
    put(g, " ? ");
    random_number(g, k, depth);
    put(g, " : ");
    random_number(g, k, depth);
    put(g, ")");
}

static void float_number(generator *g, kind k, unsigned depth) {
    static const char *const ones[] = {"fabs", "floor", "ceil", "trunc", "rint", "-", "sqrt"};
    static const char *const small[] = {"qn_bf16", "qn_bf16_rtz", "qn_e4m3", "qn_e4m3_sat_rtp",
                                        "qn_e5m2_rtn"};
    const char *name = random_kinds[k].name;
    switch (below(g, 10)) {
    case 0:
    case 1:
    case 2:
        put(g, "(");
        random_number(g, k, depth);
        put(g, " %c ", "+-*/"[below(g, 4)]);
        random_number(g, k, depth);
        put(g, ")");
        break;
    case 3:
        put(g, "%s(", ones[below(g, 7)]);
        random_number(g, k, depth);
        put(g, ")");
        break;
    case 4:
        put(g, "%s(", below(g, 2) ? "FMIN" : "FMAX");
        random_number(g, k, depth);
        put(g, ", ");
        random_number(g, k, depth);
        put(g, ")");
        break;
    case 5:
        put(g, "fma(");
        random_number(g, k, depth);
        put(g, ", ");
        random_number(g, k, depth);
        put(g, ", ");
        random_number(g, k, depth);
        put(g, ")");
        break;
    case 6:
        put(g, "(%s)", name);
        random_number(g, (kind)below(g, FLOAT), depth);
        break;
    case 7:
        put(g, "(%s)", name);
        if (below(g, 2)) put(g, "convert_%s", small[below(g, 5)]);
        put(g, "(");
        random_number(g, g->features & RANDOM_F64 ? DOUBLE : FLOAT, depth);
        put(g, ")");
        break;
    case 8:
        put(g, "copysign(");
        random_number(g, k, depth);
        put(g, ", %s(", k == DOUBLE ? "steady_double" : "steady");
        random_number(g, k, depth ? depth - 1 : 0);
        put(g, "))");
        break;
    default: choice(g, k, depth);
    }
}

static void int_arithmetic(generator *g, kind k, unsigned depth) {
    const char *name = random_kinds[k].name, *work = random_kinds[k].work;
    static const char *const ops[] = {"+", "-", "*", "&", "|", "^", "+", "-"};
    put(g, "(%s)((%s)", name, work);
    random_number(g, k, depth);
    put(g, " %s (%s)", ops[below(g, 8)], work);
    random_number(g, k, depth);
    put(g, ")");
}

static void int_call(generator *g, kind k, unsigned depth) {
    static const char *const twos[] = {"min",    "max",      "add_sat", "sub_sat", "mul_hi",
                                       "rotate", "abs_diff", "hadd",    "rhadd"};
    static const char *const ones[] = {"clz", "popcount", "abs", "~"};
    const char *name = random_kinds[k].name;
    if (below(g, 3)) {
        put(g, "(%s)%s((%s)", name, twos[below(g, 9)], name);
        random_number(g, k, depth);
        put(g, ", (%s)", name);
        random_number(g, k, depth);
        put(g, ")");
    } else {
        put(g, "(%s)%s((%s)", name, ones[below(g, 4)], name);
        random_number(g, k, depth);
        put(g, ")");
    }
}

static void int_number(generator *g, kind k, unsigned depth) {
    const char *name = random_kinds[k].name;
    switch (below(g, 14)) {
    case 0:
        put(g, "(%s)(", name);
        random_number(g, k, depth);
        put(g, " %c ((", "/%"[below(g, 2)]);
        random_number(g, k, depth);
        put(g, " & 15) + 1))");
        break;
    case 1:
        put(g, "(%s)((%s)", name, random_kinds[k].work);
        random_number(g, k, depth);
        put(g, " << (");
        random_number(g, INT, depth);
        put(g, " & %u))", random_kinds[k].bits - 1);
        break;
    case 2:
        put(g, "(%s)(", name);
        random_number(g, k, depth);
        put(g, " >> (");
        random_number(g, UINT, depth);
        put(g, " & %u))", random_kinds[k].bits - 1);
        break;
    case 3: choice(g, k, depth); break;
    case 4: int_call(g, k, depth); break;
    case 5:
        put(g, "convert_%s_sat%s(", name, below(g, 3) ? "" : below(g, 2) ? "_rte" : "_rtp");
        random_number(g, below(g, 3) || !(g->features & RANDOM_F64) ? FLOAT : DOUBLE, depth);
        put(g, ")");
        break;
    case 6:
    case 7:
        put(g, "(%s)", name);
        random_number(g, (kind)below(g, FLOAT), depth);
        break;
    case 8:
        if (k == INT || k == UINT) {
            put(g, "as_%s(steady(", name);
            random_number(g, FLOAT, depth);
            put(g, "))");
            break;
        }
        /* fallthrough */
    case 9:
        if (k == INT && !g->helper) {
            put(g, "(");
            random_vector(g, INT, 4, depth);
            put(g, ").s%u", below(g, 4));
            break;
        }
        /* fallthrough */
    default: int_arithmetic(g, k, depth);
    }
}

void random_number(generator *g, kind k, unsigned depth) {
    if (k == DOUBLE && !(g->features & RANDOM_F64)) k = FLOAT;
    if (g->uniform) {
        put(g, "(%s)", random_kinds[k].name);
        random_uniform_number(g, depth);
    } else if (depth == 0 || chance(g, 4)) {
        leaf(g, k, depth);
    } else if (is_float(k)) {
        float_number(g, k, depth - 1);
    } else {
        int_number(g, k, depth - 1);
    }
}

void random_condition(generator *g, unsigned depth) {
    static const char *const relations[] = {"<", "<=", ">", ">=", "==", "!="};
    if (depth && chance(g, 5)) {
        put(g, "(");
        random_condition(g, depth - 1);
        put(g, below(g, 2) ? " && " : " || ");
        random_condition(g, depth - 1);
        put(g, ")");
        return;
    }
    kind k = any_kind(g);
    if (depth) depth--;
    put(g, "(");
    random_number(g, k, depth);
    put(g, " %s ", relations[below(g, 6)]);
    random_number(g, k, depth);
    put(g, ")");
}

/* ---- vectors ---- */

const char *random_vector_name(char *name, kind k, unsigned lanes) {
    snprintf(name, 16, "%s%u", random_kinds[k].name, lanes);
    return name;
}

static void vector_literal(generator *g, kind k, unsigned lanes, unsigned depth) {
    char name[16];
    put(g, "(%s)(", random_vector_name(name, k, lanes));
    bool whole = chance(g, 3);
    for (unsigned i = 0; i < (whole ? 1 : lanes); i++) {
        if (i) put(g, ", ");
        random_number(g, k, depth);
    }
    put(g, ")");
}

void random_vector(generator *g, kind k, unsigned lanes, unsigned depth) {
    const variable *v = random_pick(g, k, lanes);
    char name[16];
    random_vector_name(name, k, lanes);
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
        random_vector(g, k, lanes, depth);
        put(g, below(g, 2) ? ").wzyx" : ").xxzw");
    } else if (choice == 1) {
        put(g, "(");
        random_condition(g, depth);
        put(g, " ? (%s)", name);
        random_vector(g, k, lanes, depth);
        put(g, " : (%s)", name);
        random_vector(g, k, lanes, depth);
        put(g, ")");
    } else if (choice == 2 && k == INT) {
        put(g, "select(");
        random_vector(g, k, lanes, depth);
        put(g, ", ");
        random_vector(g, k, lanes, depth);
        put(g, ", ");
        random_vector(g, k, lanes, depth);
        put(g, below(g, 2) ? " > " : " == ");
        random_vector(g, k, lanes, depth);
        put(g, ")");
    } else if (is_float(k)) {
        put(g, "(");
        random_vector(g, k, lanes, depth);
        put(g, " %c ", "+-*"[below(g, 3)]);
        random_vector(g, k, lanes, depth);
        put(g, ")");
    } else {
        char work[16];
        static const kind twins[] = {UCHAR, UCHAR, USHORT, USHORT, UINT, UINT, ULONG, ULONG};
        random_vector_name(work, twins[k], lanes);
        put(g, "as_%s(as_%s(", name, work);
        random_vector(g, k, lanes, depth);
        put(g, ") %c as_%s(", "+-*&|^"[below(g, 6)], work);
        random_vector(g, k, lanes, depth);
        put(g, "))");
    }
}
