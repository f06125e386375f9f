// bool holds 0 or 1 whatever it is given; it promotes to int.
// kernel: run
// arg: buf:int:7
// expect: 1, 1, 0, 1, 2, 0, 1
kernel void run(global int *out) {
    bool a = 5, b = 0.25f, c = 0, d = 256;
    global int *pointer = out;
    bool e = pointer;
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
    out[4] = a + b;
    out[5] = !a;
    out[6] = e;
}
