// A small path tracer with a particle simulation beside it: a kernel file of some 300 lines as people write
// them, for measuring how long compiling takes. Structs, helpers, loops, vectors, local memory, atomics, maths.
#define MAX_BOUNCES 4
#define MAX_MATERIALS 8
#define EPSILON 1e-4f
#define CELL_CAPACITY 32
#define FAR 1e30f

typedef enum { DIFFUSE, MIRROR, GLASS, LIGHT } material_kind;

typedef struct {
    float4 colour;
    material_kind kind;
    float roughness, index;
    int texture;
} material;

typedef struct {
    float4 centre_radius;
    int material;
    int padding[3];
} sphere;

typedef struct {
    float3 origin, direction;
} ray;

typedef struct {
    float distance;
    float3 position, normal;
    int material;
    bool inside;
} hit;

typedef struct {
    float4 eye, right, up, forward;
    float focus, aperture;
    uint width, height, frame, samples;
} camera;

typedef struct {
    float4 position, velocity;
    float density, pressure;
    uint cell, padding;
} particle;

typedef struct {
    float radius, rest_density, stiffness, viscosity, time_step, mass;
    float4 low, high, gravity;
    int4 cells;
} fluid;

constant float3 sky_low = (float3)(1.0f, 1.0f, 1.0f);
constant float3 sky_high = (float3)(0.5f, 0.7f, 1.0f);
constant int neighbours[3] = {-1, 0, 1};
constant uchar permutation[16] = {7, 12, 3, 9, 0, 15, 5, 10, 1, 14, 6, 11, 2, 13, 4, 8};

// ---- random numbers and noise ----

static uint next_random(uint *state) {
    uint word = *state * 747796405u + 2891336453u;
    *state = word;
    word = ((word >> ((word >> 28) + 4u)) ^ word) * 277803737u;
    return (word >> 22) ^ word;
}

static float uniform(uint *state) { return (float)(next_random(state) >> 8) * 0x1p-24f; }

static float3 in_ball(uint *state) {
    float z = 2.0f * uniform(state) - 1.0f;
    float angle = 6.2831853f * uniform(state);
    float r = sqrt(fmax(0.0f, 1.0f - z * z));
    return (float3)(r * cos(angle), r * sin(angle), z) * cbrt(uniform(state));
}

static float lattice(int3 p) {
    uint hash = permutation[p.x & 15];
    hash = permutation[(hash + (uint)p.y) & 15];
    hash = permutation[(hash + (uint)p.z) & 15];
    return (float)hash / 7.5f - 1.0f;
}

static float noise(float3 p) {
    float3 cell = floor(p), part = p - cell;
    int3 c = convert_int3(cell);
    float3 s = part * part * (3.0f - 2.0f * part);
    float x00 = mix(lattice(c), lattice(c + (int3)(1, 0, 0)), s.x);
    float x10 = mix(lattice(c + (int3)(0, 1, 0)), lattice(c + (int3)(1, 1, 0)), s.x);
    float x01 = mix(lattice(c + (int3)(0, 0, 1)), lattice(c + (int3)(1, 0, 1)), s.x);
    float x11 = mix(lattice(c + (int3)(0, 1, 1)), lattice(c + (int3)(1, 1, 1)), s.x);
    return mix(mix(x00, x10, s.y), mix(x01, x11, s.y), s.z);
}

static float turbulence(float3 p, int octaves) {
    float sum = 0.0f, weight = 0.5f;
    for (int i = 0; i < octaves; i++) {
        sum += weight * fabs(noise(p));
        p *= 2.0f;
        weight *= 0.5f;
    }
    return sum;
}

// ---- tracing ----

static bool meet_sphere(ray r, sphere s, float nearest, hit *found) {
    float3 offset = r.origin - s.centre_radius.xyz;
    float radius = s.centre_radius.w;
    float b = dot(offset, r.direction);
    float c = dot(offset, offset) - radius * radius;
    float discriminant = b * b - c;
    if (discriminant < 0.0f) return false;
    float root = sqrt(discriminant);
    float distance = -b - root;
    if (distance < EPSILON) distance = -b + root;
    if (distance < EPSILON || distance >= nearest) return false;
    found->distance = distance;
    found->position = r.origin + distance * r.direction;
    found->normal = (found->position - s.centre_radius.xyz) / radius;
    found->inside = dot(found->normal, r.direction) > 0.0f;
    if (found->inside) found->normal = -found->normal;
    found->material = s.material;
    return true;
}

static bool meet_scene(ray r, global const sphere *spheres, uint count, hit *found) {
    bool any_hit = false;
    found->distance = FAR;
    for (uint i = 0; i < count; i++)
        if (meet_sphere(r, spheres[i], found->distance, found)) any_hit = true;
    return any_hit;
}

static float3 reflected(float3 direction, float3 normal) {
    return direction - 2.0f * dot(direction, normal) * normal;
}

static bool refracted(float3 direction, float3 normal, float ratio, float3 *out) {
    float cosine = -dot(direction, normal);
    float square = 1.0f - ratio * ratio * (1.0f - cosine * cosine);
    if (square <= 0.0f) return false;
    *out = ratio * direction + (ratio * cosine - sqrt(square)) * normal;
    return true;
}

static float schlick(float cosine, float index) {
    float r0 = (1.0f - index) / (1.0f + index);
    r0 *= r0;
    return r0 + (1.0f - r0) * pown(1.0f - cosine, 5);
}

static float3 texture_of(material m, float3 position) {
    float3 colour = m.colour.xyz;
    switch (m.texture) {
    case 1: {
        int3 cell = convert_int3(floor(position * 2.0f));
        if ((cell.x + cell.y + cell.z) & 1) colour *= 0.3f;
        break;
    }
    case 2: colour *= 0.5f + 0.5f * sin(position.x * 4.0f + 8.0f * turbulence(position, 5)); break;
    case 3: colour *= 0.6f + 0.4f * noise(position * 6.0f); break;
    default: break;
    }
    return colour;
}

static bool scatter(material m, hit h, ray *r, float3 *throughput, uint *seed) {
    float3 direction = r->direction;
    switch (m.kind) {
    case DIFFUSE:
        direction = normalize(h.normal + in_ball(seed));
        *throughput *= texture_of(m, h.position);
        break;
    case MIRROR:
        direction = normalize(reflected(direction, h.normal) + m.roughness * in_ball(seed));
        *throughput *= m.colour.xyz;
        if (dot(direction, h.normal) <= 0.0f) return false;
        break;
    case GLASS: {
        float ratio = h.inside ? m.index : 1.0f / m.index;
        float3 bent;
        bool passes = refracted(direction, h.normal, ratio, &bent);
        float cosine = fmin(1.0f, -dot(direction, h.normal));
        if (!passes || uniform(seed) < schlick(cosine, m.index)) bent = reflected(direction, h.normal);
        direction = normalize(bent);
        break;
    }
    default: return false;
    }
    r->origin = h.position + EPSILON * direction;
    r->direction = direction;
    return true;
}

static ray camera_ray(constant camera *view, uint x, uint y, uint *seed) {
    float u = ((float)x + uniform(seed)) / (float)view->width * 2.0f - 1.0f;
    float v = 1.0f - ((float)y + uniform(seed)) / (float)view->height * 2.0f;
    float3 target = view->forward.xyz + u * view->right.xyz + v * view->up.xyz;
    float angle = 6.2831853f * uniform(seed), r = view->aperture * sqrt(uniform(seed));
    float3 lens = r * cos(angle) * view->right.xyz + r * sin(angle) * view->up.xyz;
    ray out;
    out.origin = view->eye.xyz + lens;
    out.direction = normalize(target * view->focus - lens);
    return out;
}

kernel void trace(constant camera *view, uint num_spheres, global const sphere *restrict spheres,
                  constant material *materials, global float4 *restrict image) {
    uint x = get_global_id(0), y = get_global_id(1);
    if (x >= view->width || y >= view->height) return;
    uint seed = (y * view->width + x) * 9781u + view->frame * 6271u + 1u;
    float3 total = 0.0f;
    for (uint sample = 0; sample < view->samples; sample++) {
        ray r = camera_ray(view, x, y, &seed);
        float3 throughput = 1.0f;
        for (int bounce = 0; bounce < MAX_BOUNCES; bounce++) {
            hit h;
            if (!meet_scene(r, spheres, num_spheres, &h)) {
                float t = 0.5f * (r.direction.y + 1.0f);
                total += throughput * mix(sky_low, sky_high, t);
                break;
            }
            material m = materials[h.material & (MAX_MATERIALS - 1)];
            if (m.kind == LIGHT) {
                total += throughput * m.colour.xyz;
                break;
            }
            if (!scatter(m, h, &r, &throughput, &seed)) break;
            float brightest = fmax(throughput.x, fmax(throughput.y, throughput.z));
            if (bounce > 2 && uniform(&seed) > brightest) break;
        }
    }
    float4 before = image[y * view->width + x];
    image[y * view->width + x] = before + (float4)(total / (float)view->samples, 1.0f);
}

kernel void tone_map(uint count, float exposure, global const float4 *restrict image,
                     global uchar4 *restrict picture) {
    size_t i = get_global_id(0);
    if (i >= count) return;
    float4 pixel = image[i];
    float3 colour = pixel.xyz / fmax(pixel.w, 1.0f) * exposure;
    colour = colour * (2.51f * colour + 0.03f) / (colour * (2.43f * colour + 0.59f) + 0.14f);
    colour = pow(clamp(colour, 0.0f, 1.0f), (float3)(1.0f / 2.2f));
    picture[i] = (uchar4)(convert_uchar3_sat_rte(colour * 255.0f), 255);
}

// ---- particles ----

static int3 cell_of(constant fluid *f, float4 position) {
    int3 cell = convert_int3(floor((position.xyz - f->low.xyz) / f->radius));
    return clamp(cell, (int3)(0), f->cells.xyz - 1);
}

static uint cell_index(constant fluid *f, int3 cell) {
    return (uint)((cell.z * f->cells.y + cell.y) * f->cells.x + cell.x);
}

kernel void bin_particles(constant fluid *f, uint count, global particle *restrict particles,
                          volatile global uint *counts, global uint *restrict lists) {
    uint i = get_global_id(0);
    if (i >= count) return;
    uint cell = cell_index(f, cell_of(f, particles[i].position));
    uint slot = atomic_inc(&counts[cell]);
    particles[i].cell = cell;
    if (slot < CELL_CAPACITY) lists[cell * CELL_CAPACITY + slot] = i;
}

kernel void move_particles(constant fluid *f, uint count, global particle *restrict particles,
                           global const uint *restrict counts, global const uint *restrict lists,
                           global float *restrict energy, local float *partial) {
    uint i = get_global_id(0), lid = get_local_id(0);
    float kinetic = 0.0f;
    if (i < count) {
        particle me = particles[i];
        int3 home = cell_of(f, me.position);
        float3 force = f->gravity.xyz * me.density;
        for (int k = 0; k < 27; k++) {
            int3 cell = home + (int3)(neighbours[k % 3], neighbours[k / 3 % 3], neighbours[k / 9]);
            if (any(cell < 0) || any(cell >= f->cells.xyz)) continue;
            uint index = cell_index(f, cell), members = min(counts[index], (uint)CELL_CAPACITY);
            for (uint m = 0; m < members; m++) {
                uint j = lists[index * CELL_CAPACITY + m];
                float3 between = me.position.xyz - particles[j].position.xyz;
                float distance = length(between);
                if (j == i || distance >= f->radius) continue;
                float reach = f->radius - distance;
                float shared_pressure = (me.pressure + particles[j].pressure) / (2.0f * particles[j].density);
                force += normalize(between) * f->mass * shared_pressure * reach * reach;
                force += f->viscosity * f->mass * reach * (particles[j].velocity.xyz - me.velocity.xyz);
            }
        }
        me.velocity.xyz += f->time_step * force / fmax(me.density, EPSILON);
        me.position.xyz += f->time_step * me.velocity.xyz;
        int3 beyond = (me.position.xyz < f->low.xyz) | (me.position.xyz > f->high.xyz);
        me.velocity.xyz = select(me.velocity.xyz, -0.5f * me.velocity.xyz, beyond);
        me.position = clamp(me.position, f->low, f->high);
        kinetic = 0.5f * f->mass * dot(me.velocity.xyz, me.velocity.xyz);
        particles[i].position = me.position;
        particles[i].velocity = me.velocity;
    }
    partial[lid] = kinetic;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        if (lid < half_size) partial[lid] += partial[lid + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lid == 0) energy[get_group_id(0)] = partial[0];
}
