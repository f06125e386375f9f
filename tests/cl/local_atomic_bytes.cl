// Local memory that is written as bytes and shorts, and counted in as words.
// kernel: count
// global: 64
// local: 64
// arg: buf:uint:5
// expect: 16, 12, 20, 16, 2016
// kernel: bytes
// global: 32
// local: 32
// arg: buf:uint:10
// expect: 0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c, 0x13121110, 0x17161514, 0x1b1a1918, 0x1f1e1d1c, 496, 0x00110010
kernel void count(global uint *out) {
    local union {
        uint words[5];
        uchar bytes[20];
    } u;
    uint l = get_local_id(0);
    if (l < 20) u.bytes[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&u.words[l % 4 + (l % 16 == 1)]);
    atomic_add(&u.words[4], l);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 4) out[l] = u.bytes[4 * l];
    if (l == 4) out[l] = u.bytes[16] | u.bytes[17] << 8;
}

kernel void bytes(global uint *out) {
    local uint words[9];
    local uchar *b = (local uchar *)words;
    uint l = get_local_id(0);
    if (l == 0) words[8] = 0;
    b[l] = l;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&words[8], (uint)b[31 - l]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 9) out[l] = words[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 2) ((local ushort *)words)[l + 2] = 16 + l;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) out[9] = words[1];
}
