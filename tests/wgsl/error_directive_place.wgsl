// Directives stand in front of all declarations.
// error: 5: enable
// error: 6: requires
const a = 1;
enable f16;
requires pointer_composite_access;
@compute @workgroup_size(1)
fn main() { }
