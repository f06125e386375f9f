// Parameters without a name in definitions: of a function, and of a kernel.
// kernel: run
// arg: int:5
// arg: buf:int:2
// expect: 8, 2
// arg: float:1
struct pair { int a, b; };
static int add(int x, float, struct pair, int y) { return x + y; }
kernel void run(int, global int *o, float) {
    struct pair p = {1, 2};
    o[0] = add(3, 4, p, 5);
    o[1] = p.b;
}
