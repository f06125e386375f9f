// A struct in a struct is aligned to its largest member, and its size rounded up.
// kernel: main
// arg: buf:int:20=0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19
// arg: buf:int:6
// expect: 0, 4, 6, 8, 12, 16
struct Inner {
    x: i32,
    y: vec2i,
}
struct Outer {
    a: i32,         // 0
    b: vec3i,       // 16
    c: Inner,       // 32: to 48
    d: array<Inner, 1>,
    e: i32,
}
@group(0) @binding(0) var<storage, read> data: Outer;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = data.a;
    out[1] = data.b.x;
    out[2] = data.b.z;
    out[3] = data.c.x;
    out[4] = data.d[0].x;
    out[5] = data.e;
}
