// Sum, least and greatest of all numbers: a tree in each group, atomics across groups.
// kernel: main
// global: 64
// arg: buf:int:64=1, 39, 12, -44, -35, -35, -22, 28, 32, -36, 41, -33, -13, 40, 6, -31, -27, 28, -27, 2, -30,
//         -42, 29, -23, -45, 21, -37, 34, -2, 45, -41, -15, -43, 23, 23, -35, 45, 1, 29, -33, -49, 5, -39,
//         -10, 37, 26, 12, 12, -5, 33, -3, -43, -33, 39, -13, -31, 22, 30, 36, 14, -13, 21, 20, 29
// arg: buf:int:3=0, 1000, -1000
// expect: -73, -49, 45
struct Result {
    sum: atomic<i32>,
    least: atomic<i32>,
    greatest: atomic<i32>,
}
struct Part {
    sum: i32,
    least: i32,
    greatest: i32,
}
@group(0) @binding(0) var<storage, read> data: array<i32>;
@group(0) @binding(1) var<storage, read_write> result: Result;
var<workgroup> parts: array<Part, 16>;
fn joined(a: Part, b: Part) -> Part {
    return Part(a.sum + b.sum, min(a.least, b.least), max(a.greatest, b.greatest));
}
@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32) {
    let x = data[id.x];
    parts[i] = Part(x, x, x);
    for (var n = 8u; n > 0; n >>= 1u) {
        workgroupBarrier();
        if i < n { parts[i] = joined(parts[i], parts[i + n]); }
    }
    if i == 0 {
        atomicAdd(&result.sum, parts[0].sum);
        atomicMin(&result.least, parts[0].least);
        atomicMax(&result.greatest, parts[0].greatest);
    }
}
