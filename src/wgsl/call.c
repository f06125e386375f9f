/* Calls. A function of the module is lowered in the place of its call: its parameters are names of the arguments, and a return
   leaves a block around its body. */
#include "wgsl/internal.h"

enum { MOST_CALLS = 1 << 16 };

static const wgsl_value failed = {.form = WGSL_FORM_ERROR};

/* ---- arguments ---- */

static wgsl_value pointer_argument(wgsl_lower *w, wgsl_value v, const wgsl_type *type, front_loc loc) {
    if (qn__wf_is_error(&v)) return v;
    const bool fits = v.form == WGSL_FORM_POINTER && v.type == type->element &&
                      v.place.space == type->space && v.place.access == type->access;
    if (fits) return v;
    const char *wanted = qn__wf_type_name(w, type);
    if (v.form != WGSL_FORM_POINTER)
        return qn__wf_error(w, loc, "the argument is no pointer, where '%s' is wanted", wanted);
    const wgsl_type *has = qn__wf_pointer(w, v.type, v.place.space, v.place.access);
    return qn__wf_error(w, loc, "the argument is '%s', where '%s' is wanted", qn__wf_type_name(w, has),
                        wanted);
}

static wgsl_value argument(wgsl_lower *w, const wgsl_decl *param, wgsl_value v, const wgsl_type *type,
                           front_loc loc) {
    if (type->kind == WGSL_POINTER) return pointer_argument(w, v, type, loc);
    const char *name = qn__arena_strndup(w->arena, param->name.data, param->name.len);
    v = qn__wf_convert(w, v, type, loc, qn__arena_printf(w->arena, "the argument for '%s'", name));
    if (qn__wf_is_error(&v)) return v;
    v = qn__wf_at_run_time(w, v);
    const bool is_whole = type->kind == WGSL_ARRAY || type->kind == WGSL_STRUCT;
    return v.form == WGSL_FORM_PARTS && is_whole ? qn__wf_to_memory(w, &v, name) : v;
}

/* Declares the parameters; false: some argument is wrong. */
static bool bind(wgsl_lower *w, const wgsl_decl *decl, const wgsl_value *args, const wgsl_expr *e,
                 wgsl_call *frame) {
    bool fine = true;
    const size_t count = decl->members.len;
    wgsl_symbol *bound = QN__NEW_ARRAY(w->arena, wgsl_symbol, count + 1);
    for (size_t i = 0; i < count; i++) {
        const wgsl_decl *param = decl->members.data[i];
        wgsl_call *inner = w->call;
        w->call = NULL; /* types are those of the module's scope */
        const wgsl_type *type = qn__wf_type_of(w, param->type);
        w->call = inner;
        wgsl_value v =
            type ? argument(w, param, args[i], type, e ? e->args.data[i]->loc : param->loc) : failed;
        fine &= !qn__wf_is_error(&v);
        if (v.form == WGSL_FORM_POINTER) v.place.param = (unsigned)i + 1;
        bound[i] = (wgsl_symbol){param->name, param->loc, v};
    }
    frame->first_symbol = w->symbols.len;
    for (size_t i = 0; i < count; i++) qn__vec_push(w->arena, &w->symbols, bound[i]);
    return fine;
}

/* ---- bodies ---- */

static const wgsl_stmt *last_of(const wgsl_stmt *body) {
    return body->body.len ? body->body.data[body->body.len - 1] : NULL;
}

/* Its only return is the last statement: the result is that value. */
static bool ends_in_return(const wgsl_decl *decl) {
    const wgsl_stmt *last = last_of(decl->body);
    return !decl->num_returns || (decl->num_returns == 1 && last && last->kind == WGSL_STMT_RETURN);
}

static void lower_body(wgsl_lower *w, wgsl_decl *decl, wgsl_call *frame) {
    if (ends_in_return(decl)) {
        qn__wf_function_body(w, decl);
        return;
    }
    if (frame->result) frame->value = qn__wf_variable_place(w, frame->result, NULL, WGSL_FUNCTION);
    frame->block = qn__ir_block(&w->b, NULL, 0);
    const ir_builder outer = w->b;
    qn__ir_at_end(&w->b, frame->block->regions[0]);
    qn__wf_function_body(w, decl);
    if (!qn__wf_is_dead(w)) qn__ir_yield(&w->b, NULL, 0);
    w->b.region = outer.region;
    w->b.before = outer.before;
    if (frame->result) frame->value = qn__wf_load(w, frame->value);
}

static bool calls_itself(const wgsl_lower *w, const wgsl_decl *decl) {
    for (const wgsl_call *c = w->call; c; c = c->outer)
        if (c->decl == decl) return true;
    return false;
}

/* `args` are the arguments' values; `e` is the call, or NULL where a function is only looked at. */
wgsl_value qn__wf_call_function(wgsl_lower *w, wgsl_decl *decl, const wgsl_value *args, const wgsl_expr *e) {
    const front_loc loc = e ? e->loc : decl->loc;
    if (!decl->body || !qn__wf_enter(w, loc)) return failed;
    wgsl_call frame = {.outer = w->call, .decl = decl, .loc = loc};
    decl->is_lowered = true;
    wgsl_value result = failed;
    const size_t num_symbols = w->symbols.len;
    if (calls_itself(w, decl)) {
        qn__wf_error(w, loc, "function '%.*s' calls itself, which WGSL does not allow",
                     QN__STR_PRINTF(decl->name));
        w->stopped = true;
    } else if (++w->calls > MOST_CALLS) {
        if (!w->stopped) qn__wf_error(w, loc, "the function is too large to compile");
        w->stopped = true;
    } else if (bind(w, decl, args, e, &frame)) {
        w->call = NULL;
        frame.result = decl->type ? qn__wf_type_of(w, decl->type) : NULL;
        w->call = &frame;
        if (!decl->type || frame.result) {
            lower_body(w, decl, &frame);
            qn__wf_end_uses(w, &frame, args, e);
            result = frame.result ? frame.value : (wgsl_value){.form = WGSL_FORM_NONE};
        }
    }
    w->symbols.len = num_symbols;
    w->call = frame.outer;
    w->depth--;
    qn__wf_at(w, loc);
    return result;
}

static wgsl_value call_named(wgsl_lower *w, wgsl_decl *decl, const wgsl_expr *e) {
    const size_t count = decl->members.len;
    if (qn__wf_attribute(&decl->attributes, "compute"))
        return qn__wf_error(w, e->loc, "'%.*s' is an entry point, which nothing calls",
                            QN__STR_PRINTF(decl->name));
    if (e->args.len != count) {
        const wgsl_value error = qn__wf_error(w, e->loc, "function '%.*s' takes %zu arguments; here are %zu",
                                              QN__STR_PRINTF(decl->name), count, e->args.len);
        qn__diag_note(w->diag, decl->loc, "it is declared here");
        return error;
    }
    wgsl_value *args = QN__NEW_ARRAY(w->arena, wgsl_value, count + 1);
    bool fine = true;
    for (size_t i = 0; i < count; i++) {
        args[i] = qn__wf_rvalue(w, e->args.data[i]);
        fine &= !qn__wf_is_error(&args[i]);
    }
    qn__wf_resolve(w, decl);
    qn__wf_at(w, e->loc);
    if (w->b.region == w->scratch->body)
        return qn__wf_error(w, e->loc, "a call of '%.*s' is no constant", QN__STR_PRINTF(decl->name));
    return fine ? qn__wf_call_function(w, decl, args, e) : failed;
}

static bool is_declared(const wgsl_lower *w, qn__str name) {
    for (size_t i = w->symbols.len; w->call && i-- > w->call->first_symbol;)
        if (qn__str_equal(w->symbols.data[i].name, name)) return true;
    const bool is_text = w->call && !w->call->decl; /* of a built-in function */
    return !is_text && qn__map_has(&w->source->names, name);
}

wgsl_value qn__wf_call_expr(wgsl_lower *w, const wgsl_expr *e) {
    if (!e->parameters.len && qn__wf_is_generator(e->name) && !is_declared(w, e->name))
        return qn__wf_construct_inferred(w, e);
    wgsl_expr callee = *e;
    callee.kind = WGSL_EXPR_NAME;
    const wgsl_value v = qn__wf_lookup(w, &callee);
    switch (v.form) {
    case WGSL_FORM_ERROR: return v;
    case WGSL_FORM_TYPE: return qn__wf_construct(w, e, v.type);
    case WGSL_FORM_FUNCTION: return call_named(w, (wgsl_decl *)v.decl, e);
    case WGSL_FORM_BUILTIN: return qn__wf_builtin_call(w, v.builtin, e);
    default: return qn__wf_error(w, e->loc, "'%.*s' is no function", QN__STR_PRINTF(e->name));
    }
}
