// Abstract numbers become f16 beside f16; the largest and the smallest that it holds.
// needs: f16
// kernel: main
// arg: buf:half:2=2, 0
// arg: buf:half:6
// expect: 3, 2.5, 65504, 0.00006103515625, 0.333251953125, 4
enable f16;
@group(0) @binding(0) var<storage, read> in: vec2h;
@group(0) @binding(1) var<storage, read_write> out: array<f16>;
const third: f16 = 1.0 / 3;
@compute @workgroup_size(1)
fn main() {
    out[0] = in.x + 1;
    out[1] = 0.5 + in.x;
    out[2] = 65504;
    out[3] = 0.00006103515625;
    out[4] = third;
    let v: vec2<f16> = vec2(3, 4);
    out[5] = v.y;
}
