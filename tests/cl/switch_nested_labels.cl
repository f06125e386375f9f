// case labels inside loops and ifs of their switch.
// kernel: copy
// global: 12
// arg: buf:int:12
// expect: 8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
// kernel: mixed
// global: 7
// arg: buf:int:7
// expect: 1, 11, 12, 103, 4, 1105, 1106
/* Duff's device: counts its steps. */
int steps(int count) {
    int n = (count + 3) / 4, made = 0;
    switch (count % 4) {
    case 0:
        do {
            made++;
        case 3: made++;
        case 2: made++;
        case 1: made++;
        } while (--n > 0);
    }
    return made;
}
kernel void copy(global int *o) {
    const int id = get_global_id(0);
    o[id] = id ? steps(id) : steps(8);
}
kernel void mixed(global int *o) {
    const int id = get_global_id(0);
    int x = id;
    switch (id) {
        if (0) {
        case 2: x += 10; break;
        case 3: x += 100; break;
        }
    case 0: x = 1; break;
        for (;;) {
        case 1:
            x += 10;
            break;
        }
        break;
    case 4: {
        break;
    }
        while (x < 1000) {
            x += 1000;
            continue;
        default: x += 100;
        }
    }
    o[id] = x;
}
