// The first place that is not smaller, of several keys in a sorted list.
// kernel: main
// global: 6
// arg: buf:int:16=8, 16, 17, 22, 28, 30, 32, 33, 36, 47, 49, 58, 66, 70, 94, 96
// arg: buf:int:6=8, 33, 96, 50, -1, 101
// expect: 0, 7, 15, 11, 0, 16
@group(0) @binding(0) var<storage, read> sorted: array<i32>;
@group(0) @binding(1) var<storage, read_write> keys: array<i32>;
@compute @workgroup_size(3)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let key = keys[id.x];
    var low = 0u;
    var high = arrayLength(&sorted);
    while low < high {
        let middle = (low + high) / 2;
        if sorted[middle] < key { low = middle + 1; } else { high = middle; }
    }
    keys[id.x] = i32(low);
}
