#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"

layout(push_constant) uniform Args { uint m, n, k; ReadFloats a, b; Floats c; };
shared float a_tile[16][16], b_tile[16][16];

void main() {
    uint x = gl_LocalInvocationID.x, y = gl_LocalInvocationID.y;
    uint column = gl_GlobalInvocationID.x, row = gl_GlobalInvocationID.y;
    float sum = 0.0;
    for (uint start = 0; start < k; start += 16) {
        a_tile[y][x] = a.at[row * k + start + x];
        b_tile[y][x] = b.at[(start + y) * n + column];
        barrier();
        for (uint i = 0; i < 16; i++) sum += a_tile[y][i] * b_tile[i][x];
        barrier();
    }
    c.at[row * n + column] = sum;
}
