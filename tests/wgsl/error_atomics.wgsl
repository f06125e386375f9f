// Atomics are used by their functions only.
// error: 13: atomic
// error: 16: a
// error: 17: a
// error: 18: a
// error: 19: atomicAdd
// error: 20: atomic
// error: 21: i32
// error: 22: u32
// error: 23: i32
@group(0) @binding(0) var<storage, read_write> a: atomic<i32>;
@group(0) @binding(1) var<storage, read_write> plain: i32;
var<workgroup> f: atomic<f32>;
@compute @workgroup_size(1)
fn main() {
    let b = a;
    a = 1;
    a += 1;
    _ = atomicAdd(&plain, 1);
    _ = atomicAdd(a, 1);
    _ = atomicAdd(&a, 1u);
    _ = atomicLoad(&a) + 1u;
    atomicStore(&a, 1.5);
}
