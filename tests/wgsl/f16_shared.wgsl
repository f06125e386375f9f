// f16 in work-group memory, private variables, constants and structs.
// needs: f16
// kernel: main
// global: 4
// arg: buf:half:4=1, 2, 3, 4
// expect: 11.5, 10.5, 9.5, 8.5
enable f16;
struct Pair { a: f16, b: f16 }
const more = Pair(1.5h, 2);
@group(0) @binding(0) var<storage, read_write> data: array<f16>;
var<workgroup> tile: array<Pair, 4>;
var<private> kept: vec3h = vec3h(3, 2, 1);
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    tile[3 - i] = Pair(data[i], more.a);
    workgroupBarrier();
    kept.x += tile[i].a;
    data[i] = kept.x + tile[i].b + more.b + kept.z;
}
