// Array sizes are constants.
// error: 4: constant
kernel void run(global int *out, int n) {
    int v[n];
    v[0] = 1;
    out[0] = v[0];
}
