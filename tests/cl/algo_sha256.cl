// SHA-256 of one-block messages, one a work-item.
// kernel: sha256
// global: 4
// arg: buf:uint:32
// expect: 3398926610, 3390815690, 4207030707, 2586041421, 2810638328, 343690866, 3112204165,
//         2951628987, 3976349051, 1547819364, 3688034982, 165036001, 3145017563, 3848149695,
//         1532150345, 3446888343, 684392829, 4237887290, 2712960027, 821302243, 3463924809,
//         2448114008, 3729848795, 3010297923, 202107598, 4169628607, 605481728, 4072004758,
//         894314205, 502616435, 541432594, 914755468
constant uint k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
uint ror(uint x, uint n) { return rotate(x, 32 - n); }
kernel void sha256(global uint *out) {
    uint length = get_global_id(0) * 5 + 1, w[64] = {0}; /* the message: that many letters a */
    uint h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint s[8];
    for (uint i = 0; i <= length; i++) w[i / 4] |= (i < length ? 'a' : 0x80u) << (24 - i % 4 * 8);
    w[15] = length * 8;
    for (int i = 16; i < 64; i++) {
        uint a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (ror(a, 7) ^ ror(a, 18) ^ a >> 3) + w[i - 7] + (ror(b, 17) ^ ror(b, 19) ^ b >> 10);
    }
    for (int i = 0; i < 8; i++) s[i] = h[i];
    for (int i = 0; i < 64; i++) {
        uint choice = (s[4] & s[5]) ^ (~s[4] & s[6]), majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint t = s[7] + (ror(s[4], 6) ^ ror(s[4], 11) ^ ror(s[4], 25)) + choice + k[i] + w[i];
        uint u = (ror(s[0], 2) ^ ror(s[0], 13) ^ ror(s[0], 22)) + majority;
        for (int j = 7; j > 0; j--) s[j] = s[j - 1];
        s[4] += t;
        s[0] = t + u;
    }
    for (int i = 0; i < 8; i++) out[get_global_id(0) * 8 + i] = h[i] + s[i];
}
