// Variables of functions are followed: what is assigned to them, and where.
// error: 18: workgroupBarrier
// error: 19: workgroupBarrier
// error: 21: workgroupBarrier
// error: 22: workgroupBarrier
// error: 24: wait_if
var<workgroup> shared_: i32;
var<private> mine: i32;
@group(0) @binding(0) var<uniform> same: vec4i;
fn odd(x: u32) -> bool { return x % 2 == 1; }
fn wait_if(c: bool) { if c { workgroupBarrier(); } }
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var v = same.x;
    if v == 1 { workgroupBarrier(); }
    var w = 0;
    if i == 1 { w = 1; }
    if w == 1 { workgroupBarrier(); }
    if shared_ == 1 { workgroupBarrier(); }
    if workgroupUniformLoad(&shared_) == 1 { workgroupBarrier(); }
    if mine == 1 { workgroupBarrier(); }
    if odd(i) { workgroupBarrier(); }
    if odd(3) { workgroupBarrier(); }
    wait_if(i == 0);
    wait_if(same.y == 0);
}
