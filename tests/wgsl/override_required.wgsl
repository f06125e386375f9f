// An override constant without a default takes its value of the options.
// options: -D needed=5
// kernel: main
// arg: buf:int:1
// expect: 25
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
override needed: i32;
@compute @workgroup_size(1)
fn main() {
    out[0] = needed * needed;
}
