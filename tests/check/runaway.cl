// Loops that do not end, and one that ends late.
// kernel: waits_for_nobody
// global: 4
// arg: buf:int:2
// kernel: step_of_zero
// global: 4
// arg: buf:int:4
// arg: int:0
// kernel: long_but_ends
// global: 4
// arg: buf:int:4
kernel void waits_for_nobody(volatile global int *x) {
    while (x[0] == 0) x[1] = 1; // finds: runaway
}
kernel void step_of_zero(global int *x, int step) {
    for (int i = 0; i < 4; i += step) x[get_global_id(0)] = i; // finds: runaway
}
kernel void long_but_ends(global int *x) {
    int n = 0;
    for (int i = 0; i < 5000; i++) n += i & 3;
    x[get_global_id(0)] = n;
}
