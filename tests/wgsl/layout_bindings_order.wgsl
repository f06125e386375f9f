// Parameters come in order of group and binding, however they are declared.
// kernel: main
// arg: buf:int:1=1
// arg: buf:int:1=2
// arg: buf:int:1=3
// arg: buf:int:4
// expect: 1, 2, 3, 9
@group(2) @binding(5) var<storage, read_write> out: array<i32>;
@group(1) @binding(0) var<storage, read> third: array<i32>;
@group(0) @binding(7) var<storage, read> second: array<i32>;
@group(0) @binding(3) var<storage, read> first: array<i32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = first[0];
    out[1] = second[0];
    out[2] = third[0];
    out[3] = 9;
}
