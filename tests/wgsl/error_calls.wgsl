// Calls with the wrong number or types of arguments, and results that are not used.
// error: 17: two
// error: 18: two
// error: 19: i32
// error: 20: nothing
// error: 21: important
// error: 22: max
// error: 23: two
// error: 24: two
// error: 25: nothing
// error: 26: 1
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
    two;
    let b = two;
    _ = nothing() + 1;
    1 + 2;
}
