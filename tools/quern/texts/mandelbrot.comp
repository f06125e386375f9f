#version 460
#extension GL_GOOGLE_include_directive : require
#include "twin.glsl"

layout(push_constant) uniform Args { float left, top, pixel; uint limit; Uints steps; };

void main() {
    uint px = gl_GlobalInvocationID.x, py = gl_GlobalInvocationID.y;
    float cx = left + pixel * float(px), cy = top - pixel * float(py);
    float x = 0.0, y = 0.0;
    uint count = 0;
    while (count < limit && x * x + y * y <= 4.0) {
        float next = x * x - y * y + cx;
        y = 2.0 * x * y + cy;
        x = next;
        count++;
    }
    steps.at[py * gl_NumWorkGroups.x * gl_WorkGroupSize.x + px] = count;
}
