// Types that a buffer cannot have.
// error: 13: bool
// error: 14: atomic
// error: 15: array
// error: 16: write
// error: 17: access
// error: 18: bool
// error: 19: g
// error: 20: pointer
// error: 21: array
// error: 22: atomic
struct Atom { a: atomic<i32> }
@group(0) @binding(0) var<storage, read_write> a: bool;
@group(0) @binding(1) var<storage, read> b: Atom;
@group(0) @binding(2) var<uniform> c: array<i32>;
@group(0) @binding(3) var<storage, write> d: i32;
@group(0) @binding(4) var<uniform, read_write> e: i32;
@group(0) @binding(5) var<storage, read> f: vec3<bool>;
@group(0) @binding(6) var<storage, read> g = 5;
@group(0) @binding(7) var<storage, read_write> h: ptr<private, i32>;
@group(0) @binding(8) var<storage> i: array<array<i32>, 3>;
@group(0) @binding(9) var<uniform> j: atomic<u32>;
@compute @workgroup_size(1)
fn main() {
}
