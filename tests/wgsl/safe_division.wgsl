// Division and remainder by zero, and of the least number by -1, at run time: the dividend, and zero.
// kernel: main
// arg: buf:int:4=7, 0, -2147483648, -1
// arg: buf:int:10
// expect: 7, 0, -2147483648, 0, 7, 0, 7, 3, 0, 1
@group(0) @binding(0) var<storage, read> in: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = in[0] / in[1];
    out[1] = in[0] % in[1];
    out[2] = in[2] / in[3];
    out[3] = in[2] % in[3];
    out[4] = i32(u32(in[0]) / u32(in[1]));
    out[5] = i32(u32(in[0]) % u32(in[1]));
    let v = vec2i(in[0], in[0]) / vec2i(in[1], 2);
    out[6] = v.x;
    out[7] = v.y;
    let w = vec2i(in[0]) % vec2i(in[1], 2);
    out[8] = w.x;
    out[9] = w.y;
}
