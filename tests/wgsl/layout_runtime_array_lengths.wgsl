// arrayLength of arrays of scalars, vec3, structs; what does not fill an element counts not.
// kernel: main
// arg: buf:int:7
// arg: buf:int:12
// arg: buf:int:21
// arg: buf:uint:3
// expect: 7, 3, 5
struct Three { a: i32, b: i32, c: i32, d: i32 }
@group(0) @binding(0) var<storage, read> scalars: array<i32>;
@group(0) @binding(1) var<storage, read> vectors: array<vec3i>;
@group(0) @binding(2) var<storage, read> structs: array<Three>;
@group(0) @binding(3) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1)
fn main() {
    out[0] = arrayLength(&scalars);
    let p = &vectors;
    out[1] = arrayLength(p);
    out[2] = arrayLength(&structs);
}
