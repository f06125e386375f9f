// override constants: of types that they cannot have, without type and value, in functions.
// error: 7: a
// error: 8: b
// error: 9: c
// error: 10: i32
// error: 11: f32
override a: vec2f;
override b;
override c: array<i32, 2>;
override d: i32 = 1.5;
override e: f32 = true;
@compute @workgroup_size(1)
fn main() {
}
