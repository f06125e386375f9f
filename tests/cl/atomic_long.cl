// 64-bit atomics: atom_add, atom_cmpxchg, atom_max on long and ulong.
// needs: i64_atomics
// kernel: run
// global: 10
// arg: buf:long:3=4294967296,-1,0
// expect: 4294967341, 9000000000, 1
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
kernel void run(global long *p) {
    long g = get_global_id(0);
    atom_add(&p[0], g);
    atom_max(&p[1], g * 1000000000);
    atom_cmpxchg(&p[2], 0, 1);
}
