// The same source with different -D gives different programs.
// kernel: run
// options: -D N=2
// arg: buf:int:4
// expect: 2, 2, 0, 0
// kernel: run
// options: -D N=3
// arg: buf:int:4
// expect: 3, 3, 3, 0
kernel void run(global int *out) {
    for (int i = 0; i < N; i++) out[i] = N;
}
