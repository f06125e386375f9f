// Identifiers that differ in case only are different ones.
// kernel: main
// arg: buf:int:3
// expect: 1, 2, 3
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
const value = 1;
const Value = 2;
const VALUE = 3;
@compute @workgroup_size(1)
fn main() {
    out[0] = value;
    out[1] = Value;
    out[2] = VALUE;
}
