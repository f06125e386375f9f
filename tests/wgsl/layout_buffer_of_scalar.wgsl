// A buffer that is one scalar, one vector, one fixed array.
// kernel: main
// arg: buf:float:1=3
// arg: buf:uint:2=4, 5
// arg: buf:int:3=6, 7, 8
// expect: 63, 28, 40
@group(0) @binding(0) var<storage> one: f32;
@group(0) @binding(1) var<storage, read> two: vec2u;
@group(0) @binding(2) var<storage, read_write> three: array<i32, 3>;
@compute @workgroup_size(1)
fn main() {
    three[0] *= i32(one) + three[1] + 1;
    three[0] -= 3;
    three[1] *= i32(two.x);
    three[2] *= i32(two.y);
}
