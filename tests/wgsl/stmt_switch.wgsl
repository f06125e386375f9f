// switch: several values a case, default anywhere and among others, no falling through, break out of it.
// kernel: main
// global: 8
// arg: buf:int:8
// expect: 10, 21, 21, 30, 0, 50, 0, 70
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
const five = 5;
@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32) {
    var result = 0;
    switch i {
        case 0 { result = 10; }
        default { result = 0; }
        case 1, 2, { result = 21; }
        case 3: {
            result = 30;
            if i == 3 { break; }
            result = 31;
        }
        case five { result = 50; }
        case 3 + 4 { result = 70; }
    }
    out[i] = result;
}
