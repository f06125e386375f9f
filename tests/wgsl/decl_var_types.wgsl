// Variables with a type and an initialiser of an abstract one, in private and in functions; inferred arrays and structs.
// kernel: main
// arg: buf:float:6
// expect: 1, 2, 3, 4, 5, 6
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
struct Pair { a: u32, b: f32 }
var<private> a: f32 = 1;
var<private> b: vec3f = vec3(1, 2, 3);
var<private> c: array<f32, 3> = array(1, 2, 3);
const d: array<vec2f, 2> = array(vec2(1, 2), vec2(3, 4));
@compute @workgroup_size(1)
fn main() {
    var e: Pair = Pair(5, 5);
    var f: mat2x2<f32> = mat2x2(1, 2, 3, 6);
    out[0] = a;
    out[1] = b.y;
    out[2] = c[2];
    out[3] = d[1].y;
    out[4] = f32(e.a) * e.b / 5;
    out[5] = f[1][1];
}
