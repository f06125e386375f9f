// Integer literals: bases, suffixes, and the types that the values ask for.
// kernel: run
// arg: buf:long:10
// expect: 255, 255, 8, 4294967295, -1, 9223372036854775807, 4, 8, 8, 4294967296
// kernel: sizes
// arg: buf:int:6
// expect: 4, 4, 8, 8, 8, 4
kernel void run(global long *out) {
    out[0] = 0xff;
    out[1] = 0XFFu;
    out[2] = 010;
    out[3] = 4294967295;
    out[4] = (int)0xffffffff;
    out[5] = 9223372036854775807L;
    out[6] = sizeof 0xffffffff;
    out[7] = sizeof 4294967296;
    out[8] = sizeof 1UL;
    out[9] = 2147483648 * 2;
}
kernel void sizes(global int *out) {
    out[0] = sizeof 1;
    out[1] = sizeof 1U;
    out[2] = sizeof 1L;
    out[3] = sizeof 1uL;
    out[4] = sizeof 2147483648;
    out[5] = sizeof 'a';
}
