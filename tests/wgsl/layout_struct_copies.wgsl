// Structs with arrays are copied between buffers, variables and work-group memory.
// kernel: main
// arg: buf:int:8=1, 2, 3, 4, 5, 6, 7, 8
// arg: buf:int:8
// expect: 1, 2, 3, 4, 5, 6, 7, 80
struct Data {
    head: i32,
    list: array<i32, 6>,
    tail: i32,
}
@group(0) @binding(0) var<storage, read> source: Data;
@group(0) @binding(1) var<storage, read_write> to: Data;
var<workgroup> shared_: Data;
var<private> mine: Data;
@compute @workgroup_size(1)
fn main() {
    shared_ = source;
    mine = shared_;
    var local = mine;
    local.tail *= 10;
    to = local;
}
