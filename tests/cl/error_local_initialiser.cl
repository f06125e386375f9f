// __local variables have no initialiser.
// error: 4: initial
kernel void run(global int *out) {
    local int x = 5;
    out[0] = x;
}
