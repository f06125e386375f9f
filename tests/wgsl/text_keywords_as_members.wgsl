// Names that mean something elsewhere only: attributes, built-in values, address spaces and access modes may be names.
// kernel: main
// arg: buf:int:8
// expect: 1, 2, 3, 4, 5, 6, 7, 8
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
struct compute {
    binding: i32,
    group: i32,
    read_write: i32,
    position: i32,
}
fn workgroup(storage: i32) -> i32 {
    let uniform = storage + 1;
    return uniform;
}
@compute @workgroup_size(1)
fn main() {
    let c = compute(1, 2, 3, 4);
    out[0] = c.binding;
    out[1] = c.group;
    out[2] = c.read_write;
    out[3] = c.position;
    out[4] = workgroup(4);
    let align = 6;
    let private_ = 7;
    let function = 8;
    out[5] = align;
    out[6] = private_;
    out[7] = function;
}
