// What a loop computes last is what a work-item takes out of it, however long the others stay.
// kernel: run
// global: 8
// local: 8
// arg: buf:int:2=3,5
// arg: buf:int:24
// expect: 24, 28, 203, 1530, 11797, 97520, 744447, 5418190, 16, 17, 18, 19, 19, 22, 21, 24, 3, 3, 3, 3, 3, 3, 3, 3
kernel void run(global const int *in, global int *out) {
    int id = get_global_id(0), last, next = id + 8, iterations = 0;
    do {
        last = id + next * in[0];
        next = next * 7 ^ 5;
    } while (++iterations < id);
    out[id] = last;
    int value, word = id + 1, again = 0;
    while (1) {
        value = word + 15;
        word ^= 1;
        if (id * 2 > 6 && again < 3) {
            again++;
            continue;
        }
        break;
    }
    out[8 + id] = value;
    int read, k = 0;
    do {
        read = in[0];
    } while (++k < 3 && in[1] == 0);
    out[16 + id] = read;
}
