// workgroupUniformLoad: a barrier, the value for all, and one more barrier.
// kernel: main
// global: 8
// arg: buf:int:8
// expect: 7, 7, 7, 7, 107, 107, 107, 107
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
struct Message { value: i32, more: vec2i }
var<workgroup> message: Message;
var<workgroup> list: array<i32, 4>;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32,
        @builtin(workgroup_id) group: vec3u) {
    if i == 2 { message = Message(i32(group.x) * 100, vec2i(3, 4)); }
    let seen = workgroupUniformLoad(&message);
    list[i] = seen.more.x;
    let third = workgroupUniformLoad(&list[3]);
    if third == 3 {
        workgroupBarrier();
    }
    out[id.x] = seen.value + seen.more.y + third;
}
