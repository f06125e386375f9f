// A comment without an end is told where it begins.
// error: 4: comment
@compute @workgroup_size(1) fn main() { }
/* never closed
