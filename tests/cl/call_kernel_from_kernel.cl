// A kernel may call another kernel as a function.
// kernel: outer
// global: 2
// arg: buf:int:2=5,6
// expect: 51, 61
kernel void inner(global int *p) { p[get_global_id(0)] *= 10; }
kernel void outer(global int *p) {
    inner(p);
    p[get_global_id(0)] += 1;
}
