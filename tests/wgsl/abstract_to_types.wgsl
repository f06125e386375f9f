// Abstract integers become i32, u32 or f32 by what stands beside them, abstract floats f32.
// kernel: main
// arg: buf:float:9
// expect: 2.5, 4, 7, 2, 6, 0.5, 3, 9, 4
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
fn of_u32(x: u32) -> f32 { return f32(x); }
fn of_f32(x: f32) -> f32 { return x; }
@compute @workgroup_size(1)
fn main() {
    let f = 1.5;
    let u = 3u;
    out[0] = 1 + f;
    out[1] = f32(1 + u);
    out[2] = of_u32(7);
    out[3] = of_f32(2);
    let v = vec3<f32>(1, 2, 3);
    out[4] = (v * 2).z;
    out[5] = 1 / 2.0;
    var a: array<u32, 3> = array(1, 2, 3);
    out[6] = f32(a[2]);
    let m: mat2x2<f32> = mat2x2(1, 2, 8, 9);
    out[7] = m[1].y;
    let mixed = vec2(1, 2.5) + vec2(3, 4);
    out[8] = mixed.x;
}
