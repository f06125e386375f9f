// A parameter is a value: what the caller has stays.
// kernel: main
// arg: buf:int:4
// expect: 1, 101, 3, 30
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
fn changed(list: array<i32, 3>) -> i32 {
    var mine = list;
    mine[0] += 100;
    return mine[0];
}
fn scaled(v: vec3i) -> vec3i { var w = v; w.z *= 10; return w; }
@compute @workgroup_size(1)
fn main() {
    var list = array(1, 2, 3);
    let r = changed(list);
    out[0] = list[0];
    out[1] = r;
    var v = vec3i(1, 2, 3);
    let w = scaled(v);
    out[2] = v.z;
    out[3] = w.z;
}
