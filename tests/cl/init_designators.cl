// Designators for members and elements, out of order, in nests; later values win; what is not named is zero.
// kernel: run
// arg: buf:int:12
// expect: 0, 0, 30, 40, 0, 7, 0, 9, 2, 5, 6, 1
typedef struct { int a, b; int c[3]; struct { int x, y; } d; } thing;
kernel void run(global int *out) {
    int v[6] = {[2] = 30, 40, [5] = 1, [5] = 7};
    for (int i = 0; i < 6; i++) out[i] = v[i];
    thing t = {.b = 8, .c[1] = 2, .b = 9, .d.y = 6, .d.x = 5, .c[2] = 1};
    out[6] = t.a;
    out[7] = t.b;
    out[8] = t.c[1];
    out[9] = t.d.x;
    out[10] = t.d.y;
    out[11] = t.c[2];
}
