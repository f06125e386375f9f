// A kernel returns void and takes no pointers to private memory.
// error: 4: void
// error: 5: private
kernel int one(global int *out) { return 1; }
kernel void two(int *p) { *p = 1; }
