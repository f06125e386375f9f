// Vectors of bools: &, |, ==, select by them, stored in private arrays and structs.
// kernel: main
// arg: buf:int:1=5
// arg: buf:int:7
// expect: 1, 0, 1, 1, 1, 0, 2
struct Flags { a: vec2<bool>, b: bool }
@group(0) @binding(0) var<storage, read> in: i32;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
var<private> list: array<bool, 3>;
@compute @workgroup_size(1)
fn main() {
    let a = vec3<bool>(in == 5, in < 5, true);
    let b = vec3<bool>(true, true, false);
    let both = a & b;
    let either = a | b;
    out[0] = i32(both.x);
    out[1] = i32(both.z | both.y);
    out[2] = i32(all(either));
    out[3] = i32(all((a == b) == vec3<bool>(true, false, false)));
    let flags = Flags(a.xy, in > 4);
    list[in - 4] = flags.b;
    out[4] = i32(list[1]);
    out[5] = i32(list[0] || flags.a.y);
    out[6] = select(1, 2, flags.b && a.x);
}
