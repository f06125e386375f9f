// What a let, var or const is given has to be of its type.
// error: 11: i32
// error: 12: u32
// error: 13: f32
// error: 14: bool
// error: 15: vec2
// error: 16: i32
// error: 17: array
@compute @workgroup_size(1)
fn main() {
    let a: i32 = 1.5;
    let b: u32 = 1i;
    let c: f32 = true;
    var d: bool = 1;
    var e: vec2f = vec3f();
    const f: i32 = 2u;
    let g: array<i32, 2> = array(1, 2, 3);
}
