#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"

layout(push_constant) uniform Args {
    uint n;
    float time_step, softening;
    ReadFloat4s bodies;
    Float4s velocities, moved;
};
shared vec4 tile[words / 4];

void main() {
    uint i = gl_GlobalInvocationID.x, lid = gl_LocalInvocationID.x;
    vec4 me = bodies.at[i];
    vec3 pulled = vec3(0.0);
    for (uint start = 0; start < n; start += gl_WorkGroupSize.x) {
        tile[lid] = bodies.at[start + lid];
        barrier();
        for (uint j = 0; j < gl_WorkGroupSize.x; j++) {
            vec4 other = tile[j];
            float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            float inverse_length = inversesqrt(dx * dx + dy * dy + dz * dz + softening);
            float pull = other.w * inverse_length * inverse_length * inverse_length;
            pulled.x += dx * pull;
            pulled.y += dy * pull;
            pulled.z += dz * pull;
        }
        barrier();
    }
    vec4 velocity = velocities.at[i] + vec4(pulled, 0.0) * time_step;
    velocities.at[i] = velocity;
    moved.at[i] = vec4(me.xyz + velocity.xyz * time_step, me.w);
}
