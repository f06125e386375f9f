// subgroup_size is a power of two from 4 to 128, subgroup_invocation_id below it.
// needs: sub_groups
// kernel: main
// global: 64
// arg: buf:uint:64
// expect: 7
enable subgroups;
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(subgroup_size) size: u32,
        @builtin(subgroup_invocation_id) lane: u32) {
    out[id.x] = u32(countOneBits(size) == 1) + 2 * u32(size >= 1 && size <= 128) + 4 * u32(lane < size);
}
