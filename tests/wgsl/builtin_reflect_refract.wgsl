// reflect, refract and faceForward; refract gives zero where nothing gets through.
// kernel: main
// arg: buf:float:4=0.6, -0.8, 0, 1
// arg: buf:float:10
// expect: 0.6, 0.8, 0.3, -0.953939201, 0, 0, 0, 1, 0, -1 ~1e-6
@group(0) @binding(0) var<storage, read> in: vec4f;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    let n = in.zw;
    let a = reflect(in.xy, n);
    out[0] = a.x;
    out[1] = a.y;
    let b = refract(in.xy, n, 0.5);
    out[2] = b.x;
    out[3] = b.y;
    let c = refract(in.xy, n, 2.0);
    out[4] = c.x;
    out[5] = c.y;
    let d = faceForward(n, in.xy, n);
    out[6] = d.x;
    out[7] = d.y;
    let e = faceForward(n, -in.xy, n);
    out[8] = e.x;
    out[9] = e.y;
}
