// Operands that no operator takes.
// error: 22: u32
// error: 23: f32
// error: 24: bool
// error: 25: !
// error: 26: -
// error: 27: &
// error: 28: &&
// error: 29: vec3
// error: 30: <<
// error: 31: <
// error: 32: ~
// error: 33: <
// error: 35: *
@compute @workgroup_size(1)
fn main() {
    var i = 1;
    var u = 2u;
    var f = 1.5;
    var b = true;
    let v = vec2f(1);
    let a0 = i + u;
    let a1 = i * f;
    let a2 = b + b;
    let a3 = !i;
    let a4 = -u;
    let a5 = f & f;
    let a6 = i && b;
    let a7 = v + vec3f(1);
    let a8 = i << i;
    let a9 = v < 1.0;
    let b0 = ~f;
    let b1 = b < b;
    let b2 = v % 2;
    let b3 = vec2i(1) * v;
}
