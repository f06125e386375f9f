// A function without its closing bracket: where the file ends.
// skip: alone the lines need one another
// error: 6: }
@compute @workgroup_size(1)
fn main() {
    let a = 1;