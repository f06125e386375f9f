// Amounts of shifts at run time count modulo 32, for vectors by components.
// kernel: main
// arg: buf:uint:4=32, 33, 64, 4294967295
// arg: buf:uint:8
// expect: 9, 18, 9, 0x80000000, 0x80000001, 0x40000000, 0x80000001, 1
@group(0) @binding(0) var<storage, read> by: vec4u;
@group(0) @binding(1) var<storage, read_write> out: array<vec4u>;
@compute @workgroup_size(1)
fn main() {
    out[0] = vec4u(9) << by;
    out[1] = vec4u(0x80000001) >> by;
}
