// Structures, generic pointers, pointers in memory, unions and copies.
// options: -cl-std=CL2.0
// kernel: field_array
// global: 4
// arg: buf:int:4
// arg: int:3
// kernel: field_array_far
// global: 1
// arg: buf:int:4
// arg: int:12
// kernel: generic_local
// global: 4
// local: 4
// arg: buf:int:4
// arg: int:0
// kernel: generic_far
// global: 4
// local: 4
// arg: buf:int:4
// arg: int:1
// kernel: structure_copy
// global: 2
// arg: buf:int:16
// kernel: structure_copy_far
// global: 3
// arg: buf:int:16
// kernel: list_walk
// global: 1
// arg: buf:int:4=2,0,3,1
// kernel: list_walk_far
// global: 1
// arg: buf:int:4=2,0,3,4
// kernel: helper_writes
// global: 4
// arg: buf:int:4
// kernel: two_dimensions
// global: 4, 4
// arg: buf:int:16
// kernel: dimensions_swapped
// global: 5, 3
// arg: buf:int:15
struct record { int head; int list[4]; };
struct wide { int words[8]; };
kernel void field_array(global int *x, int k) {
    struct record r = {1, {2, 3, 4, 5}};
    x[get_global_id(0)] = r.list[k];
}
kernel void field_array_far(global int *x, int k) {
    struct record r = {1, {2, 3, 4, 5}};
    x[get_global_id(0)] = r.list[k]; // finds: out-of-bounds
}
static int twice(int *p, int k) {
    return p[k] * 2; // finds: out-of-bounds
}
kernel void generic_local(global int *x, int k) {
    local int t[4];
    int l = get_local_id(0);
    t[l] = l;
    x[l] = twice(&t[l], 0);
}
kernel void generic_far(global int *x, int k) {
    local int t[4];
    int l = get_local_id(0);
    t[l] = l;
    barrier(CLK_LOCAL_MEM_FENCE);
    x[l] = twice(&t[l], k);
}
kernel void structure_copy(global struct wide *x) {
    struct wide w = x[get_global_id(0)];
    w.words[0]++;
    x[get_global_id(0)] = w;
}
kernel void structure_copy_far(global struct wide *x) {
    struct wide w = x[get_global_id(0)]; // finds: out-of-bounds
    w.words[0]++;
    x[get_global_id(0)] = w; // finds: out-of-bounds
}
kernel void list_walk(global int *next) {
    int at = 0;
    for (int i = 0; i < 4; i++) at = next[at];
    next[0] = at;
}
kernel void list_walk_far(global int *next) {
    int at = 0;
    for (int i = 0; i < 4; i++) at = next[at]; // finds: out-of-bounds
    next[0] = at;
}
static void set_two(int *a, int *b) { *a = 1, *b = 2; }
kernel void helper_writes(global int *x) {
    int a, b;
    set_two(&a, &b);
    x[get_global_id(0)] = a + b;
}
kernel void two_dimensions(global int *x) {
    x[get_global_id(1) * get_global_size(0) + get_global_id(0)] = 1;
}
kernel void dimensions_swapped(global int *x) {
    x[get_global_id(0) * get_global_size(0) + get_global_id(1)] = 1; // finds: out-of-bounds
}
