// Structs as arguments and results of functions: by value, also through several calls.
// kernel: run
// arg: buf:int:4
// expect: 8, 14, 3, 4
typedef struct { int a, b; } pair;
pair swapped(pair p) {
    int t = p.a;
    p.a = p.b;
    p.b = t;
    return p;
}
pair doubled(pair p) { return (pair){p.a * 2, p.b * 2}; }
kernel void run(global int *out) {
    pair p = {3, 4};
    pair q = swapped(doubled(p));
    out[0] = q.a;
    out[1] = q.b + swapped(swapped(q)).a;
    out[2] = p.a;
    out[3] = p.b;
}
