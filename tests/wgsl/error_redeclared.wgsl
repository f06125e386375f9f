// Names that are declared again in the same scope.
// error: 8: twice
// error: 10: Pair
// error: 12: x
// error: 14: y
// error: 16: call
const twice = 1;
const twice = 2;
struct Pair { a: i32 }
alias Pair = i32;
fn call(x: i32) {
    let x = 2;
    var y = 1;
    var y = 2;
}
fn call() { }
@compute @workgroup_size(1)
fn main() {
    call(1);
}
