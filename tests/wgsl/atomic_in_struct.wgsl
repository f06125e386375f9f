// Atomics as members of structs in arrays, beside plain ones.
// kernel: main
// global: 8
// arg: buf:int:6=0, 0, 100, 0, 0, 200
// expect: 12, 2, 100, 16, -1, 200
struct Cell { sum: atomic<i32>, least: atomic<i32>, plain: i32 }
@group(0) @binding(0) var<storage, read_write> cells: array<Cell>;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let i = id.x % 2;
    let p = &cells[i];
    atomicAdd(&(*p).sum, i32(id.x));
    if i == 0 { atomicMax(&cells[i].least, 2 - i32(id.x)); } else { atomicMin(&cells[i].least, id_of(id.x)); }
}
fn id_of(x: u32) -> i32 { return select(0, -1, x == 3); }
