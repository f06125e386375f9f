// What a generic pointer cannot be: one to constant memory, one whose address space is named unless a cast says so, and, behind a
// pointer, one that lies there in another form.
// options: -cl-std=CL3.0
// error: 23: assignment: '__generic int*' to '__local int*' would change the address space from __generic to __local
// error: 24: initialization: '__generic int*' to '__global int*' would change the address space from __generic to __global
// error: 25: assignment: '__constant int*' to '__generic int*' would change the address space from __constant to __generic
// error: 26: the arms of '?:' point to different address spaces: '__global int*' and '__constant int*'
// error: 27: argument 1 of 'read': '__local int**' to '__generic int**': pointers to different address spaces lie there
// error: 28: argument 1 of 'async_work_group_copy' is of type '__generic int*', but a pointer to 'int' in __local memory is needed
// error: 29: 'to_global' takes a pointer to private, local or global memory, not 'int'
// error: 30: 'get_fence' takes a pointer to private, local or global memory, not '__constant int*'
// error: 31: cast from '__global int*' to '__local int*' would change the address space
// error: 32: comparison of pointers to different address spaces: '__global int*' and '__local int*'
// error: 33: assignment: '__local int*' to '__global int*' would change the address space from __local to __global
// error: 36: kernel parameter 'p' of type '__generic int*' names no address space
constant int table[2] = {1, 2};

int read(int **p) { return **p; }

kernel void k(global int *g, local int *l, int c) {
    int *p = c ? g : l;
    global int *q = g;
    l = p;
    global int *r = (c, p);
    p = table;
    p = c ? g : table;
    int n = read(&l);
    async_work_group_copy(p, g, 4, 0);
    p = to_global(n);
    barrier(get_fence(&table[1]));
    l = (local int *)g;
    n = g == l;
    q = l;
}

kernel void unnamed(int *p) { p[0] = 1; }
