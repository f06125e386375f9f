// A variable of a loop's body begins anew each time, with its initialiser or zero.
// skip: dawn zeroes it in front of the loop only
// skip: wgpu zeroes it in front of the loop only
// kernel: main
// arg: buf:int:3
// expect: 5, 15, 0
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    var sum = 0;
    var tens = 0;
    for (var i = 0; i < 5; i++) {
        var fresh: i32;
        fresh += 1;
        sum += fresh;
        var list: array<i32, 4>;
        list[i % 4] += 3;
        tens += list[0] + list[1] + list[2] + list[3];
    }
    out[0] = sum;
    out[1] = tens;
}
