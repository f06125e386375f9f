#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"

layout(push_constant) uniform Args { uint width, height; ReadFloats matrix; Floats result; };
shared float tile[16][17];

void main() {
    uint x = gl_LocalInvocationID.x, y = gl_LocalInvocationID.y;
    uint left = gl_WorkGroupID.x * 16, top = gl_WorkGroupID.y * 16;
    tile[y][x] = matrix.at[(top + y) * width + left + x];
    barrier();
    result.at[(left + y) * height + top + x] = tile[x][y];
}
