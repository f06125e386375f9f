// Implicit conversions in assignments, arguments, returns: float to int truncates, long to int wraps.
// kernel: run
// arg: float:-3.99
// arg: long:4294967301
// arg: buf:int:6
// expect: -3, 5, 5, 200, 3, 1
int truncated(float x) { return x; }
uchar byte(int x) { return x; }
kernel void run(float f, long l, global int *out) {
    out[0] = f;
    out[1] = l;
    out[2] = truncated(5.75f);
    out[3] = byte(-56);
    short s = 3.5f;
    out[4] = s;
    bool b = l;
    out[5] = b;
}
