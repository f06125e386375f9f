// Every work-item leaves the loop at its own time (Collatz steps).
// kernel: run
// global: 32
// arg: buf:int:32
// expect: 0, 1, 7, 2, 5, 8, 16, 3, 19, 6, 14, 9, 9, 17, 17, 4, 12, 20, 20, 7, 7, 15, 15, 10, 23,
//         10, 111, 18, 18, 18, 106, 5
kernel void run(global int *out) {
    uint g = get_global_id(0), n = g + 1;
    int steps = 0;
    while (n != 1) {
        n = n % 2 ? 3 * n + 1 : n / 2;
        steps++;
    }
    out[g] = steps;
}
