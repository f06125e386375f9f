// Built-in functions on f16.
// needs: f16
// kernel: main
// arg: buf:half:4=2.25, -1.5, 0.5, 4
// arg: buf:half:12
// expect: 1.5, 1.5, -2, 4, 2.25, 0.5, 0.5, 1, -1, 7.875, 5, 3
enable f16;
@group(0) @binding(0) var<storage, read> in: array<f16, 4>;
@group(0) @binding(1) var<storage, read_write> out: array<f16>;
@compute @workgroup_size(1)
fn main() {
    let v = vec2h(3, 4);
    out[0] = sqrt(in[0]);
    out[1] = abs(in[1]);
    out[2] = floor(in[1]);
    out[3] = max(in[0], in[3]);
    out[4] = clamp(in[0], 1h, in[3]);
    out[5] = fract(in[1]);
    out[6] = saturate(in[2]);
    out[7] = step(in[1], in[2]);
    out[8] = sign(in[1]);
    out[9] = fma(in[0], in[3], in[1] + in[2] - 0.125h);
    out[10] = length(v);
    out[11] = mix(v.x, v.y, 0.5h) - in[2];
}
