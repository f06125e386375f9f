// unpack4x8snorm, unpack4x8unorm, unpack2x16snorm, unpack2x16unorm: the least signed value is -1 as well.
// kernel: main
// arg: buf:uint:2=0x807f00ff, 0x80007fff
// arg: buf:float:12
// expect: -0.00787401575, 0, 1, -1, 1, 0, 0.498039216, 0.501960784, 1, -1, 0.499992371, 0.500007629 ~1e-6
@group(0) @binding(0) var<storage, read> in: vec2u;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    let a = unpack4x8snorm(in.x);
    let b = unpack4x8unorm(in.x);
    let c = unpack2x16snorm(in.y);
    let d = unpack2x16unorm(in.y);
    for (var i = 0; i < 4; i++) {
        out[i] = a[i];
        out[4 + i] = b[i];
    }
    out[8] = c.x;
    out[9] = c.y;
    out[10] = d.x;
    out[11] = d.y;
}
