// An array of vectors in private memory, indexed at run time.
// kernel: run
// global: 4
// arg: buf:int4:4
// expect: 3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0
kernel void run(global int4 *out) {
    int4 table[4];
    for (int i = 0; i < 4; i++) table[i] = (int4)(i);
    size_t g = get_global_id(0);
    out[g] = table[3 - g];
}
