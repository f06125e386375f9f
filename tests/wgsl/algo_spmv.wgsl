// A sparse matrix by a vector, rows compressed.
// kernel: main
// global: 5
// arg: buf:uint:6=0, 3, 4, 4, 5, 8
// arg: buf:uint:8=0, 2, 4, 4, 2, 0, 3, 4
// arg: buf:float:8=-5, 4, -4, 3, 4, -1, 4, -2
// arg: buf:float:6=1, 2, 3, 4, 5, 6
// arg: buf:float:5
// expect: -13, 15, 0, 12, 5
@group(0) @binding(0) var<storage, read> starts: array<u32>;
@group(0) @binding(1) var<storage, read> columns: array<u32>;
@group(0) @binding(2) var<storage, read> values: array<f32>;
@group(1) @binding(0) var<storage, read> x: array<f32>;
@group(1) @binding(1) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    var sum = 0.0;
    for (var at = starts[id.x]; at < starts[id.x + 1]; at++) {
        sum += values[at] * x[columns[at]];
    }
    y[id.x] = sum;
}
