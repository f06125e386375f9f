// SHA-256 of messages of one block: abc, nothing, and a sentence.
// kernel: main
// global: 3
// arg: buf:uint:48=0x61626380, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000,
//         0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000,
//         0x00000018, 0x80000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000,
//         0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000,
//         0x00000000, 0x54686520, 0x71756963, 0x6b206272, 0x6f776e20, 0x666f7820, 0x6a756d70, 0x73206f76,
//         0x65722074, 0x6865206c, 0x617a7920, 0x646f6780, 0x00000000, 0x00000000, 0x00000000, 0x00000000,
//         0x00000158
// arg: buf:uint:24
// expect: 0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223, 0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad,
//         0xe3b0c442, 0x98fc1c14, 0x9afbf4c8, 0x996fb924, 0x27ae41e4, 0x649b934c, 0xa495991b, 0x7852b855,
//         0xd7a8fbb3, 0x07d78094, 0x69ca9abc, 0xb0082e4f, 0x8d5651e4, 0x6d3cdb76, 0x2d02d0bf, 0x37c9e592
@group(0) @binding(0) var<storage, read> blocks: array<array<u32, 16>>;
@group(0) @binding(1) var<storage, read_write> digests: array<array<u32, 8>>;
const first = array(0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u);
const rounds = array<u32, 64>(
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2);
fn turned(x: u32, by: u32) -> u32 {
    return (x >> by) | (x << (32 - by));
}
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    var k = rounds;
    var w: array<u32, 64>;
    for (var i = 0; i < 16; i++) { w[i] = blocks[id.x][i]; }
    for (var i = 16; i < 64; i++) {
        let a = w[i - 15];
        let b = w[i - 2];
        let s0 = turned(a, 7) ^ turned(a, 18) ^ (a >> 3u);
        let s1 = turned(b, 17) ^ turned(b, 19) ^ (b >> 10u);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    var h: array<u32, 8> = first;
    for (var i = 0; i < 64; i++) {
        let s1 = turned(h[4], 6) ^ turned(h[4], 11) ^ turned(h[4], 25);
        let choice = (h[4] & h[5]) ^ (~h[4] & h[6]);
        let t1 = h[7] + s1 + choice + k[i] + w[i];
        let s0 = turned(h[0], 2) ^ turned(h[0], 13) ^ turned(h[0], 22);
        let majority = (h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]);
        for (var j = 7; j > 0; j--) { h[j] = h[j - 1]; }
        h[4] += t1;
        h[0] = t1 + s0 + majority;
    }
    var start: array<u32, 8> = first;
    for (var i = 0; i < 8; i++) { digests[id.x][i] = h[i] + start[i]; }
}
