// Null and wild pointers, misaligned ones, and what must not be written.
// kernel: null_argument
// global: 1
// arg: null
// arg: buf:int:1=1
// kernel: null_checked
// global: 1
// arg: null
// kernel: from_number
// global: 1
// arg: buf:ulong:1=305419896
// kernel: odd_address, even_address, packed
// global: 1
// arg: buf:char:16
// kernel: constant_table
// global: 1
// arg: buf:int:1
constant int table[2] = {1, 2};
kernel void null_argument(global int *x, global int *on) {
    if (on[0]) x[0] = 1; // finds: null-pointer
}
kernel void null_checked(global int *x) {
    if (x) x[0] = 1;
}
kernel void from_number(global const ulong *x) {
    global int *p = (global int *)x[0];
    *p = 1; // finds: wild-pointer
}
kernel void odd_address(global char *x) {
    *(global int *)(x + 2) = 1; // finds: misaligned
}
kernel void even_address(global char *x) {
    *(global int *)(x + 4) = 1;
}
kernel void packed(global char *x) {
    vstore4((char4)(1, 2, 3, 4), 0, x + 1);
}
kernel void constant_table(global int *x) {
    int *p = (int *)(ulong)&table[1];
    x[0] = p[0];
    p[0] = 3; // finds: read-only
}
