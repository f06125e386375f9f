// Division and remainder by constants, powers of two and others, for negative numbers too.
// kernel: run
// global: 10
// arg: buf:int:10=0, 1, -1, 7, -8, 100, -100, 2147483647, -2147483648, 12345678
// arg: buf:int:10
// expect: 0, 1, -1, 8, -2, 30, -30, 575218840, -575218834, 3306883
// arg: buf:uint:10
// expect: 0, 1, 429496744, 7, 429496736, 14, 429496731, 214748379, 214748364, 1234581
kernel void run(global int *in, global int *out, global uint *unsigned_out) {
    size_t i = get_global_id(0);
    int v = in[i];
    out[i] = v / 8 + v / 7 + v % 8;
    uint u = v;
    unsigned_out[i] = u / 10 + u % 16;
}
