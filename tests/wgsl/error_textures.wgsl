// Textures and samplers are not for computing without graphics here. Tint takes them.
// skip: tint takes them
// error: 7: texture_2d
// error: 8: sampler
// error: 9: texture_storage_2d
@group(0) @binding(9) var<storage, read_write> out: array<i32>;
@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var filter_: sampler;
@group(0) @binding(2) var store: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(1) fn main() { out[0] = 1; }
