// Values that nothing reads, found when asked: variables, arrays, local memory, counters that nobody looks at; and their twins.
// also: unused
// kernel: variable, variable_read, counter, counter_read, array, array_read, in_function, structure
// global: 4
// arg: buf:int:4
// kernel: shared, shared_read
// global: 4
// local: 4
// arg: buf:int:4
// kernel: by_address
// global: 4
// arg: buf:float:4
// kernel: structure_read, condition
// global: 4
// arg: buf:int:4
// kernel: parameter
// global: 4
// arg: buf:int:4
// arg: int:3
kernel void variable(global int *x) {
    int i = get_global_id(0);
    int square = x[i] * x[i]; // finds: unused
    x[i] = i;
}
kernel void variable_read(global int *x) {
    int i = get_global_id(0);
    int square = x[i] * x[i];
    x[i] = square;
}
kernel void counter(global int *x) {
    int steps = 0; // finds: unused
    for (int k = 0; k < 3; k++) {
        steps += k;
        x[get_global_id(0)] += k;
    }
}
kernel void counter_read(global int *x) {
    int steps = 0;
    for (int k = 0; k < 3; k++) {
        steps += k;
        x[get_global_id(0)] += steps;
    }
}
kernel void array(global int *x) {
    int seen[4];
    int i = get_global_id(0);
    for (int k = 0; k < 4; k++) seen[k] = x[i] + k; // finds: unused
    x[i] = 1;
}
kernel void array_read(global int *x) {
    int seen[4];
    int i = get_global_id(0);
    for (int k = 0; k < 4; k++) seen[k] = x[i] + k;
    x[i] = seen[i];
}
kernel void shared(global int *x) {
    local int t[4];
    int l = get_local_id(0);
    t[l] = x[l]; // finds: unused
    barrier(CLK_LOCAL_MEM_FENCE);
    x[l] = x[l] + 1;
}
kernel void shared_read(global int *x) {
    local int t[4];
    int l = get_local_id(0);
    t[l] = x[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    x[l] = t[3 - l];
}
int twice(int a) {
    int old = a; // finds: unused
    return 2 * a;
}
kernel void in_function(global int *x) {
    int i = get_global_id(0);
    x[i] = twice(x[i]) + twice(i);
}
kernel void by_address(global float *x) {
    int i = get_global_id(0), exponent;
    x[i] = frexp(x[i], &exponent);
}
typedef struct pair {
    int a, b;
} pair;
kernel void structure(global int *x) {
    pair p;
    p.a = x[0]; // finds: unused
    p.b = 1;
}
kernel void structure_read(global int *x) {
    int i = get_global_id(0);
    pair p = {x[i], 1}, q;
    q = p;
    x[i] = q.b;
}
kernel void condition(global int *x) {
    int i = get_global_id(0), found = 0;
    if (x[i]) found = 1;
    if (found) x[i] = 2;
}
kernel void parameter(global int *x, int n) {
    x[get_global_id(0)] = n;
}
