// The results of atomic_inc are all different: each work-item takes a slot of its own.
// kernel: run
// global: 64
// arg: buf:uint:1
// expect: 64
// arg: buf:int:64
// expect: 1
kernel void run(volatile global uint *next, global int *taken) {
    uint slot = atomic_inc(next);
    atomic_add(&taken[slot], 1);
}
