// __attribute__((overloadable)): one name for several types.
// kernel: run
// arg: buf:int:4
// expect: 1, 2, 3, 4
int __attribute__((overloadable)) which(int x) { return 1; }
int __attribute__((overloadable)) which(float x) { return 2; }
int __attribute__((overloadable)) which(int2 x) { return 3; }
int __attribute__((overloadable)) which(int x, int y) { return 4; }
kernel void run(global int *out) {
    out[0] = which(1);
    out[1] = which(1.0f);
    out[2] = which((int2)(1, 2));
    out[3] = which(1, 2);
}
