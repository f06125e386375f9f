// Several entry points, each with the bindings that it uses, itself or through a function.
// kernel: double_it
// global: 4
// arg: buf:int:4=1, 2, 3, 4
// expect: 2, 4, 6, 8
// kernel: add
// global: 2
// arg: buf:int:2=1, 2
// arg: buf:int:2=10, 20
// expect: 11, 22
// kernel: count
// arg: buf:int:3
// arg: buf:uint:1
// expect: 3
@group(0) @binding(0) var<storage, read_write> data: array<i32>;
@group(0) @binding(1) var<storage, read_write> other: array<i32>;
@group(0) @binding(2) var<storage, read_write> length: u32;
fn double_of(i: u32) -> i32 { return data[i] * 2; }
@compute @workgroup_size(2)
fn double_it(@builtin(global_invocation_id) id: vec3u) {
    data[id.x] = double_of(id.x);
}
@compute @workgroup_size(1)
fn add(@builtin(global_invocation_id) id: vec3u) {
    other[id.x] += data[id.x];
}
@compute @workgroup_size(1)
fn count() {
    length = arrayLength(&other);
}
