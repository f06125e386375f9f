// A __constant variable with a name of its own in a kernel's scope, and a static one.
// kernel: run
// global: 3
// arg: buf:int:3
// expect: 7, 8, 9
kernel void run(global int *out) {
    constant int table[3] = {7, 8, 9};
    out[get_global_id(0)] = table[get_global_id(0)];
}
