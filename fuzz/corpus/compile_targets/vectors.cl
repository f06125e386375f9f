//~ 2 42 0 -cl-fast-relaxed-math
kernel void vectors(global float16 *a, global short8 *s, global float3 *t, global int4 *v) {
    float16 x = a[0];
    x.s0f = x.hi.lo.odd;
    s[0] = shuffle(s[1], (ushort8)(7, 6, 5, 4, 3, 2, 1, 0)) + (short8)(s[2].lo, s[3].even);
    t[0] = cross(t[1], normalize(t[2])) * dot(t[0], t[1]);
    v[0] = select(v[1], v[2], v[1] > v[2]) / v[3] % (int4)(3) + any(v[0]) - rotate(v[1], v[2]);
    a[0] = clamp(mix(x, a[1], 0.5f), 0.0f, 1.0f) + a[(int)x.s3];
    vstore3(vload3(1, (global float *)a), 2, (global float *)t);
}
