// Pointers to members and elements, and into storage and work-group memory, as parameters.
// skip: naga has no pointers of other address spaces as parameters
// kernel: main
// arg: buf:int:8=1, 2, 3, 4, 5, 6, 7, 8
// expect: 1, 20, 3, 4, 5, 6, 27, 36
requires unrestricted_pointer_parameters;
@group(0) @binding(0) var<storage, read_write> data: array<i32>;
var<workgroup> tile: array<i32, 8>;
fn scale(p: ptr<storage, i32, read_write>, by: i32) { *p *= by; }
fn sum(p: ptr<workgroup, array<i32, 8>>) -> i32 {
    var result = 0;
    for (var i = 0; i < 8; i++) { result += (*p)[i]; }
    return result;
}
fn bump(p: ptr<function, i32>) { *p += 20; }
fn whole(p: ptr<storage, array<i32>, read_write>) -> u32 { return arrayLength(p); }
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 8; i++) { tile[i] = data[i]; }
    let total = sum(&tile);
    scale(&data[1], 10);
    var list = array(6, 7);
    bump(&list[1]);
    data[6] = list[1];
    data[whole(&data) - 1] = total;
}
