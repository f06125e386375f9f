// Components of what is no variable: a call, a literal, an expression in parentheses.
// kernel: run
// arg: buf:int:4
// expect: 3, 2, 9, 5
int3 triple(int a) { return (int3)(a, a + 1, a + 2); }
kernel void run(global int *out) {
    out[0] = triple(1).z;
    out[1] = ((int2)(1, 2)).y;
    out[2] = (triple(1) + triple(2) + (int3)(0, 0, 2)).z;
    out[3] = triple(triple(1).y).zz.x + (triple(1).x == 1);
}
