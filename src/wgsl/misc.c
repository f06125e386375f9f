/* Built-in functions on values that are lowered by hand: bits, choices, matrices, and those with two results. */
#include <math.h>

#include "wgsl/internal.h"

static const wgsl_value failed = {.form = WGSL_FORM_ERROR};

/* ---- bits ---- */

static wgsl_value known_bits(wgsl_lower *w, const wgsl_value *v, const wgsl_type *to) {
    const unsigned from_size = (unsigned)qn__wf_scalar_of(v->type)->size,
                   to_size = (unsigned)qn__wf_scalar_of(to)->size;
    uint8_t bytes[16];
    uint64_t bits[4] = {0};
    for (unsigned i = 0; i < from_size * qn__wf_lanes(v->type); i++)
        bytes[i] = (uint8_t)(v->bits[i / from_size] >> (i % from_size * 8));
    for (unsigned i = 0; i < to_size * qn__wf_lanes(to); i++)
        bits[i / to_size] |= (uint64_t)bytes[i] << (i % to_size * 8);
    wgsl_value made = qn__wf_known(w, to, bits);
    made.stage = v->stage;
    return made;
}

wgsl_value qn__wf_bitcast(wgsl_lower *w, const wgsl_builtin *row, wgsl_value *args, unsigned count,
                          const wgsl_expr *e) {
    (void)row, (void)count;
    if (e->parameters.len != 1) return qn__wf_error(w, e->loc, "bitcast needs the type: bitcast<T>(x)");
    const wgsl_type *to = qn__wf_type_of(w, e->parameters.data[0]);
    if (!to) return failed;
    const wgsl_value v = qn__wf_concrete(w, args[0], e->args.data[0]->loc);
    if (qn__wf_is_error(&v)) return v;
    const bool fits = v.form == WGSL_FORM_VALUE && qn__wf_is_value(to) &&
                      qn__wf_is_number(qn__wf_scalar_of(to)) && qn__wf_is_number(qn__wf_scalar_of(v.type)) &&
                      to->size == v.type->size;
    if (!fits)
        return qn__wf_error(w, e->loc, "bitcast: '%s' has not the bits of '%s'", qn__wf_type_name(w, v.type),
                            qn__wf_type_name(w, to));
    if (v.bits)
        return v.stage == WGSL_STAGE_RUN ? known_bits(w, &v, to)
                                         : qn__wf_finite(w, known_bits(w, &v, to), e->loc);
    return qn__wf_of_ir(to, qn__ir_convert(&w->b, IR_BITCAST, v.ir, qn__wf_ir_type(to)));
}

/* select(f, t, condition) */
wgsl_value qn__wf_choose(wgsl_lower *w, const wgsl_builtin *row, wgsl_value *args, unsigned count,
                         const wgsl_expr *e) {
    (void)row, (void)count;
    for (unsigned i = 0; args[2].stage == WGSL_STAGE_RUN && i < 2; i++) {
        args[i] = qn__wf_concrete(w, args[i], e->loc);
        if (qn__wf_is_error(&args[i])) return failed;
    }
    return qn__wf_select(w, args[2], args[1], args[0]);
}

/* The least is not above the greatest where both are known. */
wgsl_value qn__wf_clamp(wgsl_lower *w, const wgsl_builtin *row, wgsl_value *args, unsigned count,
                        const wgsl_expr *e) {
    (void)row, (void)count, (void)e;
    const wgsl_type *type = args[0].type, *scalar = qn__wf_scalar_of(type),
                    *flags = qn__wf_vector(w, w->scalars[WGSL_BOOL], qn__wf_lanes(type));
    const bool is_float = qn__wf_is_float(scalar), is_unsigned = scalar->kind == WGSL_U32;
    if (args[1].bits && args[2].bits && args[1].stage != WGSL_STAGE_RUN && args[2].stage != WGSL_STAGE_RUN) {
        const wgsl_value above = qn__wf_op2(w,
                                            is_float      ? IR_FLT
                                            : is_unsigned ? IR_ULT
                                                          : IR_SLT,
                                            flags, args[2], args[1]);
        for (unsigned i = 0; i < qn__wf_lanes(type); i++)
            if (above.bits[i]) return qn__wf_error(w, w->loc, "clamp: the least is above the greatest");
    }
    const wgsl_value v = qn__wf_op2(w,
                                    is_float      ? IR_FMAX
                                    : is_unsigned ? IR_UMAX
                                                  : IR_SMAX,
                                    type, args[0], args[1]);
    return qn__wf_op2(w, is_float ? IR_FMIN : is_unsigned ? IR_UMIN : IR_SMIN, type, v, args[2]);
}

/* ---- halves ---- */

static wgsl_value converted(wgsl_lower *w, const wgsl_value *v, wgsl_kind kind) {
    return qn__wf_cast(w, v, qn__wf_vector(w, w->scalars[kind], qn__wf_lanes(v->type)), w->loc);
}

wgsl_value qn__wf_quantize(wgsl_lower *w, const wgsl_builtin *row, wgsl_value *args, unsigned count,
                           const wgsl_expr *e) {
    (void)row, (void)count;
    wgsl_value v = qn__wf_concrete(w, args[0], e->loc);
    if (qn__wf_is_error(&v)) return v;
    v = qn__wf_finite(w, converted(w, &v, WGSL_F16), e->loc);
    return qn__wf_is_error(&v) ? v : converted(w, &v, WGSL_F32);
}

/* Variant 0: the bits of two floats as halves in a word; 1: back. The halves are words for themselves on the way. */
wgsl_value qn__wf_halves(wgsl_lower *w, const wgsl_builtin *row, wgsl_value *args, unsigned count,
                         const wgsl_expr *e) {
    (void)count;
    const wgsl_type *word = w->scalars[WGSL_U32], *single = w->scalars[WGSL_F32],
                    *half = w->scalars[WGSL_F16];
    const ir_type i16 = qn__ir_type(IR_I16, 1), i32 = qn__ir_type(IR_I32, 1), f16 = qn__ir_type(IR_F16, 1);
    wgsl_value lanes[2];
    if (args[0].bits && row->variant) {
        const uint64_t both[2] = {args[0].bits[0] & 0xffff, args[0].bits[0] >> 16};
        wgsl_value v = qn__wf_known(w, qn__wf_vector(w, half, 2), both);
        v.stage = args[0].stage;
        return qn__wf_finite(w, converted(w, &v, WGSL_F32), e->loc);
    }
    if (args[0].bits) {
        const wgsl_value v = qn__wf_finite(w, converted(w, &args[0], WGSL_F16), e->loc);
        return qn__wf_is_error(&v) ? v : known_bits(w, &v, word);
    }
    for (unsigned i = 0; i < 2; i++) {
        ir_value *shift = qn__ir_const_int(w->b.function, IR_I32, 16 * (int64_t)i);
        if (row->variant) {
            ir_value *bits = qn__ir_op2(&w->b, IR_LSHR, qn__wf_ir(w, &args[0]), shift);
            bits = qn__ir_convert(&w->b, IR_TRUNC, bits, i16);
            bits = qn__ir_convert(&w->b, IR_BITCAST, bits, f16);
            lanes[i] = qn__wf_of_ir(single, qn__ir_convert(&w->b, IR_FCONVERT, bits, qn__ir_type(IR_F32, 1)));
        } else {
            const wgsl_value lane = qn__wf_lane(w, &args[0], i);
            ir_value *bits = qn__ir_convert(&w->b, IR_FCONVERT, qn__wf_ir(w, &lane), f16);
            bits = qn__ir_convert(&w->b, IR_ZEXT, qn__ir_convert(&w->b, IR_BITCAST, bits, i16), i32);
            lanes[i] = qn__wf_of_ir(word, qn__ir_op2(&w->b, IR_SHL, bits, shift));
        }
    }
    if (row->variant) return qn__wf_gather(w, qn__wf_vector(w, single, 2), lanes);
    return qn__wf_op2(w, IR_OR, word, lanes[0], lanes[1]);
}

wgsl_value qn__wf_dot4(wgsl_lower *w, const wgsl_builtin *row, wgsl_value *args, unsigned count,
                       const wgsl_expr *e) {
    (void)count, (void)e;
    const wgsl_type *type = w->scalars[row->variant == IR_SDOT4 ? WGSL_I32 : WGSL_U32];
    const wgsl_value all[] = {args[0], args[1], qn__wf_known_splat(w, w->scalars[WGSL_U32], 0)};
    return qn__wf_op(w, (ir_op)row->variant, type, all, 3);
}

/* ---- matrices ---- */

wgsl_value qn__wf_transpose(wgsl_lower *w, const wgsl_builtin *row, wgsl_value *args, unsigned count,
                            const wgsl_expr *e) {
    (void)row, (void)count, (void)e;
    const wgsl_type *from = args[0].type,
                    *to = qn__wf_matrix(w, qn__wf_scalar_of(from), from->lanes, from->columns);
    wgsl_value columns[4], lanes[4];
    for (unsigned i = 0; i < to->columns; i++) {
        for (unsigned k = 0; k < from->columns; k++) {
            const wgsl_value column = qn__wf_part(w, &args[0], k);
            lanes[k] = qn__wf_lane(w, &column, i);
        }
        columns[i] = qn__wf_gather(w, to->element, lanes);
    }
    return qn__wf_of_parts(w, to, columns, to->columns);
}

/* ---- two results ---- */

static wgsl_value pair(wgsl_lower *w, const char *name, const char *first, const char *second, wgsl_value a,
                       wgsl_value b) {
    const char *const names[] = {first, second};
    const wgsl_type *const types[] = {a.type, b.type};
    const wgsl_value parts[] = {a, b};
    if (qn__wf_is_error(&a) || qn__wf_is_error(&b)) return failed;
    return qn__wf_of_parts(w, qn__wf_result_struct(w, name, names, types, 2), parts, 2);
}

static bool is_known(const wgsl_value *v) { return v->bits && v->stage != WGSL_STAGE_RUN; }

wgsl_value qn__wf_modf(wgsl_lower *w, const wgsl_builtin *row, wgsl_value *args, unsigned count,
                       const wgsl_expr *e) {
    (void)row, (void)count, (void)e;
    const wgsl_value whole = qn__wf_op1(w, IR_FTRUNC, args[0].type, args[0]);
    const wgsl_value fract = qn__wf_op2(w, IR_FSUB, args[0].type, args[0], whole);
    return pair(w, "__modf_result", "fract", "whole", fract, whole);
}

wgsl_value qn__wf_frexp(wgsl_lower *w, const wgsl_builtin *row, wgsl_value *args, unsigned count,
                        const wgsl_expr *e) {
    (void)row, (void)count, (void)e;
    const wgsl_type *type = args[0].type, *scalar = qn__wf_scalar_of(type);
    const unsigned lanes = qn__wf_lanes(type);
    if (!is_known(&args[0]))
        return pair(w, "__frexp_result", "fract", "exp",
                    qn__wf_library_call(w, "__qn_frexp_mantissa", args, 1),
                    qn__wf_library_call(w, "__qn_frexp_exponent", args, 1));
    uint64_t fracts[4], exponents[4];
    for (unsigned i = 0; i < lanes; i++) {
        int exponent;
        fracts[i] = qn__wf_float_bits(scalar, frexp(qn__wf_number(&args[0], i), &exponent));
        exponents[i] = (uint64_t)exponent;
    }
    const wgsl_type *whole = w->scalars[scalar->kind == WGSL_ABSTRACT_FLOAT ? WGSL_ABSTRACT_INT : WGSL_I32];
    return pair(w, "__frexp_result", "fract", "exp", qn__wf_known(w, type, fracts),
                qn__wf_known(w, qn__wf_vector(w, whole, lanes), exponents));
}

wgsl_value qn__wf_ldexp(wgsl_lower *w, const wgsl_builtin *row, wgsl_value *args, unsigned count,
                        const wgsl_expr *e) {
    (void)row, (void)count;
    if (!is_known(&args[0]) || !is_known(&args[1])) {
        args[0] = qn__wf_concrete(w, args[0], e->loc);
        return qn__wf_is_error(&args[0]) ? failed : qn__wf_library_call(w, "ldexp", args, 2);
    }
    uint64_t bits[4];
    for (unsigned i = 0; i < qn__wf_lanes(args[0].type); i++)
        bits[i] = qn__wf_float_bits(qn__wf_scalar_of(args[0].type),
                                    ldexp(qn__wf_number(&args[0], i), (int32_t)args[1].bits[i]));
    return qn__wf_finite(w, qn__wf_known(w, args[0].type, bits), e->loc);
}
