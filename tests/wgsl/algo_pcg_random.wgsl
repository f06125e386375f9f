// The hash of PCG: each work-item's third number.
// kernel: main
// global: 8
// arg: buf:uint:8
// expect: 2145236065, 594548367, 2433305931, 206189377, 1014643278, 549951550, 946532319, 3767225587
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
fn pcg(seed: ptr<function, u32>) -> u32 {
    let state = *seed * 747796405u + 2891336453u;
    let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    *seed = (word >> 22u) ^ word;
    return *seed;
}
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u) {
    var seed = id.x;
    _ = pcg(&seed);
    pcg(&seed);
    out[id.x] = pcg(&seed);
}
