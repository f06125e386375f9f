// A generation of the game of life on a torus.
// kernel: main
// global: 8, 8
// arg: buf:uint:64=0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
//         0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
//         0
// arg: buf:uint:64
// expect: 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
//         0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
@group(0) @binding(0) var<storage, read> now: array<u32>;
@group(0) @binding(1) var<storage, read_write> next: array<u32>;
const size = vec2i(8, 8);
fn cell(at: vec2i) -> u32 {
    let wrapped = (at + size) % size;
    return now[wrapped.y * size.x + wrapped.x];
}
@compute @workgroup_size(4, 4)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let at = vec2i(id.xy);
    var around = 0u;
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            if x != 0 || y != 0 { around += cell(at + vec2i(x, y)); }
        }
    }
    let lives = around == 3 || (around == 2 && cell(at) == 1);
    next[at.y * size.x + at.x] = select(0u, 1u, lives);
}
