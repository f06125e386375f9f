// A float sum by compare-exchange on its bits, as OpenCL 1.2 programs do.
// kernel: run
// global: 16
// arg: buf:float:1
// expect: 120
void add(volatile global float *p, float x) {
    union { uint u; float f; } old, next;
    do {
        old.f = *p;
        next.f = old.f + x;
    } while (atomic_cmpxchg((volatile global uint *)p, old.u, next.u) != old.u);
}
kernel void run(volatile global float *sum) { add(sum, get_global_id(0)); }
