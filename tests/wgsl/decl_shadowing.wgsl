// A declaration hides one of an outer scope from its end on, built-in functions and types among them.
// kernel: main
// arg: buf:int:10
// expect: 1, 2, 3, 2, 7, 8, 5, 11, 4, 1
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
const x = 1;
fn max(a: i32, b: i32) -> i32 { return 7; }
fn parameter(x: i32) -> i32 {
    if (true) {
        let x = x + 1;
        return x;
    }
    return x;
}
@compute @workgroup_size(1)
fn main() {
    out[0] = x;
    let x = x + 1;
    out[1] = x;
    {
        let x = x + 1;
        out[2] = x;
    }
    out[3] = x;
    out[4] = max(1, 2);
    out[5] = parameter(7);
    let min = 5;
    out[6] = min;
    for (var x = 10; x < 11; x++) {
        let y = x;
        var x = y + 1;
        out[7] = x;
    }
    var sum = 0;
    for (var i = 0; i < 4; i++) {
        let i = 1;
        sum += i;
    }
    out[8] = sum;
    let f32 = 1;
    out[9] = f32;
}
