// Conditions of every scalar type: floats, pointers, long values whose low word is zero.
// kernel: run
// arg: float:0.25
// arg: float:-0
// arg: long:4294967296
// arg: buf:int:6
// expect: 1, 0, 1, 1, 0, 1
kernel void run(float a, float b, long c, global int *out) {
    out[0] = !!a;
    out[1] = b || 0;
    out[2] = c ? 1 : 0;
    if (out) out[3] = 1;
    if (!c) out[4] = 1;
    while (a) {
        out[5]++;
        a = 0;
    }
}
