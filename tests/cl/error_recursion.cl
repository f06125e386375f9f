// OpenCL C has no recursion, direct or through others.
// error: 3: recurs
int down(int n) { return n ? down(n - 1) : 0; }
kernel void run(global int *out) { out[0] = down(5); }
