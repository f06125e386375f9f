#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"

layout(push_constant) uniform Args { Uints x; uint n; };

void main() { x.at[gl_GlobalInvocationID.x] += n; }
