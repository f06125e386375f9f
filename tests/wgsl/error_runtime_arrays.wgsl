// Runtime-sized arrays are not copied, passed or made.
// error: 13: array
// error: 14: array
// error: 17: array
// error: 18: array
// error: 19: array
// error: 20: array
// error: 21: arrayLength
// error: 23: arrayLength
struct Data { head: i32, list: array<i32> }
@group(0) @binding(0) var<storage, read_write> data: Data;
@group(0) @binding(1) var<storage, read_write> list: array<i32>;
fn take(x: array<i32>) { }
fn give() -> array<i32> { return list; }
@compute @workgroup_size(1)
fn main() {
    let a = list;
    let b = data;
    list = list;
    let c = arrayLength(list);
    let d = arrayLength(&data);
    var e = array<i32, 3>();
    let f = arrayLength(&e);
    data.head = 1;
}
