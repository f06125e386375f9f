// Barriers behind conditions and loops that are not the same for all work-items of a group.
// error: 12: workgroupBarrier
// error: 13: storageBarrier
// error: 15: workgroupBarrier
// error: 17: share
// error: 18: workgroupBarrier
// error: 20: workgroupBarrier
@group(0) @binding(0) var<storage, read_write> data: array<i32>;
fn share() { workgroupBarrier(); }
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3u) {
    if i < 2 { workgroupBarrier(); }
    if data[0] > 1 { storageBarrier(); }
    if group.x == 0 { workgroupBarrier(); }
    for (var k = 0u; k < i; k++) { workgroupBarrier(); }
    for (var k = 0u; k < 4; k++) { workgroupBarrier(); }
    if data[i] == 0 { share(); }
    switch i { case 0 { workgroupBarrier(); } default { } }
    let x = select(0u, 1u, i == 1);
    if x == 1 { workgroupBarrier(); }
}
