// A barrier behind a return of some work-items.
// error: 6: workgroupBarrier
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    if i > 2 { return; }
    workgroupBarrier();
}
