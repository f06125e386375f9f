// switch: fall-through, default in the middle, break, no match.
// kernel: run
// global: 8
// arg: buf:int:8
// expect: 111, 11, 10, 1000, 7, 1000, 1000, 5
kernel void run(global int *out) {
    int i = get_global_id(0), n = 0;
    switch (i) {
    case 0: n += 100;
    case 1: n += 1;
    case 2: n += 10; break;
    default: n += 1000; break;
    case 4: n += 2;
    case 7: n += 5;
    }
    out[i] = n;
}
