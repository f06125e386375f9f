// Members and elements by a pointer, without `*`.
// kernel: main
// arg: buf:int:4
// expect: 5, 6, 17, 8
requires pointer_composite_access;
struct Node { value: i32, v: vec2i, list: array<i32, 2> }
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
fn fill(p: ptr<function, Node>) {
    p.value = 5;
    p.v.y = 6;
    p.list[1] = 7;
    p.list[1] += 10;
    let q = &p.list;
    q[0] = 8;
}
@compute @workgroup_size(1)
fn main() {
    var node: Node;
    fill(&node);
    out[0] = node.value;
    out[1] = node.v[1];
    out[2] = node.list[1];
    out[3] = node.list[0];
}
