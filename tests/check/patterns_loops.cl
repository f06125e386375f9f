// Dependences between iterations that work-items have taken over from loops, after DataRaceBench.
// kernel: antidependence
// global: 64
// local: 16
// arg: buf:int:65
// kernel: antidependence_copied
// global: 64
// local: 16
// arg: buf:int:65
// arg: buf:int:65
// kernel: true_dependence
// global: 63
// local: 63
// arg: buf:int:64
// kernel: output_dependence
// global: 64
// local: 64
// arg: buf:int:2
// kernel: indirect_clash
// global: 8
// local: 8
// arg: buf:int:8
// arg: buf:int:8=0,1,2,3,4,5,6,2
// kernel: indirect_apart
// global: 8
// local: 8
// arg: buf:int:8
// arg: buf:int:8=7,6,5,4,3,2,1,0
// kernel: counter_plain, counter_atomic
// global: 64
// local: 64
// arg: buf:int:1
// arg: buf:int:64
// kernel: minimum_plain, minimum_atomic
// global: 64
// local: 64
// arg: buf:int:64=9,8,7,6,5,4,3,2,1
// arg: buf:int:1=100
// kernel: shared_temporary
// global: 64
// local: 64
// arg: buf:int:64
// arg: buf:int:1
// kernel: own_temporary
// global: 64
// local: 64
// arg: buf:int:64
// kernel: rows_overlap
// global: 8
// local: 8
// arg: buf:int:72
// arg: int:8
// kernel: rows_apart
// global: 8
// local: 8
// arg: buf:int:72
// arg: int:9
// kernel: stencil_in_place
// global: 30
// local: 30
// arg: buf:int:32
// kernel: stencil_two_buffers
// global: 30
// local: 30
// arg: buf:int:32
// arg: buf:int:32
kernel void antidependence(global int *x) {
    int i = get_global_id(0);
    x[i] = x[i + 1] + 1; // finds: race
}
kernel void antidependence_copied(global const int *x, global int *y) {
    int i = get_global_id(0);
    y[i] = x[i + 1] + 1;
}
kernel void true_dependence(global int *x) {
    int i = get_global_id(0);
    x[i + 1] = x[i] + i; // finds: race
}
kernel void output_dependence(global int *x) {
    int i = get_global_id(0);
    x[0] = i; // finds: race
    if (i == 63) x[1] = i;
}
kernel void indirect_clash(global int *x, global const int *at) {
    int i = get_global_id(0);
    x[at[i]] += i; // finds: race
}
kernel void indirect_apart(global int *x, global const int *at) {
    int i = get_global_id(0);
    x[at[i]] += i;
}
kernel void counter_plain(global int *n, global int *x) {
    int i = get_global_id(0);
    if (i & 1) x[(*n)++] = i; // finds: race
}
kernel void counter_atomic(global int *n, global int *x) {
    int i = get_global_id(0);
    if (i & 1) x[atomic_inc(n)] = i;
}
kernel void minimum_plain(global const int *x, global int *least) {
    int i = get_global_id(0);
    if (x[i] < *least) *least = x[i]; // finds: race
}
kernel void minimum_atomic(global const int *x, global int *least) {
    int i = get_global_id(0);
    atomic_min(least, x[i]);
}
kernel void shared_temporary(global int *x, global int *t) {
    int i = get_global_id(0);
    *t = x[i] + i; // finds: race
    x[i] = *t; // finds: race
}
kernel void own_temporary(global int *x) {
    int i = get_global_id(0), t = x[i] + i;
    x[i] = t;
}
kernel void rows_overlap(global int *x, int stride) {
    int row = get_global_id(0);
    for (int c = 0; c < 9; c++) x[row * stride + c] = row; // finds: race
}
kernel void rows_apart(global int *x, int stride) {
    int row = get_global_id(0);
    for (int c = 0; c < 9; c++) x[row * stride + c - row / 8] = row;
}
kernel void stencil_in_place(global int *x) {
    int i = get_global_id(0) + 1;
    x[i] = (x[i - 1] + x[i] + x[i + 1]) / 3; // finds: race
}
kernel void stencil_two_buffers(global const int *x, global int *y) {
    int i = get_global_id(0) + 1;
    y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3;
}
