// Infinite floats, made at run time, compare as they should.
// kernel: main
// arg: buf:float:2=3e38, 1
// arg: buf:int:4
// expect: 1, 1, 0, 1
@group(0) @binding(0) var<storage, read> in: vec2f;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    let large = in.x * 10;
    out[0] = i32(large > in.x);
    out[1] = i32(-large < in.y);
    out[2] = i32(large == in.x);
    out[3] = i32(large >= 3.4e38);
}
