// cross: the vector at right angles.
// kernel: main
// arg: buf:float:4=1, 2, 3, 0
// arg: buf:float:6
// expect: -3, 6, -3, 0, 0, 1
@group(0) @binding(0) var<storage, read> in: vec3f;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    let v = cross(in, vec3f(4, 5, 6));
    const w = cross(vec3(1, 0, 0), vec3(0, 1, 0));
    for (var i = 0; i < 3; i++) {
        out[i] = v[i];
        out[3 + i] = w[i];
    }
}
