// half in memory: loads and stores through pointers, sizes, values rounded to 11 bits.
// kernel: run
// global: 4
// arg: buf:half:4=1, 0.5, -2, 65504
// arg: buf:half:4
// expect: 1.5, 0.75, -3, inf
kernel void run(global const half *in, global half *out) {
    size_t i = get_global_id(0);
    vstore_half(vload_half(i, in) * 1.5f, i, out);
}
