// Private arrays and structs, by an index that is known and one that is not; constant tables.
// kernel: by_argument
// global: 1
// arg: buf:int:4
// arg: int:4
// kernel: by_constant, loop_one_too_far
// global: 1
// arg: buf:int:4
// kernel: within, table
// global: 1
// arg: buf:int:4
// arg: int:3
// kernel: through_helper
// global: 2
// arg: buf:int:4
// arg: int:5
constant int primes[3] = {2, 3, 5};
kernel void by_argument(global int *x, int k) {
    int a[4] = {1, 2, 3, 4};
    x[0] = a[k]; // finds: out-of-bounds
}
kernel void by_constant(global int *x) {
    int a[4] = {1, 2, 3, 4}, k = 4;
    a[k] = 5; // finds: out-of-bounds
    x[0] = a[0];
}
kernel void within(global int *x, int k) {
    int a[4] = {1, 2, 3, 4};
    x[0] = a[k];
}
kernel void loop_one_too_far(global int *x) {
    int a[4], sum = 0;
    for (int i = 0; i < 4; i++) a[i] = x[i];
    for (int i = 0; i <= 4; i++) sum += a[i & 7]; // finds: out-of-bounds
    x[0] = sum;
}
static void put(int *to, int at, int what) {
    to[at] = what; // finds: out-of-bounds
}
kernel void through_helper(global int *x, int k) {
    int a[4] = {0};
    put(a, k - (int)get_global_id(0) * 4, 7);
    x[get_global_id(0)] = a[0] + a[1];
}
kernel void table(global int *x, int k) {
    x[0] = primes[k - 1];
    x[1] = primes[k]; // finds: out-of-bounds
}
