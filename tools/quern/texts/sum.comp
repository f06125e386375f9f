#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"

layout(push_constant) uniform Args { uint n; ReadFloats x; Floats result; };
shared float partial[words];

void main() {
    uint lid = gl_LocalInvocationID.x, stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    float total = 0.0;
    for (uint i = gl_GlobalInvocationID.x; i < n; i += stride) total += x.at[i];
    partial[lid] = total;
    barrier();
    for (uint half_size = gl_WorkGroupSize.x / 2; half_size > 0; half_size /= 2) {
        if (lid < half_size) partial[lid] += partial[lid + half_size];
        barrier();
    }
    if (lid == 0) result.at[gl_WorkGroupID.x] = partial[0];
}
