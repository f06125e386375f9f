// Sums and choices that drivers rewrite, hidden from them: NaN stays where a comparison chooses, a negated zero has its sign.
// options: -qn-tune=hidden-sums
// kernel: run
// global: 4
// arg: buf:float:4=nan,-2,0.5,3
// arg: buf:float4:4
// expect: nan, nan, nan, nan, -1, -2, -2, 2, 0.5, 0, 0, -0.5, 1, 3, 3, -3
// kernel: signs
// arg: buf:float:2=-0.0,0.0
// arg: buf:uint:3
// expect: 0x80000000, 0x80000000, 0x80000000
// kernel: rests
// global: 5
// arg: buf:int:5=-128,7,-7,-2147483648,-32768
// arg: buf:int:5=-1,-3,3,-1,0
// arg: buf:int:5
// expect: 0, 1, -1, 0, 0
kernel void run(global const float *x, global float4 *out) {
    int i = get_global_id(0);
    float v = x[i], low = v < -1.0f ? -1.0f : v;
    float2 both = (float2)(v, v + 0.25f), nearest = (both + 12582912.0f) - 12582912.0f;
    out[i] = (float4)(low > 1.0f ? 1.0f : low, nearest.x, rint(v), -(both.y - 0.25f));
}

kernel void signs(global const float *in, global uint *out) {
    out[0] = as_uint(-fma(in[0], 3.0f, 0.0f));
    out[1] = as_uint(-(in[0] + in[1]));
    out[2] = as_uint(-(in[1] - in[1]));
}

kernel void rests(global const int *a, global const int *b, global int *out) {
    int i = get_global_id(0);
    out[i] = a[i] % b[i]; // quern-check: allow division
}
