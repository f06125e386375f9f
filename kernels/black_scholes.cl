// Prices of European options by the formula of Black and Scholes (1973): log, exp, sqrt and two normal
// distributions an option, so that the maths library decides the speed. One option a work-item.
static float normal_cdf(float x) { return 0.5f * erfc(-0.70710678f * x); }

kernel void black_scholes(float rate, float volatility, global const float *restrict price,
                          global const float *restrict strike, global const float *restrict years,
                          global float *restrict call, global float *restrict put) {
    size_t i = get_global_id(0);
    float s = price[i], k = strike[i], t = years[i];
    float spread = volatility * sqrt(t);
    float d1 = (log(s / k) + (rate + 0.5f * volatility * volatility) * t) / spread;
    float d2 = d1 - spread;
    float discounted = k * exp(-rate * t);
    float buy = s * normal_cdf(d1) - discounted * normal_cdf(d2);
    call[i] = buy;
    put[i] = buy - s + discounted;
}
