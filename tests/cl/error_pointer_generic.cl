// Where a pointer's address space would be known at run time only, the message says where, and how to write it otherwise.
// options: -cl-std=CL3.0
// error: 21: assignment: '__local int*' to '__global int*' would change the address space from __local to __global
// error: 22: the arms of '?:' point to different address spaces: '__global int*' and '__local int*'
// error: 23: assignment: '__global int*' to 'int*' would change the address space from __global to __private
// error: 25: assignment: '__global int*' to 'int*' would change the address space from __global to __private
// error: 26: 'to_global' takes a pointer to private, local or global memory, not 'int'
// error: 27: 'get_fence' takes a pointer to private, local or global memory, not '__constant int*'
struct holder {
    int *p;
};
constant int table[2] = {1, 2};

int used(int *p) { return *p; }

kernel void k(global int *g, local int *l, int c) {
    struct holder h;
    int *p, *q, *r;
    int x = used(q);
    p = g;
    if (c) p = l;
    p = c ? g : l;
    h.p = g;
    r = &x;
    r = g;
    p = to_global(x);
    barrier(get_fence(&table[1]));
}
