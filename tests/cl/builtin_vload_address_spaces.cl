// vload and vstore in global, constant, local and private memory.
// kernel: run
// local: 1
// arg: buf:short:8=1, -2, 3, -4, 5, -6, 7, -8
// arg: buf:short:20
// expect: -2, 3, -4, 20, 30, 40, 50, 1, -2, 3, -4, 5, -6, 7, -8, 9, 10, 8, 7, 0
constant short table[6] = {10, 20, 30, 40, 50, 60};
kernel void run(global const short *in, global short *out) {
    local short shared[8];
    short own[4] = {7, 8, 9, 10};
    vstore3(vload3(0, in + 1), 0, out);
    vstore4(vload4(0, table + 1), 0, out + 3);
    vstore8(vload8(0, in), 0, shared);
    vstore8(vload8(0, shared), 0, out + 7);
    vstore2(vload2(1, own), 0, out + 15);
    vstore2(vload2(0, own).yx, 1, own);
    out[17] = own[2];
    out[18] = own[3];
}
