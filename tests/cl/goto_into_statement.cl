// goto to labels inside loops, ifs and switches that it stands outside of.
// kernel: loops
// global: 2
// arg: buf:int:8
// expect: 5, 401, 6, 21, 5, 400, 6, 20
// kernel: arms
// global: 6
// arg: buf:int:6
// expect: 12, 2, 6, 7, 112, 102
// kernel: deep
// global: 3
// arg: buf:int:3
// expect: 1016, 1051, 36
// kernel: past
// global: 7
// arg: buf:int:7
// expect: 101, 100, 0, 0, 0, 0, 101
kernel void loops(global int *all) {
    const int id = get_global_id(0);
    global int *o = all + 4 * id;
    int n = 0, sum = 1 - id, i;
    goto in_while;
    while (n < 5) {
        sum += 100;
    in_while:
        n++;
    }
    o[0] = n;
    o[1] = sum;
    n = 0;
    sum = 1 - id;
    i = 3;
    goto in_for;
    for (i = 0, n = 1000; i < 6; i++) {
        sum += 10;
        n += 1000;
    in_for:
        n++;
        if (i == 3) n = 2;
        if (i > 3) n -= 999;
    }
    o[2] = i;
    o[3] = sum;
}
kernel void arms(global int *o) {
    const int id = get_global_id(0);
    int x = 0;
    if (id == 1) goto otherwise;
    if (id == 2) goto one;
    if (id == 3) goto both;
    if (id % 3 == 0 || id == 4) {
        x += 10;
        if (id < 4) goto both2;
        x += 100;
    both2:;
    one:
        if (id == 2) x += 4;
        x += 2;
    } else {
        x += 100;
    otherwise:
        x += 2;
    }
    if (x < 0) {
    both:
        x += 7;
    }
    o[id] = x;
}
kernel void deep(global int *o) {
    const int id = get_global_id(0);
    int sum = 0;
    if (id < 2) {
        sum = 1000;
        if (id) goto five;
        goto three;
    }
    for (int i = 0; i < 2; i++) {
        do {
            switch (sum) {
            case 0: sum += 6; break;
            case 6:
            three:
                sum += 15;
                if (sum == 21) break;
                sum += 1;
                goto done;
            case 21: sum += 15; goto done;
            default:
                if (sum > 1000) {
                    sum = -1;
                five:
                    sum += 51;
                    goto done;
                }
            }
        } while (sum < 5000 && i == 0 && sum != 21);
    }
done:
    o[id] = sum;
}
/* The way to a label leads past another one that gotos lead to. */
kernel void past(global int *o) {
    const int id = get_global_id(0);
    int n = 0;
    if (id > 5) {
    outer: {
        n += 1;
    inner:
        n += 100;
    }
    } else {
        if (id == 1) goto inner;
        if (id == 0) goto outer;
    }
    o[id] = n;
}
