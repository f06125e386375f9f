// insertBits: some bits of the first value are those of the second.
// kernel: main
// arg: buf:uint:2=0xffffffff, 0x12
// arg: buf:uint:7
// expect: 0xfff12fff, 0xffffffff, 0x12, 0x2fffffff, 0xffffffff, 0xfff12fff, 0xfffffff2
@group(0) @binding(0) var<storage, read> in: array<u32, 2>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main() {
    var offset = 12u;
    var count = 8u;
    out[0] = insertBits(in[0], in[1], offset, count);
    out[1] = insertBits(in[0], in[1], offset, count - 8);
    out[2] = insertBits(in[0], in[1], offset - 12, count + 90);
    out[3] = insertBits(in[0], in[1], offset + 16, count);
    out[4] = insertBits(in[0], in[1], offset + 20, count);
    out[5] = bitcast<u32>(insertBits(vec3i(-1), vec3i(bitcast<i32>(in[1])), offset, count).z);
    out[6] = insertBits(in[0], in[1], 0, 4);
}
