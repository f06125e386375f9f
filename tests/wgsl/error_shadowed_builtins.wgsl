// A declaration hides a built-in function or type; calls of it are calls of what is declared.
// error: 8: max
// error: 10: vec2f
// error: 13: abs
@compute @workgroup_size(1)
fn main() {
    let max = 3;
    let a = max(1, 2);
    let vec2f = 4;
    let b = vec2f(1, 2);
    let c = min(1, 2);
    var abs = 2;
    abs(1);
}
