// The first outputs of MT19937 with a state in local memory, seeded with 5489.
// kernel: twister
// global: 8
// local: 8
// arg: buf:uint:8
// expect: 3499211612, 581869302, 3890346734, 3586334585, 545404204, 4161255391, 3922919429,
//         949333985
kernel void twister(global uint *out) {
    local uint state[624];
    uint i = get_local_id(0);
    if (i == 0) {
        state[0] = 5489;
        for (uint j = 1; j < 624; j++) state[j] = 1812433253u * (state[j - 1] ^ (state[j - 1] >> 30)) + j;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint y = (state[i] & 0x80000000u) | (state[i + 1] & 0x7fffffffu);
    uint v = state[i + 397] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
    v ^= v >> 11;
    v ^= v << 7 & 0x9d2c5680u;
    v ^= v << 15 & 0xefc60000u;
    out[i] = v ^ v >> 18;
}
