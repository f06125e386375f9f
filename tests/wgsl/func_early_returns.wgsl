// Functions with several returns, in branches and switches, inlined in expressions.
// kernel: main
// global: 6
// arg: buf:int:6
// expect: -1, 10, 20, 30, 44, 99
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
fn pick(x: i32) -> i32 {
    if x < 1 { return -1; }
    switch x {
        case 1: { return 10; }
        case 2: { return 20; }
        case 3: {
            for (var i = 0; ; i++) { if i == 30 { return i; } }
        }
        default { }
    }
    if x == 4 { let y = x * 10; return y + x; } else { return 99; }
}
@compute @workgroup_size(2)
fn main(@builtin(global_invocation_id) id: vec3u) {
    out[id.x] = pick(i32(id.x));
}
