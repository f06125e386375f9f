// workgroupUniformLoad takes pointers to work-group memory that hold no atomics, in uniform control flow.
// error: 11: workgroupUniformLoad
// error: 12: workgroupUniformLoad
// error: 13: workgroupUniformLoad
// error: 14: workgroupUniformLoad
var<workgroup> a: array<atomic<i32>, 2>;
var<workgroup> b: i32;
var<private> c: i32;
@compute @workgroup_size(2)
fn main(@builtin(local_invocation_index) i: u32) {
    _ = workgroupUniformLoad(&a);
    _ = workgroupUniformLoad(&c);
    _ = workgroupUniformLoad(b);
    if i == 0 { _ = workgroupUniformLoad(&b); }
}
