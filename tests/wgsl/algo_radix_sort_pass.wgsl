// One pass of a radix sort: keys by four of their bits, in the order in which they came.
// kernel: main
// global: 32
// local: 32
// skip: wgpu leaves zeros of work-group memory to lavapipe 22.3, which does not write them
// arg: buf:uint:4=4, 0, 0, 0
// arg: buf:uint:32=247, 99, 18, 212, 238, 179, 194, 36, 104, 121, 191, 0, 179, 207, 142, 209, 58, 191, 18,
//         154, 48, 151, 173, 150, 180, 66, 214, 209, 189, 239, 72, 80
// arg: buf:uint:32
// expect: 0, 18, 18, 36, 58, 48, 66, 72, 80, 99, 104, 121, 142, 154, 151, 150, 173, 179, 191, 179, 191, 180,
//         189, 194, 207, 212, 209, 214, 209, 238, 239, 247
@group(0) @binding(0) var<uniform> shift: vec4u;
@group(0) @binding(1) var<storage, read> in: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
const n = 32;
var<workgroup> counts: array<array<u32, n>, 16>;
var<workgroup> starts: array<u32, 16>;
@compute @workgroup_size(n)
fn main(@builtin(local_invocation_index) i: u32) {
    let key = in[i];
    let digit = (key >> shift.x) & 15;
    counts[digit][i] = 1;
    workgroupBarrier();
    if i < 16 {
        var sum = 0u;
        for (var k = 0; k < n; k++) {
            let one = counts[i][k];
            counts[i][k] = sum;
            sum += one;
        }
        starts[i] = sum;
    }
    workgroupBarrier();
    if i == 0 {
        var sum = 0u;
        for (var d = 0; d < 16; d++) {
            let count = starts[d];
            starts[d] = sum;
            sum += count;
        }
    }
    workgroupBarrier();
    out[starts[digit] + counts[digit][i]] = key;
}
