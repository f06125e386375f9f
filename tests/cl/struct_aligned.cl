// aligned on a member, on a type and behind a struct.
// kernel: run
// arg: buf:int:4
// expect: 32, 16, 64, 64
struct a { char c; int x __attribute__((aligned(16))); };
struct b { int x; } __attribute__((aligned(64)));
struct c { char c[3]; struct b b; };
#define OFFSET(type, member) ((int)(size_t)&((private struct type *)0)->member)
kernel void run(global int *out) {
    out[0] = sizeof(struct a);
    out[1] = OFFSET(a, x);
    out[2] = sizeof(struct b);
    out[3] = OFFSET(c, b);
}
