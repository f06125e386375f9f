// `vector ? scalar : scalar`: the scalars are not promoted, so that they match the lanes of the condition.
// kernel: run
// arg: buf:char:8
// expect: 1, 2, 7, -1, 1, 0, 5, 9
// arg: buf:int:6
// expect: 300, -4, 70000, 2, 1, 2
kernel void run(global char *o, global int *w) {
    char2 c = {-1, 0};
    char x = 1, y = 2;
    char2 r = c ? x : y;
    uchar u = 7;
    vstore2(r, 0, o);
    vstore2(c ? u : (uchar)255, 1, (global uchar *)o);
    vstore2(c ? 1 : 0, 2, o);
    vstore2(c ? (char)5 : 9, 3, o);
    short2 s = {-1, 0};
    short a = 300, b = -4;
    vstore2(convert_int2(s ? a : b), 0, w);
    int2 i = {-1, 0};
    vstore2(i ? 70000 : 2, 1, w);
    float2 f = i ? 1.5f : 2.5f;
    vstore2(convert_int2_rtz(f), 2, w);
}
