// A vector literal with too few and with too many components.
// error: 5: int4
// error: 6: int4
kernel void run(global int4 *out) {
    out[0] = (int4)(1, 2, 3);
    out[1] = (int4)(1, 2, 3, 4, 5);
}
