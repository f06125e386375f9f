#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"

layout(push_constant) uniform Args { ReadUints numbers; Uints result, totals; };
shared uint rows[words];

void main() {
    uint i = gl_GlobalInvocationID.x, lid = gl_LocalInvocationID.x, size = gl_WorkGroupSize.x;
    uint from = 0, to = size;
    rows[lid] = numbers.at[i];
    barrier();
    for (uint reach = 1; reach < size; reach *= 2) {
        rows[to + lid] = lid >= reach ? rows[from + lid] + rows[from + lid - reach] : rows[from + lid];
        barrier();
        uint other = from;
        from = to;
        to = other;
    }
    result.at[i] = rows[from + lid];
    if (lid == size - 1) totals.at[gl_WorkGroupID.x] = rows[from + lid];
}
