// Numbers that are not zero, kept in their order: a scan of flags tells where each goes.
// kernel: main
// global: 16
// arg: buf:int:16=0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 3, 0, 0, 0, 0
// arg: buf:int:16=-1
// expect: 5, 3, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1
// arg: buf:uint:1
// expect: 2
@group(0) @binding(0) var<storage, read> in: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
@group(0) @binding(2) var<storage, read_write> count: u32;
var<workgroup> places: array<u32, 16>;
@compute @workgroup_size(16)
fn main(@builtin(local_invocation_index) i: u32) {
    let keep = in[i] != 0;
    places[i] = select(0u, 1u, keep);
    workgroupBarrier();
    for (var by = 1u; by < 16; by *= 2) {
        var before = 0u;
        if i >= by { before = places[i - by]; }
        workgroupBarrier();
        places[i] += before;
        workgroupBarrier();
    }
    if keep { out[places[i] - 1] = in[i]; }
    if i == 15 { count = places[15]; }
}
