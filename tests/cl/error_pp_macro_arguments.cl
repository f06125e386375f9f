// A macro called with too few and too many arguments.
// error: 5: ADD
// error: 6: ADD
#define ADD(a, b) (a + b)
kernel void one(global int *out) { out[0] = ADD(1); }
kernel void two(global int *out) { out[0] = ADD(1, 2, 3); }
