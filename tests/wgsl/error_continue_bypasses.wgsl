// A continue may not jump over a variable that continuing uses.
// error: 8: continue
@compute @workgroup_size(1)
fn main() {
    var i = 0;
    loop {
        if i > 3 { break; }
        if i > 2 { continue; }
        let step = 1;
        continuing { i += step; }
    }
}
