// void pointers: conversions without a cast, arithmetic after one.
// kernel: run
// arg: buf:int:2=5,6
// arg: buf:int:1
// expect: 11
int sum(global const void *data, int n) {
    global const int *p = data;
    int s = 0;
    while (n--) s += *p++;
    return s;
}
kernel void run(global int *p, global int *out) { out[0] = sum(p, 2); }
