// Work-group memory is zero at first: scalars, arrays, structs, atomics, booleans; more than one group in a row.
// skip: wgpu leaves that to lavapipe 22.3, which does not do it
// kernel: main
// global: 12
// arg: buf:int:12=9
// expect: 0
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
struct Box { a: i32, b: vec3f, c: array<u32, 5> }
var<workgroup> number: f32;
var<workgroup> list: array<i32, 100>;
var<workgroup> box: Box;
var<workgroup> counter: atomic<u32>;
var<workgroup> flag: bool;
@compute @workgroup_size(3)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32) {
    var sum = i32(number) + box.a + i32(box.b.z) + i32(box.c[4]) + i32(atomicLoad(&counter)) + i32(flag);
    for (var k = i; k < 100; k += 3) { sum += abs(list[k]); }
    out[id.x] = sum;
    workgroupBarrier();
    for (var k = i; k < 100; k += 3) { list[k] = -7; }
    if i == 0 {
        number = 3;
        box = Box(1, vec3f(2), array(1u, 2, 3, 4, 5));
        atomicAdd(&counter, 5);
        flag = true;
    }
}
