// A histogram of bytes in words: bins of a group first, then those of all.
// kernel: main
// global: 4
// arg: buf:uint:4=0xc3f46544, 0x2eb300c3, 0x37a648a6, 0xc0dbdd73
// arg: buf:uint:8
// expect: 1, 2, 2, 2, 0, 3, 5, 1
@group(0) @binding(0) var<storage, read> pixels: array<u32>;
@group(0) @binding(1) var<storage, read_write> bins: array<atomic<u32>, 8>;
var<workgroup> mine: array<atomic<u32>, 8>;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32) {
    for (var b = i; b < 8; b += 4) { atomicStore(&mine[b], 0u); }
    workgroupBarrier();
    for (var byte = 0u; byte < 4; byte++) {
        atomicAdd(&mine[extractBits(pixels[id.x], 8 * byte, 8) / 32], 1u);
    }
    workgroupBarrier();
    for (var b = i; b < 8; b += 4) { atomicAdd(&bins[b], atomicLoad(&mine[b])); }
}
