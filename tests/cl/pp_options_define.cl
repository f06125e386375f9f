// -D with and without a value, -U-like emptiness, a value in quotes, an expression.
// options: -D ONE -DTWO=2 -D THREE=(1+2) -D TYPE=int -DEMPTY=
// kernel: run
// arg: buf:int:4
// expect: 1, 2, 3, 4
kernel void run(global TYPE *out) {
    out[0] = ONE;
    out[1] = TWO;
    out[2] = THREE;
    out[3] = 4 EMPTY;
}
