// Arguments are evaluated once and copied; arrays decay to pointers.
// kernel: run
// arg: buf:int:4
// expect: 3, 1, 40, 2
int change(int x, int *p) {
    x += 2;
    p[1] = 40;
    return x;
}
int first(int v[2]) { return v[0]; }
kernel void run(global int *out) {
    int n = 1, array[2] = {2, 4};
    out[0] = change(n, array);
    out[1] = n;
    out[2] = array[1];
    out[3] = first(array);
}
