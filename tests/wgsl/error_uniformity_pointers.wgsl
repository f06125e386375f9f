// What is written through a pointer counts.
// error: 12: workgroupBarrier
// error: 15: workgroupBarrier
fn put(p: ptr<function, u32>, x: u32) { *p = x; }
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    var a = 0u;
    put(&a, 3);
    if a == 1 { workgroupBarrier(); }
    var b = 0u;
    put(&b, i);
    if b == 1 { workgroupBarrier(); }
    var list = array(0u, 0u);
    list[0] = i;
    if list[1] == 1 { workgroupBarrier(); }
}
