// Components by xyzw and rgba, in any order and repeated; single ones are assigned.
// kernel: main
// arg: buf:int4:1=1, 2, 3, 4
// arg: buf:int:16
// expect: 4, 3, 2, 1, 2, 2, 3, 3, 1, 4, 1, 2, 10, 2, 30, 4
@group(0) @binding(0) var<storage, read> in: vec4i;
@group(0) @binding(1) var<storage, read_write> out: array<vec4i>;
@compute @workgroup_size(1)
fn main() {
    out[0] = in.wzyx;
    out[1] = vec4i(in.gg, in.bbr.yx);
    out[2] = vec4i(in.x, in.xyzw.w, in.xyz.rg);
    var v = in;
    v.x = 10;
    v.b *= 10;
    out[3] = v;
}
