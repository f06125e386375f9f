// Mistakes of syntax outside of functions.
// error: 12: =
// error: 13: expected
// error: 14: name
// error: 15: expected
// error: 16: name
// error: 17: ;
// error: 18: =
// error: 19: -
// error: 20: expected
// error: 21: )
const a 1;
var<private b: i32;
struct { a: i32 }
fn c( { }
fn (a: i32) { }
const d = ;
alias e i32;
fn f(a: i32) - > i32 { return 1; }
import x;
@group(0 @binding(0) var<uniform> g: i32;
@compute @workgroup_size(1)
fn main() {
}
