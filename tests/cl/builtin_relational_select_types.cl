// select and bitselect of every integer type and of vectors, by signed and unsigned conditions.
// kernel: run
// arg: buf:long:16
// expect: 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1
// arg: buf:ulong:8
// expect: 6
#define SELECT(type, cond, row)                                                      \
    out[row] = select((type##2)(1), (type##2)(2), as_##cond##2((type##2)((type)~(type)0))).x; \
    out[row + 1] = select((type)1, (type)2, (cond)0);                                \
    bits[row / 2] = bitselect((type)2, (type)4, (type)4)
kernel void run(global long *out, global ulong *bits) {
    SELECT(char, uchar, 0);
    SELECT(uchar, char, 2);
    SELECT(short, ushort, 4);
    SELECT(ushort, short, 6);
    SELECT(int, uint, 8);
    SELECT(uint, int, 10);
    SELECT(long, ulong, 12);
    SELECT(ulong, long, 14);
}
