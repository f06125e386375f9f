// atomic_xchg of float, in global and local memory.
// kernel: run
// arg: buf:float:2=1.5, -0
// expect: -2.5, inf
// arg: buf:float:4
// expect: 1.5, -0, 3.25, nan
kernel void run(volatile global float *p, global float *old) {
    local float shared;
    shared = 3.25f;
    old[0] = atomic_xchg(p, -2.5f);
    old[1] = atomic_xchg(p + 1, INFINITY);
    old[2] = atomic_xchg(&shared, NAN);
    old[3] = shared;
}
