// Uniform buffers ask for strides of 16 in arrays and alignments of 16 of structs.
// error: 6: 16
// error: 7: 16
// error: 8: 16
struct Inner { a: f32 }
@group(0) @binding(0) var<uniform> a: array<f32, 4>;
struct Outer { a: f32, b: Inner } @group(0) @binding(1) var<uniform> b: Outer;
@group(0) @binding(2) var<uniform> c: array<vec2f, 4>;
@compute @workgroup_size(1)
fn main() {
}
