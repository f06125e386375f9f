// Indices outside of arrays of functions and of private: the variables beside them stay, reads give something of the array.
// kernel: main
// arg: buf:uint:3=4, 100000, 0xffffffff
// arg: buf:int:6
// expect: 1, 1, 1, 7, 8, 1
@group(0) @binding(0) var<storage, read> at: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;
var<private> guard: i32 = 7;
var<private> list: array<i32, 4> = array(1, 1, 1, 1);
@compute @workgroup_size(1)
fn main() {
    var before = 8;
    var mine = array(1, 1, 1, 1);
    for (var i = 0; i < 3; i++) {
        let read = mine[at[i]] + list[at[i]]; // finds: out-of-bounds
        out[i] = i32(read >= 0 && read <= 2);
    }
    for (var i = 0; i < 3; i++) {
        mine[at[i]] = 1; // finds: out-of-bounds
        list[at[i]] = 1; // finds: out-of-bounds
    }
    out[3] = guard;
    out[4] = before;
    out[5] = mine[0] * list[2];
}
