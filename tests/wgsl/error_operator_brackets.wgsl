// Operators whose order WGSL leaves to brackets.
// error: 13: |
// error: 14: <<
// error: 15: <<
// error: 16: ||
// error: 17: <
// error: 18: ==
// error: 19: &
@compute @workgroup_size(1)
fn main() {
    var a = 1u;
    var b = true;
    let x0 = a & a | a;
    let x1 = a << 1 << 1;
    let x2 = a + 1 << 2;
    let x3 = b && b || b;
    let x4 = 1 < 2 < 3;
    let x5 = a == a == b;
    let x6 = a ^ a & a;
}
