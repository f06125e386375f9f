// Precedence: unary before multiplication, then sums, comparisons, short circuits; brackets around what WGSL does not order.
// kernel: main
// arg: buf:int:3=2, 3, 4
// arg: buf:int:9
// expect: 14, 20, -5, 24, 1, 3, 1, 7, 10
@group(0) @binding(0) var<storage, read> in: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    let a = in[0];
    let b = in[1];
    let c = in[2];
    out[0] = a + b * c;
    out[1] = (a + b) * c;
    out[2] = -a - b;
    out[3] = a * b * c;
    out[4] = i32((a + b > c && b * c != a) || a == c);
    out[5] = c - b + a;
    out[6] = c / b % a;
    out[7] = (a | b) | (c & ~b);
    out[8] = - -c + a * b;
}
