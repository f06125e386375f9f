// Loops that nothing leaves.
// error: 9: loop
// error: 10: loop
// error: 11: loop
// error: 12: loop
@compute @workgroup_size(1)
fn main() {
    var i = 0;
    loop { i++; }
    for (;;) { i++; }
    loop { i++; continuing { i++; } }
    for (var j = 0; ; j++) { }
}
