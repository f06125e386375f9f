// Vectors of different types are not converted implicitly.
// error: 4: float4
kernel void run(global float4 *out, int4 v) {
    out[0] = v + out[1];
}
