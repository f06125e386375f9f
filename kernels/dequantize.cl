// GGUF's blocks of quantised numbers as floats. By -D: DECODE, the function of the encoding; BLOCK numbers take BYTES; T4, what four become.
// Each function gives numbers i to i + 3 of the block b, i being a multiple of 4, which have one scale: scales d and least values m, of halves
// or of a few bits each, times q. Global size: a quarter of the numbers.

static float half_at(global const uchar *b, uint at) { return vload_half(0, (global const half *)(b + at)); }

static int4 bytes_at(global const uchar *b, uint at) { return convert_int4(vload4(0, b + at)); }
static int4 chars_at(global const uchar *b, uint at) { return convert_int4(as_char4(vload4(0, b + at))); }

// Numbers of 4 bits: numbers 0 to n - 1 lie in the low ones of n bytes, n to 2n - 1 in the high ones.
static int4 nibbles(global const uchar *b, uint i, uint n) {
    return bytes_at(b, i % n) >> (i < n ? 0 : 4) & 15;
}

// One of them.
static int nibble(global const uchar *b, uint i, uint n) { return b[i % n] >> (i < n ? 0 : 4) & 15; }

// Bits i to i + 3 of those in four bytes.
static int4 bits_at(global const uchar *b, uint i) { return (int4)(b[i / 8] >> i % 8) >> (int4)(0, 1, 2, 3) & 1; }

static float4 q4_0(global const uchar *b, uint i) { return half_at(b, 0) * convert_float4(nibbles(b + 2, i, 16) - 8); }

static float4 q4_1(global const uchar *b, uint i) {
    return half_at(b, 0) * convert_float4(nibbles(b + 4, i, 16)) + half_at(b, 2);
}

static float4 q5_0(global const uchar *b, uint i) {
    return half_at(b, 0) * convert_float4((nibbles(b + 6, i, 16) | bits_at(b + 2, i) << 4) - 16);
}

static float4 q5_1(global const uchar *b, uint i) {
    return half_at(b, 0) * convert_float4(nibbles(b + 8, i, 16) | bits_at(b + 4, i) << 4) + half_at(b, 2);
}

static float4 q8_0(global const uchar *b, uint i) { return half_at(b, 0) * convert_float4(chars_at(b, 2 + i)); }

static float4 q8_k(global const uchar *b, uint i) {
    return *(global const float *)b * convert_float4(chars_at(b, 4 + i));
}

// The blocks of 256: two halves of 128, each of four rows of 32. A row's bits are in the same bytes as those of the others of its half.

static float4 q2_k(global const uchar *b, uint i) {
    const uint half_of = i / 128, row = i % 128 / 32, column = i % 32;
    const int4 q = bytes_at(b, 16 + half_of * 32 + column) >> (int)(2 * row) & 3;
    const int scales = b[i / 16];
    return half_at(b, 80) * (scales & 15) * convert_float4(q) - half_at(b, 82) * (scales >> 4);
}

static float4 q3_k(global const uchar *b, uint i) {
    const uint half_of = i / 128, row = i % 128 / 32, column = i % 32, s = i / 16;
    const int4 high = bytes_at(b, column) >> (int)(half_of * 4 + row) & 1;
    const int4 q = (bytes_at(b, 32 + half_of * 32 + column) >> (int)(2 * row) & 3) + high * 4 - 4;
    const int scale = nibble(b + 96, s, 8) | (b[104 + s % 4] >> 2 * (s / 4) & 3) << 4;
    return half_at(b, 108) * (scale - 32) * convert_float4(q);
}

// The scale and the least value of row s of 8, of 6 bits each in 12 bytes.
static int scale_of(global const uchar *b, uint s) {
    return s < 4 ? b[s] & 63 : (b[s + 4] & 15) | b[s - 4] >> 6 << 4;
}
static int least_of(global const uchar *b, uint s) {
    return s < 4 ? b[s + 4] & 63 : b[s + 4] >> 4 | b[s] >> 6 << 4;
}

static float4 q4_k(global const uchar *b, uint i) {
    const uint s = i / 32;
    const int4 q = nibbles(b + 16 + s / 2 * 32, i % 64, 32);
    return half_at(b, 0) * scale_of(b + 4, s) * convert_float4(q) - half_at(b, 2) * least_of(b + 4, s);
}

static float4 q5_k(global const uchar *b, uint i) {
    const uint s = i / 32;
    const int4 high = bytes_at(b, 16 + i % 32) >> (int)s & 1, q = nibbles(b + 48 + s / 2 * 32, i % 64, 32) | high << 4;
    return half_at(b, 0) * scale_of(b + 4, s) * convert_float4(q) - half_at(b, 2) * least_of(b + 4, s);
}

static float4 q6_k(global const uchar *b, uint i) {
    const uint half_of = i / 128, row = i % 128 / 32, column = i % 32;
    const int4 high = bytes_at(b, 128 + half_of * 32 + column) >> (int)(2 * row) & 3;
    const int4 q = (nibbles(b + half_of * 64, i % 128, 64) | high << 4) - 32;
    return half_at(b, 208) * as_char(b[192 + i / 16]) * convert_float4(q);
}

static float4 values_of(int4 q) {
    const char values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
    return (float4)(values[q.x], values[q.y], values[q.z], values[q.w]);
}

static float4 iq4_nl(global const uchar *b, uint i) { return half_at(b, 0) * values_of(nibbles(b + 2, i, 16)); }

static float4 iq4_xs(global const uchar *b, uint i) {
    const uint s = i / 32;
    const int high = (b[2] | b[3] << 8) >> 2 * s & 3, scale = (b[4 + s / 2] >> 4 * (s % 2) & 15) | high << 4;
    return half_at(b, 0) * (scale - 32) * values_of(nibbles(b + 8 + s * 16, i % 32, 16));
}

// A power of two of 8 bits times numbers of 4: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives, here twice as large.
static float4 mxfp4(global const uchar *b, uint i) {
    const int4 q = nibbles(b + 1, i, 16), size = q & 7;
    const int4 value = size < 5 ? size : size == 5 ? 6 : size == 6 ? 8 : 12;
    return ldexp(convert_float4(q < 8 ? value : -value), (int4)(b[0] - 128));
}

#define CONVERT_(type) convert_##type
#define CONVERT(type) CONVERT_(type)

kernel void dequantize(global const uchar *restrict blocks, global T4 *restrict to) {
    const size_t first = get_global_id(0) * 4;
    to[get_global_id(0)] = CONVERT(T4)(DECODE(blocks + first / BLOCK * BYTES, first % BLOCK));
}
