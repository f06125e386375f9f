// if, else if, else; without brackets around the condition; nested ones.
// kernel: main
// global: 6
// arg: buf:int:6
// expect: 100, 11, 12, 23, 24, 35
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(2)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let i = i32(id.x);
    var result = i;
    if i == 0 {
        result = 100;
    } else if (i < 3) {
        result += 10;
    } else if i < 5 { result += 20; } else {
        if i == 5 {
            if (true) { result += 30; }
        }
    }
    out[i] = result;
}
