// Vectors of small floats: components, literals, vload and vstore, choice, shuffles, copies by a work-group.
// kernel: parts
// arg: buf:bf16:16=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16
// arg: buf:bf16:24
// expect: 4, 3, 2, 1, 1.5, 2, -3, 0, 1, 3, 5, 7, 16, 1, 2, 3, 1, 0, 0, 5, 6, 7, 8, 0
// arg: buf:e4m3:8
// expect: 1, 2, 3, 4, 5, 6, 7, 8
// kernel: choices
// arg: buf:e5m2:16
// expect: 1, -2, 3, -4, 1, 2, 3, 4, -3, -1, 1, 3, 0.5, 0.5, 0.5, 0.5
// arg: buf:float:4
// expect: 1, -2, 0.5, 4
// kernel: widths
// arg: buf:e4m3:37=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16
// arg: buf:bf16:37
// expect: 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 1, 4, 6, 8, 10, 12, 14, 16, 18, 6, 7.5, 9,
//   10.5, 7, 7.5, 8, 0.5, 0, 0, 0, 0
// kernel: copies
// global: 8
// local: 8
// arg: buf:bf16x4:8=1,2,3,4,5,6,7
// arg: buf:bf16x4:8
// expect: 4, 3, 2, 1, 1, 7, 6, 5, 5, 4, 3, 2, 2, 1, 7, 6, 6, 5, 4, 3, 3, 2, 1, 7, 7, 6, 5, 4, 4, 3, 2, 1
kernel void parts(global const qn_bf16 *in, global qn_bf16 *out, global qn_e4m3 *bytes) {
    qn_bf16x4 v = vload4(0, in);
    vstore4(v.wzyx, 0, out);
    v.xz = (qn_bf16x2)(1.5f, -3);
    v.w = 0;
    vstore4(v, 1, out);
    qn_bf16x8 even = (qn_bf16x8)(vload8(0, in).even, (qn_bf16x4)(vload4(3, in).w, in[0], in[1], in[2]));
    vstore8(even, 1, out);
    vstore3((qn_bf16x3)(1, (qn_bf16x2)(0)), 0, out + 16);
    vstore4(((qn_bf16x16)(vload8(0, in), vload8(1, in))).s4567, 0, out + 19);
    out[23] = v.s3;
    vstore8(convert_qn_e4m3x8(convert_float8(vload8(0, in))), 0, bytes);
}

kernel void choices(global qn_e5m2 *out, global float *sum) {
    qn_e5m2x4 a = convert_qn_e5m2x4((int4)(1, 2, 3, 4)), b = convert_qn_e5m2x4((char4)(-1, -2, -3, -4));
    vstore4(select(a, b, (char4)(0, -1, 0, -1)), 0, out);
    vstore4(sum ? a : b, 1, out);
    vstore4(shuffle2(a, b, (uchar4)(6, 4, 0, 2)), 2, out);
    vstore4((char4)(1, -1, 1, -1) < (char4)(0) ? (qn_e5m2x4)(0.5f) : (qn_e5m2x4)(0.5), 3, out);
    float4 f = (float4)(1, -1, 0.25f, 2) * a.x;
    qn_bf16 two = 2;
    vstore4(f * (float4)(1, two, 2, two), 0, sum);
}

kernel void widths(global const qn_e4m3 *in, global qn_bf16 *out) {
    local qn_bf16 near[40];
    qn_e4m3x16 v = vload16(0, in + 1);
    vstore16(convert_qn_bf16x16(convert_half16(v)), 0, near);
    for (int i = 0; i < 16; i++) out[1 + i] = near[i];
    vstore8(convert_qn_bf16x8(convert_int8(vload8(2, in + 1)) * 2), 0, out + 17);
    vstore3(convert_qn_bf16x3(convert_float3(vload3(1, in)) * 1.5f), 0, out + 25);
    out[28] = vload2(3, in).x * 1.5f;
    vstore4(convert_qn_bf16x4(convert_float4(vload4(3, in + 1)) / 2), 0, out + 29);
}

kernel void copies(global const qn_bf16x4 *in, global qn_bf16x4 *out) {
    local qn_bf16x4 near[8];
    prefetch(in, 8);
    event_t event = async_work_group_copy(near, in, 8, 0);
    wait_group_events(1, &event);
    out[get_local_id(0)] = as_qn_bf16x4(as_ushort4(near[get_local_id(0)]).s3210);
}
