// Conditions are bools.
// error: 11: bool
// error: 12: bool
// error: 13: bool
// error: 14: bool
// error: 19: !
// error: 22: select
@compute @workgroup_size(1)
fn main() {
    var i = 1;
    if i { }
    while 1.0 { break; }
    for (; i; ) { break; }
    if vec2(true, false) { }
    loop {
        if i > 2 { break; }
        continuing {
            _ = 1;
            break if !i;
        }
    }
    let s = select(1, 2, i);
}
