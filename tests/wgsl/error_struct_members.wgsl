// Structs: members of types that they cannot have, twice the same name, sizes and alignments that do not fit.
// error: 11: a
// error: 12: list
// error: 13: align
// error: 14: size
// error: 15: member
// error: 16: ptr
// error: 17: missing
// error: 18: size
// error: 19: :
struct A { a: i32, a: f32 }
struct B { list: array<i32>, last: i32 }
struct C { @align(3) a: i32 }
struct D { @size(2) a: i32 }
struct F { }
struct G { p: ptr<private, i32> }
struct H { a: missing }
struct I { @size(-4) a: i32 }
struct J { a i32 }
@compute @workgroup_size(1)
fn main() {
}
