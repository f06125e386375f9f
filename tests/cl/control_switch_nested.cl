// A switch in a loop in a switch: break leaves the inner one, continue the loop.
// kernel: run
// global: 2
// arg: buf:int:2
// expect: 29, 7
kernel void run(global int *out) {
    int g = get_global_id(0), n = 0;
    switch (g) {
    case 0:
        for (int i = 0; i < 6; i++) {
            switch (i) {
            case 1: continue;
            case 3: n += 10;
            case 4: n += 5; break;
            default: n += 1;
            }
            n += 1;
        }
        n += 1;
        break;
    case 1: n = 7;
    }
    out[g] = n;
}
