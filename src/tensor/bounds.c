/* Between which numbers an op's values are, as far as the op says, whatever it is given: what is far from 1 needs other functions than
   what is near to it. Roundings may leave the bounds by a few units in the last place. A NaN may be within any bounds. */
#include "tensor/plan.h"

static float either(float sign, float negative, float positive) { return sign < 0 ? negative : positive; }

/* Ops of one number whose values are as large as it is, or 0, where it is above 0, and above `low` elsewhere. */
static qn__bounds ramp(qn__bounds a, float low) {
    return (qn__bounds){a.low >= 0 ? 0 : low, fmaxf(a.high, 0)};
}

static qn__bounds product(qn__bounds a, qn__bounds b) {
    const float p = a.low * b.low, q = a.low * b.high, r = a.high * b.low, s = a.high * b.high;
    const qn__bounds all = {fminf(fminf(p, q), fminf(r, s)), fmaxf(fmaxf(p, q), fmaxf(r, s))};
    return isfinite(all.low) && isfinite(all.high) ? all : qn__unbounded;
}

qn__bounds qn__bounds_of(qn__op op, const qn__bounds *of) {
    const qn__bounds a = of[0], b = of[1];
    switch (op) {
    case QN__OP_TANH:
    case QN__OP_ERF: return (qn__bounds){either(a.low, -1, 0), either(a.high, 0, 1)};
    case QN__OP_SIN:
    case QN__OP_COS: return (qn__bounds){-1, 1};
    case QN__OP_SIGMOID: return (qn__bounds){0, 1};
    case QN__OP_ABS: return (qn__bounds){fmaxf(fmaxf(a.low, -a.high), 0), fmaxf(fabsf(a.low), fabsf(a.high))};
    case QN__OP_RELU: return (qn__bounds){fmaxf(a.low, 0), fmaxf(a.high, 0)};
    case QN__OP_GELU: return ramp(a, -0.17f);
    case QN__OP_SILU: return ramp(a, -0.28f);
    case QN__OP_NEGATE: return (qn__bounds){-a.high, -a.low};
    case QN__OP_MAXIMUM: return (qn__bounds){fmaxf(a.low, b.low), fmaxf(a.high, b.high)};
    case QN__OP_MINIMUM: return (qn__bounds){fminf(a.low, b.low), fminf(a.high, b.high)};
    case QN__OP_ADD: return (qn__bounds){a.low + b.low, a.high + b.high};
    case QN__OP_SUBTRACT: return (qn__bounds){a.low - b.high, a.high - b.low};
    case QN__OP_MULTIPLY: return product(a, b);
    default: return qn__unbounded;
    }
}
