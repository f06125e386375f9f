// An exclusive prefix sum in one work-group, by an up-sweep and a down-sweep.
// kernel: main
// global: 16
// local: 16
// arg: buf:int:32=5, 2, 9, 0, 7, 8, 4, 5, 4, 7, 4, 8, 5, 5, 4, 5, 6, 5, 2, 7, 5, 5, 8, 2, 8, 2, 3, 5, 7, 4,
//         1, 6
// expect: 0, 5, 7, 16, 16, 23, 31, 35, 40, 44, 51, 55, 63, 68, 73, 77, 82, 88, 93, 95, 102, 107, 112, 120,
//         122, 130, 132, 135, 140, 147, 151, 152
@group(0) @binding(0) var<storage, read_write> data: array<i32>;
const n = 32u;
var<workgroup> tree: array<i32, n>;
@compute @workgroup_size(n / 2)
fn main(@builtin(local_invocation_index) l: u32) {
    tree[2 * l] = data[2 * l];
    tree[2 * l + 1] = data[2 * l + 1];
    var offset = 1u;
    for (var d = n >> 1; d > 0; d >>= 1u) {
        workgroupBarrier();
        if l < d { tree[offset * (2 * l + 2) - 1] += tree[offset * (2 * l + 1) - 1]; }
        offset *= 2;
    }
    if l == 0 { tree[n - 1] = 0; }
    for (var d = 1u; d < n; d *= 2) {
        offset >>= 1u;
        workgroupBarrier();
        if l < d {
            let a = offset * (2 * l + 1) - 1;
            let b = offset * (2 * l + 2) - 1;
            let t = tree[a];
            tree[a] = tree[b];
            tree[b] += t;
        }
    }
    workgroupBarrier();
    data[2 * l] = tree[2 * l];
    data[2 * l + 1] = tree[2 * l + 1];
}
