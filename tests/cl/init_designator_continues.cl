// After a designator the list goes on behind the element it names.
// kernel: run
// arg: buf:int:9
// expect: 1, 2, 3, 4, 5, 0, 0, 8, 9
typedef struct { int a, b, c; } triple;
kernel void run(global int *out) {
    triple t[3] = {[0].b = 2, 3, {4, 5}, [2] = {.b = 8, 9}, [0].a = 1};
    for (int i = 0; i < 3; i++) {
        out[i * 3] = t[i].a;
        out[i * 3 + 1] = t[i].b;
        out[i * 3 + 2] = t[i].c;
    }
}
