// A missing semicolon is told where something else stands in its place.
// skip: alone the lines need one another
// error: 7: ;
@compute @workgroup_size(1)
fn main() {
    let a = 1
    let b = 2;
}
