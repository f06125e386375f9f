// Functions: parameters by value, results of any type, calls in expressions, calls as statements.
// kernel: main
// arg: buf:float:7
// expect: 5, 25, 3, 4, 6, 2, 11
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
var<private> log_: i32;
struct Pair { a: f32, b: f32 }
fn sum(a: f32, b: f32) -> f32 { return a + b; }
fn squared(x: f32) -> f32 { return x * x; }
fn pair(a: f32, b: f32) -> Pair { return Pair(b, a); }
fn matrix() -> mat2x2f { return mat2x2f(1, 2, 3, 6); }
fn list() -> array<f32, 2> { return array(1.0, 2.0); }
fn note() { log_ += 11; }
@must_use fn important() -> f32 { return 0; }
@compute @workgroup_size(1)
fn main() {
    out[0] = sum(2, 3);
    out[1] = squared(sum(2, 3));
    let p = pair(4, 3);
    out[2] = p.a;
    out[3] = pair(4, 3).b;
    out[4] = matrix()[1].y;
    out[5] = list()[1] + important();
    note();
    out[6] = f32(log_);
}
