// There are no function pointers.
// error: 4: function
int one(int x) { return x; }
kernel void run(global int *out) { int (*f)(int) = one; out[0] = f(1); }
