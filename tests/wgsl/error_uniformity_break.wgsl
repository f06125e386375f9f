// A barrier in a loop that some work-items leave.
// error: 8: workgroupBarrier
@group(0) @binding(0) var<storage, read> data: array<i32>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    loop {
        if data[i] > 2 { break; }
        workgroupBarrier();
    }
}
