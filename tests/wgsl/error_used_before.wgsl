// A name of a function's scope counts from its declaration on.
// error: 7: later
// error: 10: self_
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = later;
    let later = 1;
    out[1] = later;
    var self_ = self_;
}
