// abs of integers: the least i32 stays, u32 is left as it is.
// kernel: main
// arg: buf:int:4=5, -5, -2147483648, 0
// arg: buf:int:9
// expect: 5, 5, -2147483648, 0, 5, -2147483648, 0, -1, 7
@group(0) @binding(0) var<storage, read> in: vec4i;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = abs(in.x);
    out[1] = abs(in.y);
    out[2] = abs(in.z);
    out[3] = abs(in.w);
    let v = abs(in.yzw);
    out[4] = v.x;
    out[5] = v.y;
    out[6] = v.z;
    out[7] = i32(abs(u32(4294967295)));
    out[8] = abs(-7);
}
