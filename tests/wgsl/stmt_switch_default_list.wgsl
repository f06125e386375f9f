// default among the values of a case, negative values, a switch on an expression with a continue in a loop.
// kernel: main
// arg: buf:int:3
// expect: 41, 6, 1
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
fn kind(x: i32) -> i32 {
    switch (x - 2) {
        case -3, -2: { return 1; }
        case 0x10, default, 7 { return 2; }
        case 1i { return 3; }
    }
}
@compute @workgroup_size(1)
fn main() {
    var sum = 0;
    for (var i = -1; i < 20; i++) {
        sum += kind(i);
    }
    out[0] = sum;
    var n = 0;
    for (var i = 0; i < 10; i++) {
        switch i {
            case 2, 4, 6, 8: { continue; }
            default: { }
        }
        n++;
    }
    out[1] = n;
    switch n {
        default { out[2] = 1; }
    }
}
