// ?: with a scalar condition takes one whole vector; one side may be a scalar.
// kernel: run
// global: 2
// arg: buf:int4:2
// expect: 1, 2, 3, 4, 9, 9, 9, 9
kernel void run(global int4 *out) {
    int i = get_global_id(0);
    out[i] = i == 0 ? (int4)(1, 2, 3, 4) : (int4)(9);
}
