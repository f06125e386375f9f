// Functions declared before they are defined, after they are used; prototypes without names.
// kernel: run
// arg: buf:int:2
// expect: 12, 7
int twice(int);
static int thrice(int x);
kernel void run(global int *out) {
    out[0] = twice(thrice(2));
    out[1] = twice(2) + thrice(1);
}
int twice(int x) { return x * 2; }
static int thrice(int x) { return x * 3; }
