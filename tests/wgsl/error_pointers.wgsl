// Pointers: to what has no place, stored in variables, of wrong types, compared.
// error: 18: &
// error: 19: &
// error: 20: component
// error: 21: d
// error: 22: *
// error: 24: ptr
// error: 25: i32
// error: 26: +
// error: 27: ==
// error: 28: component
// error: 29: assigned
@compute @workgroup_size(1)
fn main() {
    var v = vec2f(1);
    var i = 1;
    let k = 2;
    let a = &k;
    let b = &(i + 1);
    let c = &v.x;
    var d = &i;
    let e = *i;
    let p = &i;
    let f: ptr<function, f32> = &i;
    *p = 1.5;
    let g = p + 1;
    let h = p == p;
    let l = &v[1];
    p = &i;
}
