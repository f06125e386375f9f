// dot4I8Packed and dot4U8Packed.
// kernel: main
// arg: buf:uint:2=0xff01fe03, 0x02030405
// arg: buf:int:3
// expect: 8, 1544, 70
requires packed_4x8_integer_dot_product;
@group(0) @binding(0) var<storage, read> in: vec2u;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = dot4I8Packed(in.x, in.y);
    out[1] = i32(dot4U8Packed(in.x, in.y));
    out[2] = dot4I8Packed(0x01020304, 0x05060708);
}
