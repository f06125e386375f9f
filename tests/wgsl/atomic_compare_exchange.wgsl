// atomicCompareExchangeWeak: the old value and whether it was exchanged; in a loop, as it may fail without a reason.
// kernel: main
// global: 64
// arg: buf:uint:2=0, 5
// expect: 2016, 5
// arg: buf:uint:2
// expect: 5, 0
@group(0) @binding(0) var<storage, read_write> cells: array<atomic<u32>, 2>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3u) {
    var old = atomicLoad(&cells[0]);
    loop {
        let result = atomicCompareExchangeWeak(&cells[0], old, old + id.x);
        if result.exchanged { break; }
        old = result.old_value;
    }
    if id.x == 0 {
        let other = atomicCompareExchangeWeak(&cells[1], 4, 9);
        out[0] = other.old_value;
        out[1] = u32(other.exchanged);
    }
}
