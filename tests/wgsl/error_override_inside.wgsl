// override belongs outside of functions.
// error: 5: override
@compute @workgroup_size(1)
fn main() {
    override g = 1;
}
