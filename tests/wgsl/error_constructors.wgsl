// Values made of too few, too many or wrong components.
// error: 18: vec3
// error: 19: vec2
// error: 20: vec4
// error: 21: mat2x2
// error: 22: array
// error: 23: i32
// error: 24: Pair
// error: 25: i32
// error: 26: vec2
// error: 27: array
// error: 28: i32
// error: 29: array
// error: 30: i32
struct Pair { a: i32, b: f32 }
@compute @workgroup_size(1)
fn main() {
    let a = vec3f(1, 2);
    let b = vec2f(vec3f(1));
    let c = vec4i(1.5);
    let d = mat2x2f(1, 2, 3);
    let e = array<i32, 2>(1, 2, 3);
    let f = array<i32, 2>(1, 2.5);
    let g = Pair(1);
    let h = Pair(1.5, 2);
    let i = vec2(1, true);
    let j = array(1, true);
    let k = i32(vec2i(1));
    let m = array();
    let n = i32(1, 2);
}
