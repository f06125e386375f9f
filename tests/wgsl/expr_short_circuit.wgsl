// && and || compute their right side only where the left leaves it open; & and | of bools compute both.
// kernel: main
// arg: buf:int:2=0, 1
// arg: buf:int:4
// expect: 0, 1, 2, 5
@group(0) @binding(0) var<storage, read> in: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
var<private> calls: i32;
fn call(result: bool) -> bool {
    calls++;
    return result;
}
@compute @workgroup_size(1)
fn main() {
    let no = in[0] == 1;
    var x = no && call(true);
    x = !no || call(false);
    out[0] = calls;
    x = !no && call(true);
    out[1] = calls;
    x = no || call(false);
    out[2] = calls;
    x = no & call(true);
    x = !no | call(true);
    if (no || (call(true) && !no)) {
        out[3] = calls;
    }
}
