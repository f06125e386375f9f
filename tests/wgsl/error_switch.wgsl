// Cases twice, of other types, without a default; selectors that are no integers.
// error: 15: 1
// error: 16: default
// error: 17: f32
// error: 18: u32
// error: 19: default
// error: 20: 1.5
// error: 21: 1
// error: 22: bool
// error: 23: i
@compute @workgroup_size(1)
fn main() {
    var i = 1;
    var f = 1.5;
    switch i { case 1 { } case 1 { } default { } }
    switch i { case 1 { } }
    switch f { default { } }
    switch i { case 1u { } default { } }
    switch i { default { } default { } }
    switch i { case 1.5 { } default { } }
    switch i { case 1, 2, 1 { } default { } }
    switch true { default { } }
    switch i { case i { } default { } }
}
