// All atomic functions on i32 and u32 in a buffer: what is left, and what they give.
// kernel: main
// arg: buf:int:9=10, 10, 10, -10, 12, 12, 12, 5, 6
// expect: 13, 7, 10, -20, 8, 14, 6, 1, 77
// arg: buf:int:10
// expect: 10, 10, 10, -10, 12, 12, 12, 5, 6, 77
@group(0) @binding(0) var<storage, read_write> a: array<atomic<i32>, 9>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = atomicAdd(&a[0], 3);
    out[1] = atomicSub(&a[1], 3);
    out[2] = atomicMax(&a[2], -20);
    out[3] = atomicMin(&a[3], -20);
    out[4] = atomicAnd(&a[4], 10);
    out[5] = atomicOr(&a[5], 2);
    out[6] = atomicXor(&a[6], 10);
    out[7] = atomicExchange(&a[7], 1);
    out[8] = atomicLoad(&a[8]);
    atomicStore(&a[8], 77);
    out[9] = atomicLoad(&a[8]);
}
