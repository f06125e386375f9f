// GGUF's blocks of quantised numbers as floats. By -D: DECODE, the function of the encoding; BLOCK numbers take BYTES; T, what they become.
// Each function gives number i of the block b: scales d and least values m, of halves or of a few bits each, times q. Global size:
// a quarter of the numbers.

static float half_at(global const uchar *b, uint at) { return vload_half(0, (global const half *)(b + at)); }

// A number of 4 bits: numbers 0 to n - 1 lie in the low ones, n to 2n - 1 in the high ones.
static int nibble(global const uchar *b, uint i, uint n) { return i < n ? b[i] & 15 : b[i - n] >> 4; }

// Bit i of those in four bytes.
static int bit_at(global const uchar *b, uint i) { return b[i / 8] >> i % 8 & 1; }

static float q4_0(global const uchar *b, uint i) { return half_at(b, 0) * (nibble(b + 2, i, 16) - 8); }

static float q4_1(global const uchar *b, uint i) {
    return half_at(b, 0) * nibble(b + 4, i, 16) + half_at(b, 2);
}

static float q5_0(global const uchar *b, uint i) {
    return half_at(b, 0) * ((nibble(b + 6, i, 16) | bit_at(b + 2, i) << 4) - 16);
}

static float q5_1(global const uchar *b, uint i) {
    return half_at(b, 0) * (nibble(b + 8, i, 16) | bit_at(b + 4, i) << 4) + half_at(b, 2);
}

static float q8_0(global const uchar *b, uint i) { return half_at(b, 0) * as_char(b[2 + i]); }

static float q8_k(global const uchar *b, uint i) { return *(global const float *)b * as_char(b[4 + i]); }

// The blocks of 256: two halves of 128, each of four rows of 32. A row's bits are in the same bytes as those of the others of its half.

static float q2_k(global const uchar *b, uint i) {
    const uint half_of = i / 128, row = i % 128 / 32, column = i % 32;
    const int q = b[16 + half_of * 32 + column] >> 2 * row & 3, scales = b[i / 16];
    return half_at(b, 80) * (scales & 15) * q - half_at(b, 82) * (scales >> 4);
}

static float q3_k(global const uchar *b, uint i) {
    const uint half_of = i / 128, row = i % 128 / 32, column = i % 32, s = i / 16;
    const int high = b[column] >> (half_of * 4 + row) & 1;
    const int q = (b[32 + half_of * 32 + column] >> 2 * row & 3) - (high ? 0 : 4);
    const int scale = nibble(b + 96, s, 8) | (b[104 + s % 4] >> 2 * (s / 4) & 3) << 4;
    return half_at(b, 108) * (scale - 32) * q;
}

// The scale and the least value of row s of 8, of 6 bits each in 12 bytes.
static int scale_of(global const uchar *b, uint s) {
    return s < 4 ? b[s] & 63 : (b[s + 4] & 15) | b[s - 4] >> 6 << 4;
}
static int least_of(global const uchar *b, uint s) {
    return s < 4 ? b[s + 4] & 63 : b[s + 4] >> 4 | b[s] >> 6 << 4;
}

static float q4_k(global const uchar *b, uint i) {
    const uint s = i / 32;
    const int q = nibble(b + 16 + s / 2 * 32, i % 64, 32);
    return half_at(b, 0) * scale_of(b + 4, s) * q - half_at(b, 2) * least_of(b + 4, s);
}

static float q5_k(global const uchar *b, uint i) {
    const uint s = i / 32;
    const int q = nibble(b + 48 + s / 2 * 32, i % 64, 32) | (b[16 + i % 32] >> s & 1) << 4;
    return half_at(b, 0) * scale_of(b + 4, s) * q - half_at(b, 2) * least_of(b + 4, s);
}

static float q6_k(global const uchar *b, uint i) {
    const uint half_of = i / 128, row = i % 128 / 32, column = i % 32;
    const int low = nibble(b + half_of * 64, i % 128, 64), high = b[128 + half_of * 32 + column] >> 2 * row & 3;
    return half_at(b, 208) * as_char(b[192 + i / 16]) * ((low | high << 4) - 32);
}

static float value_of(int q) {
    const char values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
    return values[q];
}

static float iq4_nl(global const uchar *b, uint i) { return half_at(b, 0) * value_of(nibble(b + 2, i, 16)); }

static float iq4_xs(global const uchar *b, uint i) {
    const uint s = i / 32;
    const int high = (b[2] | b[3] << 8) >> 2 * s & 3, scale = (b[4 + s / 2] >> 4 * (s % 2) & 15) | high << 4;
    return half_at(b, 0) * (scale - 32) * value_of(nibble(b + 8 + s * 16, i % 32, 16));
}

// A power of two of 8 bits times numbers of 4: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives, here twice as large.
static float mxfp4(global const uchar *b, uint i) {
    const int q = nibble(b + 1, i, 16), size = q & 7;
    const float value = size < 5 ? size : size == 5 ? 6.0f : size == 6 ? 8.0f : 12.0f;
    return ldexp(q & 8 ? -value : value, b[0] - 128);
}

kernel void dequantize(global const uchar *restrict blocks, global T *restrict to) {
    const size_t first = get_global_id(0) * 4;
    global const uchar *b = blocks + first / BLOCK * BYTES;
    const uint i = first % BLOCK;
    #pragma unroll
    for (uint k = 0; k < 4; k++) to[first + k] = (T)DECODE(b, i + k);
}
