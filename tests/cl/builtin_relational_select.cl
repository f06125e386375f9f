// select: a scalar condition counts when it is not zero, a vector's component by its highest bit.
// needs: f64
// kernel: run
// arg: int4:-1, 0, 1, -2147483648
// arg: buf:float4:1
// expect: 5, 2, 3, 8
// arg: buf:int:6
// expect: 20, 10, 20, 20, 10, 20
// arg: buf:uchar8:1
// expect: 1, 1, 1, 1, 2, 2, 2, 2
// arg: buf:double2:1
// expect: 4, 1
// arg: buf:long3:1
// expect: 7, -8, 7
kernel void run(int4 c, global float4 *f, global int *scalars, global uchar8 *bytes, global double2 *d,
                global long3 *l) {
    *f = select((float4)(1, 2, 3, 4), (float4)(5, 6, 7, 8), c);
    scalars[0] = select(10, 20, c.x);
    scalars[1] = select(10, 20, c.y);
    scalars[2] = select(10, 20, c.z); /* the highest bit is clear, but it is a scalar */
    scalars[3] = select(10, 20, as_uint(c.w));
    scalars[4] = select((short)10, (short)20, (short)0);
    scalars[5] = select(10L, 20L, 2ul);
    *bytes = select((uchar8)(1), (uchar8)(2), (char8)(0, 1, 127, 64, -1, -128, -2, -64));
    *d = select((double2)(1, 1), (double2)(4, 4), (ulong2)(1ul << 63, ~0ul >> 1));
    *l = select((long3)(-8), (long3)(7), (long3)(-1, 1, -5));
}
