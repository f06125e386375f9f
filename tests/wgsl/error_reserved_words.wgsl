// Keywords and reserved words are no names.
// error: 10: class
// error: 11: await
// error: 12: goto
// error: 13: mutable
// error: 16: fn
// error: 17: _
// error: 18: __x
// error: 19: volatile
const class = 1;
const await = 1;
fn goto() { }
struct mutable { a: i32 }
@compute @workgroup_size(1)
fn main() {
    let fn = 1;
    let _ = 1;
    let __x = 1;
    let volatile = 2;
}
