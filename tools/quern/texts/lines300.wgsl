// lines300.cl in WGSL: a small path tracer with a particle simulation beside it, a shader of some 300 lines as people
// write them, for measuring how long compiling takes. Structs, helpers, loops, vectors, workgroup memory, atomics, maths.
const max_bounces = 4;
const max_materials = 8;
const epsilon = 1e-4;
const cell_capacity = 32u;
const far = 1e30;

const diffuse = 0;
const mirror = 1;
const glass = 2;
const light = 3;

struct Material {
    colour: vec4<f32>,
    kind: i32,
    roughness: f32,
    index: f32,
    pattern: i32,
}

struct Sphere {
    centre_radius: vec4<f32>,
    material: i32,
}

struct Ray {
    origin: vec3<f32>,
    direction: vec3<f32>,
}

struct Hit {
    distance: f32,
    position: vec3<f32>,
    normal: vec3<f32>,
    material: i32,
    inside: bool,
}

struct Camera {
    eye: vec4<f32>,
    right: vec4<f32>,
    up: vec4<f32>,
    forward: vec4<f32>,
    focus: f32,
    aperture: f32,
    width: u32,
    height: u32,
    frame: u32,
    samples: u32,
    num_spheres: u32,
    exposure: f32,
}

struct Particle {
    position: vec4<f32>,
    velocity: vec4<f32>,
    density: f32,
    pressure: f32,
    cell: u32,
}

struct Fluid {
    radius: f32,
    rest_density: f32,
    stiffness: f32,
    viscosity: f32,
    time_step: f32,
    mass: f32,
    count: u32,
    low: vec4<f32>,
    high: vec4<f32>,
    gravity: vec4<f32>,
    cells: vec4<i32>,
}

@group(0) @binding(0) var<uniform> view: Camera;
@group(0) @binding(1) var<storage> spheres: array<Sphere>;
@group(0) @binding(2) var<storage> materials: array<Material>;
@group(0) @binding(3) var<storage, read_write> image: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> picture: array<u32>;
@group(1) @binding(0) var<uniform> fluid: Fluid;
@group(1) @binding(1) var<storage, read_write> particles: array<Particle>;
@group(1) @binding(2) var<storage, read_write> counts: array<atomic<u32>>;
@group(1) @binding(3) var<storage, read_write> lists: array<u32>;
@group(1) @binding(4) var<storage, read_write> energy: array<f32>;

var<private> seed: u32;

const sky_low = vec3<f32>(1.0, 1.0, 1.0);
const sky_high = vec3<f32>(0.5, 0.7, 1.0);
const neighbours = array<i32, 3>(-1, 0, 1);
const permutation = array<u32, 16>(7, 12, 3, 9, 0, 15, 5, 10, 1, 14, 6, 11, 2, 13, 4, 8);

// ---- random numbers and noise ----

fn next_random() -> u32 {
    var word = seed * 747796405u + 2891336453u;
    seed = word;
    word = ((word >> ((word >> 28u) + 4u)) ^ word) * 277803737u;
    return (word >> 22u) ^ word;
}

fn random() -> f32 {
    return f32(next_random() >> 8u) * 0x1p-24;
}

fn in_ball() -> vec3<f32> {
    let z = 2.0 * random() - 1.0;
    let angle = 6.2831853 * random();
    let r = sqrt(max(0.0, 1.0 - z * z));
    return vec3<f32>(r * cos(angle), r * sin(angle), z) * pow(random(), 1.0 / 3.0);
}

fn lattice(p: vec3<i32>) -> f32 {
    var hash = permutation[p.x & 15];
    hash = permutation[(hash + u32(p.y)) & 15u];
    hash = permutation[(hash + u32(p.z)) & 15u];
    return f32(hash) / 7.5 - 1.0;
}

fn noise(p: vec3<f32>) -> f32 {
    let cell = floor(p);
    let part = p - cell;
    let c = vec3<i32>(cell);
    let s = part * part * (3.0 - 2.0 * part);
    let x00 = mix(lattice(c), lattice(c + vec3<i32>(1, 0, 0)), s.x);
    let x10 = mix(lattice(c + vec3<i32>(0, 1, 0)), lattice(c + vec3<i32>(1, 1, 0)), s.x);
    let x01 = mix(lattice(c + vec3<i32>(0, 0, 1)), lattice(c + vec3<i32>(1, 0, 1)), s.x);
    let x11 = mix(lattice(c + vec3<i32>(0, 1, 1)), lattice(c + vec3<i32>(1, 1, 1)), s.x);
    return mix(mix(x00, x10, s.y), mix(x01, x11, s.y), s.z);
}

fn turbulence(at: vec3<f32>, octaves: i32) -> f32 {
    var p = at;
    var sum = 0.0;
    var weight = 0.5;
    for (var i = 0; i < octaves; i++) {
        sum += weight * abs(noise(p));
        p *= 2.0;
        weight *= 0.5;
    }
    return sum;
}

// ---- tracing ----

fn meet_sphere(r: Ray, s: Sphere, nearest: f32, found: ptr<function, Hit>) -> bool {
    let offset = r.origin - s.centre_radius.xyz;
    let radius = s.centre_radius.w;
    let b = dot(offset, r.direction);
    let c = dot(offset, offset) - radius * radius;
    let discriminant = b * b - c;
    if discriminant < 0.0 { return false; }
    let root = sqrt(discriminant);
    var distance = -b - root;
    if distance < epsilon { distance = -b + root; }
    if distance < epsilon || distance >= nearest { return false; }
    found.distance = distance;
    found.position = r.origin + distance * r.direction;
    found.normal = (found.position - s.centre_radius.xyz) / radius;
    found.inside = dot(found.normal, r.direction) > 0.0;
    if found.inside { found.normal = -found.normal; }
    found.material = s.material;
    return true;
}

fn meet_scene(r: Ray, found: ptr<function, Hit>) -> bool {
    var any_hit = false;
    found.distance = far;
    for (var i = 0u; i < view.num_spheres; i++) {
        if meet_sphere(r, spheres[i], found.distance, found) { any_hit = true; }
    }
    return any_hit;
}

fn refracted(direction: vec3<f32>, normal: vec3<f32>, ratio: f32, bent: ptr<function, vec3<f32>>) -> bool {
    let cosine = -dot(direction, normal);
    let square = 1.0 - ratio * ratio * (1.0 - cosine * cosine);
    if square <= 0.0 { return false; }
    *bent = ratio * direction + (ratio * cosine - sqrt(square)) * normal;
    return true;
}

fn schlick(cosine: f32, index: f32) -> f32 {
    var r0 = (1.0 - index) / (1.0 + index);
    r0 *= r0;
    return r0 + (1.0 - r0) * pow(1.0 - cosine, 5.0);
}

fn colour_of(m: Material, position: vec3<f32>) -> vec3<f32> {
    var colour = m.colour.xyz;
    switch m.pattern {
        case 1: {
            let cell = vec3<i32>(floor(position * 2.0));
            if ((cell.x + cell.y + cell.z) & 1) != 0 { colour *= 0.3; }
        }
        case 2: { colour *= 0.5 + 0.5 * sin(position.x * 4.0 + 8.0 * turbulence(position, 5)); }
        case 3: { colour *= 0.6 + 0.4 * noise(position * 6.0); }
        default: {}
    }
    return colour;
}

fn scatter(m: Material, h: Hit, r: ptr<function, Ray>, throughput: ptr<function, vec3<f32>>) -> bool {
    var direction = r.direction;
    switch m.kind {
        case diffuse: {
            direction = normalize(h.normal + in_ball());
            *throughput *= colour_of(m, h.position);
        }
        case mirror: {
            direction = normalize(reflect(direction, h.normal) + m.roughness * in_ball());
            *throughput *= m.colour.xyz;
            if dot(direction, h.normal) <= 0.0 { return false; }
        }
        case glass: {
            let ratio = select(1.0 / m.index, m.index, h.inside);
            var bent: vec3<f32>;
            let passes = refracted(direction, h.normal, ratio, &bent);
            let cosine = min(1.0, -dot(direction, h.normal));
            if !passes || random() < schlick(cosine, m.index) { bent = reflect(direction, h.normal); }
            direction = normalize(bent);
        }
        default: { return false; }
    }
    r.origin = h.position + epsilon * direction;
    r.direction = direction;
    return true;
}

fn camera_ray(x: u32, y: u32) -> Ray {
    let u = (f32(x) + random()) / f32(view.width) * 2.0 - 1.0;
    let v = 1.0 - (f32(y) + random()) / f32(view.height) * 2.0;
    let aim = view.forward.xyz + u * view.right.xyz + v * view.up.xyz;
    let angle = 6.2831853 * random();
    let r = view.aperture * sqrt(random());
    let lens = r * cos(angle) * view.right.xyz + r * sin(angle) * view.up.xyz;
    return Ray(view.eye.xyz + lens, normalize(aim * view.focus - lens));
}

@compute @workgroup_size(8, 8)
fn trace(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = id.x;
    let y = id.y;
    if x >= view.width || y >= view.height { return; }
    seed = (y * view.width + x) * 9781u + view.frame * 6271u + 1u;
    var total = vec3<f32>();
    for (var sample = 0u; sample < view.samples; sample++) {
        var r = camera_ray(x, y);
        var throughput = vec3<f32>(1.0);
        for (var bounce = 0; bounce < max_bounces; bounce++) {
            var h: Hit;
            if !meet_scene(r, &h) {
                let t = 0.5 * (r.direction.y + 1.0);
                total += throughput * mix(sky_low, sky_high, t);
                break;
            }
            let m = materials[h.material & (max_materials - 1)];
            if m.kind == light {
                total += throughput * m.colour.xyz;
                break;
            }
            if !scatter(m, h, &r, &throughput) { break; }
            let brightest = max(throughput.x, max(throughput.y, throughput.z));
            if bounce > 2 && random() > brightest { break; }
        }
    }
    let at = y * view.width + x;
    image[at] += vec4<f32>(total / f32(view.samples), 1.0);
}

@compute @workgroup_size(64)
fn tone_map(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= view.width * view.height { return; }
    let pixel = image[id.x];
    var colour = pixel.xyz / max(pixel.w, 1.0) * view.exposure;
    colour = colour * (2.51 * colour + 0.03) / (colour * (2.43 * colour + 0.59) + 0.14);
    colour = pow(saturate(colour), vec3<f32>(1.0 / 2.2));
    picture[id.x] = pack4x8unorm(vec4<f32>(colour, 1.0));
}

// ---- particles ----

fn cell_of(position: vec4<f32>) -> vec3<i32> {
    let cell = vec3<i32>(floor((position.xyz - fluid.low.xyz) / fluid.radius));
    return clamp(cell, vec3<i32>(0), fluid.cells.xyz - 1);
}

fn cell_index(cell: vec3<i32>) -> u32 {
    return u32((cell.z * fluid.cells.y + cell.y) * fluid.cells.x + cell.x);
}

@compute @workgroup_size(64)
fn bin_particles(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    if i >= fluid.count { return; }
    let cell = cell_index(cell_of(particles[i].position));
    let slot = atomicAdd(&counts[cell], 1u);
    particles[i].cell = cell;
    if slot < cell_capacity { lists[cell * cell_capacity + slot] = i; }
}

var<workgroup> partial: array<f32, 64>;

@compute @workgroup_size(64)
fn move_particles(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lid: u32,
                  @builtin(workgroup_id) group: vec3<u32>) {
    let i = id.x;
    var kinetic = 0.0;
    if i < fluid.count {
        var me = particles[i];
        let home = cell_of(me.position);
        var force = fluid.gravity.xyz * me.density;
        for (var k = 0; k < 27; k++) {
            let cell = home + vec3<i32>(neighbours[k % 3], neighbours[k / 3 % 3], neighbours[k / 9]);
            if any(cell < vec3<i32>(0)) || any(cell >= fluid.cells.xyz) { continue; }
            let index = cell_index(cell);
            let members = min(atomicLoad(&counts[index]), cell_capacity);
            for (var m = 0u; m < members; m++) {
                let j = lists[index * cell_capacity + m];
                let between = me.position.xyz - particles[j].position.xyz;
                let distance = length(between);
                if j == i || distance >= fluid.radius { continue; }
                let reach = fluid.radius - distance;
                let shared_pressure = (me.pressure + particles[j].pressure) / (2.0 * particles[j].density);
                force += normalize(between) * fluid.mass * shared_pressure * reach * reach;
                force += fluid.viscosity * fluid.mass * reach * (particles[j].velocity.xyz - me.velocity.xyz);
            }
        }
        var velocity = me.velocity.xyz + fluid.time_step * force / max(me.density, epsilon);
        let position = me.position.xyz + fluid.time_step * velocity;
        let beyond = (position < fluid.low.xyz) | (position > fluid.high.xyz);
        velocity = select(velocity, -0.5 * velocity, beyond);
        kinetic = 0.5 * fluid.mass * dot(velocity, velocity);
        particles[i].position = vec4<f32>(clamp(position, fluid.low.xyz, fluid.high.xyz), me.position.w);
        particles[i].velocity = vec4<f32>(velocity, me.velocity.w);
    }
    partial[lid] = kinetic;
    workgroupBarrier();
    for (var half_size = 32u; half_size > 0u; half_size /= 2u) {
        if lid < half_size { partial[lid] += partial[lid + half_size]; }
        workgroupBarrier();
    }
    if lid == 0u { energy[group.x] = partial[0]; }
}
