// A pointer that names no address space has that of what it first gets, also where that is no initializer; to_global and its
// kin give the pointer, or null where it points elsewhere, and get_fence what a barrier needs for it.
// options: -cl-std=CL3.0
// kernel: later
// global: 4
// local: 4
// arg: buf:int:4=1,2,3,4
// arg: local:16
// arg: buf:int:4
// expect: 3316, 2216, 1116, 16
// kernel: returned
// global: 1
// arg: buf:int:2=1,2
// arg: local:8
// arg: buf:int:2
// expect: 342, 1
// kernel: asked
// global: 2
// local: 2
// arg: buf:int:2=5,6
// arg: local:8
// arg: buf:int:6
// expect: 5, 0, 6, 1, 2, 2001
// What a function returns lies where it says, for each call by itself.
int *next(int *p) { return p + 1; }
int *unless(int *p, int c) {
    if (c) return NULL;
    return next(p);
}
kernel void returned(global int *in, local int *shared, global int *out) {
    shared[1] = 40;
    int own[2] = {0, 300}, *p = next(in);
    out[0] = *p + *next(shared) + *next(own);
    *next(out) = unless(in, 0) == p && !unless(shared, 1);
}

kernel void later(global int *in, local int *shared, global int *out) {
    const int i = get_local_id(0);
    int own = 16, *a, *b, *c, *from;
    generic int *to;
    a = in;
    to = shared;
    c = &own;
    b = from = to + 3 - i;
    to[i] = a[i] - 1;
    barrier(get_fence(to));
    out[i] = 1000 * from[0] + 100 * b[0] + *c;
}

int global_part(const int *p) { return to_global(p) ? to_global(p)[0] : 0; }
int local_part(int *p) { return to_local(p) ? *to_local(p) : 0; }
int private_part(int *p) { return to_private(p) != NULL ? *to_private(p) : 0; }
uint fence_of(int *p) { return get_fence(p); }
kernel void asked(global int *in, local int *shared, global int *out) {
    int own = 1;
    const int i = get_local_id(0);
    shared[i] = 6;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i) return;
    int n = 0;
    out[0] = global_part(in) + global_part(shared) + global_part(&own);
    out[1] = local_part(in) + local_part(&own);
    out[2] = local_part(shared);
    out[3] = private_part(in) + private_part(&own) + private_part(shared);
    out[4] = fence_of(in) == CLK_GLOBAL_MEM_FENCE && fence_of(shared) == CLK_LOCAL_MEM_FENCE ? 2 : 0;
    const int nowhere = to_local(in + n++) == 0, fence = get_fence(in + n++) == CLK_GLOBAL_MEM_FENCE;
    out[5] = 1000 * nowhere + 1000 * fence + n - 1;
}
