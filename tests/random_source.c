/* The generator of random kernels. All variables are declared at the top, so that jumps skip no initialiser;
   they come in two sorts: those of `flow` UNIFORM have the same value in all work-items of a group, and
   decide where barriers may stand. A function of the grammar each; the depth falls with every level. */
#include "random_internal.h"

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

/* ---- statements ---- */

static void statements(generator *g, unsigned depth);

static void assign_variable(generator *g) {
    unsigned at = below(g, NUM_VARIABLES);
    while (!(g->active >> at & 1)) at = (at + 1) % NUM_VARIABLES;
    const variable *v = &random_variables[at];
    line(g);
    if (v->lanes == 1) {
        put(g, "%s = ", v->name);
        random_number(g, v->kind, 3);
    } else if (chance(g, 3)) {
        put(g, "%s.s%u = ", v->name, below(g, v->lanes < 10 ? v->lanes : 10));
        random_number(g, v->kind, 2);
    } else {
        put(g, "%s = ", v->name);
        random_vector(g, v->kind, v->lanes, 2);
    }
    put(g, ";\n");
}

static void assign_memory(generator *g) {
    line(g);
    switch (below(g, 6)) {
    case 0:
        put(g, "array[");
        random_index_below(g, 8, 1);
        put(g, "] = ");
        random_number(g, INT, 2);
        break;
    case 1:
        put(g, "bytes[");
        random_index_below(g, 16, 1);
        put(g, "] = ");
        random_number(g, UCHAR, 2);
        break;
    case 2:
        put(g, "farray[");
        random_index_below(g, 8, 1);
        put(g, "] = ");
        random_number(g, FLOAT, 2);
        break;
    case 3:
        put(g, "varray[");
        random_index_below(g, 4, 1);
        put(g, "] = ");
        random_vector(g, FLOAT, 4, 1);
        break;
    case 4:
        put(g, "i0 ^= array[");
        random_index_below(g, 8, 1);
        put(g, "] ^ as_int(steady(varray[");
        random_index_below(g, 4, 1);
        put(g, "].z))");
        break;
    default: put(g, "own[%u] ^= (uint)", below(g, RANDOM_OUT_SLOTS - 1)); random_number(g, UINT, 2);
    }
    put(g, ";\n");
}

/* Pointers to four ints of the work-item's own each, in private, local or global memory. */
static const char *pointer(generator *g) {
    static const char *const places[] = {"near", "mine",    "(global int *)own", "p0",
                                         "p1",   "pair.to", "many[i2 & 1]",      "either(p0, near, i1 > i3)"};
    return places[below(g, sizeof places / sizeof *places)];
}

static void assign_any_generic(generator *g) {
    unsigned choice = below(g, 8), p = below(g, 2);
    line(g);
    if (choice < 2) {
        put(g, "p%u = ", p);
        random_condition(g, 1);
        put(g, " ? %s : %s;\n", pointer(g), pointer(g));
    } else if (choice == 2) {
        put(g, "%s = %s;\n", below(g, 2) ? "pair.to" : "many[i0 & 1]", pointer(g));
    } else if (choice == 3) {
        put(g, "%s[", p ? "pair.to" : "p0");
        random_any_index(g, 4, 1);
        put(g, "] = ");
        random_number(g, INT, 2);
        put(g, ";\n");
    } else if (choice == 4) {
        put(g, "i%u ^= many[i1 & 1][", p);
        random_any_index(g, 4, 1);
        put(g, "] ^ *p%u;\n", p);
    } else if (choice == 5) {
        put(g, "i%u = atomic_%s(p%u + %u, ", below(g, 4), below(g, 2) ? "add" : "max", p, below(g, 4));
        random_number(g, INT, 1);
        put(g, ");\n");
    } else if (choice == 6) {
        put(g, "vstore2(vload2(%u, p0).yx, %u, %s);\n", below(g, 2), below(g, 2), pointer(g));
    } else {
        put(g, "i%u += (to_local(p%u) != NULL) + 2 * (to_private(p0) != NULL) + 4 * (p0 == %s);\n",
            below(g, 4), p, pointer(g));
    }
}

/* No index is out of range there: beside a work-item's four ints lie the next one's. */
static void assign_generic(generator *g) {
    const unsigned features = g->features;
    g->features &= ~(unsigned)RANDOM_WILD;
    assign_any_generic(g);
    g->features = features;
}

static void assign_uniform(generator *g) {
    line(g);
    put(g, "g%u = ", below(g, NUM_UNIFORM));
    random_uniform_number(g, 2);
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
            random_condition(g, 2);
            put(g, ") return (int)i%u;\n", below(g, 4));
        } else {
            put(g, "if (");
            random_condition(g, 2);
            put(g, ") { out[at + 3] = i0; return; }\n");
        }
    } else if (g->nested && !(uniform && g->divergent)) {
        bool outer = g->uniform;
        g->uniform = uniform;
        put(g, "if (");
        random_condition(g, 2);
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
    random_condition(g, 2);
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
            random_number(g, INT, 1);
            put(g, " & %u)", below(g, 2) ? 3u : 7u);
        }
        put(g, "; k%u++) {\n", k);
    } else if (shape == 1) {
        put(g, "k%u = 0;\n", k);
        line(g);
        put(g, "while (k%u++ < %u && ", k, 2 + below(g, 4));
        random_condition(g, 2);
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
        random_condition(g, 2);
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
    random_number(g, INT, 2);
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
        random_condition(g, 2);
        put(g, " && t%u < 3) { t%u++; goto label%u; }\n", label, label, label);
    } else {
        line(g);
        put(g, "for (t%u = 0; t%u < 3; t%u++) {\n", label, label, label);
        g->indent++;
        statements(g, depth);
        line(g);
        put(g, "if (");
        random_condition(g, 2);
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
    random_number(g, INT, 2);
    put(g, "; ");
    meet_at_barrier(g);
    put(g, "\n");
    line(g);
    const variable *v = random_pick(g, INT, 1);
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
    random_number(g, INT, 1);
    put(g, ", ");
    random_number(g, FLOAT, 1);
    put(g, ", ints);\n");
}

/* Where all of it lies outside of what all work-items share: near, so that a guard sees what is written, and far. */
static void assign_outside(generator *g) {
    static const char *const places[] = {"out[all + ", "out[-1 - ", "out[0x40000000 + ", "shared[64 + ",
                                         "counters[4 + "};
    const bool several = chance(g, 4), has_shared = !g->divergent;
    put(g, "{ int all = get_global_size(0) * get_global_size(1) * %d; ", RANDOM_OUT_SLOTS);
    if (several)
        put(g, "vstore4((uint4)(lid), 0, out + all - %u); }\n", 1 + below(g, 3));
    else
        put(g, "%s(lid & %u)] = (uint)", places[below(g, has_shared ? 5 : 3)], (1u << below(g, 8)) - 1);
    if (!several) random_number(g, UINT, 2);
    if (!several) put(g, "; }\n");
}

static void assign_own(generator *g) {
    line(g);
    if (g->features & RANDOM_WILD && chance(g, 2)) {
        assign_outside(g);
        return;
    }
    put(g, "own[%u] ^= (uint)", below(g, RANDOM_OUT_SLOTS - 1));
    random_number(g, UINT, 2);
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
        const variable *v = &random_variables[i];
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
        const variable *v = &random_variables[i];
        char name[16];
        if (!(g->active >> i & 1)) continue;
        snprintf(name, sizeof name, "%s", random_kinds[v->kind].name);
        if (v->lanes > 1) random_vector_name(name, v->kind, v->lanes);
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
        const variable *v = &random_variables[i];
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
