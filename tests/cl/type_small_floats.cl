// bf16, e4m3 and e5m2: loaded, stored, moved as they are, and computed with as float.
// kernel: sums
// global: 4
// arg: buf:bf16:4=1.5,-2,0x1p-130,3e38
// arg: buf:e4m3:4=448,-0.5,0x1p-9,0
// arg: buf:e5m2:4=57344,-1.75,0x1p-16,inf
// arg: bf16:-0.25
// arg: buf:float:4
// expect: 57793.25, -4.5, 0x1.02p-9, inf ~1e-7
// arg: buf:bf16:4
// expect: 57856, -4.5, 0x1.02p-9, inf
// kernel: moves
// global: 4
// arg: buf:ushort:4=0x7f81,0xffff,1,0x8000
// arg: buf:ushort:4
// expect: 0x7f81, 0xffff, 1, 0x8000
// arg: buf:uchar:4=0x7d,0xff,1,0x80
// arg: buf:uchar:4
// expect: 0x7d, 0xff, 1, 0x80
// kernel: steps
// arg: buf:bf16:6=1,256,-1,0.5,3,-0
// expect: 2, 256, -3, 0.25, 3, -0
// arg: buf:int:8
// expect: 1, 1, 0, 1, 0, 1, 3, 2
// kernel: structs
// arg: raw:004038c07e013efb
// arg: buf:float:6
// expect: 2, -4, 896, 0x1p-8, 1.5, -57344
// arg: buf:uint:3
// expect: 16, 4, 24
// kernel: tables
// global: 4
// local: 4
// arg: buf:float:4
// expect: 8.5, 9.25, -0.3125, 0x1.02p8
// kernel: functions
// arg: buf:float:6
// expect: 2, 4, 0.5, 0.25, 3, 1 ~1e-6
#ifndef __QUERN__
#error quern's own types
#endif

kernel void sums(global const qn_bf16 *a, global const qn_e4m3 *b, global const qn_e5m2 *c, qn_bf16 d,
                 global float *sum, global qn_bf16 *rounded) {
    size_t i = get_global_id(0);
    bool is_tiny = a[i] && fabs(a[i]) < 1e-30f; /* counts for nothing */
    sum[i] = (is_tiny ? 0 : a[i]) * (i < 3) + b[i] + c[i] + (i == 1 ? d : i == 0 ? d * 1 : 0.0f);
    rounded[i] = sum[i];
}

kernel void moves(global const qn_bf16 *from, global qn_bf16 *to, global const qn_e5m2 *bytes,
                  global qn_e5m2 *copies) {
    size_t i = get_global_id(0);
    qn_bf16 kept[4];
    kept[i] = from[i];
    to[i] = kept[i];
    qn_e5m2 byte = bytes[i];
    copies[i] = byte;
}

kernel void steps(global qn_bf16 *x, global int *truth) {
    x[0]++;
    qn_bf16 before = x[1]++; /* 257 is between 256 and 258 */
    x[2] -= 2;
    x[3] /= 2.0f;
    truth[0] = before == 256;
    truth[1] = x[4] > x[0];
    truth[2] = x[5] ? 1 : 0; /* of -0 */
    truth[3] = !x[5];
    truth[4] = x[5] && x[0];
    truth[5] = x[0] || x[5];
    truth[6] = x[4];
    truth[7] = sizeof x[0];
}

typedef struct settings {
    qn_bf16 scale;
    qn_e4m3 codes[4];
    qn_e5m2x2 pair;
} settings;

typedef struct places {
    char first;
    qn_bf16x3 three;
    qn_e4m3x2 two;
} places;

kernel void structs(settings s, global float *out, global uint *sizes) {
    for (int i = 0; i < 4; i++) out[i] = s.scale * s.codes[i];
    vstore2(convert_float2(s.pair), 2, out);
    sizes[0] = sizeof(qn_bf16x8);
    sizes[1] = sizeof(qn_e4m3x3);
    sizes[2] = sizeof(places);
}

constant qn_bf16 table[4] = {8, 9.25f, -0.3125, 257.99};

kernel void tables(global float *out) {
    local qn_bf16 shared[4];
    size_t i = get_local_id(0);
    shared[i] = table[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    const qn_e4m3 half_of_one = 0.5f;
    out[i] = i ? shared[i] : shared[i] + half_of_one;
}

qn_bf16 twice(qn_bf16 x) { return x * 2; }
float halved(float x) { return x / 2; }

kernel void functions(global float *out) {
    qn_bf16 one = 1;
    qn_e5m2 quarter = 0.25f;
    out[0] = twice(one);
    out[1] = twice(2.0f) * max(one, quarter);
    out[2] = halved(one);
    out[3] = sqrt(quarter) * quarter * 2;
    out[4] = (one + quarter * 8);
    out[5] = cos(one - one);
}
