// length is exact where the squares overflow or underflow; infinities and NaN come through.
// needs: f64
// kernel: run
// arg: float4:1e30, -1e-30, 0, 1e-40
// arg: float4:inf, nan, 0, -inf
// arg: buf:float:6
// expect: 1.4142135e30, 1.4142135e-30, 0, 1.4142177e-40, 1e30, 0 ulp 6
// arg: buf:float:3
// expect: inf, nan, inf
// arg: buf:double:2
// expect: 5e300, 5e-300 ulp 6
kernel void run(float4 x, float4 special, global float *f, global float *s, global double *d) {
    f[0] = length(x.xx);
    f[1] = length(x.yy);
    f[2] = length(x.zz);
    f[3] = length(x.ww);
    f[4] = length(x);
    f[5] = distance(x, x);
    s[0] = length(special.xz);
    s[1] = length(special.yz);
    s[2] = length(special.wzz);
    double big = 1e150, small = 1e-150;
    d[0] = length((double2)(3e150 * big, 4e150 * big));
    d[1] = length((double2)(3e-150 * small, 4e-150 * small));
}
