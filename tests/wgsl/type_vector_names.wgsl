// The names vec2f, vec3i, vec4u and so on, and made without a type of components.
// kernel: main
// arg: buf:int:9
// expect: 2, 3, 4, 2, 3, 4, 2, 3, 4
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    let a: vec2f = vec2(1.0, 2.0);
    let b: vec3f = vec3<f32>(1, 2, 3);
    let c: vec4f = vec4f(1, 2, 3, 4);
    let d = vec2i(1, 2);
    let e = vec3i(1, 2, 3);
    let f: vec4<i32> = vec4i(1, 2, 3, 4);
    let g = vec2u(1, 2);
    let h: vec3<u32> = vec3u(1, 2, 3);
    let i = vec4u(1u, 2u, 3u, 4u);
    out[0] = i32(a.y);
    out[1] = i32(b.z);
    out[2] = i32(c.w);
    out[3] = d.y;
    out[4] = e.z;
    out[5] = f.w;
    out[6] = i32(g.y);
    out[7] = i32(h.z);
    out[8] = i32(i.w);
}
