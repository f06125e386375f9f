// f16 without `enable f16`.
// error: 6: f16
// error: 7: enable f16
// error: 10: vec2h
// error: 11: f16
var<private> a: f16;
const b = 1.5h;
@compute @workgroup_size(1)
fn main() {
    let c = vec2h(1, 2);
    let d = mat2x2<f16>();
}
