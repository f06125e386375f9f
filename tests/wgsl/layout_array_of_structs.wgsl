// Structs in a runtime-sized array: read whole, changed, written whole.
// kernel: main
// global: 3
// arg: buf:int:12=1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
// expect: 11, 4, 6, 4, 15, 12, 14, 8, 19, 20, 22, 12
struct Item {
    id: i32,
    at: vec2i_at_four,
    last: i32,
}
struct vec2i_at_four { x: i32, y: i32 }
@group(0) @binding(0) var<storage, read_write> items: array<Item>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    var item = items[id.x];
    item.id += 10;
    item.at.x *= 2;
    item.at.y *= 2;
    items[id.x] = item;
}
