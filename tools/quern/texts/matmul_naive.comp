#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"

layout(push_constant) uniform Args { uint m, n, k; ReadFloats a, b; Floats c; };

void main() {
    uint column = gl_GlobalInvocationID.x, row = gl_GlobalInvocationID.y;
    if (row >= m || column >= n) return;
    float sum = 0.0;
    for (uint i = 0; i < k; i++) sum += a.at[row * k + i] * b.at[i * n + column];
    c.at[row * n + column] = sum;
}
