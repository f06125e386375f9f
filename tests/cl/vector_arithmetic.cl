// Component-wise operators on integers, and a scalar that is widened.
// kernel: run
// arg: int4:1,2,3,4
// arg: int4:10,20,-30,40
// arg: buf:int4:9
// expect: 11, 22, -27, 44, -9, -18, 33, -36, 10, 40, -90, 160, 10, 10, -10, 10, 0, 2, 0, 1,
//         2, 3, 4, 5, -1, -2, -3, -4, -2, -3, -4, -5, 100, 50, 33, 25
kernel void run(int4 a, int4 b, global int4 *out) {
    out[0] = a + b;
    out[1] = a - b;
    out[2] = a * b;
    out[3] = b / a;
    out[4] = (int4)(9, 11, 9, 9) % (a + 1) - (int4)(1, 0, 1, 3);
    out[5] = a + 1;
    out[6] = -a;
    out[7] = ~(a);
    out[7] = ~a;
    out[8] = 100 / a;
}
