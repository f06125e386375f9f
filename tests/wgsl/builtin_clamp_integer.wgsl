// clamp, min and max of i32 and u32, scalars and vectors.
// kernel: main
// arg: buf:int4:1=-5, 5, 15, -1
// arg: buf:int:14
// expect: 0, 5, 10, 0, 0, 5, 10, 10, -5, 5, -1, 15, 10, 3
@group(0) @binding(0) var<storage, read> in: vec4i;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    let a = clamp(in, vec4i(0), vec4i(10));
    let b = vec2i(clamp(vec2u(in.yw), vec2u(0), vec2u(10)));
    for (var i = 0; i < 4; i++) { out[i] = a[i]; }
    out[4] = clamp(in.x, 0, 10);
    out[5] = b.x;
    out[6] = b.y;
    out[7] = i32(min(u32(in.w), 10));
    out[8] = min(in.x, in.y);
    out[9] = max(in.x, in.y);
    out[10] = i32(max(u32(in.w), u32(in.y)));
    out[11] = max(in.xy, in.zw).x;
    out[12] = clamp(12, 0, 10);
    out[13] = max(1, 3);
}
