// Assertions that hold, in and outside of functions.
// kernel: main
// arg: buf:int:1
// expect: 12
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
const n = 12;
const_assert n > 3;
const_assert(n % 4 == 0 && n < 100);
@compute @workgroup_size(1)
fn main() {
    const twice = 2 * n;
    const_assert twice == 24;
    const_assert vec2(1, 2).y == 2;
    const_assert all(vec3(1, 2, 3) < vec3(2, 3, 4));
    out[0] = twice / 2;
}
