// atomic_and, or, xor, min, max on int and uint.
// kernel: run
// global: 32
// arg: buf:int:3=1000,-1000,0
// expect: -16, 15, 0
// arg: buf:uint:5=0xffffffff,0,0,0xffffffff,0
// expect: 0, 0xffffffff, 0xffffffff, 0x7ffffff0, 0x8000000f
kernel void run(global int *s, global uint *u) {
    int g = get_global_id(0);
    atomic_min(&s[0], g - 16);
    atomic_max(&s[1], g - 16);
    atomic_and(&u[0], ~(1u << g));
    atomic_or(&u[1], 1u << g);
    atomic_xor(&u[2], 1u << g);
    atomic_min(&u[3], g < 16 ? 0x7ffffff0u + g : 0xf0000000u);
    atomic_max(&u[4], g < 16 ? 0x80000000u + g : 5u);
}
