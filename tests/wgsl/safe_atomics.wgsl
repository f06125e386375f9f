// Atomics outside of a buffer leave what is in front of its last element, and other buffers.
// kernel: main
// global: 4
// arg: buf:uint:4=1, 2, 3, 4
// expect: 1, 2, 3, *
// arg: buf:uint:4=0
// expect: 1
@group(0) @binding(0) var<storage, read_write> data: array<atomic<u32>>;
@group(0) @binding(1) var<storage, read_write> other: array<atomic<u32>>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    atomicAdd(&data[i + 4], 100); // finds: out-of-bounds
    atomicAdd(&other[i], 1);
}
