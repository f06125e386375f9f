// Alignment of members and of the whole, as the host's compiler lays them out.
// needs: f64
// kernel: run
// arg: buf:int:8
// expect: 1, 4, 8, 16, 24, 32, 40, 12
struct mixed { char a; int b; char c; double d; short e; };
struct vectors { char a; float3 b; float c; };
struct tail { int a; char b[5]; };
#define OFFSET(type, member) ((int)(size_t)&((private struct type *)0)->member)
kernel void run(global int *out) {
    out[0] = 1;
    out[1] = OFFSET(mixed, b);
    out[2] = OFFSET(mixed, c);
    out[3] = OFFSET(mixed, d);
    out[4] = OFFSET(mixed, e);
    out[5] = sizeof(struct mixed);
    out[6] = sizeof(struct vectors) - 8;
    out[7] = sizeof(struct tail);
}
