// while loops, with break and continue, and with a condition that is false at once.
// kernel: main
// arg: buf:int:1=27
// arg: buf:int:4
// expect: 111, 1, 25, 0
@group(0) @binding(0) var<storage, read> in: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    var x = in[0];
    var steps = 0;
    while x != 1 {
        x = select(3 * x + 1, x / 2, x % 2 == 0);
        steps++;
    }
    out[0] = steps;
    out[1] = x;
    var i = 0;
    var odd = 0;
    while (true) {
        i++;
        if i > 10 { break; }
        if (i & 1) == 0 { continue; }
        odd += i;
    }
    out[2] = odd;
    while false { out[3] = 1; }
}
