// Entry points without a size, with results or parameters that they cannot have.
// error: 14: workgroup_size
// error: 15: result
// error: 16: @builtin
// error: 17: workgroup_size
// error: 18: integer
// error: 19: workgroup_size
// error: 20: workgroup_size
// error: 21: u32
// error: 22: vec3
// error: 23: nothing_such
// error: 24: workgroup_id
// error: 25: compute
@compute fn a() { }
@compute @workgroup_size(1) fn b() -> i32 { return 1; }
@compute @workgroup_size(1) fn c(x: i32) { }
@compute @workgroup_size(0) fn d() { }
@compute @workgroup_size(1.5) fn e() { }
@compute @workgroup_size(1, 2, 3, 4) fn f() { }
@workgroup_size(1) fn g() { }
@compute @workgroup_size(1) fn h(@builtin(local_invocation_index) x: i32) { }
@compute @workgroup_size(1) fn i(@builtin(global_invocation_id) x: vec2u) { }
@compute @workgroup_size(1) fn j(@builtin(nothing_such) x: u32) { }
@compute @workgroup_size(1) fn k(@builtin(workgroup_id) x: vec3u, @builtin(workgroup_id) y: vec3u) { }
@compute @compute @workgroup_size(1) fn l() { }
@compute @workgroup_size(1)
fn main() {
}
