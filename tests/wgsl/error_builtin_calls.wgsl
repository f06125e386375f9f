// Built-in functions with arguments that they do not take.
// error: 16: sin
// error: 17: max
// error: 18: dot
// error: 19: cross
// error: 20: countOneBits
// error: 21: select
// error: 22: length
// error: 23: clamp
// error: 24: transpose
// error: 25: u32
// error: 26: determinant
// error: 27: all
@compute @workgroup_size(1)
fn main() {
    let a = sin(1u);
    let b = max(1, 2.5, 3);
    let c = dot(vec2f(1), vec3f(1));
    let d = cross(vec2f(1), vec2f(1));
    let e = countOneBits(1.5);
    let f = select(1, 2.5f, 1);
    let g = length(vec2i(1));
    let h = clamp(1u, 0i, 2u);
    let i = transpose(vec2f(1));
    let j = bitcast<vec2f>(1u);
    let k = determinant(mat2x3f());
    let l = all(vec2i(1));
}
