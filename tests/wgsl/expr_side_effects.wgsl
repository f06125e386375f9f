// Calls with effects in indices, conditions and right sides happen once and in order.
// kernel: main
// arg: buf:int:8
// expect: 10, 21, 0, 0, 0, 2, 3, 1
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
var<private> n: i32 = -1;
fn next() -> i32 { n++; return n; }
@compute @workgroup_size(1)
fn main() {
    out[next()] = 10;
    out[next()] += 20 + n;
    var list = array(0, 1, 2, 3);
    out[5] = list[next()];
    if next() == 3 { out[6] = n; }
    var sum = 0;
    for (var i = next(); i < next(); i += 9) { sum++; }
    out[7] = sum;
}
