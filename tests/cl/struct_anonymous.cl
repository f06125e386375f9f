// Anonymous structs and unions inside a struct (C11): members without a name of their own.
// kernel: run
// arg: buf:int:3
// expect: 5, 5, 9
typedef struct {
    union { int x; int first; };
    struct { int y, z; };
} thing;
kernel void run(global int *out) {
    thing t;
    t.x = 5;
    t.y = 1;
    t.z = 9;
    out[0] = t.first;
    out[1] = t.x * t.y;
    out[2] = t.z;
}
