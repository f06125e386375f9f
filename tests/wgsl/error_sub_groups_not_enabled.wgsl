// Sub-groups without `enable subgroups`.
// error: 6: subgroup
// error: 7: subgroup
@compute @workgroup_size(1)
fn main(@builtin(local_invocation_index) i: u32) {
    _ = subgroupAdd(1);
    _ = subgroupBallot(true);
}
