// Initialisers of private variables may be any expression, and run each time the declaration is reached.
// kernel: run
// global: 3
// arg: buf:int:3
// expect: 3, 9, 15
kernel void run(global int *out) {
    int g = get_global_id(0), total = 0;
    for (int i = 0; i < 3; i++) {
        int pair[2] = {g + i, g};
        total += pair[0] + pair[1];
        pair[0] = 1000;
    }
    out[g] = total;
}
