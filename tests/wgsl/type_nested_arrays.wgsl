// Arrays of arrays of structs with arrays, by computed indices at each level.
// kernel: main
// global: 6
// arg: buf:int:36
// expect: 0, 1, 2, 100, 101, 102, 10, 11, 12, 110, 111, 112, 20, 21, 22, 120, 121, 122, 1000, 1001, 1002, 1100, 1101,
//         1102, 1010, 1011, 1012, 1110, 1111, 1112, 1020, 1021, 1022, 1120, 1121, 1122
struct Cell { list: array<vec3i, 2> }
struct Packed { a: array<array<i32, 3>, 2> }
@group(0) @binding(0) var<storage, read_write> out: array<array<Packed, 3>, 2>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) {
    var cells: array<array<Cell, 3>, 2>;
    let i = id.x / 3;
    let j = id.x % 3;
    for (var k = 0u; k < 2; k++) {
        cells[i][j].list[k] = vec3i(0, 1, 2) + i32(1000 * i + 10 * j + 100 * k);
        for (var c = 0; c < 3; c++) { out[i][j].a[k][c] = cells[i][j].list[k][c]; }
    }
}
