// The first numbers of the Mersenne twister, seeded with 5489; its state in private memory.
// kernel: main
// arg: buf:uint:5
// expect: 3499211612, 581869302, 3890346734, 3586334585, 545404204
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
const n = 624u;
const m = 397u;
var<private> state: array<u32, n>;
fn mixed(a: u32, b: u32) -> u32 {
    let y = (a & 0x80000000) | (b & 0x7fffffff);
    return (y >> 1u) ^ select(0u, 0x9908b0dfu, (y & 1) == 1);
}
@compute @workgroup_size(1)
fn main() {
    state[0] = 5489;
    for (var i = 1u; i < n; i++) {
        state[i] = 1812433253 * (state[i - 1] ^ (state[i - 1] >> 30u)) + i;
    }
    for (var i = 0u; i < n; i++) {
        state[i] = state[(i + m) % n] ^ mixed(state[i], state[(i + 1) % n]);
    }
    for (var i = 0; i < 5; i++) {
        var y = state[i];
        y ^= y >> 11u;
        y ^= (y << 7u) & 0x9d2c5680;
        y ^= (y << 15u) & 0xefc60000;
        out[i] = y ^ (y >> 18u);
    }
}
