// A bitonic sort of 32 numbers in work-group memory.
// kernel: main
// global: 16
// local: 16
// arg: buf:int:32=-65, 1, -96, 23, 37, 44, -29, -37, 22, -90, -37, 26, -31, -60, 85, -26, -24, 27, 56, 22,
//         33, 66, 55, 91, -69, -95, 95, -67, -23, -27, 37, 82
// expect: -96, -95, -90, -69, -67, -65, -60, -37, -37, -31, -29, -27, -26, -24, -23, 1, 22, 22, 23, 26, 27,
//         33, 37, 37, 44, 55, 56, 66, 82, 85, 91, 95
@group(0) @binding(0) var<storage, read_write> data: array<i32>;
const n = 32u;
var<workgroup> list: array<i32, n>;
@compute @workgroup_size(n / 2)
fn main(@builtin(local_invocation_index) t: u32) {
    list[t] = data[t];
    list[t + n / 2] = data[t + n / 2];
    for (var size = 2u; size <= n; size *= 2) {
        for (var gap = size / 2; gap > 0; gap /= 2) {
            workgroupBarrier();
            let low = 2 * t - (t & (gap - 1));
            let high = low + gap;
            let down = (low & size) != 0;
            if (list[low] > list[high]) != down {
                let kept = list[low];
                list[low] = list[high];
                list[high] = kept;
            }
        }
    }
    workgroupBarrier();
    data[t] = list[t];
    data[t + n / 2] = list[t + n / 2];
}
