// Comparisons that the type of one side settles, and constants that their new type does not hold.
// warning: 22: always false: 'uint' has no values below 0
// warning: 23: always true: 'uint' has no values below 0
// warning: 24: always true: 'ulong' has no values below 0
// warning: 25: always false: 'uchar' has no values below 0
// warning: 26: always true: 'uchar' has no value 256
// warning: 27: always false: 'char' has no value 200
// warning: 28: always true: 'ushort' has no value -1
// warning: 29: always false: 'uint' has no values below 0
// warning: 31: the constant 300 does not fit 'uchar': it becomes 44
// warning: 32: the constant 70000 does not fit 'short': it becomes 4464
// warning: 33: the constant 4294967296 does not fit 'uint': it becomes 0
// warning: 34: the constant 3e+09 does not fit 'int'
// warning: 35: the constant -1000 does not fit 'char': it becomes 24
// warning: 36: the constant 300 does not fit 'uchar'
// kernel: run
// arg: uint:5
// arg: buf:int:9
// expect: 1, 1, 1, 1, 1, 1, 1, 1, 4
kernel void run(uint u, global int *o) {
    uchar c = u; char s = u; ushort h = u; ulong l = u;
    o[0] = 1 + (u < 0);
    o[1] = u >= 0;
    o[2] = 0 <= l;
    o[3] = 1 + (c < 0);
    o[4] = c < 256;
    o[5] = 1 + (s == 200);
    o[6] = h != -1;
    o[7] = 1 + any((uint2)(u, u) < 0);
    if (u > 0 && u != 0 && c <= 255 && s >= -128 && c >= 1 && s < 0x7f && h == 0xffff) o[0] = 2;
    uchar narrow = 300;
    short half_word = 70000;
    uint word = 0x100000000;
    int from_float = 3e9f;
    s = -1000;
    uchar4 all = 300;
    uchar fine = -1; char high = 0xff; uint ones = -1; ushort most = ~0; float ok = 1e10f; int top = 0x80000000;
    o[8] = 4 + 0 * (narrow + half_word + word + from_float + s + all.x + fine + high + ones + most + (int)ok + top); // quern-check: allow conversion
}
