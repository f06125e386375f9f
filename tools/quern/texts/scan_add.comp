#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"

layout(push_constant) uniform Args { Uints result; ReadUints totals; };

void main() {
    uint group = gl_WorkGroupID.x;
    if (group > 0) result.at[gl_GlobalInvocationID.x] += totals.at[group - 1];
}
