// Case labels inside a nested block; statements between the switch and its first label are dead.
// kernel: run
// global: 3
// arg: buf:int:3
// expect: 30, 20, 0
kernel void run(global int *out) {
    int g = get_global_id(0), n = 0;
    switch (g) {
    case 0:
        n += 10;
        {
        case 1: n += 20;
        }
    }
    out[g] = n;
}
