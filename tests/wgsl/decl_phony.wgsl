// `_ =` computes a value and keeps none: the call is made all the same.
// kernel: main
// arg: buf:int:3
// expect: 2, 2, 9
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
var<private> calls: i32;
fn call() -> i32 {
    calls++;
    return calls;
}
@compute @workgroup_size(1)
fn main() {
    _ = call();
    _ = 1 + call();
    _ = out[2];
    _ = vec3(1.0, 2.0, 3.0);
    out[0] = calls;
    out[1] = calls;
    out[2] = 9;
}
