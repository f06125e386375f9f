// Built-in values as members of a struct, beside others as parameters.
// kernel: main
// global: 6
// arg: buf:uint:6
// expect: 0, 1, 2, 10, 11, 12
struct Place {
    @builtin(workgroup_id) group: vec3u,
    @builtin(local_invocation_index) index: u32,
}
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(3)
fn main(place: Place, @builtin(global_invocation_id) id: vec3u) {
    out[id.x] = place.group.x * 10 + place.index;
}
