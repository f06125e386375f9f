// Entry points are not called.
// error: 6: other
@compute @workgroup_size(1) fn other() { }
@compute @workgroup_size(1)
fn main() {
    other();
}
