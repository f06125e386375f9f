#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"

layout(push_constant) uniform Args { uint rows; ReadUints starts, columns; ReadFloats values, x; Floats y; };

void main() {
    uint row = gl_GlobalInvocationID.x;
    if (row >= rows) return;
    float sum = 0.0;
    for (uint i = starts.at[row]; i < starts.at[row + 1]; i++) sum += values.at[i] * x.at[columns.at[i]];
    y.at[row] = sum;
}
