// Expressions alone are no statements; only places are assigned to.
// error: 11: expected
// error: 12: expected
// error: 13: expected
// error: 14: expected
// error: 15: expected
fn two(a: i32, b: f32) -> i32 { return a; }
@compute @workgroup_size(1)
fn main() {
    var v = 1;
    two;
    1 + 2;
    v + 1 = 2;
    (v);
    v;
}
