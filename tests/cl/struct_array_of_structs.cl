// An array of structs in private memory, indexed at run time, copied as a whole.
// kernel: run
// global: 3
// arg: buf:int:3
// expect: 100, 211, 322
typedef struct { int a, b; } pair;
kernel void run(global int *out) {
    pair table[3] = {{0, 100}, {1, 210}, {2, 320}};
    int i = get_global_id(0);
    pair p = table[i];
    out[i] = p.a + p.b;
}
