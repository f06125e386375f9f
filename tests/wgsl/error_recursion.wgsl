// Functions that call one another in a circle.
// skip: alone the lines need one another
// error: 6: odd
fn odd(n: u32) -> bool { if n == 0 { return false; } return even(n - 1); }
@compute @workgroup_size(1) fn main() { _ = odd(3); }
fn even(n: u32) -> bool { if n == 0 { return true; } return odd(n - 1); }
