// Blocks have scopes of their own.
// kernel: main
// arg: buf:int:3
// expect: 1, 5, 3
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    var a = 1;
    {
        var a = 2;
        { let a = a + 3; out[1] = a; }
        a = 9;
    }
    out[0] = a;
    { var b: i32; b += 3; out[2] = b; }
}
