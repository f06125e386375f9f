/* Schedules: rates by the number of a step, or by how a loss goes. */
#include <math.h>

#include "nn/nn.h"

double qn_rate_step(double rate, uint64_t step, uint64_t every, double factor) {
    return rate * pow(factor, every ? (double)(step / every) : 0);
}
double qn_rate_exponential(double rate, uint64_t step, double factor) {
    return rate * pow(factor, (double)step);
}

/* From `from` to `to` in half a cosine. */
static double cosine(double from, double to, double share) {
    return to + (from - to) * (1 + cos(M_PI * (share < 1 ? share : 1))) / 2;
}
double qn_rate_cosine(double rate, uint64_t step, uint64_t steps, double least) {
    return steps ? cosine(rate, least, (double)step / (double)steps) : least;
}
double qn_rate_warm_up(uint64_t step, uint64_t steps) {
    return step < steps ? (double)(step + 1) / (double)(steps + 1) : 1;
}
double qn_rate_one_cycle(double rate, uint64_t step, uint64_t steps) {
    const double up = 0.3 * (double)steps - 1, at = (double)step;
    return at <= up ? cosine(rate / 25, rate, at / up)
                    : cosine(rate, rate / 250000, (at - up) / ((double)steps - 1 - up));
}
double qn_rate_steps(double rate, uint64_t step, const uint64_t *at, size_t count, double factor) {
    for (size_t i = 0; i < count && at[i] <= step; i++) rate *= factor;
    return rate;
}
double qn_rate_polynomial(double rate, uint64_t step, uint64_t steps, double power) {
    return step < steps ? rate * pow(1 - (double)step / (double)steps, power) : 0;
}

/* ---- by a loss ---- */

static double given(double number, double instead) { return number < 0 ? 0 : number > 0 ? number : instead; }

double qn_plateau_rate(qn_plateau *p, double loss) {
    const uint32_t patience = p->patience == UINT32_MAX ? 0 : p->patience ? p->patience : 10;
    const bool better = p->calls ? loss < p->best * (1 - given(p->threshold, 1e-4)) : !isnan(loss);
    if (better) p->best = loss;
    if (better || p->calls) p->calls++;
    p->waited = better ? 0 : p->waited + 1;
    if (p->cooling) {
        p->cooling--;
        p->waited = 0;
    }
    if (p->waited > patience) {
        const double next = p->rate * given(p->factor, 0.1);
        p->rate = next > p->least ? next : p->least;
        p->cooling = p->cooldown;
        p->waited = 0;
    }
    return p->rate;
}
