#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"

layout(push_constant) uniform Args { uint n; float a; ReadFloats x; Floats y; };

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) y.at[i] = a * x.at[i] + y.at[i];
}
