// Results that are missing, of the wrong type, or where there is none.
// error: 8: i32
// error: 9: i32
// error: 10: result
// error: 11: d
// error: 12: loop
// error: 13: f
fn a() -> i32 { return 1.5; }
fn b() -> i32 { return; }
fn c() { return 1; }
fn d(x: i32) -> i32 { if x > 1 { return 1; } }
fn e() -> i32 { loop { } }
fn f() -> i32 { }
@compute @workgroup_size(1)
fn main() {
}
