// Declarations that belong outside of functions.
// error: 8: struct
// error: 9: fn
// error: 10: alias
// error: 11: enable
@compute @workgroup_size(1)
fn main() {
    struct A { a: i32 }
    fn inner() { }
    alias B = i32;
    enable f16;
}
