// Abstract numbers in var, let, arrays and arguments become i32 and f32 where nothing else is asked for.
// kernel: main
// arg: buf:int:5
// expect: -1, 1, 5, 1, -2147483648
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    var a = 1;
    a -= 2;
    out[0] = a;
    let b = array(1.5, 2);
    out[1] = i32(b[1] / b[0]);
    const c = vec2(2, 3);
    let d: i32 = c.x + c.y;
    out[2] = d;
    let e = 7 / 2 - 2;
    out[3] = e;
    var f = -2147483648;
    out[4] = f;
}
