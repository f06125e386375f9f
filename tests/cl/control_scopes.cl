// Names in inner scopes hide the outer ones; a for's variable lives in the loop.
// kernel: run
// arg: buf:int:4
// expect: 1, 10, 45, 1
kernel void run(global int *out) {
    int x = 1;
    out[0] = x;
    {
        int x = 10;
        out[1] = x;
    }
    int sum = 0;
    for (int x = 0; x < 10; x++) {
        sum += x;
        int x = 100;
        sum += x - 100;
    }
    out[2] = sum;
    out[3] = x;
}
