// nan: a quiet NaN whose bits hold the code.
// kernel: run
// arg: buf:uint:4=0, 1, 0x12345, 0x3fffff
// arg: buf:uint:4
// expect: 0x7fc00000, 0x7fc00001, 0x7fc12345, 0x7fffffff
// arg: buf:ulong:2
// expect: 0x7ff8000000000000, 0x7ff8000000012345
kernel void run(global const uint *code, global uint *bits, global ulong *wide) {
    vstore4(as_uint4(nan(vload4(0, code))), 0, bits);
    wide[0] = as_ulong(nan(0ul));
    wide[1] = as_ulong(nan((ulong)code[2]));
}
