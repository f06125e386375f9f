// Conversions of vectors, component by component.
// kernel: run
// arg: float4:1.9,-1.9,300,2.5
// arg: buf:int4:3
// expect: 1, -1, 300, 2, 1, -1, 127, 2, 2, -2, 300, 2
// arg: buf:uchar4:1
// expect: 1, 0, 255, 2
// arg: buf:float4:1
// expect: 1, 2, 3, 250
kernel void run(float4 v, global int4 *out, global uchar4 *bytes, global float4 *back) {
    out[0] = convert_int4(v);
    out[1] = convert_int4(convert_char4_sat(v));
    out[2] = convert_int4_rte(v);
    bytes[0] = convert_uchar4_sat(v);
    back[0] = convert_float4((uchar4)(1, 2, 3, 250));
}
