// Structs: made, copied, passed, returned, zero, nested in one another.
// kernel: main
// arg: buf:float:8
// expect: 1, 2, 3, 1, 0, 5, 11, 4
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
struct Point { x: f32, y: f32 }
struct Box { low: Point, high: Point, id: i32 }
fn grown(box: Box, by: f32) -> Box {
    var result = box;
    result.high.x += by;
    return result;
}
@compute @workgroup_size(1)
fn main() {
    var a = Box(Point(1, 2), Point(3, 4), 5);
    let b = a;
    a.low = a.high;
    out[0] = b.low.x;
    out[1] = b.low.y;
    out[2] = a.low.x;
    out[3] = Box(b.low, b.high, 6).low.x;
    out[4] = Box().high.y + f32(Point().x);
    out[5] = f32(b.id);
    out[6] = grown(b, 8).high.x;
    out[7] = b.high.x + 1;
}
