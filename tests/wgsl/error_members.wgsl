// Members and components that are not there.
// error: 17: c
// error: 18: z
// error: 19: xr
// error: 20: i32
// error: 21: xyxyx
// error: 22: assigned
// error: 23: Pair
// error: 24: i32
// error: 25: index
struct Pair { a: i32, b: i32 }
@compute @workgroup_size(1)
fn main() {
    var p = Pair(1, 2);
    var v = vec2f(1, 2);
    var i = 1;
    let a = p.c;
    let b = v.z;
    let c = v.xr;
    let d = i.x;
    let e = v.xyxyx;
    v.xy = vec2f(1);
    let f = p[0];
    let g = i[0];
    let h = v[1.5];
}
