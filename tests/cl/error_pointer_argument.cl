// There is no generic address space: a helper's plain pointer is private, whatever is passed.
// error: 4: address space
int next(const int *p) { return *p + 1; }
kernel void run(global int *g, global int *out) { out[0] = next(g); }
