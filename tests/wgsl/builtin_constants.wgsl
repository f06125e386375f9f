// Built-in functions in constant expressions: sizes of arrays and cases of a switch are made of them.
// kernel: main
// local: 1, 1, 1
// arg: buf:int:5
// expect: 6, 4, 2, 3, 8
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
const n = max(2, 3) * min(4, 2);
const size = u32(sqrt(16.0)) + countOneBits(7u) - 3;
var<private> list: array<i32, size>;
@compute @workgroup_size(clamp(7, 0, 1))
fn main() {
    out[0] = n;
    list[3] = 4;
    out[1] = list[size - 1];
    switch i32(list[3]) {
        case abs(-4) { out[2] = 2; }
        default { out[2] = 0; }
    }
    const v = vec3(1, 2, 3);
    out[3] = v[select(0, 2, v.x < v.y)];
    const k = dot(v, v) - v.z * 2;
    out[4] = k;
}
