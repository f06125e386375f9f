#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"

layout(push_constant) uniform Args { Floats x; float a; };

void main() { x.at[gl_GlobalInvocationID.x] += a; }
