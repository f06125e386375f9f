// The forces of bodies on one another, softened, with tiles of bodies in work-group memory.
// kernel: main
// global: 4
// local: 2
// arg: buf:float4:4=0, 0, 0, 1, 1, 0, 0, 2, 0, 2, 0, 3, 0, 0, 3, 4
// arg: buf:float:16
// expect: 1.97037067, 0.747196263, 0.443704731, 0, -1.37901212, 0.535050361, 0.37890482, 0, 0.17835012,
//         -0.7762459, 0.255720356, 0, 0.0631508033, 0.127860178, -0.49216886, 0 ~1e-4
struct Body {
    position: vec3f,
    mass: f32,
}
@group(0) @binding(0) var<storage, read> bodies: array<Body>;
@group(0) @binding(1) var<storage, read_write> forces: array<vec4f>;
const tile = 2u;
var<workgroup> near: array<Body, tile>;
fn pull(on: vec3f, by: Body) -> vec3f {
    let d = by.position - on;
    let r2 = dot(d, d) + 0.01;
    return d * (by.mass * inverseSqrt(r2 * r2 * r2));
}
@compute @workgroup_size(tile)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) l: u32) {
    let here = bodies[id.x].position;
    var force = vec3f();
    for (var at = 0u; at < arrayLength(&bodies); at += tile) {
        near[l] = bodies[at + l];
        workgroupBarrier();
        for (var i = 0u; i < tile; i++) { force += pull(here, near[i]); }
        workgroupBarrier();
    }
    forces[id.x] = vec4f(force, 0);
}
