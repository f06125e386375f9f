// Declarations that need themselves: types, constants, functions.
// error: 7: A
// error: 8: C
// error: 9: d
// error: 10: recursive
// error: 11: o
struct A { b: array<A, 2> }
alias C = array<C, 2>;
const d = d + 1;
fn recursive(n: i32) -> i32 { return recursive(n - 1); }
override o = o * 2;
@compute @workgroup_size(1)
fn main() {
}
