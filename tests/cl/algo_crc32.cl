// CRC-32 by bits and by a table in constant memory, of each work-item's own message.
// kernel: crc
// global: 4
// arg: buf:uchar:32=0, 3, 6, 9, 12, 15, 18, 21, 7, 10, 13, 16, 19, 22, 25, 28, 14, 17, 20, 23, 26, 29, 32,
//         35, 21, 24, 27, 30, 33, 36, 39, 42
// arg: buf:uint:4
// expect: 3676317733, 3270500230, 3879699254, 2503849184
// arg: buf:uint:4
// expect: 3676317733, 3270500230, 3879699254, 2503849184
#define STEP(c) ((c) & 1 ? 0xedb88320u ^ ((c) >> 1) : (c) >> 1)
#define FOUR(c) STEP(STEP(STEP(STEP(c))))
constant uint nibbles[16] = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
kernel void crc(global const uchar *messages, global uint *by_bits, global uint *by_table) {
    size_t i = get_global_id(0);
    global const uchar *p = messages + 8 * i;
    uint a = ~0u, b = ~0u;
    for (int j = 0; j < 8; j++) {
        a ^= p[j];
        for (int k = 0; k < 8; k++) a = STEP(a);
        b ^= p[j];
        b = nibbles[b & 15] ^ (b >> 4);
        b = nibbles[b & 15] ^ (b >> 4);
    }
    by_bits[i] = ~a;
    by_table[i] = ~b;
}
