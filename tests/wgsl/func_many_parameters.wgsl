// Functions with parameters and results of each kind.
// kernel: main
// arg: buf:float:4
// expect: 10, 21, 4, 9
struct Box { low: vec2f, high: vec2f }
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
fn mixed(a: i32, b: u32, c: f32, d: bool, e: vec2f, f: array<i32, 2>, g: Box, h: mat2x2f) -> f32 {
    return f32(a) + f32(b) + c + f32(d) + e.y + f32(f[1]) + g.high.x + h[1][0];
}
fn box(x: f32) -> Box { return Box(vec2f(x), vec2f(x * 2, x * 3)); }
fn both(x: f32) -> vec2<bool> { return vec2f(x) > vec2f(1, 3); }
@compute @workgroup_size(1)
fn main() {
    out[0] = mixed(1, 1, 1, true, vec2f(0, 1), array(5, 1), Box(vec2f(), vec2f(2, 0)), mat2x2f(0, 0, 2, 0));
    out[1] = mixed(2, 3, 4, false, vec2f(9, 1), array(5, 5), box(2), mat2x2f(0, 0, 2, 0));
    out[2] = box(2).high.x;
    out[3] = select(0.0, box(3).high.y, both(2).x && !both(2).y);
}
