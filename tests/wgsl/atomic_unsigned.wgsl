// atomicMax and atomicMin of u32 compare without a sign; sums wrap.
// kernel: main
// arg: buf:uint:4=4294967295, 4294967295, 4294967295, 0
// expect: 4294967295, 1, 4, 4294967295
@group(0) @binding(0) var<storage, read_write> a: array<atomic<u32>>;
@compute @workgroup_size(1)
fn main() {
    atomicMax(&a[0], 1u);
    atomicMin(&a[1], 1u);
    atomicAdd(&a[2], 5u);
    atomicSub(&a[3], 1u);
}
