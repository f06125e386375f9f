// Conditions are bools.
// error: 11: bool
// error: 12: bool
// error: 13: bool
// error: 14: bool
// error: 17: bool
// error: 21: select
@compute @workgroup_size(1)
fn main() {
    var i = 1;
    if i { }
    while 1.0 { break; }
    for (; i; ) { break; }
    if vec2(true, false) { }
    loop {
        continuing {
            break if i;
            break if i > 1;
        }
    }
    let s = select(1, 2, i);
}
