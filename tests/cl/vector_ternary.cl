// ?: with a vector condition selects by component, by the sign bit.
// kernel: run
// arg: int4:-1,0,1,-2147483648
// arg: buf:float4:1
// expect: 1, 20, 30, 4
// arg: buf:uchar4:1
// expect: 5, 6, 5, 6
kernel void run(int4 c, global float4 *out, global uchar4 *bytes) {
    out[0] = c ? (float4)(1, 2, 3, 4) : (float4)(10, 20, 30, 40);
    char4 d = (char4)(-1, 1, -128, 0);
    bytes[0] = d ? (uchar4)(5) : (uchar4)(6);
}
