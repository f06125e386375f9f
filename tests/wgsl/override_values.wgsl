// override constants: defaults, values of the options, expressions of them, types.
// kernel: main
// arg: buf:float:7
// expect: 4, 1.5, 1, 8, 7, 2, 0
// kernel: main
// options: -D count=6 -D scale=0.25 -D enabled=false -D 7=9
// arg: buf:float:7
// expect: 6, 0.25, 0, 12, 9, 2, 0
// kernel: main
// options: -D doubled=1 -D level=3
// arg: buf:float:7
// expect: 4, 1.5, 1, 1, 7, 3, 0
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
override count = 4u;
override scale: f32 = 1.5;
override enabled: bool = true;
override doubled = count * 2;
@id(7) override numbered: i32 = 7;
override level: u32 = 2;
@compute @workgroup_size(1)
fn main() {
    out[0] = f32(count);
    out[1] = scale;
    out[2] = f32(enabled);
    out[3] = f32(doubled);
    out[4] = f32(numbered);
    out[5] = f32(level);
    out[6] = 0;
}
