// A variable at program scope is __constant.
// error: 3: __constant
int counter = 0;
kernel void run(global int *out) { out[0] = counter; }
