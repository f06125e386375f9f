/* What a launch is sure to access, from what the compiler has found (ir/reach.h). The findings are evaluated for chosen
   work-items of the range, exactly as these would compute; so whatever comes out is accessed. Chosen are the corners of
   the range and, where a condition changes along a dimension, the places where it does: where indices are linear in ids, the
   largest is among them. */
#include "ir/reach.h"

#include <string.h>

#include "compile.h"
#include "ir/fold.h"

enum { MOST_PLACES = 12, HEADER = 3, ACCESS = 4 /* words before an access' conditions */ };

typedef struct reading {
    const qn__kernel_info *kernel;
    const unsigned char *args;
    const qn__reach_range *range;
    const uint32_t *nodes, *accesses, *end;
    uint32_t num_nodes, num_accesses;
    uint64_t values[QN__REACH_MOST];
    bool known[QN__REACH_MOST];
    bool wanted[QN__REACH_MOST]; /* by the access at hand */
    bool varies[QN__REACH_MOST]; /* from work-item to work-item */
} reading;

/* One access: its condition list lies behind it. */
typedef struct access {
    uint32_t param, node, size, num_conditions;
    const uint32_t *conditions;
} access;

static bool begin(reading *r, const qn__kernel_info *kernel) {
    if (kernel->num_reach < HEADER || kernel->reach[0] != qn__ir_ops_signature()) return false;
    r->kernel = kernel;
    r->num_nodes = kernel->reach[1];
    r->num_accesses = kernel->reach[2];
    r->nodes = kernel->reach + HEADER;
    r->end = kernel->reach + kernel->num_reach;
    if (r->num_nodes > QN__REACH_MOST || kernel->num_reach - HEADER < r->num_nodes * QN__REACH_NODE)
        return false;
    r->accesses = r->nodes + r->num_nodes * (size_t)QN__REACH_NODE;
    return true;
}

/* The next access from *at on; false: the list is at its end, or broken. */
static bool next(const reading *r, const uint32_t **at, access *a) {
    if (r->end - *at < ACCESS) return false;
    *a = (access){(*at)[0], (*at)[1], (*at)[2], (*at)[3], *at + ACCESS};
    if (a->num_conditions > r->end - a->conditions || a->node >= r->num_nodes) return false;
    for (uint32_t i = 0; i < a->num_conditions; i++)
        if (a->conditions[i] / 2 >= r->num_nodes) return false;
    *at = a->conditions + a->num_conditions;
    return true;
}

/* ---- evaluating ---- */

/* What a query gives the work-item with that global id; false: not known. */
static bool query(const reading *r, unsigned op, uint32_t d, const uint64_t id[3], uint64_t *value) {
    const qn__reach_range *range = r->range;
    if (d > 2) return false;
    const uint64_t global = range->global[d], local = range->local[d], place = id[d] - range->offset[d];
    const bool needs_local = op == IR_LOCAL_ID || op == IR_GROUP_ID || op == IR_LOCAL_SIZE ||
                             op == IR_ENQUEUED_LOCAL_SIZE || op == IR_NUM_GROUPS;
    if (needs_local && !local) return false;
    const uint64_t rest = local ? global - place / local * local : 0;
    switch (op) {
    case IR_GLOBAL_ID: *value = id[d]; return true;
    case IR_LOCAL_ID: *value = place % local; return true;
    case IR_GROUP_ID: *value = place / local; return true;
    case IR_GLOBAL_SIZE: *value = global; return true;
    case IR_LOCAL_SIZE: *value = rest < local ? rest : local; return true;
    case IR_ENQUEUED_LOCAL_SIZE: *value = local; return true;
    case IR_NUM_GROUPS: *value = (global + local - 1) / local; return true;
    case IR_GLOBAL_OFFSET: *value = range->offset[d]; return true;
    default: return false; /* the number of dimensions: not known here */
    }
}

static bool argument(const reading *r, const uint32_t *node, uint64_t *value) {
    const uint32_t param = node[1], byte = node[2], size = node[3];
    if (param >= r->kernel->num_params || size > sizeof *value) return false;
    const qn__param_info *info = &r->kernel->params[param];
    if (byte > info->size || size > info->size - byte) return false;
    *value = 0;
    memcpy(value, r->args + info->offset + byte, size); /* little-endian */
    return true;
}

static bool compute(const reading *r, const uint32_t *node, uint64_t *value) {
    const unsigned op = node[0] & 255, kind = node[0] >> 8 & 255, from = node[0] >> 16 & 255;
    const ir_op_info *info = &qn__ir_ops[op];
    uint64_t operands[3] = {0};
    if (kind >= IR_KIND_COUNT || from >= IR_KIND_COUNT || info->operands > 3) return false;
    for (unsigned k = 0; k < info->operands; k++) {
        if (node[1 + k] >= (uint32_t)((node - r->nodes) / QN__REACH_NODE) || !r->known[node[1 + k]])
            return false;
        operands[k] = r->values[node[1 + k]];
    }
    if (op == IR_SELECT)
        *value = operands[0] & 1 ? operands[1] : operands[2];
    else if (info->rule == RULE_CONVERT)
        *value = qn__fold_convert((ir_op)op, (ir_kind)from, (ir_kind)kind, IR_ROUND_EVEN, operands[0]);
    else
        *value = qn__fold_number((ir_op)op, (ir_kind)from, (ir_kind)kind, operands);
    return true;
}

static unsigned num_operands(const uint32_t *node) {
    const unsigned op = node[0] & 255;
    return op < IR_OP_COUNT && !qn__reach_is_query(op) ? qn__ir_ops[op].operands : 0;
}

static void want(reading *r, const access *a) {
    memset(r->wanted, 0, sizeof r->wanted);
    r->wanted[a->node] = true;
    for (uint32_t i = 0; i < a->num_conditions; i++) r->wanted[a->conditions[i] / 2] = true;
    for (uint32_t i = r->num_nodes; i-- > 0;) {
        const uint32_t *node = r->nodes + i * (size_t)QN__REACH_NODE;
        for (unsigned k = 0; r->wanted[i] && k < num_operands(node) && k < 3; k++)
            if (node[1 + k] < i) r->wanted[node[1 + k]] = true;
    }
}

static bool is_of_item(unsigned op) {
    return op == IR_GLOBAL_ID || op == IR_LOCAL_ID || op == IR_GROUP_ID || op == IR_LOCAL_SIZE;
}

static void find_varying(reading *r) {
    for (uint32_t i = 0; i < r->num_nodes; i++) {
        const uint32_t *node = r->nodes + i * (size_t)QN__REACH_NODE;
        r->varies[i] = is_of_item(node[0] & 255);
        for (unsigned k = 0; k < num_operands(node) && k < 3; k++)
            if (node[1 + k] < i) r->varies[i] |= r->varies[node[1 + k]];
    }
}

/* All wanted nodes for a work-item. What is not known makes what depends on it unknown. */
static void evaluate(reading *r, const uint64_t id[3]) {
    for (uint32_t i = 0; i < r->num_nodes; i++) {
        const uint32_t *node = r->nodes + i * (size_t)QN__REACH_NODE;
        const unsigned op = node[0] & 255;
        r->known[i] = r->wanted[i];
        if (!r->wanted[i]) continue;
        if (op == QN__REACH_CONST)
            r->values[i] = node[1] | (uint64_t)node[2] << 32;
        else if (op == QN__REACH_ARG)
            r->known[i] = argument(r, node, &r->values[i]);
        else if (qn__reach_is_query(op))
            r->known[i] = query(r, op, node[1], id, &r->values[i]);
        else
            r->known[i] = qn__reach_is_node(op) && compute(r, node, &r->values[i]);
    }
}

/* Whether the work-item is sure to do the access. */
static bool is_done(const reading *r, const access *a) {
    for (uint32_t i = 0; i < a->num_conditions; i++) {
        const uint32_t node = a->conditions[i] / 2;
        if (!r->known[node] || (r->values[node] & 1) != (a->conditions[i] & 1)) return false;
    }
    return r->known[a->node];
}

/* Whether no work-item does the access: a condition that is the same for all does not hold, or is not known. Values are those
   of any work-item. */
static bool is_never_done(const reading *r, const access *a) {
    for (uint32_t i = 0; i < a->num_conditions; i++) {
        const uint32_t node = a->conditions[i] / 2;
        if (r->varies[node]) continue;
        if (!r->known[node] || (r->values[node] & 1) != (a->conditions[i] & 1)) return true;
    }
    return false;
}

/* ---- work-items to look at ---- */

typedef struct places {
    uint64_t at[MOST_PLACES];
    unsigned count;
} places;

static void add_place(places *p, uint64_t at) {
    for (unsigned i = 0; i < p->count; i++)
        if (p->at[i] == at) return;
    if (p->count < MOST_PLACES) p->at[p->count++] = at;
}

static bool is_done_at(reading *r, const access *a, const uint64_t id[3]) {
    evaluate(r, id);
    return is_done(r, a);
}

/* Between `from` and `to` along a dimension the access begins or ceases to be done: both sides of that place. */
static void bisect(reading *r, const access *a, uint64_t id[3], unsigned d, uint64_t from, uint64_t to,
                   places *p) {
    id[d] = from;
    const bool at_first = is_done_at(r, a, id);
    id[d] = to;
    if (is_done_at(r, a, id) == at_first) return;
    while (to - from > 1) {
        id[d] = from + (to - from) / 2;
        if (is_done_at(r, a, id) == at_first)
            from = id[d];
        else
            to = id[d];
    }
    add_place(p, from);
    add_place(p, to);
}

/* `near` is at the range's begin in all dimensions, or one further. */
static void find_places(reading *r, const access *a, unsigned d, const uint64_t near[3], places *p) {
    const uint64_t first = r->range->offset[d], last = first + r->range->global[d] - 1;
    const uint64_t middle = first + (last - first) / 2, local = r->range->local[d];
    const uint64_t usual[] = {first, first + (last > first), middle, last - (last > first), last};
    uint64_t id[3];
    for (unsigned i = 0; i < QN__COUNT(usual); i++) add_place(p, usual[i]);
    if (local) { /* the last group's first, and the last of the one before, which may be larger */
        const uint64_t group = (last - first) / local * local;
        add_place(p, first + group);
        add_place(p, first + (group ? group - 1 : 0));
    }
    memcpy(id, near, sizeof id);
    for (unsigned i = 0; i + 1 < QN__COUNT(usual); i++)
        if (usual[i] < usual[i + 1]) bisect(r, a, id, d, usual[i], usual[i + 1], p);
}

static uint64_t reach_of(reading *r, const access *a) {
    places dims[3] = {{{0}, 0}};
    uint64_t near[3], id[3], most = 0;
    want(r, a);
    evaluate(r, r->range->offset);
    if (is_never_done(r, a)) return 0;
    for (unsigned further = 0; further < 2; further++) {
        for (unsigned d = 0; d < 3; d++) near[d] = r->range->offset[d] + (further && r->range->global[d] > 1);
        for (unsigned d = 0; d < 3; d++) find_places(r, a, d, near, &dims[d]);
    }
    for (unsigned z = 0; z < dims[2].count; z++)
        for (unsigned y = 0; y < dims[1].count; y++)
            for (unsigned x = 0; x < dims[0].count; x++) {
                id[0] = dims[0].at[x], id[1] = dims[1].at[y], id[2] = dims[2].at[z];
                if (!is_done_at(r, a, id)) continue;
                const uint64_t begins = r->values[a->node];
                if (begins <= INT64_MAX && begins + a->size > most) most = begins + a->size;
            }
    return most;
}

uint64_t qn__reach(const qn__kernel_info *kernel, uint32_t param, const unsigned char *args,
                   const qn__reach_range *range) {
    reading r = {.args = args, .range = range};
    access a;
    uint64_t most = 0;
    if (!begin(&r, kernel) || !range->global[0] || !range->global[1] || !range->global[2]) return 0;
    find_varying(&r);
    const uint32_t *at = r.accesses;
    for (uint32_t i = 0; i < r.num_accesses && next(&r, &at, &a); i++) {
        const uint64_t reach = a.param == param ? reach_of(&r, &a) : 0;
        if (reach > most) most = reach;
    }
    return most;
}

/* ---- as text ---- */

static const struct spelling {
    const char *text, *opposite; /* infix; of a comparison what it is where it does not hold */
} spellings[IR_OP_COUNT] = {
    [IR_ADD] = {"+", NULL},   [IR_SUB] = {"-", NULL},   [IR_MUL] = {"*", NULL},  [IR_SHL] = {"<<", NULL},
    [IR_LSHR] = {">>", NULL}, [IR_ASHR] = {">>", NULL}, [IR_UDIV] = {"/", NULL}, [IR_SDIV] = {"/", NULL},
    [IR_UREM] = {"%", NULL},  [IR_SREM] = {"%", NULL},  [IR_AND] = {"&", NULL},  [IR_OR] = {"|", NULL},
    [IR_XOR] = {"^", NULL},   [IR_EQ] = {"==", "!="},   [IR_NE] = {"!=", "=="},  [IR_SLT] = {"<", ">="},
    [IR_SLE] = {"<=", ">"},   [IR_ULT] = {"<", ">="},   [IR_ULE] = {"<=", ">"},
};

static const char *const query_names[IR_OP_COUNT] = {
    [IR_GLOBAL_ID] = "get_global_id",   [IR_LOCAL_ID] = "get_local_id",
    [IR_GROUP_ID] = "get_group_id",     [IR_GLOBAL_SIZE] = "get_global_size",
    [IR_LOCAL_SIZE] = "get_local_size", [IR_ENQUEUED_LOCAL_SIZE] = "get_enqueued_local_size",
    [IR_NUM_GROUPS] = "get_num_groups", [IR_GLOBAL_OFFSET] = "get_global_offset",
};

static void put_argument(const reading *r, qn__buf *out, const uint32_t *node) {
    if (node[1] >= r->kernel->num_params) return;
    const qn__param_info *param = &r->kernel->params[node[1]];
    const bool is_whole = param->kind == QN__PARAM_VALUE && param->lanes <= 1;
    if (is_whole)
        qn__buf_puts(out, param->name);
    else
        qn__buf_printf(out, "%s[byte %u]", param->name, (unsigned)node[2]);
}

static void put_node(const reading *r, qn__buf *out, uint32_t index, bool inner);

static void put_call(const reading *r, qn__buf *out, const uint32_t *node, const char *name) {
    qn__buf_printf(out, "%s(", name);
    for (unsigned k = 0; k < num_operands(node) && k < 3; k++) {
        if (k) qn__buf_puts(out, ", ");
        put_node(r, out, node[1 + k], false);
    }
    qn__buf_putc(out, ')');
}

static void put_infix(const reading *r, qn__buf *out, const uint32_t *node, const char *text, bool inner) {
    if (inner) qn__buf_putc(out, '(');
    put_node(r, out, node[1], true);
    qn__buf_printf(out, " %s ", text);
    put_node(r, out, node[2], true);
    if (inner) qn__buf_putc(out, ')');
}

/* Operands are earlier nodes, so that this ends; conversions between integers are left out. */
static void put_node(const reading *r, qn__buf *out, uint32_t index, bool inner) {
    enum { LONGEST = 400 };
    const uint32_t *node = r->nodes + index * (size_t)QN__REACH_NODE;
    const unsigned op = node[0] & 255;
    bool is_valid = out->len < LONGEST;
    for (unsigned k = 0; k < num_operands(node) && k < 3; k++) is_valid &= node[1 + k] < index;
    if (!is_valid)
        qn__buf_puts(out, "...");
    else if (op == QN__REACH_CONST)
        qn__buf_printf(out, "%lld",
                       (long long)(node[0] >> 8 & 255) == IR_I32
                           ? (long long)(int32_t)node[1]
                           : (long long)(node[1] | (uint64_t)node[2] << 32));
    else if (op == QN__REACH_ARG)
        put_argument(r, out, node);
    else if (op < IR_OP_COUNT && query_names[op])
        qn__buf_printf(out, "%s(%u)", query_names[op], (unsigned)node[1]);
    else if (op < IR_OP_COUNT && qn__ir_ops[op].rule == RULE_CONVERT)
        put_node(r, out, node[1], inner);
    else if (op < IR_OP_COUNT && spellings[op].text)
        put_infix(r, out, node, spellings[op].text, inner);
    else if (op < IR_OP_COUNT)
        put_call(r, out, node, qn__ir_ops[op].name);
}

static void put_condition(const reading *r, qn__buf *out, uint32_t condition) {
    const uint32_t *node = r->nodes + condition / 2 * (size_t)QN__REACH_NODE;
    const unsigned op = node[0] & 255;
    if (condition & 1)
        put_node(r, out, condition / 2, false);
    else if (op < IR_OP_COUNT && spellings[op].opposite && node[1] < condition / 2 && node[2] < condition / 2)
        put_infix(r, out, node, spellings[op].opposite, false);
    else {
        qn__buf_puts(out, "not (");
        put_node(r, out, condition / 2, false);
        qn__buf_putc(out, ')');
    }
}

void qn__reach_print(const qn__kernel_info *kernel, uint32_t param, qn__arena *arena,
                     void (*put)(void *user, const char *text), void *user) {
    reading r = {.args = NULL};
    access a;
    if (!begin(&r, kernel)) return;
    const uint32_t *at = r.accesses;
    for (uint32_t i = 0; i < r.num_accesses && next(&r, &at, &a); i++) {
        qn__buf out;
        if (a.param != param) continue;
        qn__buf_init(&out, arena);
        put_node(&r, &out, a.node, true);
        qn__buf_printf(&out, " + %u", (unsigned)a.size);
        for (uint32_t c = 0; c < a.num_conditions; c++) {
            qn__buf_puts(&out, c ? " and " : " if ");
            put_condition(&r, &out, a.conditions[c]);
        }
        put(user, out.data);
    }
}
