// Names that nothing declares.
// error: 10: vec5f
// error: 11: Missing
// error: 14: missing
// error: 15: absent
// error: 16: nothing
// error: 17: float
// error: 19: inner
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
var<private> a: vec5f;
var<private> b: Missing;
@compute @workgroup_size(1)
fn main() {
    out[0] = missing;
    out[0] = absent(1);
    nothing = 1;
    let c = float(1);
    { let inner = 1; }
    out[0] = inner;
}
