#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#include "twin.glsl"

layout(buffer_reference, std430, buffer_reference_align = 1) restrict readonly buffer ReadBytes { uint8_t at[]; };
layout(push_constant) uniform Args { uint n; ReadBytes data; Uints bins; };
shared uint counts[256];

void main() {
    uint lid = gl_LocalInvocationID.x, stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = lid; i < 256; i += gl_WorkGroupSize.x) counts[i] = 0;
    barrier();
    for (uint i = gl_GlobalInvocationID.x; i < n; i += stride) atomicAdd(counts[uint(data.at[i])], 1u);
    barrier();
    for (uint i = lid; i < 256; i += gl_WorkGroupSize.x)
        if (counts[i] != 0) atomicAdd(bins.at[i], counts[i]);
}
