// vload4 and vstore4 of every element type.
// needs: f64
// kernel: run
// arg: buf:uchar:64=1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 240
// arg: buf:uchar:32
// expect: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 240
// arg: buf:int:7
// expect: 1
#define COPY(type)                                                                    \
    vstore4(vload4(0, (global const type *)in), 0, (global type *)out)
#define CHECK(type) all(as_char4(vload4(3, (global const type *)in)) == (char4)(13, 14, 15, -16))
kernel void run(global const uchar *in, global uchar *out, global int *ok) {
    COPY(uchar);
    COPY(char);
    COPY(ushort);
    COPY(short);
    COPY(uint);
    COPY(int);
    COPY(float);
    COPY(ulong);
    COPY(long);
    COPY(double);
    ok[0] = CHECK(char);
    ok[1] = CHECK(uchar);
    ok[2] = vload2(3, (global const short *)in).x == 0x0e0d;
    ok[3] = vload2(3, (global const ushort *)in).y == 0xf00f;
    ok[4] = vload2(1, (global const uint *)in).x == 0x0c0b0a09u;
    ok[5] = vload2(1, (global const long *)in).y == (long)0xf00f0e0d0c0b0a09ul;
    ok[6] = vload2(1, (global const ulong *)in).x == 0x0807060504030201ul;
}
