/* Aliasing (WGSL section 11.5.7): a function must not reach one variable in two ways, by two of its pointers or by a pointer and by
   name, if it writes there. What a function does with each of its ways is noted as it is lowered; a call passes what it was
   given on to the function that makes it. */
#include "wgsl/internal.h"

static void note(wgsl_lower *w, wgsl_call *call, const void *root, unsigned param, bool reads, bool writes) {
    for (size_t i = 0; i < call->uses.len; i++) {
        wgsl_use *use = &call->uses.data[i];
        if (use->root != root || use->param != param) continue;
        use->reads |= reads;
        use->writes |= writes;
        return;
    }
    qn__vec_push(w->arena, &call->uses, (wgsl_use){root, param, reads, writes});
}

/* Whether it is reached by a pointer parameter of the function around, or at module scope: others are reached in one way only. */
static bool counts(const wgsl_place *place) { return place->root && (place->param || place->is_module); }

void qn__wf_note_use(wgsl_lower *w, const wgsl_place *place, bool writes) {
    wgsl_call *call = w->call;
    while (call && !call->decl) call = call->outer; /* texts of built-in functions */
    if (call && counts(place)) note(w, call, place->root, place->param, !writes, writes);
}

static bool clash(const wgsl_use *a, const wgsl_use *b) {
    return a->root == b->root && a->param != b->param && (a->writes || b->writes);
}

static void check(wgsl_lower *w, const wgsl_call *call, const wgsl_expr *e) {
    for (size_t i = 0; i < call->uses.len; i++)
        for (size_t k = 0; k < i; k++) {
            const wgsl_use *a = &call->uses.data[i], *b = &call->uses.data[k];
            if (!clash(a, b)) continue;
            const unsigned param = a->param > b->param ? a->param : b->param;
            qn__wf_error(w, e->args.data[param - 1]->loc,
                         "%s: '%.*s' writes to what it also reaches in another way",
                         qn__wf_quote(w, e->args.data[param - 1]), QN__STR_PRINTF(call->decl->name));
            return;
        }
}

void qn__wf_end_uses(wgsl_lower *w, const wgsl_call *call, const wgsl_value *args, const wgsl_expr *e) {
    if (e) check(w, call, e);
    wgsl_call *outer = call->outer;
    for (size_t i = 0; outer && i < call->uses.len; i++) {
        const wgsl_use *use = &call->uses.data[i];
        const wgsl_place *place = use->param ? &args[use->param - 1].place : NULL;
        if (!place)
            note(w, outer, use->root, 0, use->reads, use->writes);
        else if (counts(place))
            note(w, outer, place->root, place->param, use->reads, use->writes);
    }
}
