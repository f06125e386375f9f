// Pointers to different address spaces are not assigned to each other.
// error: 5: address space
kernel void run(global int *out) {
    local int l;
    global int *p = &l;
    out[0] = *p;
}
