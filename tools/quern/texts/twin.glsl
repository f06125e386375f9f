// What the GLSL twins of the kernel files share. Arguments are push constants in their order, buffers by address; the local
// size is given at run time; `words` is the size of a __local argument in 32-bit words.
#extension GL_EXT_buffer_reference : require

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint words = 1;

layout(buffer_reference, std430, buffer_reference_align = 4) buffer Floats { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) restrict readonly buffer ReadFloats { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Uints { uint at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) restrict readonly buffer ReadUints { uint at[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Float4s { vec4 at[]; };
layout(buffer_reference, std430, buffer_reference_align = 16) restrict readonly buffer ReadFloat4s { vec4 at[]; };
