// Variables with bindings that are incomplete, or that have none.
// error: 8: binding
// error: 9: group
// error: 10: binding
// error: 11: binding
// error: 12: group
// error: 13: integer
@group(0) var<storage, read> a: array<i32>;
@binding(0) var<uniform> b: vec4f;
var<storage, read> c: array<i32>;
@group(0) @binding(1) var<private> d: i32;
@group(-1) @binding(1) var<uniform> e: i32;
@group(0) @binding(1.5) var<uniform> f: i32;
@compute @workgroup_size(1)
fn main() {
}
