// Shifts take their amount modulo the width at run time; the amounts of vectors are vectors.
// kernel: main
// arg: buf:uint:4=1, 31, 32, 37
// arg: buf:int:9
// expect: -2147483648, 1, 32, -1, -4, -4, 2, 1, 64
@group(0) @binding(0) var<storage, read> by: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    var one = 1;
    var minus = -8;
    out[0] = one << by[1];
    out[1] = one << by[2];
    out[2] = one << by[3];
    out[3] = minus >> by[1];
    out[4] = minus >> by[0];
    let v = vec3i(minus, 4, 1 << 30) >> vec3u(by[0], by[0], by[1]);
    out[5] = v.x;
    out[6] = v.y;
    out[7] = (vec2i(one) << vec2u(by[2], 2)).x;
    out[8] = 2 << (by[3] & 31);
}
