// local_invocation_id, its index, workgroup_id and num_workgroups agree with the global id.
// kernel: main
// global: 8, 6
// arg: buf:uint:48
// expect: 1
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
const size = vec3u(4, 3, 1);
@compute @workgroup_size(4, 3)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) local: vec3u,
        @builtin(local_invocation_index) index: u32, @builtin(workgroup_id) group: vec3u,
        @builtin(num_workgroups) groups: vec3u) {
    let same = all(id == group * size + local);
    let row = local.x + size.x * (local.y + size.y * local.z) == index;
    let count = all(groups == vec3u(2, 2, 1));
    out[id.x + 8 * id.y] = u32(same && row && count);
}
