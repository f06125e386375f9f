/* Inlines every call, so that what follows sees kernels only. Sizes and nesting are added up over the call
   graph first, so a module that would grow too large is refused before anything is copied; then each kernel
   is filled top down, which copies every instruction exactly once into its final place. The last call that needs a
   function gets not a copy but the function's own instructions.

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
    uint32_t returns;
    QN__VEC(uint32_t) depths; /* of constructs around its calls */
} node;

typedef struct inliner {
    qn__pass_context *context;
    node *nodes;      /* by the function's index, as are: */
    qn__calls *calls; /* in program order */
    ir_function *kernel;
    qn__rewrite rewrite;
    qn__calls left; /* calls in the kernel */
} inliner;

/* NULL: it is not the module's. */
static node *node_of(inliner *in, const ir_function *function) {
    const qn__pass_context *context = in->context;
    const bool is_own = function->index < context->module->functions.len &&
                        context->module->functions.data[function->index] == function;
    return is_own ? &in->nodes[function->index] : NULL;
}

/* ---- the call graph ---- */

static void survey(qn__arena *arena, node *n, qn__calls *calls, ir_region *region, uint32_t depth) {
    if (depth > n->depth) n->depth = depth;
    for (ir_instr *i = region->first; i; i = i->next) {
        n->size++;
        n->returns += i->op == IR_RETURN;
        if (i->op == IR_CALL) {
            qn__vec_push(arena, calls, i);
            qn__vec_push(arena, &n->depths, depth);
        }
        for (uint32_t r = 0; r < i->num_regions; r++) survey(arena, n, calls, i->regions[r], depth + 1);
    }
}

typedef struct frame {
    node *node;
    const qn__calls *calls;
    size_t next;
} frame;

static bool refuse(inliner *in, const char *what, const char *name) {
    in->context->error = qn__arena_printf(in->context->module->arena, "function '%s' %s", name, what);
    return false;
}

static frame enter(inliner *in, node *n) {
    qn__calls *calls = &in->calls[n->function->index];
    n->state = 1;
    survey(in->context->scratch, n, calls, n->function->body, 0);
    return (frame){n, calls, 0};
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
        if (top->next == top->calls->len) {
            top->node->state = 2;
            (void)qn__vec_pop(&stack);
            continue;
        }
        const ir_instr *call = top->calls->data[top->next];
        node *callee = node_of(in, call->attr.callee);
        if (!callee || !callee->function->body)
            return refuse(in, "is called but has no body", call->attr.callee->name);
        if (callee->state == 1)
            return refuse(in, "calls itself; OpenCL C has no recursion", callee->function->name);
        if (callee->state == 0) {
            qn__vec_push(arena, &stack, enter(in, callee));
            continue;
        }
        if (!add_callee(in, top->node, callee, top->node->depths.data[top->next])) return false;
        top->next++;
    }
    return true;
}

/* ---- copying ---- */

/* Adapts fresh copies, up to `end`: returns leave the block, further calls are noted. */
static void adapt(inliner *in, ir_instr *first, const ir_instr *end, ir_instr *block, int32_t local_base) {
    for (ir_instr *i = first; i != end; i = i->next) {
        if (i->op == IR_RETURN && block) {
            const bool closing = i->parent == block->regions[0];
            i->op = closing ? IR_YIELD : IR_BREAK;
            i->attr.target = closing ? NULL : block;
        } else if (i->op == IR_LOCAL) {
            i->attr.index += (uint32_t)local_base;
        } else if (i->op == IR_CALL) {
            qn__vec_push(in->context->scratch, &in->left, i);
        }
        for (uint32_t r = 0; r < i->num_regions; r++)
            adapt(in, i->regions[r]->first, NULL, block, local_base);
    }
}

/* Users do not know the library's lines: fresh copies, up to `end`, are where the call is. A fused multiply-add stays where it
   was, as lower_fma wants to know whose it is. */
static void locate(ir_instr *first, const ir_instr *end, ir_loc call) {
    for (ir_instr *i = first; i != end; i = i->next) {
        if (i->op != IR_FMA) i->loc = call;
        for (uint32_t r = 0; r < i->num_regions; r++) locate(i->regions[r]->first, NULL, call);
    }
}

static int32_t merge_locals(inliner *in, node *callee) {
    if (callee->local_base < 0) {
        callee->local_base = (int32_t)in->kernel->locals.len;
        for (size_t i = 0; i < callee->function->locals.len; i++)
            qn__ir_local_add(in->kernel, callee->function->locals.data[i]);
        for (size_t i = 0; i < callee->function->unused.len; i++)
            qn__vec_push(in->kernel->module->arena, &in->kernel->unused, callee->function->unused.data[i]);
    }
    return callee->local_base;
}

static void copy_body(const node *callee, ir_builder *to, ir_value **map) {
    if (--callee->function->num_copies == 0)
        qn__ir_move_into(to, callee->function->body, map);
    else
        qn__ir_clone_into(to, callee->function->body, map);
}

/* A callee that is left at its end only takes the call's place. */
static void place_body(inliner *in, node *callee, ir_instr *call, ir_value **map) {
    ir_instr *before = call->prev;
    const ir_region *region = call->parent;
    ir_builder builder = {0};
    qn__ir_at(&builder, call);
    in->kernel->num_values += call->num_results; /* as many ids as the block takes elsewhere */
    copy_body(callee, &builder, map);
    const int32_t local_base = merge_locals(in, callee);
    ir_instr *first = before ? before->next : region->first, *last = call->prev;
    if (in->calls[callee->function->index].len || callee->function->locals.len)
        adapt(in, first, call, NULL, local_base);
    if (callee->function->is_library) locate(first, call, call->loc);
    qn__rewrite_results(&in->rewrite, call, last->operands);
    qn__ir_unlink(last);
}

static void inline_call(inliner *in, ir_instr *call) {
    node *callee = node_of(in, call->attr.callee);
    const ir_function *from = callee->function;
    ir_value **map = QN__NEW_ARRAY(in->context->scratch, ir_value *, (size_t)from->num_values + 1);
    for (size_t a = 0; a < from->args.len && a < call->num_operands; a++)
        map[from->args.data[a].value->id] = call->operands[a];
    if (callee->returns == 1 && from->body->last->op == IR_RETURN) {
        place_body(in, callee, call, map);
    } else {
        ir_builder builder = {.function = in->kernel, .loc = call->loc};
        qn__ir_at(&builder, call);
        ir_type results[1] = {from->result};
        ir_instr *block = qn__ir_block(&builder, results, from->result.kind != IR_VOID);
        qn__ir_at_end(&builder, block->regions[0]);
        copy_body(callee, &builder, map);
        adapt(in, block->regions[0]->first, NULL, block, merge_locals(in, callee));
        if (from->is_library) locate(block->regions[0]->first, NULL, call->loc);
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
    in->left = in->calls[kernel->index];
    if (!in->left.len) return;
    for (size_t i = 0; i < in->context->module->functions.len; i++) in->nodes[i].local_base = -1;
    while (in->left.len) inline_call(in, qn__vec_pop(&in->left));

    replace_results(in, kernel->body);
}

bool qn__pass_inline(qn__pass_context *context) {
    ir_module *module = context->module;
    const size_t count = module->functions.len;
    inliner in = {.context = context,
                  .nodes = QN__NEW_ARRAY(context->scratch, node, count + 1),
                  .calls = QN__NEW_ARRAY(context->scratch, qn__calls, count + 1)};
    for (size_t i = 0; i < count; i++) {
        module->functions.data[i]->index = (uint32_t)i;
        in.nodes[i].function = module->functions.data[i];
    }
    for (size_t i = 0; i < count; i++)
        if (in.nodes[i].function->is_kernel && !measure(&in, &in.nodes[i])) return false;

    qn__count_copies(context, in.calls);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (in.nodes[i].function->is_kernel) fill_kernel(&in, in.nodes[i].function);
    for (size_t i = 0; i < count; i++)
        if (in.nodes[i].function->is_kernel) module->functions.data[kept++] = in.nodes[i].function;
    module->functions.len = kept;
    return true;
}
