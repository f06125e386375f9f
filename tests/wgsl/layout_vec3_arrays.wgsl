// Elements of array<vec3> lie 16 bytes apart, and the last has its room too.
// kernel: main
// arg: buf:float:12=1, 2, 3, -1, 4, 5, 6, -1, 7, 8, 9, -1
// arg: buf:float:12=-1
// expect: 7, 8, 9, -1, 4, 5, 6, -1, 1, 2, 3, -1
@group(0) @binding(0) var<storage, read> in: array<vec3f>;
@group(0) @binding(1) var<storage, read_write> out: array<vec3f>;
@compute @workgroup_size(1)
fn main() {
    let n = arrayLength(&in);
    for (var i = 0u; i < n; i++) {
        out[n - 1 - i] = in[i];
    }
}
