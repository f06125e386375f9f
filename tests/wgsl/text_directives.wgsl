// Directives at the head: requires, diagnostic, several in one list.
// kernel: main
// arg: buf:int:1
// expect: 7
diagnostic(off, derivative_uniformity);
requires readonly_and_readwrite_storage_textures, pointer_composite_access,;
requires packed_4x8_integer_dot_product;
diagnostic(info, example.of_another_tool);
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = 7;
}
