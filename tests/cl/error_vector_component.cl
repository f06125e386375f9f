// A component that the vector does not have, and an lvalue that names one twice.
// error: 6: z
// error: 7: x
kernel void run(global int2 *out) {
    int2 v = out[0];
    out[0].x = v.z;
    v.xx = (int2)(1, 2);
    out[1] = v;
}
