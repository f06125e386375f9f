// The greatest common divisor, by a loop of work-items that end at different times.
// kernel: main
// global: 6
// arg: buf:uint:6=12, 17, 100, 0, 1071, 4294967295
// arg: buf:uint:6=18, 5, 75, 9, 462, 65535
// expect: 6, 1, 25, 9, 21, 65535
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> b: array<u32>;
@compute @workgroup_size(2)
fn main(@builtin(global_invocation_id) id: vec3u) {
    var x = a[id.x];
    var y = b[id.x];
    loop {
        if y == 0 { break; }
        let rest = x % y;
        continuing {
            x = y;
            y = rest;
        }
    }
    b[id.x] = x;
}
