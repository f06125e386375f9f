// for loops: all parts, none of them, several variables' worth of updates, an assignment or a call as the update.
// kernel: main
// arg: buf:int:6
// expect: 45, 5, 3, 12, 100, 6
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
var<private> calls: i32;
fn step(i: ptr<function, i32>) { *i += 3; calls++; }
@compute @workgroup_size(1)
fn main() {
    var sum = 0;
    for (var i = 0; i < 10; i++) { sum += i; }
    out[0] = sum;
    var n = 0;
    for (;;) {
        n++;
        if n == 5 { break; }
    }
    out[1] = n;
    var j: i32;
    for (j = 10; j > 3; j -= 1) { }
    out[2] = j;
    var k = 0;
    for (; k < 10; step(&k)) { }
    out[3] = k;
    var last = 1;
    for (var i = 0; i < 2; i++) { for (var i = 0; i < 1; i++) { last *= 10; } }
    out[4] = last;
    var even = 0;
    for (var i = 0; i < 6; i++) {
        if i % 2 == 1 { continue; }
        even += i;
    }
    out[5] = even;
}
