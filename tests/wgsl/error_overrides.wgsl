// override constants: of types that they cannot have, without type and value, in functions.
// error: 8: a
// error: 9: b
// error: 10: c
// error: 11: i32
// error: 12: f32
// error: 15: override
override a: vec2f;
override b;
override c: array<i32, 2>;
override d: i32 = 1.5;
override e: f32 = true;
@compute @workgroup_size(1)
fn main() {
    override g = 1;
}
