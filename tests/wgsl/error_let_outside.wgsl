// let belongs into functions.
// error: 3: let
let g = 1;
@compute @workgroup_size(1)
fn main() {
}
