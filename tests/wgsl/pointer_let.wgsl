// let of pointers: to variables, members, elements; the index is computed where the pointer is made.
// kernel: main
// arg: buf:int:6
// expect: 4, 50, 3, 7, 9, 8
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
struct Node { value: i32, list: array<i32, 3> }
@compute @workgroup_size(1)
fn main() {
    var x = 3;
    let p = &x;
    *p += 1;
    out[0] = x;
    var nodes: array<Node, 2>;
    var i = 1;
    let q = &nodes[i].list;
    i = 0;
    (*q)[2] = 50;
    out[1] = nodes[1].list[2];
    nodes[0].value = 3;
    out[2] = (&nodes[0]).value;
    let e = &(*q)[i];
    *e = 7;
    out[3] = nodes[1].list[0];
    let s = &out[4];
    *s = 9;
    out[5] = *(&(*(&x))) * 2;
}
