// atomic_xchg and atomic_cmpxchg return the old value; xchg works on floats too.
// kernel: run
// arg: buf:int:2=5,7
// expect: 6, 8
// arg: buf:float:1=1.5
// expect: 2.5
// arg: buf:int:4
// expect: 5, 7, 8, 15
kernel void run(global int *p, global float *f, global int *out) {
    out[0] = atomic_xchg(&p[0], 6);
    out[1] = atomic_cmpxchg(&p[1], 7, 8);
    out[2] = atomic_cmpxchg(&p[1], 7, 9);
    out[3] = atomic_xchg(f, 2.5f) * 10;
}
