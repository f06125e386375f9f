/* Inlines every call, so that what follows sees kernels only. Sizes and nesting are added up over the call
   graph first, so a module that would grow too large is refused before anything is copied; then each kernel
   is filled top down, which copies every instruction exactly once into its final place. A function that one call of
   one kernel needs is not copied but moved.

       func @sq(%x: i32) -> i32 { return mul %x, %x }          kernel @k() {
       kernel @k() { %r = call @sq(%a); use %r }        ->       %m = mul %a, %a; use %m }

   A callee with more exits than its closing return becomes a `block` that its returns break out of. Variables
   move to the kernel's start (cloning sees to that); __local variables are merged, one copy for each callee
   in a kernel. */
#include "pass/tools.h"

enum { MAX_NESTING = 400 }; /* the verifier accepts 500 */

typedef struct node {
    ir_function *function;
    uint64_t size;      /* instructions once all its calls are inlined */
    uint32_t depth;     /* nesting of constructs, likewise */
    uint8_t state;      /* 0: not seen, 1: being visited, 2: done */
    int32_t local_base; /* of its __local variables in the kernel at hand, or -1 */
} node;

typedef struct call_site {
    ir_instr *instr;
    uint32_t depth;
} call_site;

typedef QN__VEC(call_site) call_sites;

typedef struct inliner {
    qn__pass_context *context;
    node *nodes;
    qn__map64 by_function; /* address -> node */
    ir_function *kernel;
    qn__rewrite rewrite;
    call_sites calls;
} inliner;

static node *node_of(inliner *in, const ir_function *function) {
    return qn__map64_get(&in->by_function, (uint64_t)(uintptr_t)function);
}

/* ---- the call graph ---- */

static uint32_t find_calls(qn__arena *arena, ir_region *region, uint32_t depth, call_sites *calls,
                           uint32_t *deepest) {
    uint32_t count = 0;
    if (depth > *deepest) *deepest = depth;
    for (ir_instr *i = region->first; i; i = i->next) {
        count++;
        if (i->op == IR_CALL) qn__vec_push(arena, calls, (call_site){i, depth});
        for (uint32_t r = 0; r < i->num_regions; r++)
            count += find_calls(arena, i->regions[r], depth + 1, calls, deepest);
    }
    return count;
}

typedef struct frame {
    node *node;
    call_sites calls;
    size_t next;
} frame;

static bool refuse(inliner *in, const char *what, const char *name) {
    in->context->error = qn__arena_printf(in->context->module->arena, "function '%s' %s", name, what);
    return false;
}

static frame enter(inliner *in, node *n) {
    frame f = {n, {0}, 0};
    n->state = 1;
    n->size = find_calls(in->context->scratch, n->function->body, 0, &f.calls, &n->depth);
    return f;
}

/* Adds a finished callee's measures to its caller. */
static bool add_callee(inliner *in, node *caller, const node *callee, uint32_t depth) {
    const uint32_t limit = in->context->module->max_instrs;
    caller->size += callee->size;
    if (depth + 1 + callee->depth > caller->depth) caller->depth = depth + 1 + callee->depth;
    if (limit && caller->size > limit)
        return refuse(in, "is too large after inlining", caller->function->name);
    if (caller->depth > MAX_NESTING)
        return refuse(in, "nests too deeply after inlining", caller->function->name);
    return true;
}

/* Depth first over the calls below `root`, with its own stack: chains of calls may be long. */
static bool measure(inliner *in, node *root) {
    qn__arena *arena = in->context->scratch;
    QN__VEC(frame) stack = {0};
    if (root->state == 2) return true;
    qn__vec_push(arena, &stack, enter(in, root));
    while (stack.len) {
        frame *top = &qn__vec_last(&stack);
        if (top->next == top->calls.len) {
            top->node->state = 2;
            (void)qn__vec_pop(&stack);
            continue;
        }
        const call_site site = top->calls.data[top->next];
        node *callee = node_of(in, site.instr->attr.callee);
        if (!callee || !callee->function->body)
            return refuse(in, "is called but has no body", site.instr->attr.callee->name);
        if (callee->state == 1)
            return refuse(in, "calls itself; OpenCL C has no recursion", callee->function->name);
        if (callee->state == 0) {
            qn__vec_push(arena, &stack, enter(in, callee));
            continue;
        }
        if (!add_callee(in, top->node, callee, site.depth)) return false;
        top->next++;
    }
    return true;
}

/* ---- copying ---- */

typedef struct copied {
    ir_instr *block;
    uint32_t breaks;    /* returns other than the closing one */
    int32_t local_base; /* added to the index of LOCAL */
} copied;

/* Adapts a fresh copy: returns leave the block, further calls are noted. */
static void adapt(inliner *in, ir_region *region, copied *copy) {
    for (ir_instr *i = region->first, *next; i; i = next) {
        next = i->next;
        if (i->op == IR_RETURN) {
            const bool closing = region == copy->block->regions[0];
            i->op = closing ? IR_YIELD : IR_BREAK;
            i->attr.target = closing ? NULL : copy->block;
            copy->breaks += !closing;
        } else if (i->op == IR_LOCAL) {
            i->attr.index += (uint32_t)copy->local_base;
        } else if (i->op == IR_CALL) {
            qn__vec_push(in->context->scratch, &in->calls, (call_site){i, 0});
        }
        for (uint32_t r = 0; r < i->num_regions; r++) adapt(in, i->regions[r], copy);
    }
}

static int32_t merge_locals(inliner *in, node *callee) {
    if (callee->local_base < 0) {
        callee->local_base = (int32_t)in->kernel->locals.len;
        for (size_t i = 0; i < callee->function->locals.len; i++)
            qn__ir_local_add(in->kernel, callee->function->locals.data[i]);
    }
    return callee->local_base;
}

static void inline_call(inliner *in, ir_instr *call) {
    node *callee = node_of(in, call->attr.callee);
    ir_function *from = callee->function;
    ir_value **map = QN__NEW_ARRAY(in->context->scratch, ir_value *, (size_t)from->num_values + 1);
    for (size_t a = 0; a < from->args.len && a < call->num_operands; a++)
        map[from->args.data[a].value->id] = call->operands[a];

    ir_builder builder = {.function = in->kernel, .loc = call->loc};
    qn__ir_at(&builder, call);
    ir_type results[1] = {from->result};
    ir_instr *block = qn__ir_block(&builder, results, from->result.kind != IR_VOID);
    qn__ir_at_end(&builder, block->regions[0]);
    if (from->num_copies == 1)
        qn__ir_move_into(block->regions[0], from->body, map);
    else
        qn__ir_clone_into(&builder, from->body, map);

    copied copy = {.block = block, .local_base = merge_locals(in, callee)};
    adapt(in, block->regions[0], &copy);
    ir_instr *last = block->regions[0]->last;
    if (copy.breaks == 0 && last->op == IR_YIELD) {
        qn__rewrite_results(&in->rewrite, call, last->operands);
        qn__splice_body(block->regions[0], block);
        qn__ir_unlink(block);
    } else {
        qn__rewrite_results(&in->rewrite, call, block->results);
    }
    qn__ir_unlink(call);
}

/* Calls were taken from the last to the first, so the uses of their results change in a walk of their own. */
static void replace_results(inliner *in, ir_region *region) {
    for (ir_instr *i = region->first; i; i = i->next) {
        qn__rewrite_operands(&in->rewrite, i);
        for (uint32_t r = 0; r < i->num_regions; r++) replace_results(in, i->regions[r]);
    }
}

static void fill_kernel(inliner *in, ir_function *kernel) {
    in->kernel = kernel;
    in->calls.len = 0;
    uint32_t deepest = 0;
    find_calls(in->context->scratch, kernel->body, 0, &in->calls, &deepest);
    if (!in->calls.len) return;
    for (size_t i = 0; i < in->context->module->functions.len; i++) in->nodes[i].local_base = -1;
    qn__rewrite_init(&in->rewrite, in->context->scratch, kernel);
    while (in->calls.len) inline_call(in, qn__vec_pop(&in->calls).instr);

    replace_results(in, kernel->body);
}

bool qn__pass_inline(qn__pass_context *context) {
    ir_module *module = context->module;
    const size_t count = module->functions.len;
    inliner in = {.context = context, .nodes = QN__NEW_ARRAY(context->scratch, node, count + 1)};
    for (size_t i = 0; i < count; i++) {
        in.nodes[i].function = module->functions.data[i];
        qn__map64_set(context->scratch, &in.by_function, (uint64_t)(uintptr_t)module->functions.data[i],
                      &in.nodes[i]);
    }
    for (size_t i = 0; i < count; i++)
        if (in.nodes[i].function->is_kernel && !measure(&in, &in.nodes[i])) return false;

    qn__survey(context);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (in.nodes[i].function->is_kernel) fill_kernel(&in, in.nodes[i].function);
    for (size_t i = 0; i < count; i++)
        if (in.nodes[i].function->is_kernel) module->functions.data[kept++] = in.nodes[i].function;
    module->functions.len = kept;
    return true;
}
