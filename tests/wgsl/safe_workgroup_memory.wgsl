// Indices outside of an array of work-group memory: the array behind it stays.
// kernel: main
// global: 4
// arg: buf:uint:4=4, 5, 77, 0xffffffff
// arg: buf:int:4
// expect: 6
@group(0) @binding(0) var<storage, read> at: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
var<workgroup> first: array<i32, 4>;
var<workgroup> second: array<i32, 4>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    second[i] = 6;
    workgroupBarrier();
    if i == 1 { first[at[i]] = 1; } // finds: out-of-bounds
    if i == 2 { first[at[0] * at[i]] = 1; } // finds: out-of-bounds
    workgroupBarrier();
    out[i] = second[i];
}
