// Many work-items add to one counter, and each gets its own number.
// kernel: main
// global: 256
// arg: buf:uint:1
// expect: 256
// arg: buf:uint:256
// expect: 1
@group(0) @binding(0) var<storage, read_write> next: atomic<u32>;
@group(0) @binding(1) var<storage, read_write> taken: array<atomic<u32>>;
@compute @workgroup_size(64)
fn main() {
    let mine = atomicAdd(&next, 1u);
    atomicAdd(&taken[mine], 1u);
}
