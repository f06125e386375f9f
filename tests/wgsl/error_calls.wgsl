// Calls with the wrong number or types of arguments, and results that are not used.
// error: 15: two
// error: 16: two
// error: 17: i32
// error: 18: result
// error: 19: important
// error: 20: max
// error: 21: two
// error: 22: '+'
fn two(a: i32, b: f32) -> i32 { return a; }
fn nothing() { }
@must_use fn important() -> i32 { return 1; }
@compute @workgroup_size(1)
fn main() {
    _ = two(1);
    _ = two(1, 2, 3);
    _ = two(1.5, 2);
    let a = nothing();
    important();
    max(1, 2);
    let b = two;
    _ = nothing() + 1;
}
