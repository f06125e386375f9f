// atomic_inc, atomic_dec, atomic_add, atomic_sub from many work-items.
// kernel: run
// global: 100
// arg: buf:int:4=0,100,5,1000
// expect: 100, 0, 4955, -3950
kernel void run(global int *p) {
    int g = get_global_id(0);
    atomic_inc(&p[0]);
    atomic_dec(&p[1]);
    atomic_add(&p[2], g);
    atomic_sub(&p[3], g);
}
