// select: the second where the condition holds, by components where that is a vector.
// kernel: main
// arg: buf:int:2=3, 4
// arg: buf:float:9
// expect: 1, 2, 1, 5, 3, 20, 10, 7, 8
@group(0) @binding(0) var<storage, read> in: vec2i;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1)
fn main() {
    let more = in.x > in.y;
    out[0] = select(1.0, 2.0, more);
    out[1] = select(1.0, 2.0, !more);
    let v = select(vec3f(1, 2, 3), vec3f(4, 5, 6), vec3<bool>(more, !more, more));
    out[2] = v.x;
    out[3] = v.y;
    out[4] = v.z;
    let w = select(vec2i(10, 20), vec2i(30, 40), more);
    out[5] = f32(w.y);
    out[6] = f32(w.x);
    out[7] = f32(select(7u, 9u, more));
    out[8] = select(7, 8, true);
}
