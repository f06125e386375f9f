// Two variables of one entry point with one binding.
// skip: alone the lines need one another
// error: 5: binding
@group(0) @binding(3) var<storage, read> a: array<i32>;
@group(0) @binding(3) var<storage, read> b: array<i32>;
@group(0) @binding(4) var<storage, read_write> c: array<i32>;
@compute @workgroup_size(1)
fn main() { c[0] = a[0] + b[0]; }
