// Operations of sub-groups on vectors, floats and i32.
// needs: sub_groups
// kernel: main
// global: 32
// arg: buf:int:32
// expect: 15
enable subgroups;
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_size) size: u32) {
    let n = f32(min(size, 32));
    let a = subgroupAdd(vec2f(1, 0.5));
    let b = subgroupMax(vec3i(-3, -2, i32(i) - 100));
    let c = subgroupMin(-1.5);
    let d = subgroupOr(vec2u(1, 6));
    out[i] = i32(all(a == vec2f(n, n / 2))) + 2 * i32(all(b.xy == vec2i(-3, -2)) && b.z < -60) + 4 * i32(c == -1.5) +
             8 * i32(all(d == vec2u(1, 6)));
}
