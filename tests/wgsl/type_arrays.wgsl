// Arrays: of fixed size, made with and without a type, nested, of structs, copied as values.
// kernel: main
// arg: buf:int:1=1
// arg: buf:int:9
// expect: 4, 1, 9, 6, 0, 50, 3, 2, 5
@group(0) @binding(0) var<storage, read> at: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
struct Item { id: i32, sizes: array<i32, 2> }
fn last(list: array<i32, 3>) -> i32 { return list[2]; }
fn made(x: i32) -> array<i32, 2> { return array(x, x + 1); }
@compute @workgroup_size(1)
fn main() {
    var a = array<i32, 4>(1, 2, 3, 4);
    let before = a;
    a[at[0] - 1] = 9;
    out[0] = a[3];
    out[1] = before[at[0] - 1];
    out[2] = a[0];
    var b = array(array(1, 2, 3), array(4, 5, 6));
    out[3] = b[at[0]][2];
    var c: array<Item, 3>;
    out[4] = c[at[0]].sizes[1];
    c[at[0]].sizes[at[0]] = 50;
    out[5] = c[1].sizes[1];
    out[6] = last(b[0]);
    out[7] = made(1)[at[0]];
    out[8] = array(3, 4, 5)[at[0] + 1];
}
