// Components by an index, constant or computed, read and assigned.
// kernel: main
// global: 4
// arg: buf:uint:4=3, 2, 1, 0
// arg: buf:int:8
// expect: 40, 3, 30, 2, 20, 1, 10, 0
@group(0) @binding(0) var<storage, read> at: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let v = vec4i(10, 20, 30, 40);
    var w = vec4i();
    w[at[i]] = i32(at[i]);
    out[2 * i] = v[at[i]];
    out[2 * i + 1] = w[0] + w[1] + w.z + w[3];
}
