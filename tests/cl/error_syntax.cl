// Several mistakes of syntax in one file, each reported at its line.
// error: 5: ;
// error: 9: )
kernel void one(global int *out) {
    out[0] = 1
}
kernel void two(global int *out) {
    int x = 2;
    out[0] = (x + 1;
}
