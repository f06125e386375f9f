// One time step of n bodies that attract each other, all pairs. A body is a float4: position, and mass in w.
// A group brings one tile of bodies at a time to local memory, and all its work-items meet each of them
// (Nyland, Harris, Prins: "Fast N-Body Simulation with CUDA", GPU Gems 3). n is a multiple of the local size;
// `tile` has a float4 for each work-item of a group. `softening` squared keeps close pairs finite.
kernel void nbody_step(uint n, float time_step, float softening, global const float4 *restrict bodies,
                       global float4 *restrict velocities, global float4 *restrict moved, local float4 *tile) {
    size_t i = get_global_id(0), lid = get_local_id(0);
    float4 me = bodies[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (uint start = 0; start < n; start += get_local_size(0)) {
        tile[lid] = bodies[start + lid];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = 0; j < get_local_size(0); j++) {
            float4 other = tile[j];
            float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            float inverse = rsqrt(dx * dx + dy * dy + dz * dz + softening);
            float pull = other.w * inverse * inverse * inverse;
            ax += dx * pull;
            ay += dy * pull;
            az += dz * pull;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    float4 velocity = velocities[i] + (float4)(ax, ay, az, 0.0f) * time_step;
    velocities[i] = velocity;
    moved[i] = (float4)(me.xyz + velocity.xyz * time_step, me.w);
}
