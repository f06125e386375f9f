// Directives that nothing knows.
// error: 5: nothing_such
// error: 6: no_such_feature
// error: 7: loud
enable nothing_such;
requires no_such_feature;
diagnostic(loud, derivative_uniformity);
@compute @workgroup_size(1)
fn main() { }
