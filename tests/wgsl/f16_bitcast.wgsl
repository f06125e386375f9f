// bitcast between two f16 and 32 bits, four and 64; u32 and f16 by value.
// skip: naga has no such bitcast
// needs: f16
// kernel: main
// arg: buf:uint:2=0x3c004000, 0xc4003800
// arg: buf:uint:6
// expect: 0x3c004000, 2, 1, 0xc4003800, 0x3c004000, 0x38004000
enable f16;
@group(0) @binding(0) var<storage, read> in: vec2u;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main() {
    let h = bitcast<vec2h>(in.x);
    let w = bitcast<vec4h>(in);
    out[0] = bitcast<u32>(h);
    out[1] = u32(h.x);
    out[2] = u32(w.y);
    out[3] = bitcast<vec2u>(w).y;
    out[4] = bitcast<u32>(w.xy);
    out[5] = bitcast<u32>(vec2h(w.x, w.z));
}
