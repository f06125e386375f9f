// min, max and clamp of an integer vector take scalars as their other operands.
// kernel: run
// arg: int4:-5, 0, 7, 100
// arg: buf:int4:3
// expect: 3, 3, 7, 100, -5, 0, 3, 3, 0, 0, 7, 10
// arg: buf:uchar4:3
// expect: 251, 3, 7, 100, 3, 0, 3, 3, 10, 5, 7, 10
// arg: buf:long2:2
// expect: -5, 3, 3, 3
kernel void run(int4 x, global int4 *out, global uchar4 *bytes, global long2 *wide) {
    uchar4 b = convert_uchar4(as_uint4(x) & 255u);
    out[0] = max(x, 3);
    out[1] = min(x, 3);
    out[2] = clamp(x, 0, 10);
    bytes[0] = max(b, (uchar)3);
    bytes[1] = min(b, (uchar)3);
    bytes[2] = clamp(b, (uchar)5, (uchar)10);
    long2 l = convert_long2(x.xz);
    wide[0] = min(l, 3L);
    wide[1] = clamp(l, 3L, 3L);
}
