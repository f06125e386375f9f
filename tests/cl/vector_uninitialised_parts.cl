// Building a vector component by component.
// kernel: run
// global: 2
// arg: buf:uchar16:2
// expect: 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
//         1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#define SET(c, n) v.s##c = 2 * n + g;
kernel void run(global uchar16 *out) {
    uchar g = get_global_id(0);
    uchar16 v;
    SET(0, 0) SET(1, 1) SET(2, 2) SET(3, 3) SET(4, 4) SET(5, 5) SET(6, 6) SET(7, 7)
    SET(8, 8) SET(9, 9) SET(a, 10) SET(B, 11) SET(c, 12) SET(D, 13) SET(e, 14) SET(F, 15)
    out[g] = v;
}
