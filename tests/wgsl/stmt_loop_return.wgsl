// return out of loops within loops, of functions with and without a result.
// kernel: main
// global: 4
// arg: buf:int:4
// expect: 12, 23, 34, -1
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
fn find(sum: i32) -> i32 {
    for (var i = 0; i < 5; i++) {
        loop {
            var j = i;
            while (j < 6) {
                if i * j == sum { return 10 * i + j; }
                j++;
            }
            break;
        }
    }
    return -1;
}
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    out[id.x] = -1;
    if id.x == 3 { return; }
    out[id.x] = find((i32(id.x) + 1) * (i32(id.x) + 2));
}
