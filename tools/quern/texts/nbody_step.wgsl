struct Args { n: u32, time_step: f32, softening: f32 }
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage> bodies: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> velocities: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> moved: array<vec4f>;
var<workgroup> tile: array<vec4f, words / 4>;

@compute @workgroup_size(local_x, local_y)
fn nbody_step(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let i = id.x;
    let me = bodies[i];
    var pulled = vec3f();
    for (var start = 0u; start < args.n; start += local_x) {
        tile[local.x] = bodies[start + local.x];
        workgroupBarrier();
        for (var j = 0u; j < local_x; j++) {
            let other = tile[j];
            let d = other.xyz - me.xyz;
            let inverse = inverseSqrt(dot(d, d) + args.softening);
            pulled += d * (other.w * inverse * inverse * inverse);
        }
        workgroupBarrier();
    }
    let velocity = velocities[i] + vec4f(pulled, 0) * args.time_step;
    velocities[i] = velocity;
    moved[i] = vec4f(me.xyz + velocity.xyz * args.time_step, me.w);
}
