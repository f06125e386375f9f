// pack4xI8, pack4xU8 and their forms that clamp; unpack4xI8, unpack4xU8.
// kernel: main
// arg: buf:int4:1=1, -2, 300, -300
// arg: buf:uint:4
// expect: 0xd42cfe01, 0x807ffe01, 0xd42cfe01, 0x00ff0001
// arg: buf:int:8
// expect: 1, -2, 44, -44, 1, 254, 44, 212
@group(0) @binding(0) var<storage, read> in: vec4i;
@group(0) @binding(1) var<storage, read_write> packed: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    packed[0] = pack4xI8(in);
    packed[1] = pack4xI8Clamp(in);
    packed[2] = pack4xU8(vec4u(in));
    packed[3] = pack4xU8Clamp(vec4u(max(in, vec4i(0))));
    let a = unpack4xI8(packed[0]);
    let b = unpack4xU8(packed[0]);
    for (var i = 0; i < 4; i++) {
        out[i] = a[i];
        out[4 + i] = i32(b[i]);
    }
}
