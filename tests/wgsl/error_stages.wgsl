// The stages of graphics. Tint takes them.
// skip: tint takes them
// error: 5: vertex
// error: 6: fragment
@vertex fn corner() -> @builtin(position) vec4f { return vec4f(); }
@fragment fn colour() -> @location(0) vec4f { return vec4f(); }
@compute @workgroup_size(1) fn main() { }
