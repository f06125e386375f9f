// Rays against spheres: structs of structs, functions that give several values by pointers.
// kernel: main
// global: 4
// arg: buf:float4:2=0, 0, 5, 1, 2, 0, 8, 2
// arg: buf:float:4
// expect: 4, 5, 6, -1 ~1e-5
struct Sphere {
    centre: vec3f,
    radius: f32,
}
struct Ray {
    origin: vec3f,
    direction: vec3f,
}
@group(0) @binding(0) var<storage, read> spheres: array<Sphere, 2>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
fn hit(ray: Ray, sphere: Sphere, distance_: ptr<function, f32>) -> bool {
    let to = sphere.centre - ray.origin;
    let along = dot(to, ray.direction);
    let off = dot(to, to) - along * along;
    let rest = sphere.radius * sphere.radius - off;
    if rest < 0 { return false; }
    *distance_ = along - sqrt(rest);
    return *distance_ > 0;
}
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let ray = Ray(vec3f(f32(i), f32(i / 3) * 4, 0), vec3f(0, 0, 1));
    var nearest = -1.0;
    for (var s = 0; s < 2; s++) {
        var distance_: f32;
        if hit(ray, spheres[s], &distance_) && (nearest < 0 || distance_ < nearest) { nearest = distance_; }
    }
    out[i] = nearest;
}
