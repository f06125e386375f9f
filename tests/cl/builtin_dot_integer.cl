// Integer dot products of four bytes (cl_khr_integer_dot_product): of vectors and of packed words, in each combination of
// signs, saturating, and summed up.
// options: -cl-std=CL3.0
// kernel: products
// global: 4
// arg: buf:int:4=-2139062144,2139160321,-1,16909060
// arg: buf:int:4=-2139062144,-2130739454,-1,-66052
// arg: buf:int:16
// expect: 65536, 65536, -65536, -65536, 81283, -16253, -16509, 16003, 260100, 4, -1020, -1020, 2530, -30,
//    2530, -30
// kernel: packed
// global: 4
// arg: buf:int:4=-2139062144,2139160321,-1,16909060
// arg: buf:int:4=-2139062144,-2130739454,-1,-66052
// arg: buf:int:16
// expect: 65536, 65536, -65536, -65536, 81283, -16253, -16509, 16003, 260100, 4, -1020, -1020, 2530, -30,
//    2530, -30
// kernel: saturating
// global: 4
// arg: buf:int:4=-2139062144,2139160321,-1,16909060
// arg: buf:int:4=-2139062144,-2130739454,-1,-66052
// arg: buf:int:4=0,2147483392,-256,5
// arg: buf:int:16
// expect: 65536, 65536, -65536, -65536, -2147402621, 2147467139, 2147466883, 2147483647, -1, -252, -1276,
//    -1276, 2535, -25, 2535, -25
// kernel: saturating_packed
// global: 4
// arg: buf:int:4=-2139062144,2139160321,-1,16909060
// arg: buf:int:4=-2139062144,-2130739454,-1,-66052
// arg: buf:int:4=0,2147483392,-256,5
// arg: buf:int:16
// expect: 65536, 65536, -65536, -65536, -2147402621, 2147467139, 2147466883, 2147483647, -1, -252, -1276,
//    -1276, 2535, -25, 2535, -25
// kernel: summed
// global: 4
// arg: int:3
// arg: buf:int:4=-2139062144,2139160321,-1,16909060
// arg: buf:int:4=-2139062144,-2130739454,-1,-66052
// arg: buf:int:4=0,2147483392,-256,5
// arg: buf:int:16
// expect: 196608, 196608, -196608, -196608, -2147240055, 2147434633, 2147433865, -2147435895, 780044,
//    -244, -3316, -3316, 7595, -85, 7595, -85
// kernel: constants
// arg: buf:int:5
// expect: 65536, -65536, 260100, 4, 11
// kernel: lanes
// arg: buf:int:4=-2139062144,2139160321,-1,16909060
// arg: buf:int:4=-2139062144,-2130739454,-1,-66052
// arg: buf:int:40=7
// expect: 197381, 243851, 260353, 8363, 195845, -48757, 1, -85, -196602, -49524, -766, 8364, -196603,
//    48011, -1023, -85, -196603, -49525, -767, 8363, 3449, -8, 0, 7, 197381, 197381, 197381, 197381, 8363,
//    772679, 8363, 119, -48757, 97555, -48757, 97556, 1, 23, 1, 5
// arg: int:3
#if !defined(cl_khr_integer_dot_product) || !defined(__opencl_c_integer_dot_product_input_4x8bit) || \
    !defined(__opencl_c_integer_dot_product_input_4x8bit_packed)
#error the macros of integer dot products
#endif

kernel void products(global const uchar4 *x, global const uchar4 *y, global int4 *out) {
    const uint i = get_global_id(0);
    const uchar4 a = x[i], b = y[i];
    out[i] = (int4)(as_int(dot(a, b)), dot(as_char4(a), as_char4(b)), dot(as_char4(a), b), dot(a, as_char4(b)));
}

kernel void packed(global const uint *x, global const uint *y, global int4 *out) {
    const uint i = get_global_id(0), a = x[i], b = y[i];
    out[i] = (int4)(as_int(dot_4x8packed_uu_uint(a, b)), dot_4x8packed_ss_int(a, b), dot_4x8packed_su_int(a, b),
                    dot_4x8packed_us_int(a, b));
}

kernel void saturating(global const uchar4 *x, global const uchar4 *y, global const int *z, global int4 *out) {
    const uint i = get_global_id(0);
    const uchar4 a = x[i], b = y[i];
    const char4 p = as_char4(a), q = as_char4(b);
    out[i] = (int4)(as_int(dot_acc_sat(a, b, as_uint(z[i]))), dot_acc_sat(p, q, z[i]), dot_acc_sat(p, b, z[i]),
                    dot_acc_sat(a, q, z[i]));
}

kernel void saturating_packed(global const uint *x, global const uint *y, global const int *z, global int4 *out) {
    const uint i = get_global_id(0), a = x[i], b = y[i];
    out[i] = (int4)(as_int(dot_acc_sat_4x8packed_uu_uint(a, b, as_uint(z[i]))),
                    dot_acc_sat_4x8packed_ss_int(a, b, z[i]), dot_acc_sat_4x8packed_su_int(a, b, z[i]),
                    dot_acc_sat_4x8packed_us_int(a, b, z[i]));
}

kernel void summed(int n, global const uint *x, global const uint *y, global const int *z, global int4 *out) {
    const uint i = get_global_id(0);
    uint u = as_uint(z[i]);
    int s = z[i], su = s, us = s;
    for (int k = 0; k < n; k++) {
        u += dot_4x8packed_uu_uint(x[i], y[i]);
        s += dot_4x8packed_ss_int(x[i], y[i]);
        su += dot_4x8packed_su_int(x[i], y[i]);
        us += dot_4x8packed_us_int(x[i], y[i]);
    }
    out[i] = (int4)(as_int(u), s, su, us);
}

kernel void constants(global int *out) {
    out[0] = dot((char4)-128, (char4)-128);
    out[1] = dot((uchar4)128, (char4)-128);
    out[2] = dot_4x8packed_uu_uint(0xffffffff, 0x01fffffe) + dot((uchar4)(0, 0, 0, 255), (uchar4)(0, 0, 0, 255));
    out[3] = dot(1.0f, 4.0f);
    out[4] = dot((float2)(1, 2), (float2)(3, 4));
}

// Vectors of words, lane by lane, in a loop: where one work-item has the processor's vectors to itself.
kernel void lanes(global const uint *x, global const uint *y, global int *out, int n) {
    uint4 u = 0;
    int4 s = 0, su = 1;
    uint16 wide = 0;
    int8 us = 0;
    int3 three = 0;
    int16 ss = 0;
    for (int i = 0; i < n; i++) {
        const uint4 a = vload4(0, x) + (uint)i, b = vload4(0, y) ^ (uint)i;
        u += dot_4x8packed_uu_uint(a, b);
        s += dot_4x8packed_ss_int(a, b);
        su += dot_4x8packed_su_int(a, b);
        us += dot_4x8packed_us_int((uint8)(a, b), (uint8)(b, a));
        three += dot_4x8packed_ss_int(a.xyz, b.wzy);
        wide += dot_4x8packed_uu_uint((uint16)(a, b, b, a), (uint16)(b, b, a, a));
        ss += dot_4x8packed_ss_int((uint16)(a, b, b, a), (uint16)(b, b, a, a));
    }
    vstore4(as_int4(u), 0, out);
    vstore4(s, 1, out);
    vstore4(su, 2, out);
    vstore4(us.lo, 3, out);
    vstore4(us.hi, 4, out);
    vstore3(three, 0, out + 20);
    vstore4(as_int4(wide.s048c), 6, out);
    vstore4(as_int4(wide.s37bf), 7, out);
    vstore4(ss.s159d, 8, out);
    vstore4(ss.s26ae, 9, out);
}
