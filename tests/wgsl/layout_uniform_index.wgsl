// A uniform buffer's array by computed indices.
// kernel: main
// global: 4
// arg: buf:int:16=1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
// arg: buf:int:4
// expect: 16, 11, 6, 1
@group(0) @binding(0) var<uniform> table: array<vec4i, 4>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(2)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let i = 3 - id.x;
    out[id.x] = table[i][i];
}
