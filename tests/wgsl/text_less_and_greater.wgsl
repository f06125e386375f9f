// Where no template list is closed, `<` and `>` compare and shift: the list discovery looks no further than `;`, `{`, `:`, `==`, `&&`.
// kernel: main
// arg: buf:int:8
// expect: 1, 0, 1, 1, 8, 1, 6, 1
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
fn both(a: bool, b: bool) -> i32 {
    return i32(a) + 2 * i32(b);
}
@compute @workgroup_size(1)
fn main() {
    let a = 1;
    let b = 2;
    let c = 3;
    out[0] = i32(a < b);
    out[1] = i32(a > b);
    out[2] = i32(a < b && c > b);
    out[3] = i32((a < b) == (c > b));
    out[4] = (c - 2) << 3u;
    out[5] = i32(a<b || b>c);
    var sum = 0;
    for (var i = 0; i < 4; i++) {
        sum += i;
    }
    out[6] = sum;
    out[7] = both((a < b), (c < b));
}
